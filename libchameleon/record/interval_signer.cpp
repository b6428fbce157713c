// SPDX-License-Identifier: BSD-3-Clause
#include "record/interval_signer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/hash.h"

namespace chameleon::record {

IntervalSigner::IntervalSigner(const RecordOptions& options)
    : options_(options), uses_(options), signature_(options.signature), sites_(options) {}

void IntervalSigner::leave_out_polls(IntervalLog& log, IntervalLog::TakenOut& polls) {
  uses_.learn(log.table());
  if (uses_.leaves_out() || (polls.compute | polls.communication) != 0)
    log.take_out([this](std::uint32_t event) { return uses_[event].left_out; }, polls);
}

void IntervalSigner::sign(const IntervalLog& log) {
  uses_.learn(log.table());
  const std::span<const IntervalLog::Record> records = log.records();
  const bool ordered = options_.signature == CallPathForm::kOrdered;
  const bool hashes = options_.hashes;
  bool creates = false;  // what a register holds need not be stored for each event
  for (const IntervalLog::Record& record : records) {
    const EventUses::Use& use = uses_[record.event()];
    creates = creates || use.creates;
    if (ordered && !use.counted_only) signature_.call(use.symbol);
    for (std::uint32_t i = use.first; i < use.end; ++i) {
      const EventUses::Value& value = uses_.value(i);
      if (value.ruled)
        signature_.add_ruled(value.parameter, static_cast<std::uint32_t>(value.value));
      else if (value.end_point)
        signature_.add_end_point(value.parameter, value.value);
      else
        signature_.add(value.parameter, value.value);
    }
    if (hashes) add_hashes(record.event());
  }
  present_.creates = present_.creates || creates;
  present_.events += records.size();
  if (!records.empty()) present_.last_symbol = uses_[records.back().event()].symbol;
  add_times(log);
}

void IntervalSigner::add_hashes(std::uint32_t number) {
  const StreamHashes& event = uses_.hashes(number);
  for (std::size_t i = 0; i < event.size(); ++i)
    if (event[i] != 0) present_.hashes[i] = combine(present_.hashes[i], event[i]);
  const EventUses::Use& use = uses_[number];
  if (!use.polls || std::find(polls_.begin(), polls_.end(), use.symbol) != polls_.end()) return;
  polls_.push_back(use.symbol);
  present_.hashes[flush::kPollPlacesHash] ^= mix(use.symbol);
}

/// The times of what is in the log, if they are signed or measured. An unsuccessful poll is no
/// event of the average, but the time that went with it was spent.
void IntervalSigner::add_times(const IntervalLog& log) {
  sites_.add(log);
  if (!signs(Parameter::kCompute) && !signs(Parameter::kCommunication)) return;
  log.for_each([&](const IntervalLog::Record& record) {
    compute_ticks_ += record.compute();
    communication_ticks_ += record.communication();
    timed_ += uses_[record.event()].counted_only ? 0 : 1;
  });
}

void IntervalSigner::take_times(double ns_per_tick) {
  const auto total = [&](std::uint64_t ticks) {
    const double ns = static_cast<double>(ticks) * ns_per_tick;
    return ParameterTotal{static_cast<std::int64_t>(ns), timed_, 0};
  };
  IntervalTotals& totals = present_.totals;
  if (signs(Parameter::kCompute)) totals[Parameter::kCompute] = total(compute_ticks_);
  if (signs(Parameter::kCommunication))
    totals[Parameter::kCommunication] = total(communication_ticks_);
  compute_ticks_ = communication_ticks_ = timed_ = 0;
}

/// Whether the interval's events are those of the one before that was signed as a whole.
bool IntervalSigner::repeats(const IntervalLog& log) const {
  const std::span<const IntervalLog::Record> records = log.records();
  if (records.size() != sequence_.size() || records.empty() ||
      generation_ != log.table().generation())
    return false;
  constexpr std::size_t kBlock = 256;
  for (std::size_t from = 0; from < records.size(); from += kBlock) {
    const std::size_t end = std::min(records.size(), from + kBlock);
    std::uint32_t differs = 0;
    for (std::size_t i = from; i < end; ++i) differs |= records[i].event() ^ sequence_[i];
    if (differs != 0) return false;
  }
  return true;
}

void IntervalSigner::remember(const IntervalLog& log) {
  generation_ = log.table().generation();
  for (const IntervalLog::Record& record : log.records()) sequence_.push_back(record.event());
  before_ = present_;
}

SignedInterval IntervalSigner::close(const IntervalLog& log, bool whole, double ns_per_tick) {
  if (whole && repeats(log)) {
    present_ = before_;
    add_times(log);  // these do not repeat
  } else {
    sign(log);
    present_.totals = signature_.take_totals();
    sequence_.clear();
    if (whole) remember(log);
  }
  polls_.clear();
  take_times(ns_per_tick);
  SignedInterval closed = std::exchange(present_, {});
  closed.site_ticks = sites_.take();
  present_.last_symbol = closed.last_symbol;
  return closed;
}

}  // namespace chameleon::record
