// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Text files as exports write them: through a buffer of their own, with errors
/// noticed once, at the end.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/new_file.h"
#include "base/result.h"

namespace chameleon::tools {

/// Makes a folder, with those above it.
Status make_folder(const std::string& path);

/// A new folder in a folder, for a library that opens files by their names: no links of
/// others are in it. The files in it then take their places outside, by renames.
class FolderBeside {
 public:
  explicit FolderBeside(std::string output) : output_(std::move(output)) {}
  ~FolderBeside();
  FolderBeside(const FolderBeside&) = delete;
  FolderBeside& operator=(const FolderBeside&) = delete;

  /// Makes it, and the output folder.
  Status make();
  const std::string& path() const { return path_; }
  /// Moves all that is in it to the output folder, in the place of what has the same names.
  Status commit();

 private:
  std::string output_, path_;
};

/// A file being written, through a buffer of its own; it has its name when it is closed. Errors are
/// kept for `close`.
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
  const std::string& path() const { return file_.path(); }

 private:
  static constexpr std::size_t kBuffer = 1 << 16;
  void flush();
  NewFile file_;
  std::string buffer_;
};

}  // namespace chameleon::tools
