// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Numbers as text in any locale: printf's follow the program's, which may have a decimal comma.

#include <charconv>
#include <string>

#include "base/rooms.h"

namespace chameleon::inline base {

/// As printf's %.Ng in the locale C.
inline std::string number_text(double number, int digits) {
  char text[48];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits);
  return {text, error == std::errc() ? end : text};
}

}  // namespace chameleon::inline base
