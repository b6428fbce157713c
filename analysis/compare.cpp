// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/compare.h"

#include <algorithm>
#include <cmath>

#include "analysis/place_times.h"

namespace chameleon::analysis {
namespace {

class Reader {
 public:
  Reader(const Trace& trace, const std::function<std::string(std::uint64_t)>& name)
      : trace_(trace), name_(name) {}

  Status run() {
    return each_place_time(trace_, trace_.ranks, [&](const PlaceTime& time) {
      add(time.node, trace_.rank_of(time.stream), time.events, time.compute_ns(), time.call_ns());
    });
  }
  Profile take() { return std::move(profile_); }

 private:
  void add(const Node& node, std::uint32_t rank, double count, double compute, double call_ns) {
    const auto [key, fresh] = keys_.try_emplace(node.symbol());
    if (fresh) {
      const auto call = trace_.calls.find(node.call);
      key->second = {call == trace_.calls.end() ? std::to_string(node.call) : call->second.name,
                     name_(node.path)};
    }
    SiteTimes& times = profile_[key->second][rank];
    times.count += count;
    times.compute_ns += compute;
    times.call_ns += call_ns;
  }

  const Trace& trace_;
  const std::function<std::string(std::uint64_t)>& name_;
  std::map<std::uint64_t, SiteKey> keys_;
  Profile profile_;
};

double longest_ns(const Profile& profile) {
  std::map<std::uint32_t, double> sums;
  for (const auto& [site, ranks] : profile)
    for (const auto& [rank, times] : ranks) sums[rank] += times.compute_ns + times.call_ns;
  double longest = 0;
  for (const auto& [rank, sum] : sums) longest = std::max(longest, sum);
  return longest;
}

/// The ranks and amounts of a change in one quantity, if any rank changed by more than `least`.
void add_change(std::vector<Change>& changes, Change::Kind kind, const SiteKey& site,
                const std::map<std::uint32_t, SiteTimes>& before,
                const std::map<std::uint32_t, SiteTimes>& after, double SiteTimes::*what,
                double least) {
  std::map<std::uint32_t, std::pair<double, double>> both;
  for (const auto& [rank, times] : before) both[rank].first = times.*what;
  for (const auto& [rank, times] : after) both[rank].second = times.*what;
  Change change;
  change.kind = kind;
  change.site = site;
  for (const auto& [rank, pair] : both)
    if (std::abs(pair.second - pair.first) > std::abs(change.most))
      change.most = pair.second - pair.first;
  if (std::abs(change.most) <= least) return;
  for (const auto& [rank, pair] : both) {
    const double delta = pair.second - pair.first;
    if (delta * change.most < 0 || std::abs(delta) < std::abs(change.most) / 2) continue;
    change.ranks.insert(rank);
    change.before += pair.first;
    change.after += pair.second;
  }
  changes.push_back(std::move(change));
}

}  // namespace

Result<Profile> profile_of(const Trace& trace,
                           const std::function<std::string(std::uint64_t)>& name) {
  Reader reader(trace, name);
  if (const Status read = reader.run(); !read) return read.error();
  return reader.take();
}

std::vector<Change> compare(const Profile& before, const Profile& after, double threshold) {
  const double least = threshold * std::max(longest_ns(before), longest_ns(after));
  std::vector<Change> changes;
  const std::map<std::uint32_t, SiteTimes> none;
  constexpr double kLeastCalls = 0.5;
  for (const auto& [site, ranks] : before)
    if (!after.contains(site))
      add_change(changes, Change::Kind::kLost, site, ranks, none, &SiteTimes::count, kLeastCalls);
  for (const auto& [site, ranks] : after) {
    const auto found = before.find(site);
    if (found == before.end()) {
      add_change(changes, Change::Kind::kAdded, site, none, ranks, &SiteTimes::count, kLeastCalls);
      continue;
    }
    const auto add = [&, &place = site, &now = ranks](Change::Kind kind, double SiteTimes::*what,
                                                      double limit) {
      add_change(changes, kind, place, found->second, now, what, limit);
    };
    add(Change::Kind::kCount, &SiteTimes::count, kLeastCalls);
    add(Change::Kind::kCompute, &SiteTimes::compute_ns, least);
    add(Change::Kind::kCall, &SiteTimes::call_ns, least);
  }
  const auto section = [](const Change& change) {
    return change.kind == Change::Kind::kCompute ? 1 : change.kind == Change::Kind::kCall ? 2 : 0;
  };
  std::stable_sort(changes.begin(), changes.end(), [&](const Change& a, const Change& b) {
    if (section(a) != section(b)) return section(a) < section(b);
    return std::abs(a.most) > std::abs(b.most);
  });
  return changes;
}

}  // namespace chameleon::analysis
