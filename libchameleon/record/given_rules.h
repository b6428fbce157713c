// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Rules as users give them.

#include <string>

#include "base/result.h"
#include "signature/rules.h"

namespace chameleon::record {

/// The rules of a file, or of a text, which has a '='. Error: what is wrong with them, in one line.
Result<signature::Rules> given_rules(const std::string& given);

}  // namespace chameleon::record
