// SPDX-License-Identifier: BSD-3-Clause
#include "record/options.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace chameleon::record {

const char* timing_name(Timing timing) {
  return timing == Timing::kNone ? "none" : timing == Timing::kFull ? "full" : "histogram";
}

bool words_of(const std::string& text, std::vector<std::string>& words) {
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    if (end == start) return false;
    words.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return true;
}

bool call_names_of(const std::string& text, std::vector<std::string>& names) {
  if (!words_of(text, names)) return false;
  for (std::string& name : names)
    if (name.rfind("MPI_", 0) == 0) name.erase(0, 4);
  return std::none_of(names.begin(), names.end(),
                      [](const std::string& name) { return name.empty(); });
}

bool names_call(const std::vector<std::string>& names, const char* call) {
  const char* const bare = call + std::strlen("MPI_");
  return std::any_of(names.begin(), names.end(), [bare](const std::string& name) {
    return fnmatch(name.c_str(), bare, 0) == 0;
  });
}

}  // namespace chameleon::record
