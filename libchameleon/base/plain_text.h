// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Text that may go to a terminal, or into a line of a file, whoever wrote it. Characters that a
/// terminal or reader would obey become spaces: control characters (C0 with line breaks and tabs,
/// DEL, C1), separators of lines and paragraphs, and what turns the direction of writing. Bytes
/// that are no UTF-8 become U+FFFD.

#include <string>
#include <string_view>

#include "base/rooms.h"

namespace chameleon::inline base {

/// A character and how many bytes it has; `size` 0: the next byte begins none.
struct Utf8Character {
  char32_t code = 0;
  std::size_t size = 0;
};

inline Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  auto code = static_cast<char32_t>(lead & (0x7fU >> size));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[size] || code > 0x10ffff || surrogate ? Utf8Character{}
                                                             : Utf8Character{code, size};
}

inline bool is_obeyed(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||  // C0, DEL, C1
         code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029 || code == 0xfeff;
}

inline std::string plain_text(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    if (next.size == 0)
      plain += "\xef\xbf\xbd";
    else if (is_obeyed(next.code))
      plain += ' ';
    else
      plain += text.substr(0, next.size);
    text.remove_prefix(next.size == 0 ? 1 : next.size);
  }
  return plain;
}

}  // namespace chameleon::inline base
