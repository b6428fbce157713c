// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The Python functions on this thread's stack, innermost first, read from the thread's own state.
/// They cannot change meanwhile: the thread is in a call that they made, whether it holds the
/// interpreter's lock or not. A function is named by the id of its source frame (call_path.h), and
/// a place once read is known by its code object and instruction.
///
/// A code object may be freed and another one made at its address, as programs do that run `exec`.
/// So what is known of a place is compared with what it followed from, byte by byte: the names of
/// file and function, the first line, and the location table up to the instruction. Until a stack
/// was read to its end and found consistent, all is read by the system, which refuses what is no
/// memory; afterwards directly. Cost: 15 ns a function.
///
/// Not read, and `read` says so: stacks of another interpreter in the process than the one that the
/// thread belongs to, and of coroutines that switch the C stack (greenlets). Their activations do
/// not agree with what the thread's state says.

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

  /// Reads the functions of a stack that has `activations` of the loop; more if the stack is not
  /// known to its end. False if the thread's state does not agree with that. May throw
  /// std::bad_alloc, and allocates for a place not seen before.
  bool read(const PythonRuntime& python, std::size_t activations, bool may_have_more, Found& found);

  /// Forgets all places.
  void clear();

 private:
  /// A str of Python as it lies in memory.
  struct Text {
    std::uint32_t state = 0;
    std::uint64_t length = 0;
    std::string letters{};
  };
  /// A place in a code object, with what its source frame follows from.
  struct Site {
    std::uintptr_t code = 0;
    std::uintptr_t instruction = 0;
    std::uint64_t id = 0;  ///< 0: not shown
    std::uint32_t first_line = 0;
    Text file{}, function{};
    std::string table{};  ///< the begin of the location table
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
  std::deque<Site> sites_;    ///< they stay where they are
  std::vector<Site*> table_;  ///< open addressing by code and instruction, at most half full
};

}  // namespace chameleon::callpath
