// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which objects exist from the start, handles as numbers, and what special pointers mean, for
/// every MPI. Properties of one implementation are in its folder (platform.h).

#include <mpi.h>

#include <cstdint>
#include <span>
#include <type_traits>

#include "mpi/kinds.h"
#include "mpi/platform.h"

namespace chameleon::mpi {

/// A handle as a number, whether the implementation uses integers or pointers.
template <class Handle>
std::uint64_t handle_bits(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<std::uint64_t>(handle);
  else
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(handle));
}

/// The handle again.
template <class Handle>
Handle handle_of(std::uint64_t bits) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<Handle>(bits);
  else
    return static_cast<Handle>(bits);
}

/// An object every program has, and its symbolic id in a trace.
struct PredefinedHandle {
  Kind kind;
  const char* name;
  std::uint64_t handle;
  std::int64_t id;
};

/// All of them. Null handles have id -1; others of a kind -2, -3, ...; the
/// world and self communicators 0 and 1.
std::span<const PredefinedHandle> predefined_handles();

/// The classes of buffer addresses a trace tells apart.
enum class BufferClass : std::int64_t { kOrdinary = 0, kInPlace = 1, kBottom = 2, kNull = 3 };

inline BufferClass buffer_class(const void* buffer) {
  if (buffer == MPI_IN_PLACE) return BufferClass::kInPlace;
  if (buffer == nullptr) return BufferClass::kNull;  // MPI_BOTTOM too
  return BufferClass::kOrdinary;
}

inline bool is_unweighted(const int* weights) {
  return weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY;
}

}  // namespace chameleon::mpi
