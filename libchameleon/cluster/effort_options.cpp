// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/effort_options.h"

#include <charconv>
#include <cmath>
#include <istream>

#include "cluster/options.h"

namespace chameleon::cluster {
namespace {

/// A whole number within bounds.
bool number_of(std::string_view text, std::uint64_t least, std::uint64_t most,
               std::uint64_t& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end && value >= least && value <= most;
}

}  // namespace

EffortOf effort_of(std::string_view text) {
  if (text == "off") return EffortOf::kNothing;
  if (text == "compute") return EffortOf::kCompute;
  if (text == "communication") return EffortOf::kCommunication;
  return text.find('@') != text.npos ? EffortOf::kSites : EffortOf::kCalls;
}

bool effort_k_of(std::string_view text, EffortK& k) {
  if (text == "bic") return k = {EffortK::By::kBayesian, 0}, true;
  if (text == "samples") return k = {EffortK::By::kSamples, 0}, true;
  std::uint64_t number = 0;
  if (!number_of(text, 1, Efforts::kMostStrata, number)) return false;
  k = {EffortK::By::kFixed, static_cast<std::uint32_t>(number)};
  return true;
}

bool effort_steps_of(std::string_view text, std::uint64_t& steps) {
  std::uint64_t number = 0;
  if (!number_of(text, Efforts::kLeastLength, Efforts::kMostLength, number)) return false;
  steps = number;
  return number % Efforts::kLeastLength == 0;
}

bool effort_share_of(std::string_view text, std::uint32_t& ppm) {
  double share = 0;
  if (!tolerance_of(text, share)) return false;
  ppm = static_cast<std::uint32_t>(std::lround(share * 1e6));
  return ppm > 0 && ppm < 1'000'000;
}

namespace {

std::string k_text(const EffortK& k) {
  if (k.by == EffortK::By::kFixed) return std::to_string(k.k);
  return k.by == EffortK::By::kSamples ? "samples" : "bic";
}

}  // namespace

std::string effort_text(const EffortOptions& options) {
  const Efforts::Settings& window = options.window;
  return std::to_string(options.seed) + " " + k_text(options.k) + " " +
         std::to_string(window.length) + " " + std::to_string(window.error_ppm) + " " +
         std::to_string(window.confidence_ppm);
}

bool effort_from(std::istream& words, EffortOptions& options) {
  EffortOptions read;
  std::string k, length;
  words >> read.seed >> k >> length >> read.window.error_ppm >> read.window.confidence_ppm;
  const auto share = [](std::uint32_t ppm) { return ppm > 0 && ppm < 1'000'000; };
  if (!words || !effort_k_of(k, read.k) || !effort_steps_of(length, read.window.length) ||
      !share(read.window.error_ppm) || !share(read.window.confidence_ppm))
    return false;
  read.of = EffortOf::kCompute;  // whatever it is
  options = read;
  return true;
}

}  // namespace chameleon::cluster
