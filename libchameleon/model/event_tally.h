// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Compute time and time in the call of many like events, counted side by side: both at once, in
/// half of the instructions that two histograms take. It takes times up to 2^31 ns that are near
/// those seen when its counters were placed, nearly all of them; others are for histograms, and
/// what was counted here is added to those when they are asked for. Without SSE2 it takes none.

#include <array>
#include <cstdint>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "model/node.h"

namespace chameleon::inline model {

#if defined(__SSE2__)

class EventTally {
 public:
  /// Whole ns of both kinds.
  using Pair = __m128d;
  /// Both below 2^31.
  [[gnu::always_inline]] static Pair pair(std::uint64_t compute, std::uint64_t communication) {
    return _mm_cvtepi32_pd(_mm_unpacklo_epi32(_mm_cvtsi32_si128(static_cast<int>(compute)),
                                              _mm_cvtsi32_si128(static_cast<int>(communication))));
  }
  /// The same of ticks; a tick is at most a ns.
  [[gnu::always_inline]] static Pair pair(std::uint64_t compute, std::uint64_t communication,
                                          double ns_per_tick) {
    const Pair ns = _mm_mul_pd(pair(compute, communication), _mm_set1_pd(ns_per_tick));
    return _mm_cvtepi32_pd(_mm_cvttpd_epi32(ns));
  }

  /// False: it is not for here.
  [[gnu::always_inline]] bool add(Pair ns) {
    // Exponent and the next two bits tell the bin; 0 has those of a half.
    const __m128i keys = _mm_srli_epi64(_mm_castpd_si128(_mm_max_pd(ns, _mm_set1_pd(0.5))), 50);
    const unsigned compute = static_cast<unsigned>(_mm_extract_epi16(keys, 0)) - first_[0];
    const unsigned communication = static_cast<unsigned>(_mm_extract_epi16(keys, 4)) - first_[1];
    if ((compute | communication) >= kKeys || count_ == kMost) [[unlikely]]
      return false;
    ++count_;
    sums_ = _mm_add_pd(sums_, ns);
    squares_ = _mm_add_pd(squares_, _mm_mul_pd(ns, ns));
    least_ = _mm_min_pd(least_, ns);
    most_ = _mm_max_pd(most_, ns);
    ++counts_[0][compute];
    ++counts_[1][communication];
    return true;
  }

  /// One that was not for here: if it is one of many, the counters move to where it is, and what
  /// they had becomes part of `rest`.
  void missed(std::uint64_t compute, std::uint64_t communication, Durations& rest);
  /// Adds what was counted.
  void add_to(Durations& rest) const;

 private:
  static constexpr unsigned kKeys = 32;  ///< eight octaves, a power of two
  /// The largest count, and the number of sums that are exact.
  static constexpr std::uint32_t kMost = UINT16_MAX;
  /// Keys of 0 and of 4 ns, from which on they follow each other as bins do; none is `kNowhere`.
  static constexpr std::uint32_t kKeyOfZero = 4088, kKeyOfFour = 4100, kNowhere = 65535;

  static std::uint32_t key_of(std::uint64_t ns);
  static std::uint8_t bin_of_key(std::uint32_t key);
  void empty();

  Pair sums_ = _mm_setzero_pd(), squares_ = _mm_setzero_pd();
  Pair least_ = _mm_set1_pd(2147483648.0), most_ = _mm_setzero_pd();
  std::array<std::uint32_t, 2> first_{kNowhere, kNowhere};  ///< key of the first counter
  std::uint32_t count_ = 0;
  std::uint16_t misses_ = 0;  ///< since the counters moved
  std::uint16_t moves_ = 0;
  std::array<std::array<std::uint16_t, kKeys>, 2> counts_{};
};

#else

class EventTally {
 public:
  struct Pair {};
  static Pair pair(std::uint64_t, std::uint64_t, double = 1) { return {}; }
  bool add(Pair) { return false; }
  void missed(std::uint64_t, std::uint64_t, Durations&) {}
  void add_to(Durations&) const {}
};

#endif

}  // namespace chameleon::inline model
