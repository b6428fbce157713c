// SPDX-License-Identifier: BSD-3-Clause
#include "tools/loop_places.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "analysis/loop_frames.h"

namespace chameleon::tools {

const std::string& LoopPlaces::of(const Node& loop) const {
  static const std::string kNone;
  const auto found = texts_.find(&loop);
  return found == texts_.end() ? kNone : found->second;
}

void LoopPlaces::add_paths(const Node& node, Paths& paths) {
  if (node.is_loop()) {
    for (const Node& inner : node.body) add_paths(inner, paths);
    return;
  }
  const auto frames = sites_.place_frames(node.path);
  paths.emplace(frames.rbegin(), frames.rend());
}

LoopPlaces::Common LoopPlaces::common_of(const Node& loop) {
  Common common;
  add_paths(loop, common.paths);
  const Frames& first = *common.paths.begin();
  common.outer = first.size();
  for (const Frames& path : common.paths) {
    const auto differs = std::mismatch(first.begin(), first.end(), path.begin(), path.end()).first;
    common.outer = std::min(common.outer, static_cast<std::size_t>(differs - first.begin()));
  }
  return common;
}

LoopPlaces::Function LoopPlaces::function_of(const Frame& frame) {
  if (!sites_.is_named(frame)) return {};
  const SourceLocation& at = sites_.resolve(frame);
  return {sites_.unit_of(frame), at.inlined_in.empty() ? at.function : at.inlined_in};
}

/// The function that all paths call next; without a name if there is none.
LoopPlaces::Function LoopPlaces::next_function(const Common& common) {
  Function function;
  for (const Frames& path : common.paths) {
    if (path.size() <= common.outer) return {};
    const Function next = function_of(path[common.outer]);
    if (!function.second.empty() && next != function) return {};
    function = next;
  }
  return function;
}

/// Whether all these calls stand in one function that was inlined.
bool LoopPlaces::in_one_inlined(const Common& common) {
  const auto at = [&](const Frames& path) -> const SourceLocation& {
    return sites_.resolve(path[common.outer]);
  };
  const SourceLocation& first = at(*common.paths.begin());
  return !first.inlined_in.empty() &&
         std::all_of(common.paths.begin(), common.paths.end(), [&](const Frames& path) {
           return !at(path).inlined_in.empty() && at(path).function == first.function;
         });
}

/// `sweep.cpp:40-58 sweep()`: the lines of those calls that stand in the function itself, or that
/// call what was inlined in it.
std::string LoopPlaces::lines_text(const Common& common, const Function& function) {
  const bool inlined = in_one_inlined(common);
  std::string name = function.second, file;
  int first = 0, last = 0;
  for (const Frames& path : common.paths) {
    const SourceLocation& at = sites_.resolve(path[common.outer]);
    const bool outside = !inlined && !at.inlined_in.empty();
    const std::string& here = outside ? at.outer_file : at.file;
    const int line = outside ? at.outer_line : at.line;
    if (inlined) name = at.function;
    if (here.empty()) continue;
    if (file.empty()) file = here;
    if (here != file) continue;
    first = first == 0 ? line : std::min(first, line);
    last = std::max(last, line);
  }
  name = sites_.function_text(name);
  if (file.empty()) return name;
  return std::string(base_name(file)) + ":" + std::to_string(first) +
         (last > first ? "-" + std::to_string(last) : "") + " " + name;
}

/// `taskfarm+0x14bb-0x151b`, of a program whose functions have no names; empty: of several modules.
std::string LoopPlaces::addresses_text(const Node& loop) {
  const auto frames = analysis::loop_frames(trace_, loop);
  if (!frames) return {};
  if (is_source(frames->first)) return analysis::loop_place(trace_, loop);
  char last[24] = "";
  if (frames->last != frames->first)
    std::snprintf(last, sizeof last, "-0x%" PRIx64, frames->last.offset);
  return sites_.address_text(frames->first) + last;
}

void LoopPlaces::find(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (!node.is_loop()) continue;
    locate(node);
    find(node.body);
  }
}

void LoopPlaces::locate(const Node& loop) {
  Common common = common_of(loop);
  Function function = next_function(common);
  const Frames& path = *common.paths.begin();
  if (function.second.empty()) {
    // All that is common is a call: the loop is where that one stands.
    if (common.outer == 0) {
      texts_[&loop] = addresses_text(loop);
      return;
    }
    const Frame& innermost = path[--common.outer];
    function = function_of(innermost);
    texts_[&loop] = sites_.describe(innermost);
  } else {
    texts_[&loop] = lines_text(common, function);
  }
  const auto end = path.begin() + static_cast<std::ptrdiff_t>(common.outer);
  functions_[function].push_back({&loop, {path.begin(), end}});
}

/// Names the innermost caller that is not the same for all loops of a function.
void LoopPlaces::tell_apart() {
  for (const auto& [function, loops] : functions_) {
    const Frames& some = loops.front().callers;
    const auto agree = [&, &all = loops](std::size_t depth) {
      return std::all_of(all.begin(), all.end(), [&](const Found& loop) {
        return loop.callers.size() > depth && loop.callers.rbegin()[depth] == some.rbegin()[depth];
      });
    };
    std::size_t depth = 0;
    while (depth < some.size() && agree(depth)) ++depth;
    for (const Found& loop : loops)
      if (depth < loop.callers.size())
        texts_[loop.loop] += " called at " + sites_.describe(loop.callers.rbegin()[depth]);
  }
}

}  // namespace chameleon::tools
