// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/linkage.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>

namespace chameleon::statistics {
namespace {

constexpr std::array<const char*, 3> kLinkageNames = {"single", "complete", "average"};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Clusters by their lowest item, as merges build them up.
class Forest {
 public:
  explicit Forest(std::uint32_t items) : parent_(items), cluster_(items), size_(items, 1) {
    std::iota(parent_.begin(), parent_.end(), 0U);
    std::iota(cluster_.begin(), cluster_.end(), 0U);
  }

  std::uint32_t root(std::uint32_t item) {
    while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
    return item;
  }

  /// False if both are in one cluster already.
  bool join(std::uint32_t a, std::uint32_t b, double height) {
    a = root(a);
    b = root(b);
    if (a == b) return false;
    if (b < a) std::swap(a, b);
    parent_[b] = a;
    size_[a] += size_[b];
    merges.push_back({cluster_[a], cluster_[b], height, size_[a]});
    cluster_[a] = static_cast<std::uint32_t>(parent_.size() + merges.size() - 1);
    return true;
  }

  std::vector<Merge> merges;

 private:
  std::vector<std::uint32_t> parent_, cluster_, size_;  ///< by item; the last two of roots
};

/// Joins in this order, then whatever is left.
std::vector<Merge> merges_of(std::uint32_t items, std::vector<PairDistance> joins) {
  for (PairDistance& join : joins)
    if (join.b < join.a) std::swap(join.a, join.b);
  std::stable_sort(joins.begin(), joins.end(), [](const PairDistance& x, const PairDistance& y) {
    return std::tie(x.distance, x.a, x.b) < std::tie(y.distance, y.a, y.b);
  });
  Forest forest(items);
  for (const PairDistance& join : joins)
    if (join.distance < kInfinity) forest.join(join.a, join.b, join.distance);
  for (std::uint32_t item = 1; item < items; ++item) forest.join(0, item, kInfinity);
  return std::move(forest.merges);
}

/// Distances between clusters, each named by one of its items.
class Distances {
 public:
  Distances(std::uint32_t items, std::span<const PairDistance> pairs)
      : items_(items), values_(std::size_t{items} * items, kInfinity), sizes_(items, 1) {
    for (const PairDistance& pair : pairs) set(pair.a, pair.b, pair.distance);
  }

  double at(std::uint32_t a, std::uint32_t b) const { return values_[std::size_t{a} * items_ + b]; }
  bool alive(std::uint32_t item) const { return sizes_[item] > 0; }

  /// The nearest to `a`: `before` of equal ones, else the lowest.
  std::uint32_t nearest(std::uint32_t a, std::uint32_t before) const {
    std::uint32_t best = before;
    for (std::uint32_t b = 0; b < items_; ++b)
      if (b != a && alive(b) && (best == items_ || at(a, b) < at(a, best))) best = b;
    return best;
  }

  /// `b` becomes part of `a` (Lance & Williams 1967).
  void join(std::uint32_t a, std::uint32_t b, Linkage linkage) {
    const double of_a = sizes_[a], of_b = sizes_[b];
    for (std::uint32_t c = 0; c < items_; ++c) {
      if (c == a || c == b || !alive(c)) continue;
      set(a, c,
          linkage == Linkage::kComplete ? std::max(at(a, c), at(b, c))
                                        : (of_a * at(a, c) + of_b * at(b, c)) / (of_a + of_b));
    }
    sizes_[a] += sizes_[b];
    sizes_[b] = 0;
  }

 private:
  void set(std::uint32_t a, std::uint32_t b, double distance) {
    values_[std::size_t{a} * items_ + b] = values_[std::size_t{b} * items_ + a] = distance;
  }

  std::uint32_t items_;
  std::vector<double> values_;
  std::vector<std::uint32_t> sizes_;  ///< 0: part of another cluster
};

// Two that are nearest to each other stay so whatever else merges, so the chain that led to them
// is followed on.
std::vector<PairDistance> neighbour_chain(std::uint32_t items, std::span<const PairDistance> pairs,
                                          Linkage linkage) {
  Distances distances(items, pairs);
  std::vector<PairDistance> joins;
  std::vector<std::uint32_t> chain;
  std::uint32_t lowest = 0;
  while (joins.size() + 1 < items) {
    if (chain.empty()) {
      while (!distances.alive(lowest)) ++lowest;
      chain.push_back(lowest);
    }
    const std::uint32_t end = chain.back();
    const std::uint32_t before = chain.size() > 1 ? chain[chain.size() - 2] : items;
    const std::uint32_t next = distances.nearest(end, before);
    if (next != before) {
      chain.push_back(next);
      continue;
    }
    chain.resize(chain.size() - 2);
    const auto [low, high] = std::minmax(end, next);
    joins.push_back({low, high, distances.at(low, high)});
    distances.join(low, high, linkage);
  }
  return joins;
}

}  // namespace

const char* linkage_name(Linkage linkage) {
  return kLinkageNames[static_cast<std::size_t>(linkage)];
}

bool linkage_of(std::string_view name, Linkage& linkage) {
  const auto found = std::find(kLinkageNames.begin(), kLinkageNames.end(), name);
  if (found == kLinkageNames.end()) return false;
  linkage = static_cast<Linkage>(found - kLinkageNames.begin());
  return true;
}

std::vector<Merge> hierarchy(std::uint32_t items, std::span<const PairDistance> pairs,
                             Linkage linkage) {
  if (linkage == Linkage::kSingle) return merges_of(items, {pairs.begin(), pairs.end()});
  return merges_of(items, neighbour_chain(items, pairs, linkage));
}

std::vector<std::uint32_t> leaf_order(std::uint32_t items, std::span<const Merge> merges) {
  std::vector<std::uint32_t> order, open;
  if (items == 0) return order;
  open.push_back(static_cast<std::uint32_t>(items + merges.size() - 1));
  while (!open.empty()) {
    const std::uint32_t cluster = open.back();
    open.pop_back();
    if (cluster < items) {
      order.push_back(cluster);
      continue;
    }
    const Merge& merge = merges[cluster - items];
    open.push_back(merge.b);
    open.push_back(merge.a);
  }
  return order;
}

std::vector<std::uint32_t> cut_tree(std::uint32_t items, std::span<const Merge> merges,
                                    std::uint32_t clusters) {
  std::vector<std::uint32_t> first(items + merges.size());  // an item of each cluster
  std::iota(first.begin(), first.begin() + items, 0U);
  Forest forest(items);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    first[items + i] = first[merges[i].a];
    if (i + clusters < items) forest.join(first[merges[i].a], first[merges[i].b], 0);
  }
  std::vector<std::uint32_t> labels(items), label_of(items, items);
  std::uint32_t next = 0;
  for (std::uint32_t item = 0; item < items; ++item) {
    std::uint32_t& label = label_of[forest.root(item)];
    if (label == items) label = next++;
    labels[item] = label;
  }
  return labels;
}

std::uint32_t natural_clusters(std::uint32_t items, std::span<const Merge> merges) {
  double widest = 1;
  std::uint32_t clusters = 1;
  for (std::size_t i = 1; i < merges.size(); ++i) {
    const double below = merges[i - 1].height, above = merges[i].height;
    if (!(below < above)) continue;
    const double ratio = below > 0 ? above / below : kInfinity;
    if (ratio <= widest) continue;
    widest = ratio;
    clusters = items - static_cast<std::uint32_t>(i);
  }
  return clusters;
}

}  // namespace chameleon::statistics
