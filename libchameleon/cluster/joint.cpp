// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/joint.h"

#include <algorithm>
#include <utility>

namespace chameleon::cluster {
namespace {

template <class F>
void for_each_pair(const MainCluster& main, const Clustering& before, F f) {
  for (const SubCluster& mine : main.clusters)
    for (const MainCluster& others : before.main)
      for (const SubCluster& other : others.clusters)
        if (mine.ranks.intersects(other.ranks)) f(mine, other);
}

/// Whether partners of ranks in both follow from those of a lead, if they do in each.
bool agree(const SubCluster& a, const SubCluster& b) {
  return (a.relative_holds && b.relative_holds) || (a.mixed_holds && b.mixed_holds) ||
         (a.xor_holds && b.xor_holds);
}

SubCluster both(const SubCluster& now, const SubCluster& before) {
  SubCluster one = now;
  one.ranks = now.ranks.intersection(before.ranks);
  one.lead = one.ranks.contains(before.lead) ? before.lead
             : one.ranks.contains(now.lead)  ? now.lead
                                             : one.ranks.first();
  one.relative_holds = now.relative_holds && before.relative_holds;
  one.mixed_holds = now.mixed_holds && before.mixed_holds;
  one.xor_holds = now.xor_holds && before.xor_holds;
  one.same_distances = now.same_distances && before.same_distances;
  return one;
}

}  // namespace

std::size_t joint_size(const Clustering& now, const Clustering& before, std::size_t most) {
  std::size_t size = 0;
  bool all_agree = true;
  for (const MainCluster& main : now.main)
    for_each_pair(main, before, [&](const SubCluster& mine, const SubCluster& other) {
      ++size;
      all_agree = all_agree && agree(mine, other);
    });
  return all_agree && size <= most ? size : 0;
}

Clustering joint(const Clustering& now, const Clustering& before) {
  Clustering all;
  all.format = now.format;
  all.selected = now.selected || before.selected;
  for (const MainCluster& main : now.main) {
    MainCluster one{main.call_path, {}};
    for_each_pair(main, before, [&](const SubCluster& mine, const SubCluster& other) {
      one.clusters.push_back(both(mine, other));
    });
    if (one.clusters.empty()) continue;
    std::sort(one.clusters.begin(), one.clusters.end(),
              [](const SubCluster& a, const SubCluster& b) { return a.lead < b.lead; });
    all.main.push_back(std::move(one));
  }
  const auto lowest = [](const MainCluster& main) {
    return std::min_element(main.clusters.begin(), main.clusters.end(),
                            [](const SubCluster& a, const SubCluster& b) {
                              return a.ranks.first() < b.ranks.first();
                            })
        ->ranks.first();
  };
  std::sort(all.main.begin(), all.main.end(),
            [&](const MainCluster& a, const MainCluster& b) { return lowest(a) < lowest(b); });
  return all;
}

}  // namespace chameleon::cluster
