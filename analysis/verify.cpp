// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify.h"

#include <deque>
#include <memory>
#include <optional>

#include "analysis/declared.h"
#include "analysis/verify_events.h"

namespace chameleon::analysis {
namespace {

/// How far ahead a common call is looked for when the two sides differ.
constexpr std::size_t kResyncWindow = 64;

const char* const kColumnNames[kColumns] = {"COUNT",    "LOOP",    "# EVENTS", "SRC",
                                            "DEST",     "TAG",     "ROOT",     "COMM",
                                            "DATATYPE", "REQUEST", "OP",       "OTHER"};

/// Where what is exact again begins behind the last events declared to differ:
/// counted from the end, which both sides share, it is at the same place.
struct Tail {
  bool known = false;
  std::uint64_t events = 0;  ///< behind it, on either side
  std::uint64_t raw_total = 0, seen_total = 0;
};

/// One stream: both sides in step, with what was read ahead of either.
class Lockstep {
 public:
  Lockstep(const Trace& trace, RawReader reader, std::optional<RankView> view, RawModel& model,
           std::uint32_t stream, Tail tail, VerifyReport& report)
      : trace_(trace),
        reader_(std::move(reader)),
        view_(std::move(view)),
        declared_(trace, stream),
        tail_(tail),
        seen_left_(tail.seen_total),
        comparison_(trace, model, stream, report),
        report_(report) {}

  /// Where the record at hand stands among those of the rank; the last of all at the end.
  Result<std::uint64_t> turn() {
    if (const Status read = fill(1); !read) return read.error();
    return raw_.empty() ? UINT64_MAX : raw_.front().place;
  }

  /// Compares what is at hand; false at the end.
  Result<bool> step() {
    if (const Status read = fill(1); !read) return read.error();
    if (raw_.empty() && seen_.empty()) return false;
    if (raw_.empty()) {
      if (trace_.complete)
        drop_seen(seen_.size());
      else
        skip_seen();
    } else if (seen_.empty()) {
      if (trace_.complete)
        drop_raw(1);
      else
        skip_raw();
    } else if (const std::uint32_t kinds = kinds_of(seen_.front()); early(kinds)) {
      drop_raw(1);
    } else if (late(kinds)) {
      drop_seen(1);
    } else if (same(raw_.front(), seen_.front())) {
      comparison_.both(raw_.front(), seen_.front(), place(), kinds, raw_number_);
      pop_raw();
      pop_seen();
    } else if (polls_on()) {
      return true;
    } else if (const Status found = resynchronize(); !found) {
      return found.error();
    }
    return true;
  }

  std::uint32_t found() const { return comparison_.found(); }
  const DeclaredKinds& declared() const { return declared_; }

 private:
  const CallDescription* described(const EventView& event) const {
    const auto found = trace_.calls.find(event.node->call);
    return found == trace_.calls.end() ? nullptr : &found->second;
  }
  bool same(const RawEvent& raw, const EventView& seen) const {
    const CallDescription* call = described(seen);
    return call != nullptr && call->name == raw.call;
  }

  std::uint32_t kinds_of(const EventView& event) const { return declared_.of(event.node); }
  Comparison::Place place() const {
    if (raw_number_ == seen_number_) return Comparison::Place::kSame;
    const auto ahead = static_cast<std::int64_t>(raw_number_ - seen_number_);
    return ahead == declared_shift_ ? Comparison::Place::kDeclared : Comparison::Place::kOther;
  }
  std::uint64_t raw_left() const { return tail_.raw_total - raw_number_ + 1; }
  /// At the begin of the exact tail, but the records are not there yet.
  bool early(std::uint32_t kinds) const {
    return tail_.known && (kinds & kInexactEvents) == 0 && (last_kinds_ & kInexactEvents) != 0 &&
           seen_left_ == tail_.events && raw_left() > tail_.events;
  }
  /// The records are at the exact tail, the trace is not.
  bool late(std::uint32_t kinds) const {
    return tail_.known && (kinds & kInexactEvents) != 0 && raw_left() <= tail_.events;
  }
  /// Whether, after so many events, the two sides can be at the same one: the exact tail is
  /// equally long on both.
  bool in_step(std::size_t raw, std::size_t seen) const {
    if (!tail_.known) return true;
    const std::uint64_t records = raw_left() - raw, events = seen_left_ - seen;
    return records == events || (records > tail_.events && events > tail_.events);
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
    while (seen_.size() < wanted && view_) {
      seen_.emplace_back();
      if (view_->next(seen_.back())) {
        ++report_.trace_events;
        continue;
      }
      seen_.pop_back();
      view_.reset();
    }
    return Unit{};
  }

  /// A call that polls and is declared to come another number of times.
  const CallDescription* declared_poll(const EventView& event) const {
    const CallDescription* call = described(event);
    if (call == nullptr || (kinds_of(event) & kInexactEvents) == 0) return nullptr;
    for (const Field& field : call->fields)
      if (field.name == "flag") return call;
    return nullptr;
  }
  /// Drops one more of the polls behind which the two sides differ, on the side that has them:
  /// there may be more than anything is looked for among.
  bool polls_on() {
    if (last_poll_ == nullptr) return false;
    if (described(seen_.front()) == last_poll_ && declared_poll(seen_.front()) != nullptr)
      drop_seen(1);
    else if (raw_.front().call == last_poll_->name)
      drop_raw(1);
    else
      return false;
    return true;
  }

  // Drops the fewest events after which both sides are at the same call (and, if
  // they do not end there, the same next call).
  Status resynchronize() {
    if (const Status read = fill(kResyncWindow); !read) return read.error();
    for (std::size_t distance = 1; distance < 2 * kResyncWindow; ++distance)
      for (std::size_t raw = 0; raw <= distance; ++raw) {
        const std::size_t seen = distance - raw;
        if (raw >= raw_.size() || seen >= seen_.size() || !in_step(raw, seen)) continue;
        if (!same(raw_[raw], seen_[seen])) continue;
        const bool both_go_on = raw + 1 < raw_.size() && seen + 1 < seen_.size();
        if (both_go_on && !same(raw_[raw + 1], seen_[seen + 1])) continue;
        drop_raw(raw);
        drop_seen(seen);
        return Unit{};
      }
    // Events may differ on the side of the declared ones as long as they like.
    if ((kinds_of(seen_.front()) & kInexactEvents) != 0) {
      // Whole ranks are declared where calls are missing in the trace.
      const bool fewer = tail_.known ? raw_left() > seen_left_ : declared_.rank_wide() != 0;
      fewer ? drop_raw(1) : drop_seen(1);
    } else if ((last_kinds_ & kInexactEvents) != 0) {
      drop_raw(1);
    } else {
      drop_raw(1);
      drop_seen(1);
    }
    return Unit{};
  }

  void drop_raw(std::size_t count) {
    for (; count > 0; --count) {
      std::uint32_t kinds = last_kinds_ | declared_.rank_wide();
      if (!seen_.empty()) kinds |= kinds_of(seen_.front());
      if ((kinds & kInexactEvents) != 0) ++declared_shift_;
      comparison_.missing(raw_.front(), kinds, raw_number_);
      pop_raw();
    }
  }
  void drop_seen(std::size_t count) {
    for (; count > 0; --count) {
      const CallDescription* call = described(seen_.front());
      const std::uint32_t kinds = kinds_of(seen_.front());
      if ((kinds & kInexactEvents) != 0) --declared_shift_;
      comparison_.extra(call == nullptr ? "?" : call->name, kinds, raw_number_);
      pop_seen();
    }
  }
  void skip_raw() {
    ++report_.after_flush;
    pop_raw();
  }
  void skip_seen() {
    ++report_.unrecorded;
    pop_seen();
  }
  void pop_raw() {
    raw_.pop_front();
    ++raw_number_;
  }
  void pop_seen() {
    last_kinds_ = kinds_of(seen_.front());
    last_poll_ = declared_poll(seen_.front());
    seen_.pop_front();
    ++seen_number_;
    if (seen_left_ > 0) --seen_left_;
  }

  const Trace& trace_;
  RawReader reader_;
  std::optional<RankView> view_;
  DeclaredKinds declared_;
  Tail tail_;
  std::uint64_t seen_left_;  ///< events of the trace from the one at hand, if the tail is known
  Comparison comparison_;
  VerifyReport& report_;
  std::deque<RawEvent> raw_;
  std::deque<EventView> seen_;
  bool raw_ended_ = false;
  std::uint64_t raw_number_ = 1, seen_number_ = 1;
  std::int64_t declared_shift_ = 0;  ///< raw events missing less additional ones, as declared
  std::uint32_t last_kinds_ = 0;     ///< of the event of the trace before the one at hand
  const CallDescription* last_poll_ = nullptr;  ///< the call of that, if it is a declared poll
};

/// Adds a rank to the kinds declared there without need.
void note_width(const DeclaredKinds& declared, std::uint32_t found, std::uint32_t rank,
                VerifyReport& report) {
  // Where events differ, values of no kind can be told to agree.
  if ((found & kInexactEvents) != 0) return;
  for (const auto& [bit, name] : kInexactKinds) {
    if ((declared.at_nodes() & ~found & bit) == 0) continue;
    VerifyReport::TooWide* entry = nullptr;
    for (VerifyReport::TooWide& known : report.too_wide)
      if (known.kind == bit) entry = &known;
    if (entry == nullptr) entry = &report.too_wide.emplace_back(VerifyReport::TooWide{bit, {}});
    entry->ranks.insert(rank);
  }
}

/// Goes through both sides of a stream once, if its events are declared to differ somewhere.
Result<Tail> find_tail(const Trace& trace, const std::string& directory, std::uint32_t stream) {
  Tail tail;
  const DeclaredKinds declared(trace, stream);
  Result<RankView> view = RankView::make(trace, stream);
  if (!view || !trace.complete || (declared.at_nodes() & kInexactEvents) == 0) return tail;
  EventView event;
  while (view->next(event)) {
    ++tail.seen_total;
    tail.events = (declared.of(event.node) & kInexactEvents) != 0 ? 0 : tail.events + 1;
  }
  Result<RawReader> reader =
      RawReader::open(directory, trace.rank_of(stream), trace.thread_of(stream));
  if (!reader) return reader.error();
  RawEvent raw;
  for (;;) {
    const Result<bool> more = reader->next(raw);
    if (!more) return more.error();
    if (!*more) break;
    ++tail.raw_total;
  }
  tail.known = true;
  return tail;
}

}  // namespace

const char* column_name(Column column) { return kColumnNames[static_cast<std::size_t>(column)]; }

namespace {

/// One rank: its streams in the order in which their calls ended.
class RankLockstep {
 public:
  RankLockstep(const Trace& trace, const std::string& directory, std::uint32_t rank,
               VerifyReport& report)
      : trace_(trace), directory_(directory), rank_(rank), report_(report) {}

  Status run() {
    for (std::uint32_t thread = 0; thread == 0 || has_records(thread); ++thread)
      if (const Status opened = open(thread); !opened) return opened.error();
    for (;;) {
      Lockstep* next = nullptr;
      std::uint64_t first = UINT64_MAX;
      for (const auto& stream : streams_) {
        const Result<std::uint64_t> turn = stream->turn();
        if (!turn) return turn.error();
        if (*turn >= first) continue;
        first = *turn;
        next = stream.get();
      }
      if (next == nullptr) break;
      const Result<bool> more = next->step();
      if (!more) return more.error();
    }
    for (const auto& stream : streams_) {  // what the records lack
      for (Result<bool> more = true;;) {
        more = stream->step();
        if (!more) return more.error();
        if (!*more) break;
      }
      note_width(stream->declared(), stream->found(), rank_, report_);
    }
    return Unit{};
  }

 private:
  bool has_records(std::uint32_t thread) const {
    return (trace_.threads > thread && trace_.ranks.contains(trace_.stream_of(rank_, thread))) ||
           RawReader::exists(directory_, rank_, thread);
  }

  Status open(std::uint32_t thread) {
    Result<RawReader> reader = RawReader::open(directory_, rank_, thread);
    if (!reader) return reader.error();
    if (reader->world_size() != trace_.world_size)
      return Error{ErrorKind::kUsage,
                   reader->path() + ": is of a job of " + std::to_string(reader->world_size()) +
                       " ranks, the trace of one of " + std::to_string(trace_.world_size),
                   0};
    if (thread == 0) model_ = std::make_unique<RawModel>(trace_, *reader, rank_);
    // Threads that an incomplete trace does not know yet have numbers that no stream has.
    const std::uint32_t stream = trace_.stream_of(rank_, thread);
    std::optional<RankView> view;
    if (trace_.ranks.contains(stream) && trace_.thread_of(stream) == thread) {
      Result<RankView> made = RankView::make(trace_, stream);
      if (!made)
        return Error{made.error().kind, "the trace is damaged: " + made.error().message, 0};
      view = std::move(*made);
    }
    const Result<Tail> tail = find_tail(trace_, directory_, stream);
    if (!tail) return tail.error();
    if (!trace_.complete) reader->allow_cut();
    streams_.push_back(std::make_unique<Lockstep>(trace_, std::move(*reader), std::move(view),
                                                  *model_, stream, *tail, report_));
    return Unit{};
  }

  const Trace& trace_;
  const std::string& directory_;
  std::uint32_t rank_;
  VerifyReport& report_;
  std::unique_ptr<RawModel> model_;
  std::vector<std::unique_ptr<Lockstep>> streams_;
};

}  // namespace

Result<VerifyReport> verify(const Trace& trace, const std::string& raw_directory,
                            const std::function<void()>& rank_done) {
  VerifyReport report;
  report.declarations = trace.declarations;
  report.complete = trace.complete;
  for (std::uint32_t rank = 0; rank < trace.world_size; ++rank) {
    RankLockstep lockstep(trace, raw_directory, rank, report);
    if (const Status done = lockstep.run(); !done) return done.error();
    ++report.ranks;
    if (rank_done) rank_done();
  }
  return report;
}

}  // namespace chameleon::analysis
