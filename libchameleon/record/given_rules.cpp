// SPDX-License-Identifier: BSD-3-Clause
#include "record/given_rules.h"

#include <fstream>

#include "signature/call_rules.h"

namespace chameleon::record {
namespace {

/// The text of a file that is no longer than rules may be, or one byte more.
Result<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorKind::kUsage, "cannot read " + path, 0};
  std::string text(signature::Rules::kMostText + 1, 0);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
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
