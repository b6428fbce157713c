// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/python_layout.h"

#include <cstring>

namespace chameleon::callpath {
namespace {

constexpr PythonLayout kPython311 = {
    .thread_frame = 56,
    .through_cframe = true,
    .cframe_frame = 8,
    .frame_previous = 48,
    .frame_code = 32,
    .frame_instruction = 56,
    .frame_mark = 68,  // is_entry
    .mark_of_entry = 1,
    .entry_is_function = true,
    .code_filename = 112,
    .code_qualname = 128,
    .code_linetable = 136,
    .code_firstlineno = 72,
    .code_instructions = 184,
    .text_ascii = 48,
    .text_letters = 72,
};

constexpr std::uint8_t kOwnedByStack = 3;  // FRAME_OWNED_BY_CSTACK

constexpr PythonLayout kPython312 = {
    .thread_frame = 56,
    .through_cframe = true,
    .cframe_frame = 0,
    .frame_previous = 8,
    .frame_code = 0,
    .frame_instruction = 56,
    .frame_mark = 70,  // owner
    .mark_of_entry = kOwnedByStack,
    .entry_is_function = false,
    .code_filename = 112,
    .code_qualname = 128,
    .code_linetable = 136,
    .code_firstlineno = 68,
    .code_instructions = 192,
    .text_ascii = 40,
    .text_letters = 56,
};

/// `_Py_DebugOffsets` of 3.13, by the place of its 64-bit numbers.
enum Published : std::uint8_t {
  kCookie = 0,
  kVersion = 1,
  kFreeThreaded = 2,
  kThreadFrame = 23,
  kFramePrevious = 29,
  kFrameCode = 30,
  kFrameInstruction = 31,
  kFrameOwner = 33,
  kCodeFilename = 35,
  kCodeQualname = 37,
  kCodeLinetable = 38,
  kCodeFirstLine = 39,
  kCodeInstructions = 43,
  kObjectType = 45,
  kBytesSize = 65,
  kBytesData = 66,
  kTextState = 68,
  kTextLength = 69,
  kTextAsciiSize = 70,
  kPublishedCount = 71,
};

/// Between the end of an ASCII str's fields and that of another's: its UTF-8 form.
constexpr std::uint32_t kTextUtf8Bytes = 16;
constexpr std::uint64_t kMostOffset = 4096;

std::optional<PythonLayout> published_layout(std::uint32_t version, const void* runtime) {
  std::uint64_t all[kPublishedCount];
  std::memcpy(all, runtime, sizeof all);
  if (std::memcmp(&all[kCookie], "xdebugpy", 8) != 0 || all[kVersion] != version ||
      all[kFreeThreaded] != 0)
    return std::nullopt;
  for (std::size_t i = kFreeThreaded + 1; i < kPublishedCount; ++i) {
    // Sizes of structures that are not looked into may be larger.
    if (i < kThreadFrame || all[i] < kMostOffset) continue;
    return std::nullopt;
  }
  const auto at = [&](Published which) { return static_cast<std::uint32_t>(all[which]); };
  return PythonLayout{
      .thread_frame = at(kThreadFrame),
      .frame_previous = at(kFramePrevious),
      .frame_code = at(kFrameCode),
      .frame_instruction = at(kFrameInstruction),
      .frame_mark = at(kFrameOwner),
      .mark_of_entry = kOwnedByStack,
      .entry_is_function = false,
      .code_filename = at(kCodeFilename),
      .code_qualname = at(kCodeQualname),
      .code_linetable = at(kCodeLinetable),
      .code_firstlineno = at(kCodeFirstLine),
      .code_instructions = at(kCodeInstructions),
      .object_type = at(kObjectType),
      .object_size = at(kBytesSize),
      .bytes_data = at(kBytesData),
      .text_length = at(kTextLength),
      .text_state = at(kTextState),
      .text_ascii = at(kTextAsciiSize),
      .text_letters = at(kTextAsciiSize) + kTextUtf8Bytes,
  };
}

}  // namespace

std::optional<PythonLayout> python_layout(std::uint32_t version, const void* runtime) {
  constexpr std::uint32_t kLevel = 0xf0;
  constexpr std::uint32_t kCandidate = 0xc0;  // structures may change until then
  if ((version & kLevel) < kCandidate) return std::nullopt;
  switch (version >> 16) {
    case 0x030b: return kPython311;
    case 0x030c: return kPython312;
    case 0x030d: return published_layout(version, runtime);
    default: return std::nullopt;
  }
}

}  // namespace chameleon::callpath
