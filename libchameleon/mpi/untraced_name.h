// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace chameleon::mpi {

/// Whether a function of this name converts a handle or a status to or from another language, and
/// does nothing else: such calls are never traced.
constexpr bool converts_a_handle(std::string_view function) {
  for (const std::string_view end :
       {"_c2f", "_f2c", "_toint", "_fromint", "_f2f08", "_f082f", "_c2f08", "_f082c"})
    if (function.ends_with(end)) return true;
  return false;
}

}  // namespace chameleon::mpi
