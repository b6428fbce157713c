// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// An exact, append-only, compressed sequence of 64-bit integers: the values
/// one parameter takes over the iterations of a loop. A constant is kept in 24
/// bytes and appended to inline; anything else becomes terms, each a *segment*
/// (start, stride, count) or a *loop* (repeats, terms), folded on line as the
/// values come: amortised O(1) per segment whatever the length of the loop.
/// Equality and hash are those of the values, not of the terms: sequences
/// built in different ways compare equal. Arithmetic wraps, as `uint64_t` does.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace chameleon::inline model {

class ValueSequence {
 public:
  struct Term;
  /// `count` values from `start`, each `stride` after the one before.
  struct Segment {
    std::int64_t start = 0;
    std::int64_t stride = 0;
    std::uint64_t count = 0;
    bool operator==(const Segment&) const = default;
  };

  ValueSequence() = default;
  explicit ValueSequence(std::int64_t value, std::uint64_t count = 1)
      : value_(value), count_(count) {}
  ValueSequence(const ValueSequence& other);
  ValueSequence& operator=(const ValueSequence& other);
  ValueSequence(ValueSequence&& other) noexcept
      : value_(other.value_),
        count_(std::exchange(other.count_, 0)),
        general_(std::move(other.general_)) {}
  ValueSequence& operator=(ValueSequence&& other) noexcept {
    value_ = other.value_;
    general_ = std::move(other.general_);
    count_ = std::exchange(other.count_, 0);
    return *this;
  }
  ~ValueSequence() = default;

  /// Appends `value`, `n` times.
  void append(std::int64_t value, std::uint64_t n = 1) {
    if (!general_ && (value == value_ || count_ == 0)) {
      value_ = value;
      count_ += n;
    } else {
      append_general(value, n);
    }
  }
  /// Concatenation: O(terms of `other`).
  void append(const ValueSequence& other);
  /// The values of `other`, `times` times, with the terms that come of appending them one by
  /// one. A few times O(values of `other`) once they repeat, which mostly is at once.
  void append_times(const ValueSequence& other, std::uint64_t times);
  /// Appends a whole segment: O(log count).
  void append(const Segment& segment);

  std::uint64_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// True of one or more values that are all the same.
  bool is_constant() const { return count_ != 0 && !general_; }
  /// The first and the last value; 0 when empty. O(nesting depth).
  std::int64_t front() const;
  std::int64_t back() const;
  /// Replaces the last value (nothing when empty): O(terms) at worst.
  void set_back(std::int64_t value);
  /// Removes the last value; there must be one. Cost as `set_back`.
  void drop_back();

  /// Same values in the same order. Different sizes or hashes decide in O(1),
  /// same terms in O(terms); same values in different terms are walked
  /// segment by segment, and past 2^22 of these taken to differ.
  bool operator==(const ValueSequence& other) const;
  /// A hash of the values, independent of how they were appended.
  /// O(1), or O(log size) for a constant.
  std::uint64_t hash() const;

  /// The sequence with `f(start, stride) -> pair{start, stride}` applied to
  /// each stored segment; `f` must be what a function of single values does
  /// to a progression (adding, subtracting from, multiplying). Single values
  /// and constant runs come with stride 0. O(terms).
  template <class F>
  ValueSequence map_linear(F f) const {
    return map_segments([&f](std::int64_t start, std::int64_t stride) {
      return std::pair<std::int64_t, std::int64_t>(f(start, stride));
    });
  }

  /// The sequence with `f(value)` applied to each value, whatever it does to progressions: these
  /// are walked. O(terms, and values in progressions); what a loop repeats is mapped once.
  ValueSequence map_each(const std::function<std::int64_t(std::int64_t)>& f) const;

  /// Bytes this object holds, itself included.
  std::size_t memory_bytes() const;
  /// Segments and loops stored, at all depths; 1 for a constant.
  std::size_t term_count() const;

  /// Writes the terms; runs of unrelated single values cost their varints. With `place`, of
  /// values that are names, their places in a list instead, and no progressions.
  void encode(ByteWriter& writer,
              const std::function<std::int64_t(std::int64_t)>* place = nullptr) const;
  /// The same, or coded (coded_values.h) where that is likely smaller once the bytes are
  /// compressed, as long as there is `left` of CodedValues::kMostWork. Slower: up to 0.5 us a
  /// value.
  void encode_small(ByteWriter& writer, std::uint64_t& left,
                    const std::function<std::int64_t(std::int64_t)>* place = nullptr) const;
  /// Reads what these wrote, places in `names` if that was given. False (and a failed reader)
  /// on what it cannot have written, nesting past 64, or more than 2^48 values in all.
  static bool decode(ByteReader& reader, ValueSequence& sequence,
                     const std::vector<std::int64_t>* names = nullptr);

  /// For people: `5`, `5x3`, `0,1,2..9`, `0..56:8`, `(0..9)x3`; past
  /// `max_terms` terms an ellipsis.
  std::string to_string(std::size_t max_terms = 16) const;

  /// Walks the values in order; memory O(nesting depth). The sequence must
  /// outlive it, unchanged.
  class Cursor {
   public:
    explicit Cursor(const ValueSequence& sequence);
    bool done() const { return left_ == 0; }
    /// The next value; 0 when done.
    std::int64_t next() {
      if (left_ == 0) return 0;
      const std::int64_t value = current_.start;
      current_.start = static_cast<std::int64_t>(static_cast<std::uint64_t>(current_.start) +
                                                 static_cast<std::uint64_t>(current_.stride));
      --left_;
      if (--current_.count == 0 && left_ != 0) load();
      return value;
    }
    /// The rest of the current segment (count 0 when done), not consumed.
    const Segment& segment() const { return current_; }
    /// Steps over `n` values, at most `segment().count`.
    void skip(std::uint64_t n);
    std::uint64_t left() const { return left_; }
    /// How many values from here on come again after each `period`, as far as the terms tell.
    std::uint64_t alike(std::uint64_t period) const;
    /// Steps over `n` of them, a multiple of the period and fewer than `alike`. O(nesting depth).
    void skip_alike(std::uint64_t n, std::uint64_t period);

   private:
    struct Frame {
      const std::vector<Term>* terms;
      std::size_t index;
      std::uint64_t repeats;
    };
    void load();
    /// Values in one pass of the loop of a frame, which is not the first.
    std::uint64_t pass_of(std::size_t frame) const;
    std::uint64_t alike_in(std::size_t frame, std::uint64_t period) const;
    std::vector<Frame> stack_;
    Segment open_;
    Segment current_;
    std::uint64_t left_ = 0;
  };

 private:
  struct General;
  struct Delete {
    void operator()(General* general) const;
  };
  using Mapping = std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t, std::int64_t)>;

  void append_general(std::int64_t value, std::uint64_t n);
  template <class Append>
  void append_terms(const std::vector<Term>& terms, Append append);
  template <class Append>
  ValueSequence mapped(Append append) const;
  void append_repeated(ValueSequence&& body, std::uint64_t repeats);
  General& general();
  ValueSequence map_segments(const Mapping& map) const;

  std::int64_t value_ = 0;                    // of a constant
  std::uint64_t count_ = 0;                   // values in all, in either form
  std::unique_ptr<General, Delete> general_;  // null when empty or constant
};

static_assert(sizeof(ValueSequence) == 24);

}  // namespace chameleon::inline model
