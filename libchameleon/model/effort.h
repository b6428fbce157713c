// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Effort windows: what ranks computed in the intervals between acted-on markers, over ranks and
/// over steps, a fixed number of markers at a time (Gamblin et al. 2010). Moments over all ranks
/// are exact; ranks that compute alike are a stratum, of which a few are known step by step. Plain
/// values.

#include <cstdint>
#include <vector>

#include "base/rooms.h"

namespace chameleon::inline model {

/// An interval over all ranks of the window.
struct EffortStep {
  std::uint64_t marker = 0;  ///< acted-on marker that ends it, from 1
  std::uint64_t sum_ns = 0;
  std::uint64_t deviation_ns = 0;  ///< standard deviation over ranks, rounded up
  std::uint64_t least_ns = 0, most_ns = 0;
  bool operator==(const EffortStep&) const = default;
};

/// An interval over the ranks of a stratum.
struct EffortCell {
  std::uint64_t sum_ns = 0;
  std::uint64_t deviation_ns = 0;  ///< rounded up
  bool operator==(const EffortCell&) const = default;
};

struct SampledRank {
  std::uint32_t rank = 0;
  std::vector<std::uint64_t> ns;  ///< by step
  bool operator==(const SampledRank&) const = default;
};

/// Ranks that compute alike.
struct EffortStratum {
  std::uint32_t medoid = 0;
  std::uint32_t size = 0;  ///< ranks
  /// A rank's computation in all steps: standard deviation over ranks, rounded up, least and most.
  std::uint64_t deviation_ns = 0, least_ns = 0, most_ns = 0;
  std::vector<EffortCell> steps;     ///< as many as the window has
  std::vector<SampledRank> sampled;  ///< ascending ranks, the medoid among them
  bool has_medoid() const;           ///< whether it is among them
  bool operator==(const EffortStratum&) const = default;
};

/// Why a window has nothing but its markers.
enum class EffortGap : std::uint8_t {
  kNone,
  kUneven,   ///< ranks do not agree on the intervals that it has
  kLeftOut,  ///< no interval was recorded, for the budget
  kStopped,  ///< markers stopped within it
  kLost,     ///< what ranks sent did not arrive, or one had no memory for it
};

struct EffortWindow {
  std::uint64_t first = 1, last = 1;  ///< markers that end its first and its last interval
  EffortGap gap = EffortGap::kNone;
  std::uint32_t ranks = 0;         ///< those that had no fault
  std::uint64_t unstratified = 0;  ///< ranks to be measured if there were no strata (Eq. 1)
  bool strata_pay = false;         ///< by Eq. 2
  std::vector<EffortStep> steps;   ///< intervals left out for a budget are none
  std::vector<EffortStratum> strata;

  /// Numbers that it holds.
  std::uint64_t numbers() const;
  bool operator==(const EffortWindow&) const = default;
};

class Efforts {
 public:
  static constexpr std::uint64_t kLeastLength = 16, kMostLength = 1024;  ///< of a window
  static constexpr std::size_t kMostStrata = 64, kMostSampled = 256;     ///< of a window
  static constexpr std::uint64_t kMostSteps = 16384;                     ///< of all windows

  struct Settings {
    std::uint64_t length = 64;                                   ///< markers of a whole window
    std::uint32_t error_ppm = 50'000, confidence_ppm = 950'000;  ///< that were asked for
    bool operator==(const Settings&) const = default;
  };

  /// Which windows are measured: when they become too many only every second one, every fourth,
  /// and so on, and what is kept of those before is the same.
  static std::uint64_t stride(std::uint64_t index, std::uint64_t length);
  static bool measured(std::uint64_t index, std::uint64_t length) {
    return index % stride(index, length) == 0;
  }

  /// Appends windows that come later in time; others are left out.
  void add(EffortWindow window);
  void append(Efforts&& later);

  const std::vector<EffortWindow>& windows() const { return windows_; }
  const Settings& settings() const { return settings_; }
  void set(const Settings& settings) { settings_ = settings; }
  bool empty() const { return windows_.empty(); }
  std::uint64_t numbers() const;
  bool operator==(const Efforts&) const = default;

 private:
  std::uint64_t index(const EffortWindow& window) const {
    return (window.first - 1) / settings_.length;
  }

  Settings settings_;
  std::vector<EffortWindow> windows_;
};

}  // namespace chameleon::inline model
