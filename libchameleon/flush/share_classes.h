// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The shares of ranks in a flush, and classes of ranks with equal shares.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "flush/filter.h"
#include "model/time_table.h"
#include "model/trace.h"
#include "signature/call_sites.h"
#include "signature/rules.h"

namespace chameleon::flush {

/// Hashes of what a rank did, kept also where events are dropped: one a kind of parameter (the bits
/// of `Inexactness` in order), of all but unsuccessful polls; one of these; and one of the set of
/// calls that poll.
using StreamHashes = std::array<std::uint64_t, 8>;
inline constexpr std::size_t kPollsHash = 6, kPollPlacesHash = 7;

/// The pieces of a share that its rank has in a file, each a trace of its own, which happened
/// before what it has in memory.
class StoredPieces {
 public:
  StoredPieces() = default;
  StoredPieces(const StoredPieces&) = delete;
  StoredPieces& operator=(const StoredPieces&) = delete;
  virtual ~StoredPieces() = default;

  virtual bool more() const = 0;
  /// The next one, of which there are `more`. Throws if it cannot be read; it has passed then.
  virtual Trace next() = 0;
  /// The same as a delta of a trace file; nothing if there is no more, or it cannot be read.
  virtual Bytes next_delta() = 0;
};

/// The contribution of a rank to a flush.
struct Share {
  /// The trace of this rank alone; empty unless `keeps`. Where other threads than the first have
  /// events, the rank is a class of its own, and its facts have the number of events of each.
  Trace trace;
  bool keeps = true;
  bool paused = false;                      ///< tracing was switched off at some time: declared
  std::uint64_t events = 0;                 ///< of the rank's first stream
  StreamHashes hashes{};                    ///< for fidelity `checked`
  const signature::Rules* rules = nullptr;  ///< the user's, if there are any
  signature::CallSites sites;               ///< of calls that have rules
  std::vector<StreamAccounts> accounts;     ///< over the run, also of what was dropped
  std::unique_ptr<StoredPieces> stored;     ///< what happened before `trace`; mostly none
  std::size_t most_bytes = 0;               ///< of memory, of a piece of `trace`; 0: it is not cut
};

/// How much the ranks of a class have in common.
enum class Alike : std::uint8_t { kAll, kStructure, kNothing };

/// Ranks whose traces are equal, times aside, when their end-points are read alike. Or a *crowd*,
/// of which each rank sends for itself: ranks of one structure, or ranks of which each has its own.
struct ShareClass {
  /// Events of some ranks of a crowd.
  struct Count {
    std::uint64_t events = 0;
    RankList ranks;
  };

  Alike alike = Alike::kAll;
  std::uint64_t structure = 0;  ///< 0: none in common
  std::uint64_t relative = 0;   ///< values with partners relative to the rank
  std::uint64_t mixed = 0;      ///< the same, but partners that are always rank 0 absolute
  bool relative_holds = true, mixed_holds = true;  ///< for all of the ranks
  bool paused = false;
  std::uint64_t events = 0;   ///< 0 in a job of more than `PackedFacts::kMostExact` ranks
  std::vector<Count> counts;  ///< instead, of a crowd
  RankList ranks;
  std::optional<KindsSeen> kinds;  ///< of its structure; of the first class of one

  bool is_crowd() const { return alike != Alike::kAll; }
  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, ShareClass& value);
};

/// Whether the trace of a rank has events of its first thread only.
bool of_first_stream(const Trace& trace);

ShareClass classify(std::uint32_t rank, const Share& share);
/// Joins lists of classes, in the order of `mine` then `theirs`. A list has room for 32 classes,
/// and for 512 where they are at most half as many as its ranks. In a longer one, more than 16
/// classes of a structure become a crowd; and if that is not enough, the ranks of structures that
/// less than a sixteenth of them have. So a list has a few hundred entries at most, whatever ranks
/// do.
void join_classes(std::vector<ShareClass>& mine, std::vector<ShareClass>&& theirs);

}  // namespace chameleon::flush
