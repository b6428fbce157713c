// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Values of a trace as mismatches show them.

#include <cstdint>
#include <span>
#include <string>

#include "analysis/partner.h"

namespace chameleon::analysis {

/// "[1,2,...]": the first eight elements.
std::string list_text(std::span<const std::int64_t> values);
/// A rank, or the name of a special one.
std::string end_point_text(const EndPoint& end, CommPlace place);
std::string number_text(std::int64_t value);

}  // namespace chameleon::analysis
