// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/stack_bounds.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace chameleon::callpath {
namespace {

/// Lines of a file through a small buffer on the stack; longer lines lose their middle.
class LineReader {
 public:
  explicit LineReader(int file) : file_(file) {}

  bool next(std::string_view& line) {
    std::size_t size = 0;
    for (;;) {
      if (at_ == end_ && !fill()) return false;
      const char c = buffer_[at_++];
      if (c == '\n') break;
      if (size == sizeof line_) {
        std::memmove(line_ + size / 2, line_ + size / 2 + 1, size - size / 2 - 1);
        --size;
      }
      line_[size++] = c;
    }
    line = {line_, size};
    return true;
  }

 private:
  bool fill() {
    ssize_t got = 0;
    do got = read(file_, buffer_, sizeof buffer_);
    while (got < 0 && errno == EINTR);
    at_ = 0;
    end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return end_ > 0;
  }

  int file_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  char line_[256];
  char buffer_[512];  // threads' stacks may be small
};

bool read_hex(std::string_view& text, std::uintptr_t& value) {
  value = 0;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9')
      value = value << 4 | static_cast<std::uintptr_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value << 4 | static_cast<std::uintptr_t>(c - 'a' + 10);
    else
      break;
  }
  text.remove_prefix(i);
  return i > 0;
}

}  // namespace

StackBounds::Range readable_around(std::uintptr_t address) noexcept {
  const int saved_errno = errno;
  StackBounds::Range run;
  bool holds = false;
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    LineReader lines(file);
    std::string_view line;
    std::uintptr_t below = 0;  // where the mapping before this one ends
    while (lines.next(line)) {
      std::uintptr_t begin = 0, end = 0;
      if (!read_hex(line, begin) || line.empty()) break;
      line.remove_prefix(1);
      if (!read_hex(line, end) || line.size() < 2) break;
      const bool readable = line[1] == 'r';
      const bool joins = readable && run.high == begin;
      if (holds && !joins) break;
      if (!joins) run = {begin, readable ? end : begin};
      run.high = readable ? end : run.high;
      if (address >= begin && address < end) {
        holds = readable;
        if (!readable) break;
        if (line.ends_with("[stack]")) run.low = below;
      }
      below = end;
    }
    close(file);
  }
  errno = saved_errno;
  return holds ? run : StackBounds::Range{};
}

const StackBounds::Range& StackBounds::find(std::uintptr_t sp) noexcept {
  static constexpr Range kNone{};
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (!ranges_[i].holds(sp)) continue;
    last_ = i;
    return ranges_[i];
  }
  const Range range = readable_around(sp);
  if (range.high == 0) return kNone;
  last_ = next_;
  next_ = (next_ + 1) % ranges_.size();
  ranges_[last_] = range;
  return ranges_[last_];
}

}  // namespace chameleon::callpath
