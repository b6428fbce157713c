// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Trees of hierarchical clustering as text and as SVG. Leaves are named by `names`, by item.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "statistics/linkage.h"

namespace chameleon::tools {
using namespace statistics;

/// Names some items that are together.
using NameItems = std::function<std::string(const std::vector<std::uint32_t>&)>;

/// A line for each branch, the last merge first; branches within this many `leaves` stay whole.
std::string dendrogram_text(std::uint32_t items, const std::vector<Merge>& merges,
                            const NameItems& names, std::size_t leaves);

/// From the left: heights, logarithmic, grow to the right; what merges at infinity, at the edge.
Status write_dendrogram(const std::string& path, std::uint32_t items,
                        const std::vector<Merge>& merges, const NameItems& names);

}  // namespace chameleon::tools
