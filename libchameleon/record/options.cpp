// SPDX-License-Identifier: BSD-3-Clause
#include "record/options.h"

#include <fnmatch.h>

namespace chameleon::record {

const char* timing_name(Timing timing) {
  return timing == Timing::kNone ? "none" : timing == Timing::kFull ? "full" : "histogram";
}

bool RecordOptions::excludes(const std::string& call) const {
  for (const std::string& pattern : exclude)
    if (fnmatch(pattern.c_str(), call.c_str(), 0) == 0) return true;
  return false;
}

}  // namespace chameleon::record
