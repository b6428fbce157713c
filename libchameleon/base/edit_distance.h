// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How far apart two names are, to find the one that a mistyped name may mean.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace chameleon::inline base {

/// The number of letters to insert, delete or replace (Levenshtein). Time O(a b), memory O(b).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// From this distance on two names have nothing to do with each other.
inline constexpr std::size_t kUnrelatedNames = 3;

}  // namespace chameleon::inline base
