// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The page as bundle.py writes it at build time: up to the end of its content security policy, up
/// to its data, and what follows. Pages of `chameleon serve` have one more script.

#include <string_view>

#include "base/rooms.h"

namespace chameleon::tools::report {

std::string_view page_head();
std::string_view page_middle();
std::string_view page_tail();
std::string_view page_live();

}  // namespace chameleon::tools::report
