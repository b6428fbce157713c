// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The Python interpreter of this process, if it has one of a known version. It is found by the
/// names that it exports, and read without its lock. The only function of it that is called gives a
/// thread's own state, and needs no lock.

#include <cstdint>
#include <string>

#include "callpath/python_layout.h"

namespace chameleon::callpath {

struct PythonRuntime {
  PythonLayout layout;
  void* (*thread_state)() = nullptr;            ///< of the calling thread; null if it has none
  std::uintptr_t eval_begin = 0, eval_end = 0;  ///< of the function that runs Python's functions
  std::uintptr_t code_type = 0, text_type = 0, bytes_type = 0;

  /// Whether a return address is in the function that runs Python's functions.
  bool runs_functions(std::uintptr_t return_address) const {
    return return_address - eval_begin - 1 < eval_end - eval_begin;
  }

  /// Looks for an interpreter, unless one is known or `set_wanted(false)`. Takes some microseconds;
  /// asks the loader.
  static void look();
  /// The one that `look` found, or null. Its address does not change.
  static const PythonRuntime* present() noexcept;
  static void set_wanted(bool wanted) noexcept;

  /// Functions of a stack could not be read.
  static void note_not_read() noexcept;
  /// A sentence about what call paths do not show, so far; empty if nothing.
  static std::string not_shown();
};

/// Copies memory of this process that need not be readable; false if it is not.
bool read_checked(std::uintptr_t address, void* to, std::size_t size) noexcept;

}  // namespace chameleon::callpath
