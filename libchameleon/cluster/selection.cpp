// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/selection.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/hash.h"

namespace chameleon::cluster {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

Chosen everything(std::size_t size) {
  Chosen all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Distances of an item to its nearest and second nearest medoid.
struct Near {
  std::size_t medoid = 0;
  double first = kFar, second = kFar;
};

std::vector<Near> near_medoids(const Dissimilarities& items, const Chosen& medoids) {
  std::vector<Near> all(items.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t m = 0; m < medoids.size(); ++m) {
      const double distance = items(i, medoids[m]);
      if (distance < all[i].first) {
        all[i].second = all[i].first;
        all[i].first = distance;
        all[i].medoid = m;
      } else {
        all[i].second = std::min(all[i].second, distance);
      }
    }
  return all;
}

double cost_of(const std::vector<Near>& near, std::span<const double> weights) {
  double cost = 0;
  for (std::size_t i = 0; i < near.size(); ++i) cost += weights[i] * near[i].first;
  return cost;
}

/// Greedily the item that lowers the cost most.
Chosen build(const Dissimilarities& items, std::span<const double> weights, std::size_t k) {
  const std::size_t size = items.size();
  Chosen medoids;
  std::vector<double> near(size, kFar);
  std::vector<bool> chosen(size);
  while (medoids.size() < k) {
    std::size_t best = size;
    double least = kFar;
    for (std::size_t candidate = 0; candidate < size; ++candidate) {
      if (chosen[candidate]) continue;
      double cost = 0;
      for (std::size_t i = 0; i < size; ++i)
        cost += weights[i] * std::min(near[i], items(i, candidate));
      if (best == size || cost < least) {
        best = candidate;
        least = cost;
      }
    }
    chosen[best] = true;
    medoids.push_back(best);
    for (std::size_t i = 0; i < size; ++i) near[i] = std::min(near[i], items(i, best));
  }
  return medoids;
}

}  // namespace

const char* selection_name(Selection selection) {
  switch (selection) {
    case Selection::kFarthest: return "k-farthest";
    case Selection::kMedoid: return "k-medoid";
    case Selection::kRandom: return "k-random";
    case Selection::kCapek: return "capek";
  }
  return "";
}

bool selection_of(std::string_view name, Selection& selection) {
  for (const Selection each :
       {Selection::kFarthest, Selection::kMedoid, Selection::kRandom, Selection::kCapek})
    if (name == selection_name(each)) return selection = each, true;
  return false;
}

Chosen k_farthest(const Dissimilarities& items, std::size_t k, double enough) {
  const std::size_t size = items.size();
  if (size == 0 || (k >= size && enough <= 0)) return everything(size);
  k = std::min(k, size);
  Chosen chosen;
  std::vector<double> near(size, kFar);  // to the nearest chosen one; negative: chosen
  for (std::size_t next = 0; chosen.size() < k;) {
    chosen.push_back(next);
    near[next] = -1;
    for (std::size_t i = 0; i < size; ++i)
      if (near[i] >= 0) near[i] = std::min(near[i], items(i, chosen.back()));
    next = static_cast<std::size_t>(std::max_element(near.begin(), near.end()) - near.begin());
    if (near[next] < enough) break;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Chosen k_medoid(const Dissimilarities& items, std::span<const double> weights, std::size_t k) {
  const std::size_t size = items.size();
  if (k >= size) return everything(size);
  if (k == 0) return {};
  Chosen medoids = build(items, weights, k);
  std::sort(medoids.begin(), medoids.end());
  std::vector<Near> near = near_medoids(items, medoids);
  for (double cost = cost_of(near, weights);;) {
    std::size_t out = 0, in = 0;
    double best = 0;
    for (std::size_t candidate = 0; candidate < size; ++candidate) {
      if (std::binary_search(medoids.begin(), medoids.end(), candidate)) continue;
      for (std::size_t m = 0; m < k; ++m) {
        double change = 0;
        for (std::size_t i = 0; i < size; ++i) {
          const double stays = near[i].medoid == m ? near[i].second : near[i].first;
          change += weights[i] * (std::min(stays, items(i, candidate)) - near[i].first);
        }
        if (change < best) {
          best = change;
          out = m;
          in = candidate;
        }
      }
    }
    if (best == 0) break;
    Chosen swapped = medoids;
    swapped[out] = in;
    std::sort(swapped.begin(), swapped.end());
    std::vector<Near> then = near_medoids(items, swapped);
    const double lower = cost_of(then, weights);
    if (!(lower < cost)) break;  // only by rounding; without this it could go in circles
    medoids = std::move(swapped);
    near = std::move(then);
    cost = lower;
  }
  return medoids;
}

Chosen k_random(std::span<const std::uint64_t> ids, std::size_t k, std::uint64_t seed) {
  Chosen order = everything(ids.size());
  if (k >= order.size()) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return combine(seed, ids[a]) < combine(seed, ids[b]);
  });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<std::size_t> nearest(const Dissimilarities& items, const Chosen& chosen) {
  std::vector<std::size_t> result(items.size());
  if (chosen.empty()) return result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::size_t best = chosen.front();
    for (const std::size_t candidate : chosen)
      if (candidate == i || (best != i && items(i, candidate) < items(i, best))) best = candidate;
    result[i] = best;
  }
  return result;
}

}  // namespace chameleon::cluster
