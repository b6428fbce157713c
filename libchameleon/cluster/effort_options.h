// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How ranks are clustered and sampled by what they compute: CHAMELEON_EFFORT and its like.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "model/effort.h"

namespace chameleon::cluster {

/// How many strata there are (CHAMELEON_EFFORT_K).
struct EffortK {
  enum class By : std::uint8_t { kBayesian, kSamples, kFixed };
  By by = By::kBayesian;
  std::uint32_t k = 0;  ///< if it is fixed
  bool operator==(const EffortK&) const = default;
};

/// The time that is an interval's effort (CHAMELEON_EFFORT).
enum class EffortOf : std::uint8_t {
  kNothing,        ///< there are no windows
  kCompute,        ///< time outside MPI and the tool
  kCommunication,  ///< time in MPI calls
  kCalls,          ///< time in certain calls
  kSites,          ///< time of calls that certain functions make
};

struct EffortOptions {
  EffortOf of = EffortOf::kNothing;
  EffortK k;
  std::uint64_t seed = 1;
  Efforts::Settings window;

  bool on() const { return of != EffortOf::kNothing; }
};

/// These read what a user gives; false if it is malformed.
/// off, compute, communication; what has an @ is of call sites, and all else of calls.
EffortOf effort_of(std::string_view text);
/// bic, samples, or a number from 1 to 64.
bool effort_k_of(std::string_view text, EffortK& k);
/// A multiple of 16, up to 1024.
bool effort_steps_of(std::string_view text, std::uint64_t& steps);
/// A share above 0 and below 1, as such or in percent, in parts per million.
bool effort_share_of(std::string_view text, std::uint32_t& ppm);

/// In raw records: SEED K LENGTH ERROR CONFIDENCE, the last two in parts per million.
std::string effort_text(const EffortOptions& options);
/// The same read; false if it is malformed.
bool effort_from(std::istream& words, EffortOptions& options);

}  // namespace chameleon::cluster
