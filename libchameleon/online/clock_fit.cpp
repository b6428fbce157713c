// SPDX-License-Identifier: BSD-3-Clause
#include "online/clock_fit.h"

#include <algorithm>
#include <cmath>

namespace chameleon::online {

void ClockFit::add(const ClockSample& sample) {
  // The last one is always here, to be replaced unless it is one of those that stay.
  if (count_ > 1 && (count_ - 1) % every_ != 0) samples_.pop_back();
  samples_.push_back(sample);
  ++count_;
  if (samples_.size() <= kMost) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
  samples_.resize(kept);
  every_ *= 2;
}

RankClock ClockFit::clock() const {
  RankClock clock;
  clock.samples = count_;
  if (samples_.empty()) return clock;
  // Around the weighted mean: nanoseconds of long runs are more than a double's digits squared.
  const double origin = static_cast<double>(samples_.front().local);
  double weights = 0, mean_time = 0, mean_offset = 0;
  const auto weight = [](const ClockSample& one) {
    const double error = static_cast<double>(one.error) + 1;
    return 1 / (error * error);
  };
  const auto time = [&](const ClockSample& one) { return static_cast<double>(one.local) - origin; };
  for (const ClockSample& one : samples_) {
    weights += weight(one);
    mean_time += weight(one) * time(one);
    mean_offset += weight(one) * static_cast<double>(one.offset);
  }
  mean_time /= weights;
  mean_offset /= weights;
  double spread = 0, common = 0;
  for (const ClockSample& one : samples_) {
    const double away = time(one) - mean_time;
    spread += weight(one) * away * away;
    common += weight(one) * away * (static_cast<double>(one.offset) - mean_offset);
  }
  const double drift = spread > 0 ? common / spread : 0;
  const auto line = [&](double at) { return mean_offset + drift * (at - mean_time); };
  clock.begin_ns = std::llround(line(-origin));
  clock.drift_ppb = std::llround(drift * 1e9);
  for (const ClockSample& one : samples_) {
    const double away = std::abs(static_cast<double>(one.offset) - line(time(one)));
    clock.error_ns =
        std::max(clock.error_ns, static_cast<std::uint64_t>(std::llround(away) + one.error));
  }
  return clock;
}

}  // namespace chameleon::online
