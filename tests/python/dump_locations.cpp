// SPDX-License-Identifier: BSD-3-Clause
// For each line of input, FIRST_LINE UNITS TABLE (in hexadecimal), prints where each instruction of
// the code object stands: LINE:COLUMN-END_LINE:END_COLUMN, or ? where the table does not say.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "callpath/python_lines.h"

int main() {
  std::uint32_t first_line = 0;
  std::int64_t units = 0;
  std::string text;
  while (std::cin >> first_line >> units >> text) {
    std::vector<std::uint8_t> table;
    for (std::size_t i = 1; i + 1 < text.size(); i += 2)  // after an x: the table may be empty
      table.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    for (std::int64_t unit = 0; unit < units; ++unit) {
      const auto at = chameleon::callpath::python_location(table, first_line, unit);
      if (at)
        std::printf("%u:%u-%u:%u ", at->line, at->column, at->end_line, at->end_column);
      else
        std::printf("? ");
    }
    std::printf("\n");
  }
}
