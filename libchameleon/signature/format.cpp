// SPDX-License-Identifier: BSD-3-Clause
#include "signature/format.h"

namespace chameleon::signature {
namespace {

struct Named {
  SignatureFormat bit;
  const char* name;
};

constexpr Named kNames[] = {
    {kCallPathBit, "callpath"},
    {format_bit(Parameter::kSource), "src"},
    {format_bit(Parameter::kDestination), "dest"},
    {format_bit(Parameter::kCount), "count"},
    {format_bit(Parameter::kTag), "tag"},
    {format_bit(Parameter::kKey), "key"},
    {format_bit(Parameter::kColor), "color"},
    {format_bit(Parameter::kCompute), "comp"},
    {format_bit(Parameter::kCommunication), "comm"},
    {format_bit(Parameter::kLoop), "loop"},
    {format_bit(Parameter::kDataOperation), "data"},
    {kSequenceBit, "sequence"},
};
static_assert(std::size(kNames) == kParameters + 1);

/// 0: none of that name.
SignatureFormat bit_of(std::string_view name) {
  for (const Named& one : kNames)
    if (name == one.name) return one.bit;
  return 0;
}

}  // namespace

const char* signature_name(SignatureFormat bit) {
  for (const Named& one : kNames)
    if (bit == one.bit) return one.name;
  return "";
}

std::string format_text(SignatureFormat format) {
  std::string text;
  for (const Named& one : kNames)
    if ((format & one.bit) != 0) text += std::string(text.empty() ? "" : ",") + one.name;
  return text;
}

bool format_of(std::string_view text, SignatureFormat& format) {
  if (text == "all") return format = kAllSignatures, true;
  const bool without = !text.empty() && text.front() == '-';
  SignatureFormat named = 0;
  while (true) {
    const std::size_t end = text.find(',');
    std::string_view name = text.substr(0, end);
    if (without && (name.empty() || name.front() != '-')) return false;
    if (without) name.remove_prefix(1);
    const SignatureFormat bit = bit_of(name);
    if (bit == 0) return false;
    named |= bit;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  const auto rest = static_cast<SignatureFormat>(kAllSignatures & ~named);
  if (without && rest == 0) return false;
  format = without ? rest : named;
  return true;
}

}  // namespace chameleon::signature
