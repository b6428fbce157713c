// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Offsets in bytes of the fields of CPython's structures that lead from a thread to the functions
/// it runs. They differ by minor version and hold for all of its releases. Those of 3.11 and 3.12
/// are from the headers; 3.13 publishes its offsets at the beginning of `_PyRuntime`
/// (`_Py_DebugOffsets`). tests/python compares the frames with those that each interpreter reports.

#include <cstdint>
#include <optional>

#include "base/rooms.h"

namespace chameleon::callpath {

struct PythonLayout {
  // Of a thread's state: its innermost frame, behind a pointer that each activation of the
  // interpreter's loop sets to a place on its own stack, or directly.
  std::uint32_t thread_frame = 0;
  bool through_cframe = false;
  std::uint32_t cframe_frame = 0;

  // Of a frame. A byte shows where an activation of the interpreter's loop begins.
  std::uint32_t frame_previous = 0;
  std::uint32_t frame_code = 0;
  std::uint32_t frame_instruction = 0;
  std::uint32_t frame_mark = 0;
  std::uint8_t mark_of_entry = 0;
  bool entry_is_function = false;  ///< otherwise a frame without a function, below the first

  std::uint32_t code_filename = 0;
  std::uint32_t code_qualname = 0;
  std::uint32_t code_linetable = 0;
  std::uint32_t code_firstlineno = 0;
  std::uint32_t code_instructions = 0;

  std::uint32_t object_type = 8;
  std::uint32_t object_size = 16;  ///< elements of one of variable size: bytes, code
  std::uint32_t bytes_data = 32;
  std::uint32_t text_length = 16;
  std::uint32_t text_state = 32;
  std::uint32_t text_ascii = 0;    ///< the letters of a str of ASCII
  std::uint32_t text_letters = 0;  ///< of another
  bool operator==(const PythonLayout&) const = default;
};

/// In the state of a str: bytes a letter, and whether the letters follow it.
inline constexpr std::uint32_t kTextKindShift = 2;
inline constexpr std::uint32_t kTextKindMask = 7U << kTextKindShift;
inline constexpr std::uint32_t kTextCompact = 1U << 5;
inline constexpr std::uint32_t kTextAscii = 1U << 6;

/// The layout of a version, as in `Py_Version` (0x030b02f0 is 3.11.2); `runtime` is the address of
/// `_PyRuntime`. Nothing for unknown versions, and for builds without a global interpreter
/// lock.
std::optional<PythonLayout> python_layout(std::uint32_t version, const void* runtime);

}  // namespace chameleon::callpath
