// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Asks a short command: the output of what only it can answer.

#include <string>
#include <vector>

#include "base/rooms.h"

namespace chameleon::tools {

/// Standard output of a command, 64 KiB at most, with `settings` (NAME=VALUE) added to this
/// command's environment. Empty if it fails, or takes longer than 20 seconds.
std::string command_output(const std::vector<std::string>& words,
                           const std::vector<std::string>& settings = {});

}  // namespace chameleon::tools
