// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Cutting a trace in time. A trace for which there is little memory travels in pieces: each is a
/// trace of its own, and appending them in order (append.h) gives back the whole. Cuts are between
/// nodes of the top level, so that no loop is cut.

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "model/trace.h"

namespace chameleon::compress {

/// The memory that nodes take, about. O(nodes).
std::size_t memory_bytes(std::span<const Node> nodes);

/// How many of the first nodes take at most `most` bytes, one at least: all of them if all do.
/// O(those).
std::size_t count_within(std::span<const Node> nodes, std::size_t most);

/// The arrays that nodes refer to, by the calls that `schema` describes.
std::set<std::uint64_t> arrays_of(std::span<const Node> nodes, const Trace& schema);

/// Moves the first nodes of `trace` into a piece, with what it takes to read them: calls, ranks,
/// and the arrays that they refer to. O(nodes of `trace`).
Trace take_first(Trace& trace, std::size_t count);

}  // namespace chameleon::compress
