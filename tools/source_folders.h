// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Lines of the program's source for a page that others may see. Which files these are a trace
/// says, or debug information that it names: a stranger's wish. So a file is read only if it is the
/// user's own source: in the folder that the trace was recorded in and in the current folder too,
/// or in a folder that the user named (--source); links resolved, a regular file of at most 4 MiB
/// with the suffix of a programming language, and nothing hidden (.ssh, .git) on the way to it.

#include <string>
#include <vector>

namespace chameleon::tools {

class SourceFolders {
 public:
  /// `recorded` is the trace's folder; `named` are the user's.
  SourceFolders(const std::string& recorded, const std::vector<std::string>& named);

  /// The lines of a file, each cut after 200 bytes; empty if it is not shown.
  std::vector<std::string> lines_of(const std::string& file) const;

 private:
  bool shows(const std::string& real_path) const;

  std::string recorded_, current_;  ///< empty: nothing is in them
  std::vector<std::string> named_;
};

}  // namespace chameleon::tools
