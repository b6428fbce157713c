// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The content of a `ValueSequence` that is not constant, for its own sources
/// only: terms, the two stages that compress (values to segments, segments to
/// loops), and the hashes. Both hashes are polynomials modulo 2^64, so they wrap
/// like the values, and the hash of a concatenation follows from the hashes of its
/// parts.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "model/value_sequence.h"

namespace chameleon::inline model {

namespace value_terms {

constexpr std::uint64_t kValueBase = 0x9e3779b97f4a7c15ULL;  // over values
constexpr std::uint64_t kTermBase = 0xd1342543de82ef95ULL;   // over hashes of terms

constexpr std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

/// The kinds of groups of terms in bytes, and how deep loops may be there.
enum GroupKind : std::uint64_t { kSingles, kRun, kStrided, kLoop };
constexpr int kMaxDepth = 64;
constexpr std::uint64_t kCoded = 1;  ///< no values, and general: otherwise not written

/// A value as what it is in arithmetic that wraps.
inline std::uint64_t wrap(std::int64_t value) { return static_cast<std::uint64_t>(value); }
/// The value of a segment at position `i`.
inline std::int64_t at(const ValueSequence::Segment& s, std::uint64_t i) {
  return static_cast<std::int64_t>(wrap(s.start) + wrap(s.stride) * i);
}

/// Polynomial of a segment's values: O(log count).
std::uint64_t values_of(const ValueSequence::Segment& segment);
/// Polynomial of `size` values of polynomial `hash`, repeated: O(log).
std::uint64_t repeated(std::uint64_t hash, std::uint64_t size, std::uint64_t repeats);

}  // namespace value_terms

struct ValueLoop;

/// A segment, or a loop with `segment.count` repeats.
struct ValueSequence::Term {
  Segment segment;
  std::unique_ptr<ValueLoop> loop;

  Term() = default;
  explicit Term(const Segment& s) : segment(s) {}
  Term(std::vector<Term> body, std::uint64_t repeats);
  Term(const Term& other);
  Term(Term&&) noexcept = default;
  Term& operator=(Term&&) noexcept = default;
  Term& operator=(const Term& other) { return *this = Term(other); }

  std::uint64_t hash() const;
  std::uint64_t size() const;
  std::uint64_t values() const;
  bool operator==(const Term& other) const;
};

struct ValueLoop {
  std::vector<ValueSequence::Term> terms;
  std::uint64_t hash = 0;    // over terms
  std::uint64_t size = 0;    // values in one pass
  std::uint64_t values = 0;  // polynomial of one pass
};

/// Values that are not constant: closed terms, where tandem repeats are folded, and the open
/// segment, which the next value may still lengthen (a pair in it is tentative: closed, it is two
/// single values).
struct ValueSequence::General {
  using Bucket = std::array<std::uint32_t, 4>;

  std::vector<Term> tail;
  std::vector<std::uint64_t> prefix{0};  // prefix[i]: polynomial of the first i terms
  Segment open;
  std::uint64_t values = 0;   // polynomial of all values
  std::vector<Bucket> index;  // lossy: window of terms -> ends of its last occurrences
  bool has_long_loop = false;

  General() = default;
  General(const General& other)  // the index is rebuilt when next needed
      : tail(other.tail),
        prefix(other.prefix),
        open(other.open),
        values(other.values),
        has_long_loop(other.has_long_loop) {}

  void add_hash(std::uint64_t hash, std::uint64_t size) {
    values = values * value_terms::power(value_terms::kValueBase, size) + hash;
  }
  void extend(std::int64_t v, std::uint64_t n);
  void feed(const Segment& s);
  void feed(Term term);
  void close();
  void reopen();
  void pop();
  void place(Term term);
  /// The end of the terms, for `rounds_since` after more values have come.
  struct End {
    std::size_t from = 0, size = 0;                        ///< terms
    std::uint64_t before = 0;                              ///< polynomial of the terms up to `from`
    std::vector<std::pair<Segment, std::uint64_t>> terms;  ///< with the hash of a loop's body
    Segment open;
    std::size_t loop = 0;  ///< the one that went round
  };
  End end(std::uint64_t most_terms) const;
  /// How often a loop at the end has gone round if nothing else changed, so that the same values
  /// will do nothing else again; 0: something may. Looks at `most_terms` terms at most.
  std::uint64_t rounds_since(End& end, std::uint64_t most_terms) const;
  void go_round(const End& end, std::uint64_t rounds);

 private:
  void push(Term term);
  void truncate(std::size_t size);
  std::vector<Term> take(std::size_t from);
  std::uint64_t term_hash(std::size_t i) const {
    return prefix[i + 1] - prefix[i] * value_terms::kTermBase;
  }
  std::uint64_t window(std::size_t from, std::size_t to) const {
    return prefix[to] - prefix[from] * value_terms::power(value_terms::kTermBase, to - from);
  }
  bool ends_with(const ValueLoop& loop) const;
  bool absorb(std::size_t length, Term& result);
  bool fold(std::size_t length, Term& result);
  bool reduce(Term& result);
  bool reduce_indexed(Term& result);
  void remember(std::size_t end);
  void insert(std::uint64_t key, std::size_t position);
  Bucket& bucket(std::uint64_t key) { return index[mix(key) & (index.size() - 1)]; }
};

}  // namespace chameleon::inline model
