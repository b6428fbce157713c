// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Pairs of ranks by what passes between them (Aguilera et al. 2006): both directions add up, the
/// distance of a pair is one over its amount, and hierarchical clustering (statistics/linkage.h)
/// shows who belongs together. Point to point only. Reads every rank once, or runs the timeline for
/// times of single messages; memory of the pairs that occur.

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/matrix.h"
#include "base/result.h"
#include "model/trace.h"
#include "statistics/linkage.h"

namespace chameleon::analysis {

enum class PairMeasure : std::uint8_t {
  kTransfer,  ///< time from the begin of a send to the end of what completes its receive
  kWait,      ///< time of receivers in the calls that complete receives
  kBytes,
  kMessages,
};

const char* measure_name(PairMeasure measure);  ///< transfer, wait, bytes, messages
/// Reads what `measure_name` gives; false on anything else.
bool measure_of(std::string_view name, PairMeasure& measure);

/// Why the trace cannot tell it, and which setting would; nothing if it can.
std::optional<std::string> unsupported(const Trace& trace, PairMeasure measure);

struct RankPair {
  std::uint32_t a = 0, b = 0;  ///< world ranks, the lower first; equal for messages to itself
  std::uint64_t messages = 0, bytes = 0;
  double wait_ns = 0;
  bool own_wait = false;   ///< that is what each receiver waited itself
  LongestWait longest;     ///< with `own_wait`
  double transfer_ns = 0;  ///< with `kTransfer` only, as what follows
  /// Transfer beyond what is expected: for each size, the median over pairs of the mean of a pair.
  double residual_ns = 0;

  double amount(PairMeasure measure) const;
};

struct RankPairs {
  std::vector<RankPair> pairs;       ///< by ranks
  std::vector<std::uint32_t> ranks;  ///< ascending; item i of the clustering is rank i of these
  std::uint64_t events = 0, at_once = 0;  ///< as CommunicationMatrix
  /// With `kTransfer`: what a message is expected to take, by `size_class`.
  std::map<unsigned, double> expected_ns;
};

/// Sizes of messages are powers of two, rounded up.
inline unsigned size_class(std::uint64_t bytes) {
  return static_cast<unsigned>(std::bit_width(bytes));
}

/// Error: the trace is damaged.
Result<RankPairs> rank_pairs(const Trace& trace, PairMeasure measure);

/// Distances of pairs of two ranks with an amount above 0, by items.
std::vector<statistics::PairDistance> pair_distances(const RankPairs& found, PairMeasure measure);

/// Places in `pairs` of those to look at, the greatest first: amounts far above the others'
/// (modified score of the logarithm), or of transfer, residuals.
std::vector<std::size_t> outstanding_pairs(const RankPairs& found, PairMeasure measure);

}  // namespace chameleon::analysis
