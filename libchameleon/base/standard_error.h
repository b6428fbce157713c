// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Messages of the traced process, on the standard error that it was started with. A program may
/// close descriptor 2 and open a file of its own there: nothing is written then.

#include <string_view>

#include "base/rooms.h"

namespace chameleon::inline base {

/// Descriptor 2 as it is now is the standard error; the first to say so is right.
void remember_standard_error();

/// In one write.
void write_to_standard_error(std::string_view text);

}  // namespace chameleon::inline base
