// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Runs what may throw in a place that nothing may be thrown out of. Only the cancellation of a
/// thread goes on: the C library ends a process that stops it. Costs nothing unless something is
/// thrown.

#include <cxxabi.h>

#include <cstdint>
#include <new>

namespace chameleon {

enum class Failure : std::uint8_t { kNone, kMemory, kOther };

/// What the exception that is being handled means; for a `catch (...)`.
inline Failure failure_caught() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Failure::kMemory;
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return Failure::kOther;
  }
}

/// f(), and how that failed.
template <class F>
Failure attempt(F f) {
  try {
    f();
    return Failure::kNone;
  } catch (...) {
    return failure_caught();
  }
}

}  // namespace chameleon
