// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A path for a trace that a test writes; what is there goes with it.

#include <unistd.h>

#include <filesystem>
#include <string>

namespace chameleon::testing {

struct TemporaryFile {
  static inline int made = 0;
  std::string path =
      (std::filesystem::temp_directory_path() /
       ("chameleon-file-" + std::to_string(::getpid()) + "-" + std::to_string(made++) + ".cham"))
          .string();
  TemporaryFile() { std::filesystem::remove(path); }
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace chameleon::testing
