// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/trials.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "statistics/draw.h"

namespace chameleon::cluster {

std::vector<Trial> plan_trials(std::uint32_t population, const TrialOptions& options) {
  std::vector<Trial> trials;
  if (population == 0) return trials;
  const std::uint32_t first = std::max(1U, options.first_k);
  std::uint32_t last = std::max(first, options.last_k);
  if (last > first) last = std::max(first, std::min(last, population - 1));
  for (std::uint32_t k = first; k <= last; ++k) {
    const std::uint32_t size = options.sample_size + 2 * k;
    const std::uint32_t samples = size >= population ? 1 : std::max(1U, options.samples);
    for (std::uint32_t sample = 0; sample < samples; ++sample) {
      Trial& trial = trials.emplace_back();
      trial.k = std::min(k, population);
      trial.sample = draw(population, size, combine(combine(options.seed, k), sample));
    }
  }
  for (std::size_t t = 0; t < trials.size(); ++t)
    trials[t].worker = static_cast<std::uint32_t>(std::uint64_t{t} * population / trials.size());
  return trials;
}

namespace {

/// The ranks at these places of a list; ascending.
std::vector<std::uint32_t> ranks_at(const RankList& list, std::vector<std::uint32_t> places) {
  auto interval = list.intervals().begin();
  std::uint64_t before = 0;  // ranks of the intervals that were passed
  for (std::uint32_t& place : places) {
    const auto size = [&] { return std::uint64_t{interval->last} - interval->first + 1; };
    while (place - before >= size()) before += size(), ++interval;
    place = static_cast<std::uint32_t>(interval->first + (place - before));
  }
  return places;
}

}  // namespace

std::vector<Trial> plan_trials(const std::vector<RankList>& groups, const TrialOptions& options) {
  std::vector<Trial> all;
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    const RankList& ranks = groups[group];
    if (ranks.size() < 2) continue;
    for (Trial& trial : plan_trials(static_cast<std::uint32_t>(ranks.size()), options)) {
      trial.group = group;
      trial.worker = ranks_at(ranks, {trial.worker}).front();
      trial.sample = ranks_at(ranks, std::move(trial.sample));
      all.push_back(std::move(trial));
    }
  }
  return all;
}

std::vector<Transfer> transfers(const std::vector<Trial>& trials) {
  std::vector<Transfer> all;
  for (const Trial& trial : trials)
    for (const std::uint32_t rank : trial.sample) all.push_back({rank, trial.worker});
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace chameleon::cluster
