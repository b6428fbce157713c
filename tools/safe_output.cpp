// SPDX-License-Identifier: BSD-3-Clause
#include "tools/safe_output.h"

#include <algorithm>

namespace chameleon::tools {
namespace {

constexpr char kEscape = '\x1b';
constexpr char kLeadOfControls = '\xc2';  ///< of U+0080 to U+009F in UTF-8
constexpr std::size_t kLongestColour = 16;

bool is_plain(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return (byte >= ' ' && byte != 0x7f && letter != kLeadOfControls) || letter == '\n' ||
         letter == '\t';
}

bool in_colour(char letter) { return (letter >= '0' && letter <= '9') || letter == ';'; }

}  // namespace

void SafeOutput::put(std::string& safe, char letter) {
  if (held_.empty()) {
    if (letter == kEscape || letter == kLeadOfControls)
      held_ = letter;
    else
      safe += is_plain(letter) ? letter : ' ';
    return;
  }
  if (held_.front() == kLeadOfControls) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool control = byte >= 0x80 && byte < 0xa0;
    safe += control ? " " : held_;
    held_.clear();
    if (!control) put(safe, letter);
    return;
  }
  const bool first = held_.size() == 1;
  if ((first && letter == '[') || (!first && in_colour(letter) && held_.size() < kLongestColour)) {
    held_ += letter;
  } else if (!first && letter == 'm') {
    safe += held_ + letter;
    held_.clear();
  } else {
    safe += ' ' + held_.substr(1);
    held_.clear();
    put(safe, letter);
  }
}

std::streamsize SafeOutput::xsputn(const char* text, std::streamsize size) {
  if (held_.empty() && std::all_of(text, text + size, is_plain)) return to_->sputn(text, size);
  std::string safe;
  std::for_each(text, text + size, [&](char letter) { put(safe, letter); });
  const auto length = static_cast<std::streamsize>(safe.size());
  return to_->sputn(safe.data(), length) == length ? size : 0;
}

SafeOutput::int_type SafeOutput::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char one = traits_type::to_char_type(letter);
  return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
}

int SafeOutput::sync() { return to_->pubsync(); }

}  // namespace chameleon::tools
