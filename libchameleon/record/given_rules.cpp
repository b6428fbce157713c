// SPDX-License-Identifier: BSD-3-Clause
#include "record/given_rules.h"

#include "base/foreign_file.h"
#include "signature/call_rules.h"

namespace chameleon::record {
namespace {

/// The text of a file. Whoever names one wrong made a mistake of usage.
Result<std::string> text_of(const std::string& path) {
  Result<std::string> text = read_foreign(path, signature::Rules::kMostText);
  if (!text && text.error().kind == ErrorKind::kRefused)
    return Error{ErrorKind::kUsage, "more than 64 KiB of text", 0};
  if (!text) return Error{ErrorKind::kUsage, text.error().message, 0};
  return text;
}

}  // namespace

Result<signature::Rules> given_rules(const std::string& given) {
  Result<std::string> text = given;
  if (given.find('=') == std::string::npos) text = text_of(given);
  if (!text) return text.error();
  Result<signature::Rules> rules = signature::Rules::parse(*text);
  if (!rules) return rules;
  if (const Status known = signature::check_rules(*rules); !known) return known.error();
  return rules;
}

}  // namespace chameleon::record
