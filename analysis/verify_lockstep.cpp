// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_lockstep.h"

namespace chameleon::analysis {
namespace {

/// How far ahead a common call is looked for when the two sides differ.
constexpr std::size_t kResyncWindow = 64;

bool same(const RawEvent& raw, const SeenEvent& seen) {
  return seen.call != nullptr && seen.call->name == raw.call;
}

/// The call of an event that polls and is declared to come another number of times; else null.
const CallDescription* declared_poll(const SeenEvent& event) {
  if (event.call == nullptr || (event.kinds & kInexactEvents) == 0) return nullptr;
  return field_index(*event.call, "flag") < 0 ? nullptr : event.call;
}

}  // namespace

Result<std::uint64_t> Lockstep::turn() {
  if (const Status read = fill(1); !read) return read.error();
  return raw_.empty() ? UINT64_MAX : raw_.front().place;
}

Result<bool> Lockstep::step() {
  if (const Status read = fill(1); !read) return read.error();
  if (raw_.empty() && seen_.empty()) return false;
  if (raw_.empty()) {
    complete_ ? drop_seen(seen_.size()) : skip_seen();
  } else if (seen_.empty()) {
    complete_ ? drop_raw(1) : skip_raw();
  } else if (early()) {
    drop_raw(1);
  } else if (late()) {
    drop_seen(1);
  } else if (same(raw_.front(), seen_.front())) {
    comparison_.both(raw_.front(), seen_.front(), place(), raw_number_);
    pop_raw();
    pop_seen();
  } else if (polls_on()) {
    return true;
  } else if (const Status found = resynchronize(); !found) {
    return found.error();
  }
  return true;
}

Comparison::Place Lockstep::place() const {
  if (raw_number_ == seen_number_) return Comparison::Place::kSame;
  const auto ahead = static_cast<std::int64_t>(raw_number_ - seen_number_);
  return ahead == declared_shift_ ? Comparison::Place::kDeclared : Comparison::Place::kOther;
}

/// The trace is at an anchor, the records are not there yet.
bool Lockstep::early() const {
  const Anchor* const next = anchor();
  return next != nullptr && seen_number_ > next->seen && raw_number_ <= next->raw;
}

/// The records are at an anchor, the trace is not.
bool Lockstep::late() const {
  const Anchor* const next = anchor();
  return next != nullptr && raw_number_ > next->raw && seen_number_ <= next->seen;
}

void Lockstep::pass_anchors() {
  while (passed_ < anchors_.size() && raw_number_ > anchors_[passed_].raw &&
         seen_number_ > anchors_[passed_].seen)
    ++passed_;
}

/// Whether, after so many events, the two sides can be at the same one: both are before the next
/// anchor, or as far from it.
bool Lockstep::in_step(std::size_t raw, std::size_t seen) const {
  const Anchor* const next = anchor();
  if (next == nullptr) return true;
  const std::uint64_t records = raw_number_ + raw, events = seen_number_ + seen;
  return records - next->raw == events - next->seen ||
         (records <= next->raw && events <= next->seen);
}

Status Lockstep::fill(std::size_t wanted) {
  while (raw_.size() < wanted && !raw_ended_) {
    const Result<bool> more = reader_.next(raw_.emplace_back());
    if (!more) return more.error();
    raw_ended_ = !*more;
    raw_ended_ ? raw_.pop_back() : void(++report_.raw_events);
  }
  while (seen_.size() < wanted && !seen_ended_) {
    seen_ended_ = !stream_.next(seen_.emplace_back());
    seen_ended_ ? seen_.pop_back() : void(++report_.trace_events);
  }
  return Unit{};
}

/// Whether, after so many events, both sides are at the same call, and at the same next one if they
/// do not end there.
bool Lockstep::meet(std::size_t raw, std::size_t seen) const {
  if (raw >= raw_.size() || seen >= seen_.size() || !in_step(raw, seen)) return false;
  if (!same(raw_[raw], seen_[seen])) return false;
  const bool both_go_on = raw + 1 < raw_.size() && seen + 1 < seen_.size();
  return !both_go_on || same(raw_[raw + 1], seen_[seen + 1]);
}

/// Drops one more of the polls behind which the two sides differ, on the side that has them:
/// there may be more than anything is looked for among.
bool Lockstep::polls_on() {
  if (last_.poll == nullptr) return false;
  if (declared_poll(seen_.front()) == last_.poll)
    drop_seen(1);
  else if (raw_.front().call == last_.poll->name)
    drop_raw(1);
  else
    return false;
  return true;
}

/// Drops the fewest events after which both sides meet.
Status Lockstep::resynchronize() {
  if (const Status read = fill(kResyncWindow); !read) return read.error();
  for (std::size_t distance = 1; distance < 2 * kResyncWindow; ++distance)
    for (std::size_t raw = 0; raw <= distance; ++raw) {
      if (!meet(raw, distance - raw)) continue;
      drop_raw(raw);
      drop_seen(distance - raw);
      return Unit{};
    }
  pass_one_side();
  return Unit{};
}

/// The two sides meet nowhere near: goes past an event of the side that can have more.
void Lockstep::pass_one_side() {
  // Events may differ on the side of the declared ones as long as they like.
  if ((seen_.front().kinds & kInexactEvents) != 0) {
    // Whole ranks are declared where calls are missing in the trace.
    const Anchor* const next = anchor();
    const bool fewer = next != nullptr ? next->raw - raw_number_ > next->seen - seen_number_
                                       : declared().rank_wide() != 0;
    fewer ? drop_raw(1) : drop_seen(1);
    return;
  }
  drop_raw(1);
  if ((last_.kinds & kInexactEvents) == 0) drop_seen(1);
}

void Lockstep::drop_raw(std::size_t count) {
  for (; count > 0; --count) {
    std::uint32_t kinds = last_.kinds | declared().rank_wide();
    if (!seen_.empty()) kinds |= seen_.front().kinds;
    if ((kinds & kInexactEvents) != 0) ++declared_shift_;
    comparison_.missing(raw_.front(), kinds, raw_number_);
    pop_raw();
  }
}

void Lockstep::drop_seen(std::size_t count) {
  for (; count > 0; --count) {
    if ((seen_.front().kinds & kInexactEvents) != 0) --declared_shift_;
    comparison_.extra(seen_.front(), raw_number_);
    pop_seen();
  }
}

void Lockstep::skip_raw() {
  ++report_.after_flush;
  pop_raw();
}

void Lockstep::skip_seen() {
  ++report_.unrecorded;
  pop_seen();
}

void Lockstep::pop_raw() {
  raw_.pop_front();
  ++raw_number_;
  pass_anchors();
}

void Lockstep::pop_seen() {
  last_ = {seen_.front().kinds, declared_poll(seen_.front())};
  seen_.pop_front();
  ++seen_number_;
  pass_anchors();
}

}  // namespace chameleon::analysis
