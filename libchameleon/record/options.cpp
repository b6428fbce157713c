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

bool call_names_of(const std::string& text, std::vector<std::string>& names) {
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    std::string name = text.substr(start, end - start);
    if (name.rfind("MPI_", 0) == 0) name.erase(0, 4);
    if (name.empty()) return false;
    names.push_back(std::move(name));
    start = end + 1;
  }
  return true;
}

bool names_call(const std::vector<std::string>& names, const char* call) {
  const char* const bare = call + std::strlen("MPI_");
  return std::any_of(names.begin(), names.end(), [bare](const std::string& name) {
    return fnmatch(name.c_str(), bare, 0) == 0;
  });
}

}  // namespace chameleon::record
