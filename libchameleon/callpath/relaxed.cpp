// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/relaxed.h"

#include <charconv>

namespace chameleon::callpath {
namespace {

bool number_of(std::string_view text, unsigned least, unsigned& number) {
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < least || value > FramesMatched::kMost)
    return false;
  number = value;
  return true;
}

}  // namespace

std::string frames_text(const FramesMatched& matched) {
  if (matched.all()) return "all";
  return std::to_string(matched.innermost) + "+" + std::to_string(matched.outermost);
}

bool frames_of(std::string_view text, FramesMatched& matched) {
  FramesMatched read;
  if (text != "all") {
    const std::size_t plus = text.find('+');
    if (plus == std::string_view::npos || !number_of(text.substr(0, plus), 1, read.innermost) ||
        !number_of(text.substr(plus + 1), 0, read.outermost))
      return false;
  }
  matched = read;
  return true;
}

}  // namespace chameleon::callpath
