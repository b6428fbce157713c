// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Segmentation of a sequence of symbols by Jensen-Shannon divergence (Bernaola-Galvan et al.
/// 1996; execution phases of Alawneh & Hamou-Lhadj 2022, section 4.1, Eqs. 1-5 and 13-18).
/// A sequence is split where the divergence of what is left and right of the split is greatest, if
/// a model of two parts is worth its parameters by the chosen criterion; both parts are then split
/// in turn. Natural logarithms. O(length) for each level of depth; memory of the symbols.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/rooms.h"

namespace chameleon::statistics {

/// Information criteria: how much each parameter of a model costs.
enum class Criterion : std::uint8_t { kAic, kBic, kHqc, kAicc, kCaic };

const char* criterion_name(Criterion criterion);  ///< aic, bic, hqc, aicc, caic
/// Reads what `criterion_name` gives; false on anything else.
bool criterion_of(std::string_view name, Criterion& criterion);

/// Strength of a split of `length` symbols that adds `parameters`: what it gains over what it
/// costs, less one. Above 0 the split is worth it; -1 where the criterion has no value.
double strength(Criterion criterion, double divergence, double parameters, std::size_t length);

struct SegmentationOptions {
  Criterion criterion = Criterion::kAic;
  unsigned depth = 3;      ///< levels of splits at most
  std::size_t length = 0;  ///< shorter sequences, and of this length, are not split
  double strength = 0;     ///< a split is stronger than that
  /// The arithmetic of the paper's program, which divides by one too many on the right side
  /// (Table 5), instead of the paper's equations.
  bool published = false;
};

/// The strongest split of a part of the sequence, made or not.
struct Split {
  std::size_t first = 0, last = 0;  ///< the part: symbols [first, last)
  unsigned depth = 0;
  std::size_t at = 0;                       ///< first symbol of the right side
  std::size_t tie_first = 0, tie_last = 0;  ///< places with at least 99 % of the divergence
  double divergence = 0;
  double parameters = 0;  ///< that the split adds
  double strength = 0;    ///< by the chosen criterion
  bool made = false;
};

struct Segmentation {
  std::vector<Split> splits;            ///< looked at: a part before its left, then its right side
  std::vector<std::size_t> boundaries;  ///< first symbols of the segments, ascending, from 0
};

Segmentation segment(std::span<const std::uint32_t> symbols, const SegmentationOptions& options);

/// The divergence of a split before symbols 1 to length - 1.
std::vector<double> divergence_curve(std::span<const std::uint32_t> symbols,
                                     bool published = false);

}  // namespace chameleon::statistics
