// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A distribution of durations in nanoseconds: count, sum, extremes and
/// deviation, with logarithmic bins, four per octave (durations below 8 ns have
/// bins of their own). Durations of one kind lie close together: 11 bins around
/// the first, or where many lie, have counters of their own, what is elsewhere or
/// too much for them is in a list. The total of the bins is `count()`. `add` is a
/// few bit operations, no search but for outliers, no division; `merge` is linear
/// in bins. Sums saturate.

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace chameleon::inline model {

class Histogram {
 public:
  using Bins = std::vector<std::pair<std::uint8_t, std::uint64_t>>;
  /// Bins are numbered 0 to `kBins - 1`.
  static constexpr unsigned kBins = 252;

  /// The parts from which a distribution is made again.
  struct Moments {
    std::uint64_t count = 0, sum = 0, min = 0, max = 0;
    double deviation = 0;
  };
  /// With these bins, ascending and each below `kBins`, in proportion to their counts; without any
  /// it has one mode. Requires `min <= sum / count <= max`.
  static Histogram of(const Moments& moments, Bins bins);

  void add(std::uint64_t ns) {
    const double value = static_cast<double>(ns);
    // Up to 2^53, where every number is a double, its exponent and the next two bits are the bin.
    std::uint8_t bin =
        static_cast<std::uint8_t>((std::bit_cast<std::uint64_t>(value) >> 50) - 4096);
    if (ns - 4 >= (std::uint64_t{1} << 53) - 4) [[unlikely]]
      bin = bin_of(ns);
    if (count_++ == 0) {
      min_ = max_ = ns;
      look_around(bin);
    } else {
      if (ns < min_) min_ = ns;
      if (ns > max_) max_ = ns;
    }
    if (__builtin_add_overflow(sum_, ns, &sum_)) sum_ = UINT64_MAX;
    squares_ += value * value;
    const unsigned place = bin - nearest_;
    if (place >= kNear) [[unlikely]]
      add_outlier(bin);
    else if (++near_[place] == 0) [[unlikely]]
      add_far(bin, std::uint64_t{1} << 32);
  }
  /// Durations that were counted elsewhere, at least one.
  struct Counted {
    std::uint64_t count = 0, sum = 0, min = 0, max = 0;
    double squares = 0;
    Bins bins;  ///< which come to `count`
  };
  void add(const Counted& many);
  void merge(const Histogram& other);
  /// Leaves a share (0 to 1) of the durations; at least one.
  void scale(double share);

  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }
  bool empty() const { return count_ == 0; }
  /// Smallest and largest; 0 when empty.
  std::uint64_t min() const { return min_; }
  std::uint64_t max() const { return max_; }
  /// In ns; 0 when empty.
  double mean() const;
  /// Standard deviation of the population, in ns.
  double deviation() const;
  /// The duration below which a share `q` (0 to 1) lies, interpolated linearly
  /// within its bin and never outside [min, max]. In ns; 0 when empty.
  double quantile(double q) const;
  /// (bin, count) ascending, counts not 0.
  Bins bins() const;
  bool operator==(const Histogram& other) const;

  static constexpr std::uint8_t bin_of(std::uint64_t ns) {
    if (ns < 4) return static_cast<std::uint8_t>(ns);
    const int exponent = std::bit_width(ns) - 1;
    return static_cast<std::uint8_t>(4 * (exponent - 1) + ((ns >> (exponent - 2)) & 3));
  }
  /// The smallest duration of a bin; 2^64 - 1 from `kBins` on.
  static constexpr std::uint64_t bin_low(unsigned bin) {
    if (bin < 4) return bin;
    if (bin >= kBins) return UINT64_MAX;
    return (4 + std::uint64_t{bin & 3}) << (bin / 4 - 1);
  }

  /// As trace files have it: exact but for the deviation, kept to 1 ns; two varints when
  /// `count() == 1`.
  void encode(ByteWriter& writer) const;
  /// Reads what `encode` wrote; false (and a failed reader) on anything else.
  static bool decode(ByteReader& reader, Histogram& histogram);
  /// The same in fewer bytes, for messages: about one a bin instead of two.
  void pack(ByteWriter& writer) const;
  static bool unpack(ByteReader& reader, Histogram& histogram);

 private:
  /// Reads bins from `first` to `last`, of `total` durations or shares, into `room`; none on
  /// anything else.
  using ReadBins = std::span<Bins::value_type> (*)(ByteReader& reader, std::uint64_t total,
                                                   std::uint8_t first, std::uint8_t last,
                                                   std::span<Bins::value_type> room);
  static bool read(ByteReader& reader, Histogram& histogram, ReadBins bins);
  /// Writes all but the bins, and gives those that are to follow.
  Bins encode_moments(ByteWriter& writer) const;

  static constexpr unsigned kNear = 11;  ///< nearly three octaves

  /// The bins with counters are those around `bin`; there are none yet.
  void look_around(std::uint8_t bin) { nearest_ = bin < kNear / 2 ? 0 : bin - kNear / 2; }
  void add_bin(std::uint8_t bin, std::uint64_t count);
  void add_far(std::uint8_t bin, std::uint64_t count);
  void add_outlier(std::uint8_t bin);

  /// Mostly none; copied with what is in it.
  struct Far : std::unique_ptr<Bins> {
    Far() = default;
    Far(Far&&) noexcept = default;
    Far& operator=(Far&&) noexcept = default;
    Far(const Far& other) : unique_ptr(other ? std::make_unique<Bins>(*other) : nullptr) {}
    Far& operator=(const Far& other) { return *this = Far(other); }
  };

  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = 0;
  std::uint64_t max_ = 0;
  double squares_ = 0;
  Far far_;                                  ///< as `bins()`
  std::array<std::uint32_t, kNear> near_{};  ///< of 16 bits, short loops fold at half the speed
  std::uint8_t nearest_ = 0;                 ///< the bin of the first counter
  std::uint8_t moves_ = 0;                   ///< of the counters
  std::uint16_t outliers_ = 0;               ///< since then
};

static_assert(sizeof(Histogram) == 96);  // folding touches all of it, two an event

}  // namespace chameleon::inline model
