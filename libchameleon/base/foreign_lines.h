// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A regular file as a stream, opened as foreign_file.h says: for records that are longer than
/// memory. It fails, as an ifstream does, where the file is none.

#include <ext/stdio_filebuf.h>
#include <istream>

#include "base/foreign_file.h"

namespace chameleon::inline base {

class ForeignLines : public std::istream {
 public:
  ForeignLines() : std::istream(nullptr) {}
  explicit ForeignLines(const std::string& path) : ForeignLines() { open(path); }
  ForeignLines(ForeignLines&& other) noexcept
      : std::istream(nullptr), buffer_(std::move(other.buffer_)) {
    rdbuf(&buffer_);
    clear(other.rdstate());
  }

  void open(const std::string& path) {
    Result<OpenFile> file = open_foreign(path);
    if (!file) return setstate(failbit);
    buffer_ = Buffer(file->release(), std::ios::in | std::ios::binary, 1 << 16);
    rdbuf(&buffer_);
  }

 private:
  using Buffer = __gnu_cxx::stdio_filebuf<char>;
  Buffer buffer_;
};

}  // namespace chameleon::inline base
