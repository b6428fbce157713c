// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Where our own wrappers begin, not another tool's of the same name, for those who have to be led
/// to them by other ways than the loader's.

#include "base/rooms.h"
#include "intercept/callers.h"

namespace chameleon::intercept {

class OwnWrappers {
 public:
  OwnWrappers();
  ~OwnWrappers();
  OwnWrappers(const OwnWrappers&) = delete;
  OwnWrappers& operator=(const OwnWrappers&) = delete;

  /// Whether calls of MPI functions go through a tool at all: not if the tracer is linked after
  /// MPI.
  static bool come_first();

  /// Our MPI_X for this name, or null; `with` is the OwnWrappers.
  static void* find(const char* name, const void* with);
  /// The same for the name PMPI_X.
  static void* find_of_pmpi(const char* name, const void* with) { return find(name + 1, with); }

 private:
  void* library_ = nullptr;
  LoadedCode code_;
};

}  // namespace chameleon::intercept
