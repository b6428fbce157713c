// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Recursion folding: a block of frames repeated at once collapses to one, so
/// that a call path does not depend on how deep a recursion went. One pass,
/// innermost frame first, in place; the result has no adjacent equal blocks
/// of up to `kLongestRecursion` frames. Constant work per frame, no allocation.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/call_path.h"

namespace chameleon::callpath {

/// Longest cycle of mutually recursive functions that is folded.
inline constexpr std::size_t kLongestRecursion = 8;

/// Folds `frames`: `f f f main` becomes `f main`, `a b a b main` `a b main`.
inline void fold_recursion(std::vector<Frame>& frames) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[kept++] = frames[i];
    for (std::size_t period = 1; period <= kLongestRecursion && 2 * period <= kept; ++period) {
      const auto end = frames.begin() + static_cast<std::ptrdiff_t>(kept);
      const auto block = end - static_cast<std::ptrdiff_t>(period);
      if (std::equal(block, end, block - static_cast<std::ptrdiff_t>(period))) {
        // What remains was folded before this frame came, so no second look.
        kept -= period;
        break;
      }
    }
  }
  frames.resize(kept);
}

}  // namespace chameleon::callpath
