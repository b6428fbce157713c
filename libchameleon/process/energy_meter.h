// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The energy that a node's packages and memory take, by the counters of RAPL that the kernel shows
/// as files. Counters wrap: between two readings a counter may advance by less than its range,
/// which is made sure of by a bound on power. A reading opens and reads a file for each counter.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chameleon::process {

class EnergyMeter {
 public:
  static constexpr const char* kFolder = "/sys/class/powercap";
  /// W, that no package and no memory takes for long.
  static constexpr double kMostPower = 1000;

  /// Begins with what the counters under a folder show now. Why not; empty: it does.
  std::string open(const std::string& folder = kFolder, double seconds = 0);
  bool is_open() const { return !counters_.empty(); }
  /// Adds what the counters advanced. `seconds`: now, on the clock of the reading before.
  void read(double seconds);
  /// Since the start; nothing if it is not known.
  std::optional<std::uint64_t> microjoules() const;

 private:
  struct Counter {
    std::string file;
    std::uint64_t range = 0, last = 0;  ///< uJ
  };

  std::vector<Counter> counters_;
  double read_at_ = 0;  ///< s
  std::uint64_t sum_ = 0;
  bool lost_ = false;  ///< a reading failed, or came too late
};

}  // namespace chameleon::process
