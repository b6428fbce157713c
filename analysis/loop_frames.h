// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Call paths as addresses: what readers know of a place without the program's debug information.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace.h"

namespace chameleon::analysis {

/// The index of the innermost frame outside MPI's libraries, its bindings to other languages,
/// libraries for files that call MPI for the program, the tracer, and an interpreter with its own
/// library. If there is none: of the innermost source, or of the interpreter, or 0.
std::size_t innermost_frame(const Trace& trace, const std::vector<Frame>& frames);

/// Whether an interpreter makes the call outside all lines of its program: behind the last, when it
/// ends.
bool is_interpreters_end(const Trace& trace, const std::vector<Frame>& frames);
inline constexpr const char* kInterpretersEnd = "the interpreter's end";

/// From the first to the last call of a loop's body, as return addresses in one module, or lines of
/// one interpreted function.
struct LoopFrames {
  Frame first, last;
};

/// `program+0x1234`, `solver.py:42 step()`: a frame as the file knows it.
std::string frame_text(const Trace& trace, const Frame& frame);

/// `program+0x1234-0x1300`, `solver.py:42-58 step()`; empty for a loop without a place.
std::string loop_place(const Trace& trace, const Node& loop);

/// A function of an interpreted program as people write it: `step()`, `<module>`.
std::string source_function(const std::string& function);

/// The paths of the body have their outer frames in common. The frames are those that differ next;
/// where a path has none, or they are of several modules, both are the innermost common frame.
/// Nothing if the paths are not known or have no frame in common. O(nodes x depth of the stack).
std::optional<LoopFrames> loop_frames(const Trace& trace, const Node& loop);

/// How often a stream went round the loop, all its visits together: of a damaged trace at most the
/// first 2^20 pieces of its counts.
std::uint64_t iterations_of(const Node& loop, std::uint32_t stream);

}  // namespace chameleon::analysis
