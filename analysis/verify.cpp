// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify.h"

#include <deque>

#include "analysis/verify_events.h"

namespace chameleon {
namespace {

/// How far ahead a common call is looked for when the two sides differ.
constexpr std::size_t kResyncWindow = 64;

const char* const kColumnNames[kColumns] = {"COUNT", "LOOP", "# EVENTS", "SRC",
                                            "DEST",  "TAG",  "ROOT",     "COMM",
                                            "DATATYPE", "REQUEST", "OP", "OTHER"};

/// One rank: both sides in step, with what was read ahead of either.
class Lockstep {
 public:
  Lockstep(const Trace& trace, RawReader reader, RankView* view, std::uint32_t rank,
           VerifyReport& report)
      : trace_(trace),
        reader_(std::move(reader)),
        view_(view),
        comparison_(trace, reader_, rank, report),
        report_(report) {}

  Status run() {
    for (;;) {
      if (const Status read = fill(1); !read) return read.error();
      if (raw_.empty() && seen_.empty()) return Unit{};
      if (raw_.empty()) {
        drop_seen(seen_.size());
      } else if (seen_.empty()) {
        drop_raw(1);
      } else if (same(raw_.front(), seen_.front())) {
        comparison_.both(raw_.front(), seen_.front(), raw_number_ == seen_number_, raw_number_);
        pop_raw();
        pop_seen();
      } else if (const Status found = resynchronize(); !found) {
        return found.error();
      }
    }
  }

 private:
  const CallDescription* described(const EventView& event) const {
    const auto found = trace_.calls.find(event.node->call);
    return found == trace_.calls.end() ? nullptr : &found->second;
  }
  bool same(const RawEvent& raw, const EventView& seen) const {
    const CallDescription* call = described(seen);
    return call != nullptr && call->name == raw.call;
  }

  Status fill(std::size_t wanted) {
    while (raw_.size() < wanted && !raw_ended_) {
      raw_.emplace_back();
      const Result<bool> more = reader_.next(raw_.back());
      if (!more) return more.error();
      if (*more) {
        ++report_.raw_events;
        continue;
      }
      raw_.pop_back();
      raw_ended_ = true;
    }
    while (seen_.size() < wanted && view_ != nullptr) {
      seen_.emplace_back();
      if (view_->next(seen_.back())) {
        ++report_.trace_events;
        continue;
      }
      seen_.pop_back();
      view_ = nullptr;
    }
    return Unit{};
  }

  // Drops the fewest events after which both sides are at the same call (and, if
  // they do not end there, the same next call).
  Status resynchronize() {
    if (const Status read = fill(kResyncWindow); !read) return read.error();
    for (std::size_t distance = 1; distance < 2 * kResyncWindow; ++distance)
      for (std::size_t raw = 0; raw <= distance; ++raw) {
        const std::size_t seen = distance - raw;
        if (raw >= raw_.size() || seen >= seen_.size()) continue;
        if (!same(raw_[raw], seen_[seen])) continue;
        const bool both_go_on = raw + 1 < raw_.size() && seen + 1 < seen_.size();
        if (both_go_on && !same(raw_[raw + 1], seen_[seen + 1])) continue;
        drop_raw(raw);
        drop_seen(seen);
        return Unit{};
      }
    drop_raw(1);
    drop_seen(1);
    return Unit{};
  }

  void drop_raw(std::size_t count) {
    for (; count > 0; --count) {
      comparison_.missing(raw_.front(), raw_number_);
      pop_raw();
    }
  }
  void drop_seen(std::size_t count) {
    for (; count > 0; --count) {
      const CallDescription* call = described(seen_.front());
      comparison_.extra(call == nullptr ? "?" : call->name, raw_number_);
      pop_seen();
    }
  }
  void pop_raw() {
    raw_.pop_front();
    ++raw_number_;
  }
  void pop_seen() {
    seen_.pop_front();
    ++seen_number_;
  }

  const Trace& trace_;
  RawReader reader_;
  RankView* view_;
  Comparison comparison_;
  VerifyReport& report_;
  std::deque<RawEvent> raw_;
  std::deque<EventView> seen_;
  bool raw_ended_ = false;
  std::uint64_t raw_number_ = 1, seen_number_ = 1;
};

}  // namespace

const char* column_name(Column column) { return kColumnNames[static_cast<std::size_t>(column)]; }

bool VerifyReport::declared() const {
  RankList inexact;
  for (const Declaration& declaration : declarations) inexact.merge(declaration.ranks);
  return differing.minus(inexact).empty();
}

Result<VerifyReport> verify(const Trace& trace, const std::string& raw_directory) {
  VerifyReport report;
  report.declarations = trace.declarations;
  report.complete = trace.complete;
  for (std::uint32_t rank = 0; rank < trace.world_size; ++rank) {
    Result<RawReader> reader = RawReader::open(raw_directory, rank);
    if (!reader) return reader.error();
    if (reader->world_size() != trace.world_size)
      return Error{ErrorKind::kUsage,
                   reader->path() + ": is of a job of " + std::to_string(reader->world_size()) +
                       " ranks, the trace of one of " + std::to_string(trace.world_size),
                   0};
    RankView* view = nullptr;
    Result<RankView> made = RankView::make(trace, rank);
    if (made)
      view = &*made;
    else if (trace.ranks.contains(rank))
      return Error{made.error().kind, "the trace is damaged: " + made.error().message, 0};
    Lockstep lockstep(trace, std::move(*reader), view, rank, report);
    if (const Status done = lockstep.run(); !done) return done.error();
    ++report.ranks;
  }
  return report;
}

}  // namespace chameleon
