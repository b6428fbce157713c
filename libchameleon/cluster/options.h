// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The axes on which clusterings by signatures differ. A clustering that a paper describes is one
/// point on them, a *preset*.

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "cluster/distance.h"
#include "cluster/selection.h"
#include "signature/format.h"

namespace chameleon::cluster {

/// CHAMELEON_STEPS (dissertation section 4.1.1).
enum class Steps : std::uint8_t {
  kDouble,  ///< first by Call-Path, then within each by the other signatures
  kSingle,  ///< all signatures in one distance; K is never exceeded
};

/// The condition for two ranks to be alike without loss (CHAMELEON_EQUALITY).
enum class Equality : std::uint8_t {
  kExact,   ///< equal hashes of all values
  kXor,     ///< the same, with partners also read by XOR with the rank
  kPacked,  ///< equal 64-bit words of averages (Table 3.1): as published, for comparison
};

inline constexpr std::uint32_t kUnbounded = 0;  ///< K: every behaviour has a lead

struct ClusterOptions {
  Selection selection = Selection::kFarthest;
  std::uint32_t k = 9;  ///< leads wanted in all, or `kUnbounded`
  std::uint64_t seed = 1;
  Distance distance = Distance::kManhattan;
  SignatureFormat format = kDefaultFormat;
  /// Taken into the format, one after the other, as far as K has leads for all that then differ.
  SignatureFormat further = 0;
  /// Only those of `format` are used in which ranks differ (Algorithm 4).
  bool adaptive = false;
  Steps steps = Steps::kDouble;
  Equality equality = Equality::kExact;
  /// Average COUNTs that differ by this share of the greater are equal (section 3.6).
  double count_tolerance = 0;

  bool operator==(const ClusterOptions&) const = default;
};

/// The signatures that have to be fed: those of the format, and what makes up packed words.
SignatureFormat fed_format(const ClusterOptions& options);

/// A paper's clustering (CHAMELEON_ALGORITHM).
struct Preset {
  const char* name;
  const char* source;  ///< where it is described
  ClusterOptions options;
};
std::span<const Preset> presets();
/// Null if there is none of the name.
const Preset* find_preset(std::string_view name);
/// The signatures besides Chameleon's own that do not vary from run to run.
inline constexpr SignatureFormat kFurtherSignatures = static_cast<SignatureFormat>(
    (kAllSignatures | kSequenceBit) & ~kDefaultFormat & ~format_bit(Parameter::kCompute) &
    ~format_bit(Parameter::kCommunication) & ~format_bit(Parameter::kLoop));

/// The preset that differs at most in how many leads there are and which; `custom` if none does.
const char* algorithm_name(const ClusterOptions& options);

const char* steps_name(Steps steps);
const char* equality_name(Equality equality);
std::string k_text(std::uint32_t k);
/// `[adaptive:]LIST[+LIST]`, as CHAMELEON_FORMAT takes it.
std::string format_text(const ClusterOptions& options);

/// All axes in eight words: SELECTION K SEED DISTANCE FORMAT STEPS EQUALITY TOLERANCE.
std::string options_text(const ClusterOptions& options);
/// Reads those from the front of `words`; false if they are no such words.
bool options_of(std::istream& words, ClusterOptions& options);

// Each reads what the one above gives; false, and nothing changed, on anything else.
bool steps_of(std::string_view text, Steps& steps);
bool equality_of(std::string_view text, Equality& equality);
/// 1 to 65536, or `all`.
bool k_of(std::string_view text, std::uint32_t& k);
/// Also `adaptive`, and lists that begin with what `adaptive` or `all` leaves out: `-comp,-comm`.
/// Behind a `+` are the further signatures.
bool format_of(std::string_view text, ClusterOptions& options);
/// A share from 0 to below 1, as such or in percent.
bool tolerance_of(std::string_view text, double& share);

}  // namespace chameleon::cluster
