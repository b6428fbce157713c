// SPDX-License-Identifier: BSD-3-Clause
#include "model/value_terms.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace chameleon::inline model {

using Segment = ValueSequence::Segment;
using Term = ValueSequence::Term;
using namespace value_terms;

namespace {

constexpr std::uint64_t kLoopSalt = 0x632be59bd9b4e019ULL;

constexpr std::size_t kShort = 8;  // loops this short are looked for directly,
constexpr std::size_t kLong = 64;  // longer ones by their last 8 or 64 terms
constexpr std::size_t kIndexFrom = 2 * kShort;
constexpr std::int64_t kStrideLimit = std::int64_t{1} << 62;

bool can_stride(std::int64_t v) { return v > -kStrideLimit && v < kStrideLimit; }

}  // namespace

// --- Hashes --------------------------------------------------------------------

namespace value_terms {

/// Polynomial of a segment's values, by doubling the number of values:
/// ones = sum B^(n-1-i), ramp = sum i B^(n-1-i).
std::uint64_t values_of(const Segment& s) {
  if (s.count == 1) return wrap(s.start);
  std::uint64_t n = 0, ones = 0, ramp = 0, base_n = 1;
  for (int bit = static_cast<int>(std::bit_width(s.count)) - 1; bit >= 0; --bit) {
    ramp = base_n * ramp + ramp + n * ones;
    ones = base_n * ones + ones;
    base_n *= base_n;
    n *= 2;
    if ((s.count >> bit) & 1) {
      ramp = ramp * kValueBase + n;
      ones = ones * kValueBase + 1;
      base_n *= kValueBase;
      ++n;
    }
  }
  return wrap(s.start) * ones + wrap(s.stride) * ramp;
}

/// Polynomial of `size` values of polynomial `hash`, repeated: the power of
/// the affine map x -> B^size x + hash.
std::uint64_t repeated(std::uint64_t hash, std::uint64_t size, std::uint64_t repeats) {
  std::uint64_t factor = power(kValueBase, size), result = 0;
  for (; repeats != 0; repeats >>= 1) {
    if (repeats & 1) result = result * factor + hash;
    hash = hash * factor + hash;
    factor *= factor;
  }
  return result;
}

}  // namespace value_terms

Term::Term(std::vector<Term> body, std::uint64_t repeats) {
  segment.count = repeats;
  if (body.size() == 1 && body[0].loop) {  // a loop of a loop is one loop
    segment.count *= body[0].segment.count;
    loop = std::move(body[0].loop);
    return;
  }
  loop = std::make_unique<ValueLoop>();
  for (const Term& term : body) {
    loop->hash = loop->hash * kTermBase + term.hash();
    loop->values = loop->values * power(kValueBase, term.size()) + term.values();
    loop->size += term.size();
  }
  loop->terms = std::move(body);
}
Term::Term(const Term& other)
    : segment(other.segment),
      loop(other.loop ? std::make_unique<ValueLoop>(*other.loop) : nullptr) {}

std::uint64_t Term::hash() const {
  if (loop) return combine(loop->hash ^ kLoopSalt, segment.count);
  return mix(wrap(segment.start) * 0x9fb21c651e98df25ULL +
             mix(wrap(segment.stride) + segment.count * kTermBase));
}
std::uint64_t Term::size() const { return loop ? loop->size * segment.count : segment.count; }
std::uint64_t Term::values() const {
  return loop ? repeated(loop->values, loop->size, segment.count) : values_of(segment);
}
bool Term::operator==(const Term& other) const {
  if (segment != other.segment || !loop != !other.loop) return false;
  return !loop || (loop->hash == other.loop->hash && loop->terms == other.loop->terms);
}

// --- Stage 1: values to segments ---------------------------------------------

void ValueSequence::General::extend(std::int64_t v, std::uint64_t n) {
  while (n != 0) {
    if (open.count == 0) {
      open = {v, 0, n};
      return;
    }
    if (open.stride == 0 && open.start == v) {
      open.count += n;
      return;
    }
    if (open.count == 1 && can_stride(v) && can_stride(open.start)) {
      open.stride = v - open.start;
      open.count = 2;
      --n;
    } else if (open.stride != 0 && can_stride(v) && at(open, open.count) == v) {
      ++open.count;
      --n;
    } else if (open.stride != 0 && open.count == 2) {
      const Segment second{at(open, 1), 0, 1};
      push(Term(Segment{open.start, 0, 1}));
      open = second;
    } else {
      push(Term(open));
      open = {v, 0, n};
      return;
    }
  }
}

void ValueSequence::General::feed(const Segment& s) {
  if (s.stride == 0) return extend(s.start, s.count);
  // The first three values decide what becomes of it, as if it came one by one.
  const std::uint64_t first = std::min<std::uint64_t>(s.count, 3);
  if (can_stride(s.start) && can_stride(at(s, s.count - 1))) {
    for (std::uint64_t i = 0; i < first; ++i) extend(at(s, i), 1);
    if (s.count == first) return;
    if (open.stride == s.stride && at(open, open.count) == at(s, first)) {
      open.count += s.count - first;
      return;
    }
    close();  // values between its ends are no part of a progression
    return push(Term(Segment{at(s, first), s.stride, s.count - first}));
  }
  close();
  push(Term(s));
}

void ValueSequence::General::feed(Term term) {
  if (!term.loop) return feed(term.segment);
  close();
  push(std::move(term));
}

void ValueSequence::General::close() {
  if (open.count == 2 && open.stride != 0) {
    push(Term(Segment{open.start, 0, 1}));
    open = {at(open, 1), 0, 1};
  }
  if (open.count != 0) push(Term(open));
  open = {};
}

/// Lets the last closed segment be lengthened again, and two single values be a progression's
/// first.
void ValueSequence::General::reopen() {
  if (open.count != 0 || tail.empty() || tail.back().loop) return;
  open = tail.back().segment;
  truncate(tail.size() - 1);
  if (open.count != 1 || tail.empty() || tail.back().loop) return;
  const Segment before = tail.back().segment;
  if (before.count != 1 || !can_stride(before.start) || !can_stride(open.start)) return;
  open = {before.start, open.start - before.start, 2};
  truncate(tail.size() - 1);
}

/// Takes the last value away; `values` and the sequence's count are the caller's.
void ValueSequence::General::pop() {
  while (open.count == 0 && !tail.empty() && tail.back().loop) {
    Term last = std::move(take(tail.size() - 1)[0]);
    std::vector<Term> body = last.loop->terms;
    if (--last.segment.count > 1) {
      place(std::move(last));
    } else {
      for (Term& term : last.loop->terms) place(std::move(term));
    }
    for (Term& term : body) place(std::move(term));
  }
  reopen();
  if (open.count != 0) --open.count;
  if (open.count <= 1) open.stride = 0;
  reopen();
}

// --- Values that come again and again ------------------------------------------

ValueSequence::General::End ValueSequence::General::end(std::uint64_t most_terms) const {
  End end;
  end.size = tail.size();
  end.from = end.size - std::min<std::uint64_t>(end.size, most_terms);
  end.before = prefix[end.from];
  for (std::size_t i = end.from; i < end.size; ++i)
    end.terms.emplace_back(tail[i].segment, tail[i].loop ? tail[i].loop->hash : 0);
  end.open = open;
  return end;
}

std::uint64_t ValueSequence::General::rounds_since(End& end, std::uint64_t most_terms) const {
  if (tail.size() != end.size || tail.size() > most_terms || !(open == end.open) ||
      prefix[end.from] != end.before)
    return 0;
  std::uint64_t rounds = 0;
  for (std::size_t i = end.from; i < tail.size(); ++i) {
    const auto& [segment, body] = end.terms[i - end.from];
    if ((tail[i].loop ? tail[i].loop->hash : 0) != body) return 0;
    if (tail[i].segment == segment) continue;
    if (rounds != 0 || !tail[i].loop || tail[i].segment.count < segment.count) return 0;
    rounds = tail[i].segment.count - segment.count;
    end.loop = i;
  }
  if (rounds == 0) return 0;
  // Where the same loop stands once more, the two may get equal counts and fold.
  const ValueLoop& loop = *tail[end.loop].loop;
  const auto same = [&](const Term& term) { return term.loop && term.loop->hash == loop.hash; };
  for (std::size_t i = 0; i < tail.size(); ++i) {
    if (i == end.loop) continue;
    if (same(tail[i])) return 0;
    if (!tail[i].loop) continue;
    const std::vector<Term>& body = tail[i].loop->terms;
    if (body.size() > most_terms || std::any_of(body.begin(), body.end(), same)) return 0;
  }
  return rounds;
}

void ValueSequence::General::go_round(const End& end, std::uint64_t rounds) {
  tail[end.loop].segment.count += rounds;
  for (std::size_t i = end.loop; i < tail.size(); ++i)
    prefix[i + 1] = prefix[i] * kTermBase + tail[i].hash();
}

// --- Stage 2: segments to loops ----------------------------------------------

/// Adds a term as it is.
void ValueSequence::General::place(Term term) {
  prefix.push_back(prefix.back() * kTermBase + term.hash());
  has_long_loop |= term.loop && term.loop->terms.size() > kShort;
  tail.push_back(std::move(term));
}

void ValueSequence::General::truncate(std::size_t size) {
  tail.erase(tail.begin() + static_cast<std::ptrdiff_t>(size), tail.end());
  prefix.resize(size + 1);
  if (size <= kIndexFrom && !index.empty()) {
    // What was folded away pays for growing again.
    std::vector<Bucket>().swap(index);
    tail.shrink_to_fit();
    prefix.shrink_to_fit();
  }
}

/// Removes and gives the terms from position `from`.
std::vector<Term> ValueSequence::General::take(std::size_t from) {
  std::vector<Term> terms(std::make_move_iterator(tail.begin() + static_cast<std::ptrdiff_t>(from)),
                          std::make_move_iterator(tail.end()));
  truncate(from);
  return terms;
}

bool ValueSequence::General::ends_with(const ValueLoop& loop) const {
  const std::size_t length = loop.terms.size();
  return tail.size() >= length && window(tail.size() - length, tail.size()) == loop.hash &&
         std::equal(loop.terms.begin(), loop.terms.end(),
                    tail.end() - static_cast<std::ptrdiff_t>(length));
}

/// Adds a term and folds while anything folds. Each fold removes at least one
/// term and costs no more than it removes, hence the amortised O(1).
void ValueSequence::General::push(Term term) {
  for (;;) {
    if (!tail.empty()) {
      Term& last = tail.back();
      const bool same_run = !term.loop && !last.loop && term.segment.stride == 0 &&
                            last.segment.stride == 0 && term.segment.start == last.segment.start;
      const bool same_loop = term.loop && last.loop && term.loop->hash == last.loop->hash &&
                             term.loop->terms == last.loop->terms;
      if (same_run || same_loop) {
        term.segment.count += last.segment.count;
        truncate(tail.size() - 1);
        continue;
      }
      if (term.loop && ends_with(*term.loop)) {
        truncate(tail.size() - term.loop->terms.size());
        ++term.segment.count;
        continue;
      }
    }
    place(std::move(term));
    if (!reduce(term)) return;
  }
}

/// If the last `length` terms are the body of the loop before them: true, all
/// of it removed, `result` the loop with one repeat more.
bool ValueSequence::General::absorb(std::size_t length, Term& result) {
  const std::size_t position = tail.size() - length - 1;
  const Term& before = tail[position];
  if (!before.loop || before.loop->terms.size() != length || !ends_with(*before.loop)) return false;
  result = std::move(tail[position]);
  truncate(position);
  ++result.segment.count;
  return true;
}

/// If the last `length` terms equal the `length` before: true, both removed,
/// `result` the loop of two.
bool ValueSequence::General::fold(std::size_t length, Term& result) {
  const std::size_t n = tail.size();
  if (window(n - length, n) != window(n - 2 * length, n - length)) return false;
  const auto second = tail.end() - static_cast<std::ptrdiff_t>(length);
  if (!std::equal(second, tail.end(), second - static_cast<std::ptrdiff_t>(length))) return false;
  std::vector<Term> body = take(n - length);
  truncate(n - 2 * length);
  result = Term(std::move(body), 2);
  return true;
}

bool ValueSequence::General::reduce(Term& result) {
  const std::size_t n = tail.size();
  const std::uint64_t last = prefix[n] - prefix[n - 1] * kTermBase;
  for (std::size_t length = 1; length <= kShort && length < n; ++length) {
    const Term& before = tail[n - 1 - length];
    if (before.loop && before.loop->terms.size() == length && absorb(length, result)) return true;
    if (2 * length <= n && term_hash(n - 1 - length) == last && fold(length, result)) return true;
  }
  return n > kIndexFrom && reduce_indexed(result);
}

bool ValueSequence::General::reduce_indexed(Term& result) {
  const std::size_t n = tail.size();
  if (n > UINT32_MAX / 4) return false;
  if (index.size() < n) {
    index.assign(std::bit_ceil(2 * n), Bucket{});
    for (std::size_t end = 1; end < n; ++end) remember(end);
  }
  const std::uint64_t last = term_hash(n - 1);
  const std::uint64_t shorter = window(n - kShort, n);
  if (has_long_loop) {
    for (const std::uint32_t position : bucket(shorter ^ kLoopSalt))
      if (position != 0 && position + kShort < n && absorb(n - position, result)) return true;
  }
  for (const std::size_t width : {kShort, kLong}) {
    if (width > n) break;
    for (const std::uint32_t end : bucket(width == kShort ? shorter : window(n - width, n))) {
      if (end == 0 || end + kShort >= n || term_hash(end - 1) != last) continue;
      const std::size_t length = n - end;
      if (2 * length <= n && fold(length, result)) return true;
    }
  }
  remember(n);
  return false;
}

/// Indexes the windows that end after `end` terms, and the loop that ends
/// there by the last terms of its body, which is what will be absorbed.
void ValueSequence::General::remember(std::size_t end) {
  for (const std::size_t width : {kShort, kLong})
    if (width <= end) insert(window(end - width, end), end);
  const Term& term = tail[end - 1];
  if (!term.loop || term.loop->terms.size() <= kShort) return;
  std::uint64_t key = 0;
  const auto& body = term.loop->terms;
  for (std::size_t i = body.size() - kShort; i < body.size(); ++i)
    key = key * kTermBase + body[i].hash();
  insert(key ^ kLoopSalt, end);
}

void ValueSequence::General::insert(std::uint64_t key, std::size_t position) {
  Bucket& ends = bucket(key);
  if (ends[0] == position) return;
  std::copy_backward(ends.begin(), ends.end() - 1, ends.end());
  ends[0] = static_cast<std::uint32_t>(position);
}

}  // namespace chameleon::inline model
