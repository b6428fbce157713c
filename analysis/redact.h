// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Takes out of a trace what says whose it is and where it was made, so that it can be given away:
/// the command line, folders (of the run, of modules, of source files), hosts, the process number
/// of rank 0, rules, texts among the arguments of calls (names of files and objects), and facts
/// of newer versions that are texts. Calls, times and the structure stay; hosts and texts get
/// numbers, so that equal ones are still equal. Names of functions, of source files and of modules
/// without their folders stay: they are what a report is read by. O(trace).

#include <map>
#include <string>
#include <vector>

#include "model/trace.h"

namespace chameleon::analysis {

/// The names that stand for texts: text1, text2, ... in the order in which they come.
class RedactedTexts {
 public:
  const std::string& name(const std::vector<std::int64_t>& letters);

 private:
  std::map<std::vector<std::int64_t>, std::string> known_;
};

/// Gives the names of the texts that it replaced.
RedactedTexts redact(Trace& trace);

}  // namespace chameleon::analysis
