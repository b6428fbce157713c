// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The page before and after its data, as bundle.py writes it at build time.

#include <string_view>

#include "base/rooms.h"

namespace chameleon::tools::report {

std::string_view page_head();
std::string_view page_tail();

}  // namespace chameleon::tools::report
