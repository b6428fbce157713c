// SPDX-License-Identifier: BSD-3-Clause
/// At which call sites the stretches of slow_steps.h lose their time.

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analysis/place_times.h"
#include "analysis/slow_steps.h"
#include "analysis/stretch_places.h"

namespace chameleon::analysis {
namespace {

/// What the slowest `share` of a distribution takes beyond the middle of the rest, an instance of
/// all.
double excess_of(const Histogram& times, double share) {
  if (times.empty() || share <= 0) return 0;
  const double base = times.quantile((1 - share) / 2);
  const Histogram::Bins bins = times.bins();
  double left = share * static_cast<double>(times.count()), sum = 0;
  for (auto bin = bins.rbegin(); bin != bins.rend() && left > 0; ++bin) {
    const double low = std::max(static_cast<double>(Histogram::bin_low(bin->first)),
                                static_cast<double>(times.min()));
    const double high = std::min(static_cast<double>(Histogram::bin_low(bin->first + 1U)),
                                 static_cast<double>(times.max()));
    const double here = std::min(left, static_cast<double>(bin->second));
    sum += here * std::max((low + high) / 2 - base, 0.0);
    left -= here;
  }
  return sum / static_cast<double>(times.count());
}

/// One stretch, at one place.
struct Candidate {
  double compute_ns = 0, call_ns = 0;                // of its ranks
  double compute_excess_ns = 0, call_excess_ns = 0;  // of the slowest instances
};

struct PlaceSums {
  std::uint16_t call = 0;
  std::uint64_t path = 0;
  double compute_ns = 0;
  RankList ranks;
  std::vector<Candidate> stretches;

  double mean_ns() const {
    return ranks.empty() ? 0 : compute_ns / static_cast<double>(ranks.size());
  }
};

class Places {
 public:
  Places(const Trace& trace, const std::vector<SlowSteps>& stretches)
      : trace_(trace), stretches_(stretches) {
    double all = 0;
    for (const SeriesSpan& span : trace.series.spans()) all += static_cast<double>(span.intervals);
    for (const SlowSteps& one : stretches) {
      // Of ranks that take turns, each is slow in its own steps.
      const double turns =
          one.whose == SlowSteps::Whose::kMoves ? static_cast<double>(one.ranks.size()) : 1;
      shares_.push_back(static_cast<double>(one.intervals()) / turns / std::max(all, 1.0));
    }
  }

  Status read() {
    Result<StretchPlaces> inside = places_in(trace_, stretches_);
    if (!inside) return inside.error();
    inside_ = std::move(*inside);
    return each_place_time(trace_, trace_.ranks, [&](const PlaceTime& time) { add(time); });
  }

  void blame(std::size_t stretch, SlowSteps& slow) const {
    slow.computes = nearest(stretch, target_of(stretch));
    if (slow.whose == SlowSteps::Whose::kAll) slow.waits = longest_wait(stretch);
  }

 private:
  void add(const PlaceTime& time) {
    if (time.like == nullptr) return;
    const std::uint32_t rank = trace_.rank_of(time.stream);
    PlaceSums& place = places_[time.node.symbol()];
    place.call = time.node.call;
    place.path = time.node.path;
    place.compute_ns += time.compute_ns();
    place.ranks.insert(rank);
    place.stretches.resize(stretches_.size());
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const SlowSteps& slow = stretches_[i];
      if (slow.whose != SlowSteps::Whose::kAll && !slow.ranks.contains(rank)) continue;
      Candidate& here = place.stretches[i];
      here.compute_ns += time.compute_ns();
      here.call_ns += time.call_ns();
      if (slow.whose == SlowSteps::Whose::kOne) continue;
      const auto& [compute, call] = excess(time, i);
      here.compute_excess_ns += time.events * compute;
      here.call_excess_ns += time.events * call;
    }
  }

  /// Distributions that streams share are looked at once.
  std::pair<double, double> excess(const PlaceTime& time, std::size_t stretch) {
    const auto make = [&] {
      return std::pair(excess_of(time.like->compute, shares_[stretch]),
                       excess_of(time.like->communication, shares_[stretch]));
    };
    if (!time.shared) return make();
    auto& known = known_[time.like];
    known.resize(stretches_.size(), {-1, 0});
    if (known[stretch].first < 0) known[stretch] = make();
    return known[stretch];
  }

  /// What its ranks computed longer in the stretch than others, or than in other intervals.
  double target_of(std::size_t stretch) const {
    const SlowSteps& slow = stretches_[stretch];
    if (slow.whose != SlowSteps::Whose::kAll) return slow.lost_ns;
    const double usual = usual_compute_ns() * static_cast<double>(slow.intervals());
    const double more = (slow.compute_ns - usual) * std::max<double>(trace_.world_size, 1);
    // Even if ranks computed one after the other, it is not the reason.
    return more < slow.lost_ns / 2 ? 0 : more;
  }

  /// Of a rank and interval, which a quarter of the intervals stays below.
  double usual_compute_ns() const {
    std::vector<std::pair<double, double>> means;  // with how many
    double all = 0, seen = 0;
    for (const SeriesSpan& span : trace_.series.spans()) {
      const auto intervals = static_cast<double>(span.intervals);
      means.emplace_back(static_cast<double>(span.all.compute.sum_ns) / intervals /
                             std::max<double>(trace_.world_size, 1),
                         intervals);
      all += intervals;
    }
    std::sort(means.begin(), means.end());
    for (const auto& [mean, intervals] : means)
      if ((seen += intervals) >= 0.25 * all) return mean;
    return 0;
  }

  double compute_excess(const PlaceSums& place, std::size_t stretch) const {
    const Candidate& here = place.stretches[stretch];
    return stretches_[stretch].whose == SlowSteps::Whose::kOne ? here.compute_ns - place.mean_ns()
                                                               : here.compute_excess_ns;
  }

  std::optional<SlowPlace> nearest(std::size_t stretch, double target) const {
    std::optional<SlowPlace> best;
    for (const auto& [symbol, place] : places_) {
      if (inside_[stretch] && !inside_[stretch]->contains(symbol)) continue;
      const double excess = compute_excess(place, stretch);
      if (target <= 0 || excess < target / 2) continue;
      if (best && std::abs(excess - target) >= std::abs(best->excess_ns - target)) continue;
      best = SlowPlace{place.call, place.path, excess, place.stretches[stretch].compute_ns};
    }
    return best;
  }

  std::optional<SlowPlace> longest_wait(std::size_t stretch) const {
    std::optional<SlowPlace> best;
    for (const auto& [symbol, place] : places_) {
      if (inside_[stretch] && !inside_[stretch]->contains(symbol)) continue;
      const double excess = place.stretches[stretch].call_excess_ns;
      if (excess <= 0 || (best && excess <= best->excess_ns)) continue;
      best = SlowPlace{place.call, place.path, excess, place.stretches[stretch].call_ns};
    }
    return best;
  }

  const Trace& trace_;
  const std::vector<SlowSteps>& stretches_;
  StretchPlaces inside_;                       ///< places that occur there
  std::vector<double> shares_;                 ///< of all intervals
  std::map<std::uint64_t, PlaceSums> places_;  ///< by symbol
  std::unordered_map<const Durations*, std::vector<std::pair<double, double>>> known_;
};

}  // namespace

Result<std::vector<SlowSteps>> slow_steps(const Trace& trace) {
  const std::vector<SlowSteps> stretches = slow_stretches(trace.series, trace.world_size);
  if (stretches.empty() || trace.timing == "none") return stretches;
  Places places(trace, stretches);
  if (const Status read = places.read(); !read) return read.error();
  std::vector<SlowSteps> slow = stretches;
  for (std::size_t i = 0; i < slow.size(); ++i) {
    places.blame(i, slow[i]);
    if (slow[i].whose == SlowSteps::Whose::kAll) slow[i].ranks = trace.whole_ranks();
  }
  return slow;
}

}  // namespace chameleon::analysis
