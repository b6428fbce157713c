// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Runs code that may throw where nothing may be thrown. Only the cancellation of a thread
/// continues: the C library ends a process that stops it. Costs nothing unless something is
/// thrown.

#include <cxxabi.h>

#include <cstdint>
#include <new>

namespace chameleon {

enum class Failure : std::uint8_t { kNone, kMemory, kOther };

/// The meaning of the exception that is being handled; for a `catch (...)`.
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
