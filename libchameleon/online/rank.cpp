// SPDX-License-Identifier: BSD-3-Clause
#include "online/rank.h"

#include <cstdarg>
#include <cstdio>

namespace chameleon::online {

void Rank::say(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  say_line(line);
}

}  // namespace chameleon::online
