// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Single events that took far longer than others at their place. Where times are distributions,
/// nothing else in the trace shows single events. An event is known by its number in its
/// stream. At most `kMost` of a run are kept: up to half of them computed for long, which makes
/// others wait, and the rest are long calls; in both, those furthest beyond what is usual.

#include <cstdint>
#include <span>
#include <vector>

#include "model/account_book.h"

namespace chameleon::inline model {

struct Outlier {
  std::uint32_t stream = 0;
  std::uint64_t event = 0;  ///< number in the stream, from 1
  bool in_call = false;     ///< the call took long; else computing before it
  Place place;
  std::uint64_t ns = 0;
  std::uint64_t usual_ns = 0;  ///< the median there, of the stream
  /// When the computing or the call began, since the start of the stream's first event; without the
  /// tool's work, with waiting at markers.
  std::uint64_t begin_ns = 0;

  std::uint64_t excess_ns() const { return ns > usual_ns ? ns - usual_ns : 0; }
  bool operator==(const Outlier&) const = default;
};

class Outliers {
 public:
  static constexpr std::size_t kMost = 1000;

  /// Whether the run was looked through for them; if so, none means that there are none.
  bool known() const { return known_; }
  void know() { known_ = true; }
  /// By stream, event, and computing before the call.
  const std::vector<Outlier>& all() const { return all_; }
  std::span<const Outlier> of(std::uint32_t stream) const;

  void add(const Outlier& outlier) { all_.push_back(outlier); }
  /// After `add`: puts them in order, and leaves the worst.
  void settle();
  /// The same for those of both.
  void merge(const Outliers& other);

  bool operator==(const Outliers&) const = default;

 private:
  std::vector<Outlier> all_;
  bool known_ = false;
};

}  // namespace chameleon::inline model
