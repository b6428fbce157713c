// SPDX-License-Identifier: BSD-3-Clause
#include "tools/csv.h"

#include <cstdlib>
#include <string_view>

#include "tools/common.h"

namespace chameleon::tools {
namespace {

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size();
}

/// Whether a spreadsheet would take the cell for a formula.
bool is_formula(const std::string& text) {
  constexpr std::string_view kBegins = "=+-@\t\r";
  return !text.empty() && kBegins.find(text.front()) != std::string_view::npos && !is_number(text);
}

}  // namespace

std::string csv_text(const std::string& words) {
  const bool formula = is_formula(words);
  const std::string text = (formula ? "'" : "") + printable(words);
  if (!formula && text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + "\"";
}

}  // namespace chameleon::tools
