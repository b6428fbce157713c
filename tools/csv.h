// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace chameleon::tools {

/// A cell of a CSV file: printable, and quoted where that is needed.
std::string csv_text(const std::string& words);

}  // namespace chameleon::tools
