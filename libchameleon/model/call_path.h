// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Call paths: the stack from an MPI call up to `main`, in terms that are
/// equal on all ranks. A frame is (module, offset), never an address, so that
/// neither address-space randomization nor the order of loading shows; where a
/// program is interpreted, a frame is a line of its source. The *stack
/// signature* is a 64-bit hash of the frames, in their order. Values only:
/// nothing here looks at the running process.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace chameleon::inline model {

/// One return address: the module's id (see `module_id_of_build_id`) and the
/// return address minus the module's load base.
struct Frame {
  std::uint64_t module = 0;
  std::uint64_t offset = 0;
  bool operator==(const Frame&) const = default;
};

/// Frames of module 0 are not code in a file, but say why there is none.
inline constexpr Frame kAnonymousFrame{0, 0};  ///< code generated at run time
inline constexpr Frame kTruncatedFrame{0, 1};  ///< outer frames were not kept
inline constexpr Frame kUnknownFrame{0, 2};    ///< no stack unwinder
inline constexpr Frame kAnyFrames{0, 3};       ///< of a relaxed path: any frames, or none

/// Where an interpreted function calls. Known by its content, so that ranks agree.
struct SourceFrame {
  std::string file;
  std::string function;     ///< with the names of what it is defined in
  std::uint32_t begin = 0;  ///< the line on which the function begins
  std::uint32_t line = 0;   ///< of the call
  /// The part of the source that calls: from here up to there, columns in bytes from 1. 0: unknown.
  std::uint32_t column = 0, end_line = 0, end_column = 0;
  bool operator==(const SourceFrame&) const = default;
};

/// Offsets of module 0 from here on are ids of source frames.
inline constexpr std::uint64_t kFirstSourceId = std::uint64_t{1} << 63;
inline bool is_source(const Frame& frame) {
  return frame.module == 0 && frame.offset >= kFirstSourceId;
}

/// The id of a source frame: a hash of its content.
std::uint64_t source_id(const SourceFrame& source);

/// Frames from the call site (innermost, first) to `main`.
struct CallPath {
  std::vector<Frame> frames;
  bool operator==(const CallPath&) const = default;
};

/// An executable or shared library. `build_id_hex` is empty if it has none.
struct Module {
  std::string build_id_hex;
  std::string path;
  bool operator==(const Module&) const = default;
};

/// The stack signature; sensitive to order and length.
inline std::uint64_t stack_signature(std::span<const Frame> frames) {
  std::uint64_t hash = frames.size();
  for (const Frame& frame : frames) hash = combine(combine(hash, frame.module), frame.offset);
  return hash;
}

/// Id of a module that has a build-id, given as raw bytes.
std::uint64_t module_id_of_build_id(std::span<const std::uint8_t> build_id);

/// Id of a module without a build-id: of its base name and its whole content,
/// so that equal files in different folders are one module. Reads the file;
/// an unreadable one is known by its name alone.
std::uint64_t module_id_of_file(const std::string& path);

/// Lower-case hexadecimal digits of `bytes`.
std::string to_hex(std::span<const std::uint8_t> bytes);

}  // namespace chameleon::inline model
