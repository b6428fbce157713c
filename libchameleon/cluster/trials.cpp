// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/trials.h"

#include <algorithm>

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

std::vector<Transfer> transfers(const std::vector<Trial>& trials) {
  std::vector<Transfer> all;
  for (const Trial& trial : trials)
    for (const std::uint32_t rank : trial.sample) all.push_back({rank, trial.worker});
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace chameleon::cluster
