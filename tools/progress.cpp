// SPDX-License-Identifier: BSD-3-Clause
#include "tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace chameleon::tools {

Progress::Progress(std::string what, std::uint64_t whole)
    : what_(std::move(what)),
      whole_(whole),
      on_(isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      last_(begin_) {}

void Progress::end() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::look() {
  constexpr std::uint64_t kLooks = 500;
  left_ = static_cast<std::int64_t>(std::clamp<std::uint64_t>(whole_ / kLooks, 1, 4096));
  const Clock::time_point now = Clock::now();
  if (now - begin_ < std::chrono::milliseconds(500) || now - last_ < std::chrono::milliseconds(100))
    return;
  last_ = now;
  shown_ = true;
  if (whole_ == 0) {
    std::fprintf(stderr, "\r\033[K%s: %llu", what_.c_str(), static_cast<unsigned long long>(done_));
    return;
  }
  constexpr int kWidth = 40;
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(whole_));
  const int full = static_cast<int>(share * kWidth);
  std::fprintf(stderr, "\r\033[K%s [%s%s] %3.0f %%", what_.c_str(),
               std::string(static_cast<std::size_t>(full), '#').c_str(),
               std::string(static_cast<std::size_t>(kWidth - full), ' ').c_str(), share * 100);
}

}  // namespace chameleon::tools
