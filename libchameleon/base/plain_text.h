// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Text that may go to a terminal whoever wrote it: with spaces for control characters.

#include <string>

namespace chameleon::inline base {

inline std::string plain_text(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too.
    const bool second = i > 0 && text[i - 1] == '\xc2' && byte >= 0x80 && byte < 0xa0;
    if (second) text[i - 1] = ' ';
    if (byte < ' ' || byte == 0x7f || second) text[i] = ' ';
  }
  return text;
}

}  // namespace chameleon::inline base
