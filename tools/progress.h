// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A bar on standard error for work that takes long: shown only if that is a terminal
/// and half a second has gone by, taken away at the end. Cheap enough for every event.

#include <chrono>
#include <cstdint>
#include <string>

#include "base/rooms.h"

namespace chameleon::tools {

class Progress {
 public:
  /// `whole`: steps in all; 0 if not known.
  Progress(std::string what, std::uint64_t whole);
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Takes the bar away, before anything is printed.
  void end();
  void step(std::uint64_t steps = 1) {
    done_ += steps;
    if (on_ && (left_ -= static_cast<std::int64_t>(steps)) <= 0) look();
  }

 private:
  void look();

  using Clock = std::chrono::steady_clock;
  const std::string what_;
  const std::uint64_t whole_;
  const bool on_;
  bool shown_ = false;
  std::uint64_t done_ = 0;
  std::int64_t left_ = 0;  ///< steps until the clock is read again
  const Clock::time_point begin_;
  Clock::time_point last_;
};

}  // namespace chameleon::tools
