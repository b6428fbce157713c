// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Who sends how much to whom: messages, bytes, and the time the receiver spent in
/// calls that waited for them, by pair of world ranks. That time is each receiver's own where the
/// trace has accounts of it, else from times that ranks may share. Point to point only; what
/// collectives move depends on the library's algorithms and is summed by rank.
/// Rank by rank over the events, those of iterations that are alike once; memory of the pairs that
/// occur.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/operations.h"

namespace chameleon::analysis {

/// The longest time of one receive, and where.
struct LongestWait {
  std::uint64_t ns = 0;
  std::uint32_t rank = 0, thread = 0;
  std::uint64_t event = 0;  ///< that completed it: its number in the stream; 0: not known
};

struct MatrixCell {
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t wait_ns = 0;  ///< in the calls that completed the receives, shared evenly
  bool own_wait = false;      ///< it is the receiver's own
  LongestWait longest;        ///< with `own_wait`
};

struct CollectiveBytes {
  std::uint64_t calls = 0, sent = 0, received = 0;
};

struct CommunicationMatrix {
  std::map<std::pair<std::uint32_t, std::uint32_t>, MatrixCell> cells;  ///< (source, dest)
  std::map<std::uint32_t, CollectiveBytes> collectives;                 ///< by rank
  std::map<std::string, std::uint64_t> unmodelled;  ///< calls whose data is not in here
  std::uint64_t events = 0, at_once = 0;            ///< as EventsRead (rank_rounds.h)
};

/// Adds up what events do, from any reading of the ranks, in any order.
class MatrixBuilder {
 public:
  explicit MatrixBuilder(const RankList& ranks) : ranks_(ranks) {}
  /// The present event of `at`, which comes so many times.
  void add(const RankOperations& at, std::uint64_t times = 1);
  CommunicationMatrix matrix;

 private:
  const RankList& ranks_;  ///< only messages sent or received by these
};

/// What receivers waited becomes their own where the trace has it. O(accounts).
void take_own_waits(const Trace& trace, CommunicationMatrix& matrix);

/// Whose times the waits of receivers are, in words; empty where nobody waited.
std::string waits_text(std::size_t pairs, std::size_t own);

/// Messages sent or received by `ranks`. Error: the trace is damaged.
Result<CommunicationMatrix> communication_matrix(const Trace& trace, const RankList& ranks,
                                                 Loops loops = Loops::kAtOnce);

}  // namespace chameleon::analysis
