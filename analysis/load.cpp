// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/load.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/place_times.h"

namespace chameleon::analysis {
namespace {

constexpr double kNotThere = -1;

struct Place {
  std::uint16_t call = 0;
  std::uint64_t path = 0;
  std::vector<double> compute_ns, call_ns;  ///< by index of the rank

  void add(std::size_t rank, const PlaceTime& time) {
    compute_ns[rank] = std::max(compute_ns[rank], 0.0) + time.compute_ns();
    call_ns[rank] = std::max(call_ns[rank], 0.0) + time.call_ns();
  }
};

PlaceShare share_of(const std::vector<double>& times, const std::vector<RankLoad>& ranks) {
  PlaceShare share;
  std::size_t there = 0;
  for (const double ns : times) {
    if (ns == kNotThere) continue;
    share.least_ns = there == 0 ? ns : std::min(share.least_ns, ns);
    share.most_ns = std::max(share.most_ns, ns);
    share.sum_ns += ns;
    ++there;
  }
  if (there != 0) share.mean_ns = share.sum_ns / static_cast<double>(there);
  const double half = (share.mean_ns + share.most_ns) / 2;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] != kNotThere && times[i] >= half) share.slowest.insert(ranks[i].rank);
  return share;
}

PlaceLoad load_of(const Place& place, const std::vector<RankLoad>& ranks) {
  PlaceLoad load;
  load.call = place.call;
  load.path = place.path;
  load.ranks =
      place.compute_ns.size() - static_cast<std::uint64_t>(std::count(
                                    place.compute_ns.begin(), place.compute_ns.end(), kNotThere));
  load.compute = share_of(place.compute_ns, ranks);
  load.in_call = share_of(place.call_ns, ranks);
  return load;
}

/// Where every rank tells its time in MPI, and recorded all the time. Of threads that wait for
/// each other it is not known who computes.
void take_measured(const Trace& trace, Load& load) {
  if (trace.threads > 1) return;
  std::uint64_t most = 0;
  for (const RankLoad& rank : load.ranks) {
    const auto fact = trace.facts.find(rank.rank);
    if (fact == trace.facts.end()) return;
    const std::optional<std::uint64_t> compute = measured_compute_ns(fact->second);
    if (!compute) return;
    most = std::max(most, *compute);
  }
  load.measured = most > 0;  // else nothing but errors of the parts is left of the run
  if (!load.measured) return;
  for (RankLoad& rank : load.ranks) {
    const RankFacts& fact = trace.facts.at(rank.rank);
    rank.compute_ns = static_cast<double>(*measured_compute_ns(fact));
    rank.call_ns = static_cast<double>(fact.call_ns);
  }
}

std::uint64_t count_places(const std::vector<Node>& nodes) {
  std::uint64_t count = 0;
  for (const Node& node : nodes) count += node.is_loop() ? count_places(node.body) : 1;
  return count;
}

}  // namespace

std::optional<std::uint64_t> measured_compute_ns(const RankFacts& facts) {
  if (facts.call_ns == 0 || facts.run_ns == 0 || facts.paused != 0) return std::nullopt;
  const std::uint64_t other = facts.tool_ns + facts.call_ns + facts.waiting_ns;
  if (other > facts.run_ns + facts.run_ns / 100) return std::nullopt;
  return facts.run_ns - std::min(facts.run_ns, other);
}

double Load::mean_compute_ns() const {
  double sum = 0;
  for (const RankLoad& rank : ranks) sum += rank.compute_ns;
  return ranks.empty() ? 0 : sum / static_cast<double>(ranks.size());
}

double Load::most_compute_ns() const {
  double most = 0;
  for (const RankLoad& rank : ranks) most = std::max(most, rank.compute_ns);
  return most;
}

double Load::run_ns() const {
  double most = 0;
  for (const RankLoad& rank : ranks) most = std::max(most, rank.compute_ns + rank.call_ns);
  return most;
}

Result<Load> load_of(const Trace& trace) {
  Load load;
  std::unordered_map<std::uint32_t, std::size_t> index;
  trace.whole_ranks().for_each([&](std::uint32_t rank) {
    index[rank] = load.ranks.size();
    load.ranks.push_back({rank, 0, 0, 0});
  });
  load.places_left_out = 2 * count_places(trace.nodes) * load.ranks.size() > kMostPlaceTimes;
  std::unordered_map<std::uint64_t, Place> places;  // by symbol
  std::unordered_map<std::uint32_t, double> longest;
  const Status read = each_place_time(trace, trace.ranks, [&](const PlaceTime& time) {
    const std::size_t at = index[trace.rank_of(time.stream)];
    longest[time.stream] += time.compute_ns() + time.call_ns();
    RankLoad& rank = load.ranks[at];
    rank.events += time.events;
    rank.compute_ns += time.compute_ns();
    rank.call_ns += time.call_ns();
    if (load.places_left_out) return;
    Place& place = places[time.node.symbol()];
    if (place.compute_ns.empty()) {
      place.call = time.node.call;
      place.path = time.node.path;
      place.compute_ns.resize(load.ranks.size(), kNotThere);
      place.call_ns.resize(load.ranks.size(), kNotThere);
    }
    place.add(at, time);
  });
  if (!read) return read.error();
  take_measured(trace, load);
  for (const auto& [stream, ns] : longest) load.longest_ns = std::max(load.longest_ns, ns);
  if (trace.threads <= 1) load.longest_ns = load.run_ns();
  for (const auto& [symbol, place] : places) load.places.push_back(load_of(place, load.ranks));
  std::sort(load.places.begin(), load.places.end(), [](const PlaceLoad& a, const PlaceLoad& b) {
    const double da = a.compute.most_ns - a.compute.mean_ns;
    const double db = b.compute.most_ns - b.compute.mean_ns;
    return da != db ? da > db : std::pair(a.path, a.call) < std::pair(b.path, b.call);
  });
  return load;
}

}  // namespace chameleon::analysis
