// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The sums over all ranks of an effort window: exact moments of each step of each stratum,
/// and extremes of each step and of each stratum. In whole numbers, so that the order does not
/// matter. 32 bytes for each step of each stratum and 16 for each step.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "statistics/exact_moments.h"
#include "world/world.h"

namespace chameleon::cluster {

/// The computing of a rank in an interval.
struct StepEffort {
  std::uint64_t marker = 0;  ///< acted-on marker that ends it
  std::uint64_t ns = 0;
};
using RankEfforts = std::vector<StepEffort>;

/// The least and greatest of some numbers; empty at first.
struct Extremes {
  std::uint64_t least = UINT64_MAX, most = 0;

  static Extremes of(std::uint64_t number) { return {number, number}; }
  void add(const Extremes& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

/// The sums of one stratum.
struct StratumSums {
  ExactMoments whole;  ///< of what a rank computed in all steps
  Extremes range;      ///< the same
  std::vector<ExactMoments> steps;

  void add(const StratumSums& other) {
    whole.add(other.whole);
    range.add(other.range);
    if (steps.empty()) steps.resize(other.steps.size());
    for (std::size_t i = 0; i < std::min(steps.size(), other.steps.size()); ++i)
      steps[i].add(other.steps[i]);
  }
  void encode(ByteWriter& writer) const { encode_values(writer, whole, range, steps); }
  static bool decode(ByteReader& reader, StratumSums& sums) {
    return decode_values(reader, sums.whole, sums.range, sums.steps);
  }
};

class EffortSums {
 public:
  static constexpr bool kPacked = false;  ///< sums of squares hardly get shorter

  EffortSums() = default;
  /// The sums of one rank, which belongs to this one of `strata`.
  EffortSums(const RankEfforts& efforts, std::uint32_t stratum, std::size_t strata)
      : strata_(strata) {
    StratumSums none;
    StratumSums& mine = stratum < strata ? strata_[stratum] : none;
    std::uint64_t whole = 0;
    for (const StepEffort& step : efforts) {
      mine.steps.emplace_back().add(step.ns);
      extremes_.push_back(Extremes::of(step.ns));
      intervals_ = combine(intervals_, step.marker);
      whole += std::min(step.ns, ExactMoments::kMost);
    }
    mine.whole.add(whole);
    mine.range = Extremes::of(std::min(whole, ExactMoments::kMost));
  }

  void join(EffortSums&& other) {
    if (other.strata_.empty()) return;
    if (strata_.empty()) return void(*this = std::move(other));
    uneven_ = uneven_ || other.uneven_ || intervals_ != other.intervals_;
    for (std::size_t i = 0; i < std::min(strata_.size(), other.strata_.size()); ++i)
      strata_[i].add(other.strata_[i]);
    for (std::size_t i = 0; i < std::min(extremes_.size(), other.extremes_.size()); ++i)
      extremes_[i].add(other.extremes_[i]);
  }

  const std::vector<StratumSums>& strata() const { return strata_; }
  const std::vector<Extremes>& extremes() const { return extremes_; }  ///< by step
  /// Ranks had different intervals: nothing else holds.
  bool uneven() const { return uneven_; }
  /// Over all strata.
  StratumSums all() const {
    StratumSums sums;
    for (const StratumSums& one : strata_)
      if (one.whole.count() != 0) sums.add(one);
    return sums;
  }

  void encode(ByteWriter& writer) const {
    encode_values(writer, intervals_, uneven_, extremes_, strata_);
  }
  static bool decode(ByteReader& reader, EffortSums& sums) {
    return decode_values(reader, sums.intervals_, sums.uneven_, sums.extremes_, sums.strata_);
  }

 private:
  std::uint64_t intervals_ = 0;  ///< hash of their markers
  bool uneven_ = false;
  std::vector<Extremes> extremes_;
  std::vector<StratumSums> strata_;
};

}  // namespace chameleon::cluster
