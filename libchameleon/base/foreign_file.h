// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Reading what a user, or worse a trace, names. Such a name may be anything: a pipe without
/// a writer, a device without an end, a link into somebody's home. So a file is opened without
/// waiting, asked what it is through its descriptor, and read only if it is a regular file, with no
/// more bytes than the caller has room for. Nothing else in the project opens what is named to it.

#include <cstdint>
#include <string>
#include <utility>

#include "base/own_descriptor.h"
#include "base/result.h"
#include "base/rooms.h"

namespace chameleon::inline base {

/// An open file, closed at the end.
class OpenFile {
 public:
  OpenFile() = default;
  /// Takes a descriptor that was just opened, or -1.
  explicit OpenFile(int opened) : own_(opened) {}

  /// -1 if it could not be opened, and then `errno` stays.
  int fd() const { return own_.is_open() ? own_.get() : -1; }
  /// The bytes of a regular file when it was opened.
  std::uint64_t size() const { return size_; }
  /// Gives the descriptor away.
  int release() { return own_.release(); }
  OwnDescriptor take() { return std::move(own_); }
  /// Where the file really is, links resolved, as the system knows it; empty if it does not say.
  std::string real_path() const;

 private:
  friend Result<OpenFile> open_foreign(const std::string& path);
  OwnDescriptor own_;
  std::uint64_t size_ = 0;
};

/// Opens a regular file to read it. Error (kSystem): there is none, or it is something else.
Result<OpenFile> open_foreign(const std::string& path);

/// All of it, if it has at most `most` bytes. A file that grows meanwhile is cut there. Error:
/// kSystem, or kRefused if it is larger.
Result<std::string> read_foreign(const OpenFile& file, const std::string& path, std::uint64_t most);
Result<std::string> read_foreign(const std::string& path, std::uint64_t most);

}  // namespace chameleon::inline base
