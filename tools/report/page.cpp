// SPDX-License-Identifier: BSD-3-Clause
#include "tools/report/page_text.h"
#include "tools/report/report.h"

namespace chameleon::tools::report {

std::string page(const Json& document) {
  const std::string data =
      document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string text(page_head());
  text.reserve(text.size() + data.size() + page_tail().size());
  // Names in a trace are anybody's: nothing in them may end the script that holds the data.
  for (const char letter : data) {
    if (letter == '<')
      text += "\\u003c";
    else
      text += letter;
  }
  text += page_tail();
  return text;
}

}  // namespace chameleon::tools::report
