// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The first half of a flush: what ranks have becomes classes of equal ranks, and these the plan of
/// who sends what for whom. flush.h says what it costs.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "cluster/clustering.h"
#include "flush/comparisons.h"
#include "flush/filter.h"
#include "flush/share_classes.h"
#include "model/trace.h"

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

/// The senders: each entry is a class, and its sender the lowest rank of it. All ranks of a crowd
/// send.
struct FlushPlan {
  struct Entry {
    std::uint32_t sender = 0;
    std::uint32_t group = 0;  ///< of equal structure, or a crowd, by place
    bool relative = true;     ///< the reading that holds
    bool by_xor = false;      ///< partners of the others follow from the sender's by XOR
    bool by_rules = false;    ///< values of the others follow from rules where the sender's do
    ValueKinds kinds = kAllValueKinds;  ///< sent to a rank of the same structure
    RankList ranks;                     ///< whose trace it is, those it represents included
    std::vector<Inexact> inexact;

    void encode(ByteWriter& writer) const;
    static bool decode(ByteReader& reader, Entry& value);
  };
  struct Crowd {
    std::uint32_t group = 0;
    bool whole = false;  ///< the group has no common structure: whole traces travel
    ValueKinds kinds = kAllValueKinds;
    RankList ranks;  ///< without those that have an entry

    void encode(ByteWriter& writer) const;
    static bool decode(ByteReader& reader, Crowd& value);
  };
  std::vector<Entry> entries;  ///< by sender
  std::vector<Crowd> crowds;
  std::uint32_t groups = 0;
  bool filtered = false;  ///< some kinds of values do not travel

  bool empty() const { return entries.empty() && crowds.empty(); }
  /// The entry of a class's sender.
  const Entry* find_sender(std::uint32_t rank) const;
  /// The entry of a rank that sends, for its class or for itself in a crowd; none of other ranks.
  std::optional<Entry> entry_of(std::uint32_t rank) const;
  /// Whether values alone never travel in this group.
  bool is_whole(std::uint32_t group) const;
  /// Ranks in which a trace that stands for them is inexact.
  RankList differing() const;
  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, FlushPlan& value);
};

/// The plan for these classes of a job's `ranks`, where `clustering` says which rank represents
/// which; `comparisons` are of fidelity `checked` (empty: no rank was compared).
FlushPlan make_plan(const std::vector<ShareClass>& classes, const Clustering& clustering,
                    FlushOptions options, std::uint32_t ranks,
                    const std::vector<Comparison>& comparisons);

}  // namespace chameleon::flush
