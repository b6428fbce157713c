// SPDX-License-Identifier: BSD-3-Clause
#include "model/value_sequence.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "model/value_terms.h"

namespace chameleon::inline model {

using Segment = ValueSequence::Segment;
using Term = ValueSequence::Term;
using namespace value_terms;

namespace {

constexpr int kWalkBudget = 1 << 22;

constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;  // right in 3 bits; each Newton step doubles them
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}

}  // namespace

void ValueSequence::Delete::operator()(General* general) const { delete general; }

ValueSequence::ValueSequence(const ValueSequence& other)
    : value_(other.value_),
      count_(other.count_),
      general_(other.general_ ? new General(*other.general_) : nullptr) {}

ValueSequence& ValueSequence::operator=(const ValueSequence& other) {
  if (this != &other) *this = ValueSequence(other);
  return *this;
}

/// The general form, made from the constant when there is none yet.
ValueSequence::General& ValueSequence::general() {
  if (!general_) {
    general_.reset(new General);
    if (count_ != 0) {
      general_->open = {value_, 0, count_};
      general_->values = values_of(general_->open);
    }
  }
  return *general_;
}

void ValueSequence::append_general(std::int64_t value, std::uint64_t n) {
  if (n == 0) return;
  General& g = general();
  if (n == 1) {
    g.values = g.values * kValueBase + wrap(value);
  } else {
    g.add_hash(values_of({value, 0, n}), n);
  }
  g.extend(value, n);
  count_ += n;
}

void ValueSequence::append(const Segment& segment) {
  if (segment.stride == 0 || segment.count <= 1) return append(segment.start, segment.count);
  General& g = general();
  g.add_hash(values_of(segment), segment.count);
  g.feed(segment);
  count_ += segment.count;
}

void ValueSequence::append_times(const ValueSequence& other, std::uint64_t times) {
  if (times == 0 || other.empty()) return;
  if (other.is_constant()) return append(other.value_, other.count_ * times);
  while (times != 0) {
    std::optional<General::End> before =
        general_ && times > 2 ? std::optional(general_->end(other.count_ + 1)) : std::nullopt;
    for (Cursor values(other); !values.done();) append(values.next());
    --times;
    if (!before) continue;
    General& g = *general_;
    const std::uint64_t more = g.rounds_since(*before, times * other.count_);
    if (more == 0) continue;
    g.go_round(*before, more * times);
    g.add_hash(repeated(other.general_->values, other.count_, times), other.count_ * times);
    count_ += other.count_ * times;
    return;
  }
}

void ValueSequence::append(const ValueSequence& other) {
  if (!other.general_) return append(other.value_, other.count_);
  if (count_ == 0) {
    *this = other;
    return;
  }
  if (this == &other) return append(ValueSequence(other));
  General& g = general();
  g.add_hash(other.general_->values, other.count_);
  for (const Term& term : other.general_->tail) g.feed(Term(term));
  if (other.general_->open.count != 0) g.feed(other.general_->open);
  count_ += other.count_;
}

void ValueSequence::append_repeated(ValueSequence&& body, std::uint64_t repeats) {
  if (!body.general_) return append(body.value_, body.count_ * repeats);
  General& g = general();
  g.add_hash(repeated(body.general_->values, body.count_, repeats), body.count_ * repeats);
  count_ += body.count_ * repeats;
  body.general_->close();
  g.feed(Term(std::move(body.general_->tail), repeats));
}

/// Appends the terms of a sequence, `append(sequence, segment)` those that are no loops.
template <class Append>
void ValueSequence::append_terms(const std::vector<Term>& terms, Append append) {
  for (const Term& term : terms) {
    if (!term.loop) {
      append(*this, term.segment);
      continue;
    }
    ValueSequence body;
    body.append_terms(term.loop->terms, append);
    append_repeated(std::move(body), term.segment.count);
  }
}

template <class Append>
ValueSequence ValueSequence::mapped(Append append) const {
  ValueSequence result;
  if (!general_) {
    if (count_ != 0) append(result, Segment{value_, 0, count_});
    return result;
  }
  result.append_terms(general_->tail, append);
  if (general_->open.count != 0) append(result, general_->open);
  return result;
}

ValueSequence ValueSequence::map_segments(const Mapping& map) const {
  return mapped([&map](ValueSequence& result, const Segment& segment) {
    // Two values are no progression yet: one may be a special value of its own.
    const bool pair = segment.count == 2;
    const auto [start, stride] = map(segment.start, pair ? 0 : segment.stride);
    if (!pair) return result.append(Segment{start, stride, segment.count});
    result.append(start);
    result.append(map(at(segment, 1), 0).first);
  });
}

ValueSequence ValueSequence::map_each(const std::function<std::int64_t(std::int64_t)>& f) const {
  return mapped([&f](ValueSequence& result, const Segment& segment) {
    if (segment.stride == 0) return result.append(f(segment.start), segment.count);
    for (std::uint64_t i = 0; i < segment.count; ++i) result.append(f(at(segment, i)));
  });
}

std::int64_t ValueSequence::front() const {
  if (!general_) return count_ != 0 ? value_ : 0;
  if (general_->tail.empty()) return general_->open.start;
  const Term* term = &general_->tail.front();
  while (term->loop) term = &term->loop->terms.front();
  return term->segment.start;
}

std::int64_t ValueSequence::back() const {
  if (!general_) return count_ != 0 ? value_ : 0;
  if (general_->open.count != 0) return at(general_->open, general_->open.count - 1);
  const Term* term = &general_->tail.back();
  while (term->loop) term = &term->loop->terms.back();
  return at(term->segment, term->segment.count - 1);
}

void ValueSequence::drop_back() {
  const std::int64_t last = back();
  --count_;
  if (!general_) return;
  general_->values = (general_->values - wrap(last)) * inverse(kValueBase);
  general_->pop();
  if (general_->tail.empty() && general_->open.stride == 0) {
    value_ = general_->open.start;
    general_.reset();
  }
}

void ValueSequence::set_back(std::int64_t value) {
  if (count_ == 0 || back() == value) return;
  drop_back();
  append(value);
}

std::uint64_t ValueSequence::hash() const {
  if (count_ == 0) return combine(0, 0);
  return combine(count_, general_ ? general_->values : values_of({value_, 0, count_}));
}

bool ValueSequence::operator==(const ValueSequence& other) const {
  if (count_ != other.count_) return false;
  if (!general_ && !other.general_) return count_ == 0 || value_ == other.value_;
  if (hash() != other.hash()) return false;
  if (general_ && other.general_ && general_->open == other.general_->open &&
      general_->tail == other.general_->tail)
    return true;
  Cursor mine(*this), theirs(other);
  for (int budget = kWalkBudget; !mine.done(); --budget) {
    const Segment &a = mine.segment(), &b = theirs.segment();
    const std::uint64_t n = std::min(a.count, b.count);
    if (budget == 0 || a.start != b.start || (n > 1 && a.stride != b.stride)) return false;
    mine.skip(n);
    theirs.skip(n);
  }
  return true;
}

namespace {

std::size_t count_terms(const std::vector<Term>& terms) {
  std::size_t total = terms.size();
  for (const Term& term : terms)
    if (term.loop) total += count_terms(term.loop->terms);
  return total;
}

std::size_t bytes_of(const std::vector<Term>& terms) {
  std::size_t total = terms.capacity() * sizeof(Term);
  for (const Term& term : terms)
    if (term.loop) total += sizeof(ValueLoop) + bytes_of(term.loop->terms);
  return total;
}

}  // namespace

std::size_t ValueSequence::memory_bytes() const {
  if (!general_) return sizeof *this;
  return sizeof *this + sizeof *general_ + bytes_of(general_->tail) +
         general_->prefix.capacity() * sizeof(std::uint64_t) +
         general_->index.capacity() * sizeof(General::Bucket);
}

std::size_t ValueSequence::term_count() const {
  if (!general_) return count_ != 0;
  const Segment& open = general_->open;
  const bool pair = open.count == 2 && open.stride != 0;
  return count_terms(general_->tail) + (open.count != 0) + pair;
}

// --- Cursor ------------------------------------------------------------------

ValueSequence::Cursor::Cursor(const ValueSequence& sequence) : left_(sequence.count_) {
  if (sequence.general_) {
    open_ = sequence.general_->open;
    stack_.push_back({&sequence.general_->tail, 0, 1});
    load();
  } else {
    current_ = {sequence.value_, 0, sequence.count_};
  }
}

void ValueSequence::Cursor::load() {
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    if (frame.index < frame.terms->size()) {
      const Term& term = (*frame.terms)[frame.index++];
      if (!term.loop) {
        current_ = term.segment;
        return;
      }
      stack_.push_back({&term.loop->terms, 0, term.segment.count});
    } else if (--frame.repeats != 0) {
      frame.index = 0;
    } else {
      stack_.pop_back();
    }
  }
  current_ = std::exchange(open_, {});
}

void ValueSequence::Cursor::skip(std::uint64_t n) {
  n = std::min(n, current_.count);
  current_.start = at(current_, n);
  current_.count -= n;
  left_ -= n;
  if (current_.count == 0 && left_ != 0) load();
}

std::uint64_t ValueSequence::Cursor::pass_of(std::size_t frame) const {
  const Frame& around = stack_[frame - 1];
  return (*around.terms)[around.index - 1].loop->size;
}

std::uint64_t ValueSequence::Cursor::alike_in(std::size_t frame, std::uint64_t period) const {
  const std::uint64_t pass = pass_of(frame);
  return pass == 0 || period % pass != 0 ? 0 : (stack_[frame].repeats - 1) * pass;
}

std::uint64_t ValueSequence::Cursor::alike(std::uint64_t period) const {
  if (period == 0) return UINT64_MAX;
  std::uint64_t most = current_.stride == 0 ? current_.count : 0;
  for (std::size_t i = 1; i < stack_.size(); ++i) most = std::max(most, alike_in(i, period));
  return most;
}

void ValueSequence::Cursor::skip_alike(std::uint64_t n, std::uint64_t period) {
  left_ -= n;
  if (current_.stride == 0 && n < current_.count) {
    current_.count -= n;
    return;
  }
  for (std::size_t i = 1; i < stack_.size(); ++i) {
    if (alike_in(i, period) < n) continue;
    stack_[i].repeats -= n / pass_of(i);
    return;
  }
}

}  // namespace chameleon::inline model
