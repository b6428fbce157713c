// SPDX-License-Identifier: BSD-3-Clause
#include "tools/csv.h"

#include "tools/common.h"

namespace chameleon::tools {

std::string csv_text(const std::string& words) {
  const std::string text = printable(words);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + "\"";
}

}  // namespace chameleon::tools
