// SPDX-License-Identifier: BSD-3-Clause
#include "left_parts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common.h"

namespace chameleon::tools {

std::vector<std::string> parts_of(const std::string& trace) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  std::error_code error;
  const fs::path folder = fs::absolute(trace, error).parent_path();
  const std::string prefix = fs::path(trace).filename().string() + ".rank";
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.size() <= prefix.size() || name.rfind(prefix, 0) != 0) continue;
    if (name.find_first_not_of("0123456789", prefix.size()) != std::string::npos) continue;
    found.push_back((fs::path(trace).parent_path() / name).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

analysis::Recovery join_parts(Trace& trace, const std::string& path) {
  std::vector<analysis::PartialTrace> partials;
  std::vector<std::string> unread;
  for (const std::string& name : parts_of(path)) {
    if (std::strtoull(name.c_str() + name.rfind(".rank") + 5, nullptr, 10) >= trace.world_size) {
      unread.push_back(name + " is of none of the " + std::to_string(trace.world_size) + " ranks");
      continue;
    }
    FileFacts file;
    Result<Trace> partial = read_bounded(name, &file);
    if (!partial)
      unread.push_back(partial.error().message);
    else if (file.ignored != 0)  // ranks write them whole, under another name first
      unread.push_back(name + " is damaged after byte " +
                       std::to_string(file.bytes - file.ignored));
    else
      partials.push_back({name, std::move(*partial)});
  }
  analysis::Recovery recovery = analysis::recover(trace, std::move(partials));
  recovery.left_out.insert(recovery.left_out.begin(), unread.begin(), unread.end());
  return recovery;
}

std::string why_ended(const std::string& trace) {
  std::string why;
  for (const std::string& name : parts_of(trace)) {
    const Result<Trace> part = read_bounded(name);
    if (!part || part->ends.empty()) continue;
    if (part->ends.begin()->second == kNoProgress) continue;  // it may still run
    why = part->ends.begin()->second;
    if (why != kOtherEnded) break;
  }
  return why;
}

}  // namespace chameleon::tools
