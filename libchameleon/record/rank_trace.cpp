// SPDX-License-Identifier: BSD-3-Clause
#include "record/rank_trace.h"

#include <utility>

#include "base/hash.h"
#include "compress/distribution.h"
#include "record/call_use.h"

namespace chameleon::record {

void SignedHistory::append(const SignedInterval& interval) {
  totals.append(interval.totals);
  creates = creates || interval.creates;
  for (std::size_t i = 0; i < hashes.size(); ++i)
    hashes[i] = combine(hashes[i], interval.hashes[i]);
}

RankTrace::RankTrace(const RecordOptions& options, std::uint64_t buffer)
    : options_(options), log_(buffer), paths_(options), signer_(options), book_(options) {}

void RankTrace::fold_log(Folder& folder, double ns_per_tick, PieceOf of) {
  /// Events after which memory is looked at, of those that may take some.
  constexpr std::size_t kLooks = 64;
  book_.add(log_, ns_per_tick);
  std::vector<std::int64_t> with_more;
  const auto ns = [&](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(
        static_cast<double>(static_cast<std::int64_t>(ticks)) * ns_per_tick));
  };
  const EventTable& table = log_.table();
  paths_.learn(table);
  const std::uint64_t generation = std::uint64_t{table.generation()} << 32;
  const std::span<const IntervalLog::Record> records = log_.records();
  const bool full_times = options_.timing == Timing::kFull;
  for (std::size_t at = 0; at < records.size();) {
    const IntervalLog::Record* const next = &records[at];
    const std::size_t repeated =
        full_times
            ? 0
            : folder.repeat(
                  records.size() - at, [&](std::size_t i) { return generation | next[i].event(); },
                  [&](std::size_t i) {
                    const std::uint32_t number = next[i].event();
                    return Node::event_symbol(table[number].call, paths_.of(table, number));
                  },
                  [&](std::size_t i) {
                    return std::pair(ns(next[i].compute()), ns(next[i].communication()));
                  });
    at += repeated;
    if (repeated != 0) continue;
    const EventTable::Entry& entry = table[next->event()];
    Event event{entry.call,
                paths_.of(table, next->event()),
                ns(next->compute()),
                ns(next->communication()),
                table.values(entry),
                generation | next->event(),
                call_use(entry.call).role};
    if (full_times || paths_.relaxed()) {
      with_more.assign(event.values.begin(), event.values.end());
      if (paths_.relaxed()) with_more.push_back(static_cast<std::int64_t>(entry.path));
      event.values = with_more;
    }
    if (full_times) {
      with_more.push_back(static_cast<std::int64_t>(event.compute));
      with_more.push_back(static_cast<std::int64_t>(event.communication));
      event.values = with_more;
      event.identity = 0;
    }
    folder.push(event);
    ++at;
    if (++pushed_ % kLooks == 0) folded_.make_room(folder, of);
  }
  log_.clear();
}

/// What is in the log of the interval goes to *open*.
void RankTrace::fold_open(double ns_per_tick) {
  if (!spilled_)
    folded_.open.set_last_symbol(closed_ ? interval_.last_symbol : folded_.partial.last_symbol());
  spilled_ = true;
  fold_log(folded_.open, ns_per_tick, PieceOf::kOpen);
}

/// What is in the log of the closed interval makes room. There is nothing in *open* yet.
void RankTrace::fold_closed(double ns_per_tick) {
  folded_.open.set_last_symbol(folded_.partial.last_symbol());
  folded_.open.append(std::exchange(folded_.closed, {}), 0);
  fold_log(folded_.open, ns_per_tick, PieceOf::kClosed);
  folded_.closed = folded_.open.take();
}

bool RankTrace::spill(double ns_per_tick, const ValueBound* bound) {
  if (broken_) return false;
  const Change change(broken_);
  if (log_.sealed()) fold_closed(ns_per_tick);
  if (log_.empty()) return false;
  signer_.leave_out_polls(log_, polls_);
  if (log_.roomy()) return false;
  signer_.sign(log_);
  fold_open(ns_per_tick);
  return bound != nullptr && limit_open(*bound);
}

bool RankTrace::limit_open(const ValueBound& bound) {
  Trace open = bound.schema;
  const std::uint64_t events = folded_.open.event_count();
  open.nodes = folded_.open.take();
  const bool changed = compress::limit_values(open, bound.most) > 0;
  folded_.open.append(std::move(open.nodes), events);
  return changed;
}

/// Folds the interval to see its loops, unless it repeats one whose loops were seen.
void RankTrace::sign_loops(double ns_per_tick) {
  ParameterTotal& loops = interval_.totals[Parameter::kLoop];
  if (loops.count != 0) return;
  if (!spilled_) fold_open(ns_per_tick);
  loops = loop_total(folded_.open.nodes());
  signer_.know_loops(loops);
}

SignatureVector RankTrace::close_interval(double ns_per_tick, bool clusters) {
  if (broken_) return interval_.totals.signature();
  const Change change(broken_);
  // The published form is over folded events.
  signer_.leave_out_polls(log_, polls_);
  const bool folds = options_.signature == CallPathForm::kXor;
  if (folds && !log_.empty()) {
    signer_.sign(log_);
    fold_open(ns_per_tick);
  }
  interval_ = signer_.close(log_, !spilled_, ns_per_tick);
  if (clusters && signer_.signs(Parameter::kLoop)) sign_loops(ns_per_tick);
  log_.seal();
  if (std::exchange(spilled_, false)) folded_.closed = folded_.open.take();
  if (folds) interval_.totals.call_path = xor_signature(folded_.closed);
  all_events_ += interval_.events;
  closed_ = true;
  return interval_.totals.signature();
}

/// The closed interval belongs to what is flushed next, whether it is kept or not. (Not
/// before: a flush may come between closing it and this, and begins these anew.)
void RankTrace::close_books() {
  closed_ = false;
  history_.append(interval_);
}

bool RankTrace::join(double ns_per_tick) {
  if (!closed_ || broken_) return false;
  const Change change(broken_);
  if (!folded_.closed.empty()) folded_.partial.append(std::exchange(folded_.closed, {}), 0);
  close_books();
  if (log_.sealed()) fold_log(folded_.partial, ns_per_tick, PieceOf::kJoined);
  book_.end_interval();
  history_.events += interval_.events;
  return true;
}

bool RankTrace::drop(double ns_per_tick) {
  if (!closed_ || broken_) return false;
  const Change change(broken_);
  if (log_.sealed()) {
    book_.add(log_, ns_per_tick);
    log_.clear();
  }
  book_.end_interval();
  close_books();
  folded_.closed.clear();
  folded_.partial.set_last_symbol(interval_.last_symbol);
  return true;
}

std::vector<Node> RankTrace::take() {
  history_ = {};
  if (broken_) return {};
  const Change change(broken_);
  return folded_.partial.take();
}

SignatureVector RankTrace::history() {
  IntervalTotals totals = history_.totals;
  if (signer_.signs(Parameter::kLoop))
    totals[Parameter::kLoop] = loop_total(folded_.partial.nodes());
  return totals.signature();
}

}  // namespace chameleon::record
