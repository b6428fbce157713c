// SPDX-License-Identifier: BSD-3-Clause
#include "tools/dendrogram.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "base/new_file.h"

namespace chameleon::tools {
namespace {

std::string height_text(double height) {
  if (std::isinf(height)) return "never";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", height);
  return text;
}

/// Items of the branch below a cluster.
std::vector<std::uint32_t> items_below(std::uint32_t items, const std::vector<Merge>& merges,
                                       std::uint32_t cluster) {
  std::vector<std::uint32_t> below, open = {cluster};
  while (!open.empty()) {
    const std::uint32_t one = open.back();
    open.pop_back();
    if (one < items) {
      below.push_back(one);
    } else {
      open.push_back(merges[one - items].b);
      open.push_back(merges[one - items].a);
    }
  }
  return below;
}

void add_text(std::string& text, std::uint32_t items, const std::vector<Merge>& merges,
              const NameItems& names, std::uint32_t lowest, std::uint32_t cluster,
              const std::string& indent) {
  text += indent;
  if (cluster < lowest) {  // a leaf, or not taken apart
    text += names(items_below(items, merges, cluster));
    if (cluster >= items) text += "  within " + height_text(merges[cluster - items].height);
    text += "\n";
    return;
  }
  const Merge& merge = merges[cluster - items];
  text += height_text(merge.height) + "\n";
  for (const std::uint32_t part : {merge.a, merge.b})
    add_text(text, items, merges, names, lowest, part, indent + "  ");
}

}  // namespace

std::string dendrogram_text(std::uint32_t items, const std::vector<Merge>& merges,
                            const NameItems& names, std::size_t leaves) {
  std::string text;
  if (items == 0) return text;
  const auto clusters = static_cast<std::uint32_t>(items + merges.size());
  const auto apart = static_cast<std::uint32_t>(
      std::min<std::size_t>(merges.size(), std::max<std::size_t>(leaves, 1) - 1));
  add_text(text, items, merges, names, clusters - apart, clusters - 1, "");
  return text;
}

Status write_dendrogram(const std::string& path, std::uint32_t items,
                        const std::vector<Merge>& merges, const NameItems& names) {
  constexpr double kRow = 14, kLeft = 60, kWidth = 640, kMargin = 10;
  double least = INFINITY, most = 0;
  for (const Merge& merge : merges) {
    if (std::isinf(merge.height) || merge.height <= 0) continue;
    least = std::min(least, merge.height);
    most = std::max(most, merge.height);
  }
  // Room before the first merge, and beyond the last for what never merges.
  const double range = most > least ? std::log(most / least) : 1;
  const auto x_of = [&](double height) {
    if (std::isinf(height)) return kLeft + kWidth;
    if (height <= 0 || !(least <= most)) return kLeft;
    return kLeft + kWidth * (0.1 + 0.8 * std::log(height / least) / range);
  };
  std::vector<double> x(items + merges.size(), kLeft), y(items + merges.size());
  std::ostringstream file;
  file << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kLeft + kWidth + kMargin
       << "\" height=\"" << kRow * items + 2 * kMargin
       << "\" font-family=\"sans-serif\" font-size=\"10\">\n"
       << "<g fill=\"none\" stroke=\"#08519c\">\n";
  const std::vector<std::uint32_t> order = leaf_order(items, merges);
  for (std::size_t i = 0; i < order.size(); ++i)
    y[order[i]] = kMargin + kRow * (static_cast<double>(i) + 0.5);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const Merge& merge = merges[i];
    const std::size_t made = items + i;
    x[made] = x_of(merge.height);
    y[made] = (y[merge.a] + y[merge.b]) / 2;
    file << "<path d=\"M" << x[merge.a] << " " << y[merge.a] << "H" << x[made] << "V" << y[merge.b]
         << "H" << x[merge.b] << "\"><title>" << height_text(merge.height) << "</title></path>\n";
  }
  file << "</g>\n<g text-anchor=\"end\">\n";
  for (const std::uint32_t item : order)
    file << "<text x=\"" << kLeft - 4 << "\" y=\"" << y[item] + 3 << "\">" << names({item})
         << "</text>\n";
  file << "</g>\n</svg>\n";
  return write_new_file(path, file.str());
}

}  // namespace chameleon::tools
