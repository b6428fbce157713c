// SPDX-License-Identifier: BSD-3-Clause
#include "tools/report/page_text.h"
#include "tools/report/report.h"

namespace chameleon::tools::report {
namespace {

/// Names in a trace are anybody's: nothing in them may end the script that holds the data.
std::string in_script(const Json& document) {
  std::string text;
  for (const char letter :
       document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    if (letter == '<')
      text += "\\u003c";
    else
      text += letter;
  }
  return text;
}

std::string page(const Json& document, std::string_view policy, std::string_view more) {
  const std::string data = in_script(document);
  std::string text(page_head());
  text.reserve(text.size() + data.size() + page_middle().size() + page_tail().size());
  text += policy;
  text += page_middle();
  text += data;
  text += page_tail();
  text.insert(text.rfind("</body>"), more);
  return text;
}

}  // namespace

std::string page(const Json& document) { return page(document, "", ""); }

std::string live_page(const Json& document, const Json& state) {
  std::string script = "<script type=\"application/json\" id=\"live\">" + in_script(state) +
                       "</script>\n<script type=\"module\">\n";
  script += page_live();
  return page(document, "; connect-src 'self'", script + "</script>\n");
}

}  // namespace chameleon::tools::report
