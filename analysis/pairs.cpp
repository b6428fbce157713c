// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/pairs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/matrix.h"
#include "analysis/timeline.h"
#include "statistics/outliers.h"

namespace chameleon::analysis {
namespace {

constexpr std::array<const char*, 4> kMeasureNames = {"transfer", "wait", "bytes", "messages"};

using Ranks = std::pair<std::uint32_t, std::uint32_t>;

/// Messages of one pair and class of sizes.
struct SizeClass {
  double messages = 0, ns = 0;
};
using SizeClasses = std::map<unsigned, std::map<Ranks, SizeClass>>;

/// Transfers of all messages, by size and pair. Error: the trace is damaged.
Result<SizeClasses> transfers_of(const Trace& trace) {
  SizeClasses classes;
  double times = 1;
  RoundWatch watch;
  watch.take = [&](std::uint64_t number, double) { times = static_cast<double>(number); };
  const auto add = [&](const TimedEvent& event) {
    const auto operations = event.at->operations();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& operation = operations[i];
      if (operation.kind != Operation::Kind::kReceive) continue;
      const Ranks pair = std::minmax(operation.channel.source, operation.channel.dest);
      const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(operation.bytes, 0));
      SizeClass& of = classes[size_class(bytes)][pair];
      of.messages += times;
      of.ns +=
          times * static_cast<double>(event.end_ns - std::min(event.end_ns, event.since_ns[i]));
    }
  };
  const Result<TimelineFacts> run =
      run_timeline(trace, trace.whole_ranks(), add, false, Network::kRecorded, &watch);
  if (!run) return run.error();
  return classes;
}

void add_transfers(const SizeClasses& classes, std::map<Ranks, RankPair>& pairs,
                   std::map<unsigned, double>& expected_ns) {
  for (const auto& [size, of_pairs] : classes) {
    std::vector<double> means;
    for (const auto& [ranks, of] : of_pairs) means.push_back(of.ns / of.messages);
    const double expected = expected_ns[size] = statistics::median(means);
    for (const auto& [ranks, of] : of_pairs) {
      RankPair& pair = pairs[ranks];
      pair.transfer_ns += of.ns;
      pair.residual_ns += of.ns - of.messages * expected;
    }
  }
}

}  // namespace

const char* measure_name(PairMeasure measure) {
  return kMeasureNames[static_cast<std::size_t>(measure)];
}

bool measure_of(std::string_view name, PairMeasure& measure) {
  const auto found = std::find(kMeasureNames.begin(), kMeasureNames.end(), name);
  if (found == kMeasureNames.end()) return false;
  measure = static_cast<PairMeasure>(found - kMeasureNames.begin());
  return true;
}

std::optional<std::string> unsupported(const Trace& trace, PairMeasure measure) {
  if (measure == PairMeasure::kWait && trace.timing == "none")
    return "it has no times: run again with CHAMELEON_TIMING=histogram or full";
  if (measure != PairMeasure::kTransfer) return std::nullopt;
  const std::string& fidelity = trace.online.fidelity;
  if (trace.timing != "full")
    return "times of single messages are not in it: run again with CHAMELEON_TIMING=full";
  if (!fidelity.empty() && fidelity != "exact")
    return "times of ranks that did not lead are not in it: run again with "
           "CHAMELEON_FIDELITY=exact";
  return std::nullopt;
}

double RankPair::amount(PairMeasure measure) const {
  switch (measure) {
    case PairMeasure::kTransfer: return transfer_ns * 1e-9;
    case PairMeasure::kWait: return wait_ns * 1e-9;
    case PairMeasure::kBytes: return static_cast<double>(bytes);
    case PairMeasure::kMessages: return static_cast<double>(messages);
  }
  return 0;
}

Result<RankPairs> rank_pairs(const Trace& trace, PairMeasure measure) {
  const RankList ranks = trace.whole_ranks();
  const Result<CommunicationMatrix> matrix = communication_matrix(trace, ranks);
  if (!matrix) return matrix.error();
  RankPairs found;
  std::map<Ranks, RankPair> pairs;
  for (const auto& [channel, cell] : matrix->cells) {
    const auto [at, fresh] = pairs.try_emplace(std::minmax(channel.first, channel.second));
    RankPair& pair = at->second;
    pair.messages += cell.messages;
    pair.bytes += cell.bytes;
    pair.wait_ns += static_cast<double>(cell.wait_ns);
    pair.own_wait = (fresh || pair.own_wait) && (cell.own_wait || cell.wait_ns == 0);
    if (cell.longest.ns > pair.longest.ns) pair.longest = cell.longest;
  }
  if (measure == PairMeasure::kTransfer) {
    const Result<SizeClasses> classes = transfers_of(trace);
    if (!classes) return classes.error();
    add_transfers(*classes, pairs, found.expected_ns);
  }
  found.events = matrix->events;
  found.at_once = matrix->at_once;
  found.ranks = ranks.ranks();
  for (auto& [of, pair] : pairs) {
    pair.a = of.first;
    pair.b = of.second;
    found.pairs.push_back(pair);
  }
  return found;
}

std::vector<statistics::PairDistance> pair_distances(const RankPairs& found, PairMeasure measure) {
  const auto item = [&](std::uint32_t rank) {
    return std::lower_bound(found.ranks.begin(), found.ranks.end(), rank) - found.ranks.begin();
  };
  const auto present = [&](std::uint32_t rank) {
    return std::binary_search(found.ranks.begin(), found.ranks.end(), rank);
  };
  std::vector<statistics::PairDistance> distances;
  for (const RankPair& pair : found.pairs)
    if (pair.a != pair.b && pair.amount(measure) > 0 && present(pair.a) && present(pair.b))
      distances.push_back({static_cast<std::uint32_t>(item(pair.a)),
                           static_cast<std::uint32_t>(item(pair.b)), 1 / pair.amount(measure)});
  return distances;
}

std::vector<std::size_t> outstanding_pairs(const RankPairs& found, PairMeasure measure) {
  const bool transfer = measure == PairMeasure::kTransfer;
  std::vector<double> values;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < found.pairs.size(); ++i) {
    const RankPair& pair = found.pairs[i];
    if (pair.amount(measure) <= 0) continue;
    values.push_back(transfer ? pair.residual_ns : std::log(pair.amount(measure)));
    places.push_back(i);
  }
  std::vector<std::size_t> outstanding = statistics::high_outliers(values);
  std::stable_sort(outstanding.begin(), outstanding.end(),
                   [&](std::size_t x, std::size_t y) { return values[x] > values[y]; });
  for (std::size_t& one : outstanding) one = places[one];
  return outstanding;
}

}  // namespace chameleon::analysis
