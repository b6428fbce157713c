// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The first half of a flush: what ranks have becomes classes of equal ranks, and these the plan of
/// who sends what for whom. flush.h says what it costs.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "cluster/clustering.h"
#include "flush/filter.h"
#include "model/time_table.h"
#include "model/trace.h"
#include "signature/call_sites.h"
#include "signature/rules.h"
#include "world/absent.h"

namespace chameleon::flush {

/// The events that ranks other than leads keep in state L (CHAMELEON_FIDELITY).
enum class Fidelity : std::uint8_t { kExact, kChecked, kLead };
const char* fidelity_name(Fidelity fidelity);

/// How traces are merged.
struct FlushOptions {
  Fidelity fidelity = Fidelity::kExact;
  Filter filter = Filter::kAuto;
  bool rules = false;  ///< leads' values follow the user's rules

  FlushOptions() = default;
  FlushOptions(Fidelity kept, Filter filtered = Filter::kAuto, bool ruled = false)
      : fidelity(kept), filter(filtered), rules(ruled) {}
};

/// Hashes of what a rank did, kept also where events are dropped: one a kind of parameter (the bits
/// of `Inexactness` in order), of all but unsuccessful polls; one of these; and one of the set of
/// calls that poll.
using StreamHashes = std::array<std::uint64_t, 8>;
inline constexpr std::size_t kPollsHash = 6, kPollPlacesHash = 7;

/// The contribution of a rank to a flush.
struct Share {
  /// The trace of this rank alone; empty unless `keeps`. With several streams the rank is a class
  /// of its own, and its facts have the number of events of each.
  Trace trace;
  bool keeps = true;
  bool paused = false;                      ///< tracing was switched off at some time: declared
  std::uint64_t events = 0;                 ///< of the rank's first stream
  StreamHashes hashes{};                    ///< for fidelity `checked`
  const signature::Rules* rules = nullptr;  ///< the user's, if there are any
  signature::CallSites sites;               ///< of calls that have rules
  std::vector<StreamAccounts> accounts;     ///< over the run, also of what was dropped
};

/// Ranks whose traces are equal, times aside, when their end-points are read alike.
struct ShareClass {
  std::uint64_t structure = 0;
  std::uint64_t relative = 0;  ///< values with partners relative to the rank
  std::uint64_t mixed = 0;     ///< the same, but partners that are always rank 0 absolute
  bool relative_holds = true, mixed_holds = true;  ///< for all of the ranks
  bool paused = false;
  std::uint64_t events = 0;
  RankList ranks;
  std::optional<KindsSeen> kinds;  ///< of its structure; of the first class of one

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, ShareClass& value);
};

ShareClass classify(std::uint32_t rank, const Share& share);
/// Joins lists of classes, in the order of `mine` then `theirs`.
void join_classes(std::vector<ShareClass>& mine, std::vector<ShareClass>&& theirs);

/// Ranks of one lead with equal hashes of their streams.
struct Comparison {
  std::uint32_t lead = 0;
  StreamHashes hashes{};
  RankList ranks;

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, Comparison& value);
};
void join_comparisons(std::vector<Comparison>& mine, std::vector<Comparison>&& theirs);

/// The senders: each entry is a class, and its sender the lowest rank of it.
struct FlushPlan {
  struct Entry {
    std::uint32_t sender = 0;
    std::uint32_t group = 0;  ///< of equal structure, by place
    bool relative = true;     ///< the reading that holds
    bool alone = true;        ///< one rank: both readings stay
    bool by_xor = false;      ///< partners of the others follow from the sender's by XOR
    bool by_rules = false;    ///< values of the others follow from rules where the sender's do
    ValueKinds kinds = kAllValueKinds;  ///< sent to a rank of the same structure
    RankList ranks;                     ///< whose trace it is, those it represents included
    std::vector<Inexact> inexact;

    void encode(ByteWriter& writer) const;
    static bool decode(ByteReader& reader, Entry& value);
  };
  std::vector<Entry> entries;  ///< by sender
  std::uint32_t groups = 0;
  bool filtered = false;  ///< some kinds of values do not travel

  const Entry* find_sender(std::uint32_t rank) const;
  /// Ranks in which a trace that stands for them is inexact.
  RankList differing() const;
  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, FlushPlan& value);
};

/// A rank's part in a plan, made before anyone counts on it.
struct Senders {
  std::vector<std::vector<std::uint32_t>> groups;  ///< ascending
  std::vector<std::uint32_t> firsts;               ///< of the groups, ascending

  /// Without the ranks that are absent. No allocation.
  void leave_out(const Absent& absent);
};
Senders senders_of(const FlushPlan& plan);

/// The plan for these classes of a job's `ranks`, where `clustering` says which rank represents
/// which; `comparisons` are of fidelity `checked` (empty: no rank was compared).
FlushPlan make_plan(const std::vector<ShareClass>& classes, const Clustering& clustering,
                    FlushOptions options, std::uint32_t ranks,
                    const std::vector<Comparison>& comparisons);

}  // namespace chameleon::flush
