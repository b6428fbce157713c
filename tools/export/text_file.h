// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Text files as exports write them: through a buffer of their own, with errors
/// noticed once, at the end.

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/result.h"

namespace chameleon::tools {

/// Makes a folder, with those above it.
Status make_folder(const std::string& path);

/// A file being written, through a buffer of its own. Errors are kept for `close`.
class TextFile {
 public:
  explicit TextFile(std::string path);
  TextFile& operator<<(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBuffer) flush();
    return *this;
  }
  TextFile& operator<<(std::uint64_t number) { return *this << std::to_string(number); }
  Status close();
  const std::string& path() const { return path_; }

 private:
  static constexpr std::size_t kBuffer = 1 << 16;
  void flush();
  std::string path_;
  std::ofstream file_;
  std::string buffer_;
};

}  // namespace chameleon::tools
