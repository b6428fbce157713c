// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_efforts.h"

#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/foreign_lines.h"
#include "cluster/effort_window.h"
#include "world/virtual_world.h"

namespace chameleon::analysis {
namespace {

using cluster::EffortOptions;
using cluster::RankEfforts;

constexpr std::string_view kEffortMark = "# efforts ";

/// What all ranks noted of one window.
struct NotedWindow {
  EffortOptions options;
  std::vector<RankEfforts> ranks;
  std::uint32_t known = 0;  ///< ranks
};
using NotedWindows = std::map<std::uint64_t, NotedWindow>;  // by their first marker

/// What one rank noted of it.
struct EffortLine {
  std::uint64_t first = 0;
  EffortOptions options;
  RankEfforts efforts;
};

/// # efforts FIRST OPTIONS (MARKER NS)...
std::optional<EffortLine> parse_efforts(const std::string& text) {
  std::istringstream words(text.substr(kEffortMark.size()));
  EffortLine line;
  words >> line.first;
  if (!cluster::effort_from(words, line.options)) return std::nullopt;
  cluster::StepEffort step;
  while (words >> step.marker) {
    if (!(words >> step.ns) || line.efforts.size() == Efforts::kMostLength) return std::nullopt;
    line.efforts.push_back(step);
  }
  if (!words.eof()) return std::nullopt;
  return line;
}

NotedWindows noted_windows(const Trace& trace) {
  NotedWindows windows;
  for (const EffortWindow& window : trace.efforts.windows())
    if (window.gap == EffortGap::kNone && window.ranks == trace.world_size)
      windows[window.first].ranks.resize(trace.world_size);
  return windows;
}

void enter_efforts(NotedWindows& windows, std::uint32_t rank, EffortLine&& line) {
  const auto found = windows.find(line.first);
  if (found == windows.end()) return;
  if (rank == 0) found->second.options = line.options;
  RankEfforts& mine = found->second.ranks[rank];
  if (mine.empty() && !line.efforts.empty()) ++found->second.known;
  mine = std::move(line.efforts);
}

/// A last line without its end is that of a killed job.
Status read_efforts(NotedWindows& windows, std::uint32_t rank, const std::string& path) {
  ForeignLines in(path);
  std::string text;
  while (std::getline(in, text) && !in.eof()) {
    if (text.compare(0, kEffortMark.size(), kEffortMark) != 0) continue;
    std::optional<EffortLine> line = parse_efforts(text);
    if (!line)
      return Error{ErrorKind::kCorrupt, path + ": malformed '# efforts' line: record again", 0};
    enter_efforts(windows, rank, std::move(*line));
  }
  return Unit{};
}

bool is_made_again(const EffortWindow& window, NotedWindow& noted) {
  VirtualWorld world(static_cast<std::uint32_t>(noted.ranks.size()));
  const std::optional<EffortWindow> again =
      cluster::effort_window(world, noted.ranks, noted.options, window.first, window.last);
  return again == window;
}

}  // namespace

Result<EffortCheck> verify_efforts(const Trace& trace, const std::string& raw_directory) {
  EffortCheck result;
  NotedWindows windows = noted_windows(trace);
  for (std::uint32_t rank = 0; rank < trace.world_size && !windows.empty(); ++rank) {
    const std::string path = raw_directory + "/rank." + std::to_string(rank) + ".raw";
    if (const Status read = read_efforts(windows, rank, path); !read) return read.error();
  }
  for (const EffortWindow& window : trace.efforts.windows()) {
    const auto found = windows.find(window.first);
    if (found == windows.end() || found->second.known != trace.world_size) continue;
    ++result.windows;
    if (is_made_again(window, found->second)) ++result.equal;
  }
  return result;
}

}  // namespace chameleon::analysis
