// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Relaxed stack matching (dissertation section 3.6.2): call paths that agree in their innermost
/// and in their outermost frames are one, whatever lies between. Innermost frames are compared as
/// they are, outermost ones as functions, since a program's phases are called from different lines
/// of the same function. A relaxed path is a path in which `kAnyFrames` stands for the frames
/// between, also where there are none: so a path and a shorter one of the same ends are one.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/call_path.h"

namespace chameleon::callpath {

/// How many frames have to agree (CHAMELEON_FRAMES).
struct FramesMatched {
  static constexpr unsigned kMost = 128;

  unsigned innermost = 0;  ///< 0: all of them
  unsigned outermost = 0;

  bool all() const { return innermost == 0; }
  bool operator==(const FramesMatched&) const = default;
};

/// `all`, or L+T.
std::string frames_text(const FramesMatched& matched);
/// Reads that: L from 1 and T from 0 to `kMost`; false, and nothing changed, on anything else.
bool frames_of(std::string_view text, FramesMatched& matched);

/// The relaxed form of a path. `function_of(i)` is frame i as a function.
template <class FunctionOf>
std::vector<Frame> relax(const std::vector<Frame>& frames, const FramesMatched& matched,
                         FunctionOf function_of) {
  if (matched.all() || frames.size() <= matched.innermost) return frames;
  const auto first = frames.begin() + static_cast<std::ptrdiff_t>(matched.innermost);
  std::vector<Frame> relaxed(frames.begin(), first);
  relaxed.push_back(kAnyFrames);
  const std::size_t between = frames.size() - matched.innermost;
  const std::size_t last = std::min<std::size_t>(matched.outermost, between);
  for (std::size_t i = frames.size() - last; i < frames.size(); ++i)
    relaxed.push_back(function_of(i));
  return relaxed;
}

}  // namespace chameleon::callpath
