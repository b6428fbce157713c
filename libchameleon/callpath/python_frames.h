// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The Python functions on this thread's stack, innermost first, read from the thread's own state.
/// They cannot change meanwhile: the thread is in a call that they made, whether it holds the
/// interpreter's lock or not. A function is named by the id of its source frame (call_path.h), and
/// a place once read is known by its code object and instruction.
///
/// A code object may be freed and another one made at its address: programs that call `exec` do so.
/// A known place is therefore compared byte by byte with its sources: the names of file and
/// function, the first line, and the location table up to the instruction. Until a stack was read
/// to its end and found consistent, memory is read by a system call, which fails on unreadable
/// addresses; afterwards directly. Cost: 15 ns a function.
///
/// `read` fails for stacks of an interpreter that the thread does not belong to, and of coroutines
/// that switch the C stack (greenlets). Their activations do not agree with the thread's state.
/// Call paths then have the interpreter's own frames.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "callpath/python_runtime.h"

namespace chameleon::callpath {

class PythonFrames {
 public:
  /// Most functions kept, innermost first.
  static constexpr std::size_t kMostFrames = 128;

  /// Ids of source frames, a 0 behind those of each activation of the interpreter's loop.
  struct Found {
    std::array<std::uint64_t, 2 * kMostFrames> ids;
    std::size_t size = 0;
    std::size_t activations = 0;
    bool is_truncated = false;  ///< the last activation has more functions, and there may be more
  };

  /// Reads the functions of a stack with `activations` of the loop, or more if `may_have_more`.
  /// False if the thread's state does not agree with that. May throw std::bad_alloc. Allocates for
  /// a place not seen before.
  bool read(const PythonRuntime& python, std::size_t activations, bool may_have_more, Found& found);

  /// Forgets all places.
  void clear();

 private:
  /// A Python str, as it is in memory.
  struct Text {
    std::uint32_t state = 0;
    std::uint64_t length = 0;
    std::string letters{};
  };
  /// A place in a code object, with the data that its source frame was derived from.
  struct Site {
    std::uintptr_t code = 0;
    std::uintptr_t instruction = 0;
    std::uint64_t id = 0;  ///< 0: not shown
    std::uint32_t first_line = 0;
    Text file{}, function{};
    std::string table{};  ///< the first bytes of the location table
  };
  class Checked;
  class Direct;

  static constexpr std::size_t kMostSites = std::size_t{1} << 15;
  static constexpr std::uint64_t kMostTries = 1000;

  template <class Memory>
  bool read_by(const PythonRuntime& python, std::size_t activations, bool may_have_more,
               Found& found);
  template <class Memory>
  bool add(const PythonRuntime& python, std::uintptr_t code, std::uintptr_t instruction,
           Found& found);
  Site* learn(const PythonRuntime& python, std::uintptr_t code, std::uintptr_t instruction);
  static bool holds(const PythonLayout& at, const Site& site);
  static bool read_text(const PythonRuntime& python, std::uintptr_t object, Text& text);
  static std::size_t hash(std::uintptr_t code, std::uintptr_t instruction) {
    return (code ^ instruction << 20 ^ instruction) * 0x9e3779b97f4a7c15ULL >> 32;
  }
  Site** place_of(std::uintptr_t code, std::uintptr_t instruction);

  bool is_trusted_ = false;
  std::uint64_t not_read_ = 0;
  std::deque<Site> sites_;    ///< at addresses that do not change
  std::vector<Site*> table_;  ///< open addressing by code and instruction, at most half full
};

}  // namespace chameleon::callpath
