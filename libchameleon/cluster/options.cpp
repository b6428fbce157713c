// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/options.h"

#include <charconv>
#include <initializer_list>
#include <istream>

#include "base/number_text.h"

namespace chameleon::cluster {
namespace {

ClusterOptions unbounded(SignatureFormat format) {
  ClusterOptions options;
  options.format = format;
  options.k = kUnbounded;
  return options;
}

/// Chapter 3: Table 3.1's parameters, with KEY, COLOR and TAG, without which FT and POP lose some;
/// COUNTs within 5 % are equal.
ClusterOptions callpath_parameter() {
  ClusterOptions options = unbounded(
      kCallPathBit | format_bit(Parameter::kSource) | format_bit(Parameter::kDestination) |
      format_bit(Parameter::kCount) | format_bit(Parameter::kTag) | format_bit(Parameter::kKey) |
      format_bit(Parameter::kColor) | format_bit(Parameter::kDataOperation));
  options.count_tolerance = 0.05;
  return options;
}

ClusterOptions acurdion() {
  ClusterOptions options;
  options.format = kAllSignatures;
  options.adaptive = true;
  return options;
}

template <class Enum>
bool word_of(std::string_view text, Enum& value, std::initializer_list<Enum> all,
             const char* (*name)(Enum)) {
  for (const Enum each : all)
    if (text == name(each)) return value = each, true;
  return false;
}

}  // namespace

std::span<const Preset> presets() {
  static const Preset list[] = {
      {"chameleon", "dissertation chapter 5", {}},
      {"callpath+parameter", "dissertation chapter 3", callpath_parameter()},
      {"reference", "dissertation section 3.4", unbounded(kCallPathBit | kSequenceBit)},
      {"acurdion", "dissertation chapter 4", acurdion()},
      {"dynamic", "dissertation section 4.4.6", unbounded(kDefaultFormat)},
  };
  return list;
}

const Preset* find_preset(std::string_view name) {
  for (const Preset& one : presets())
    if (name == one.name) return &one;
  return nullptr;
}

const char* algorithm_name(const ClusterOptions& options) {
  for (const Preset& one : presets()) {
    ClusterOptions like = options;
    like.k = one.options.k;
    like.further = one.options.further;
    like.selection = one.options.selection;
    like.seed = one.options.seed;
    like.distance = one.options.distance;
    const bool bounded = options.k != kUnbounded;
    if (like == one.options && bounded == (one.options.k != kUnbounded)) return one.name;
  }
  return "custom";
}

SignatureFormat fed_format(const ClusterOptions& options) {
  const auto format = static_cast<SignatureFormat>(options.format | options.further);
  if (options.equality != Equality::kPacked) return format;
  return static_cast<SignatureFormat>(
      format | format_bit(Parameter::kCount) | format_bit(Parameter::kSource) |
      format_bit(Parameter::kDestination) | format_bit(Parameter::kDataOperation));
}

const char* steps_name(Steps steps) { return steps == Steps::kDouble ? "double" : "single"; }

const char* equality_name(Equality equality) {
  return equality == Equality::kExact ? "exact" : equality == Equality::kXor ? "xor" : "packed";
}

std::string k_text(std::uint32_t k) { return k == kUnbounded ? "all" : std::to_string(k); }

std::string format_text(const ClusterOptions& options) {
  return (options.adaptive ? "adaptive:" : "") + signature::format_text(options.format) +
         (options.further == 0 ? "" : "+" + signature::format_text(options.further));
}

std::string options_text(const ClusterOptions& options) {
  const std::string tolerance = number_text(options.count_tolerance, 17);
  return std::string(selection_name(options.selection)) + " " + k_text(options.k) + " " +
         std::to_string(options.seed) + " " + distance_name(options.distance) + " " +
         format_text(options) + " " + steps_name(options.steps) + " " +
         equality_name(options.equality) + " " + tolerance;
}

bool options_of(std::istream& words, ClusterOptions& options) {
  std::string selection, k, distance, format, steps, equality, tolerance;
  ClusterOptions read;
  words >> selection >> k >> read.seed >> distance >> format >> steps >> equality >> tolerance;
  if (!words || !selection_of(selection, read.selection) || !k_of(k, read.k) ||
      !distance_of(distance, read.distance) || !format_of(format, read) ||
      !steps_of(steps, read.steps) || !equality_of(equality, read.equality) ||
      !tolerance_of(tolerance, read.count_tolerance))
    return false;
  options = read;
  return true;
}

bool steps_of(std::string_view text, Steps& steps) {
  return word_of(text, steps, {Steps::kDouble, Steps::kSingle}, steps_name);
}

bool equality_of(std::string_view text, Equality& equality) {
  return word_of(text, equality, {Equality::kExact, Equality::kXor, Equality::kPacked},
                 equality_name);
}

bool k_of(std::string_view text, std::uint32_t& k) {
  if (text == "all") return k = kUnbounded, true;
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 1 || value > 65536) return false;
  k = value;
  return true;
}

bool format_of(std::string_view text, ClusterOptions& options) {
  constexpr std::string_view kAdaptive = "adaptive";
  const bool adaptive = text.substr(0, kAdaptive.size()) == kAdaptive;
  if (adaptive) {
    text.remove_prefix(kAdaptive.size());
    if (text.empty())
      text = "all";
    else if (text.front() != ':')
      return false;
    else
      text.remove_prefix(1);
  }
  SignatureFormat format = 0, further = 0;
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos && !signature::format_of(text.substr(plus + 1), further))
    return false;
  if (!signature::format_of(text.substr(0, plus), format)) return false;
  options.format = format;
  options.further = static_cast<SignatureFormat>(further & ~format);
  options.adaptive = adaptive;
  return true;
}

bool tolerance_of(std::string_view text, double& share) {
  double value = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  if (rest != end && *rest == '%') value /= 100, ++rest;
  if (error != std::errc() || rest != end || !(value >= 0) || value >= 1) return false;
  share = value;
  return true;
}

}  // namespace chameleon::cluster
