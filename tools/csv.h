// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace chameleon::tools {

/// A cell of a CSV file: printable, and quoted where that is needed. A name that a spreadsheet
/// would take for a formula begins with a quotation mark, as it is done elsewhere: `=x` as "'=x".
std::string csv_text(const std::string& words);

}  // namespace chameleon::tools
