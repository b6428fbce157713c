// SPDX-License-Identifier: BSD-3-Clause
#include "record/rank_trace.h"

#include <algorithm>
#include <array>

#include "model/end_point.h"
#include "model/time_code.h"
#include "model/trace.h"
#include "mpi/event_layout.h"

namespace chameleon::record {
namespace {

/// How one value of a call enters signatures and hashes.
struct ValueUse {
  std::uint8_t kind = 5;  ///< bit of Inexactness it belongs to
  std::int8_t parameter = -1;
  bool end_point = false;
  bool root = false;
  TypeRange range{};  ///< of a datatype, operation or communicator
};

struct CallUse {
  std::vector<ValueUse> values;
  int flag = -1;  ///< value that says whether a Test or Iprobe succeeded
  bool creates = false;
};

Parameter parameter_of(Kind kind) {
  switch (kind) {
    case Kind::kSource: return Parameter::kSource;
    case Kind::kDest: return Parameter::kDestination;
    case Kind::kCount: return Parameter::kCount;
    case Kind::kTag: return Parameter::kTag;
    case Kind::kKey: return Parameter::kKey;
    case Kind::kColor: return Parameter::kColor;
    default: return Parameter::kDataOperation;
  }
}

TypeRange range_of(Kind kind) {
  return kind == Kind::kOp     ? TypeRange::kOperation
         : kind == Kind::kComm ? TypeRange::kCommunicator
                               : TypeRange::kDatatype;
}

std::uint8_t inexactness_of(Kind kind) {
  switch (kind) {
    case Kind::kCount: return 1;
    case Kind::kSource: return 2;
    case Kind::kDest: return 3;
    case Kind::kTag: return 4;
    default: return 5;
  }
}

bool signs_parameter(Kind kind) {
  return kind == Kind::kSource || kind == Kind::kDest || kind == Kind::kCount ||
         kind == Kind::kTag || kind == Kind::kKey || kind == Kind::kColor ||
         kind == Kind::kDatatype || kind == Kind::kOp || kind == Kind::kComm;
}

bool is_list(const ParamInfo& param) { return param.length.rule != Length::Rule::kScalar; }

CallUse use_of(const CallInfo& call) {
  CallUse use;
  use.values.resize(stored_values(call));
  const bool polls = has(call, Attribute::kCompletes) || has(call, Attribute::kProbe);
  for (int i = 0; i < static_cast<int>(params(call).size()); ++i) {
    const ParamInfo& param = params(call)[static_cast<std::size_t>(i)];
    const auto stored = static_cast<std::size_t>(stored_values(param));
    if (stored == 0) continue;
    const auto at = static_cast<std::size_t>(value_offset(call, i));
    for (std::size_t k = 0; k < stored; ++k) {
      ValueUse& value = use.values[at + k];
      value.kind = inexactness_of(param.kind);
      if (stored == 1 && !is_list(param) && signs_parameter(param.kind) &&
          param.direction == Direction::kIn)
        value.parameter = static_cast<std::int8_t>(parameter_of(param.kind));
      // A status: source, tag, bytes.
      if (stored == 3) value.kind = k == 0 ? 2 : k == 1 ? 4 : 1;
      value.end_point = k == 0 && (is_end_point(call, param) || (stored == 3 && !is_list(param)));
      value.root = param.kind == Kind::kRoot;
      value.range = range_of(param.kind);
    }
    if (param.kind == Kind::kFlag && param.direction == Direction::kOut && polls)
      use.flag = static_cast<int>(at);
  }
  for (const ParamInfo& param : params(call))
    use.creates =
        use.creates || ((param.kind == Kind::kComm || param.kind == Kind::kGroup) &&
                        param.direction == Direction::kOut && has(call, Attribute::kCreates));
  return use;
}

const CallUse& call_use(std::uint16_t call) {
  static const std::vector<CallUse> uses = [] {
    std::vector<CallUse> all(kCallIdEnd);
    for (const CallInfo& info : all_calls()) all[info.id] = use_of(info);
    return all;
  }();
  return uses[call];
}

/// By kind of inexactness, what an event adds to the hashes of a rank's events; 0: nothing.
StreamHashes hashes_of(std::span<const ValueUse> uses, std::uint64_t symbol,
                       std::span<const std::int64_t> values) {
  StreamHashes hashes{};
  hashes[0] = combine(1, symbol);
  for (std::size_t i = 0; i < values.size() && i < uses.size(); ++i) {
    const ValueUse& use = uses[i];
    std::int64_t number = values[i];
    if (use.end_point) number = use.root ? packed_absolute(number) : packed_relative(number);
    hashes[use.kind] = combine(hashes[use.kind] | 1, static_cast<std::uint64_t>(number));
  }
  return hashes;
}

}  // namespace

RankTrace::RankTrace(const RecordOptions& options, std::uint64_t buffer)
    : options_(options),
      log_(buffer),
      open_(options.timing != Timing::kNone),
      partial_(options.timing != Timing::kNone),
      signature_(options.signature) {
  signed_.resize(kCallIdEnd);
  for (const CallInfo& call : all_calls()) {
    const std::vector<ValueUse>& values = call_use(call.id).values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].parameter < 0) continue;
      const auto parameter = static_cast<Parameter>(values[i].parameter);
      if ((options.format & format_bit(parameter)) != 0)
        signed_[call.id].push_back(
            {static_cast<std::uint8_t>(i), parameter, values[i].end_point, values[i].range});
    }
  }
}

/// What signatures and hashes take from the distinct events not met before.
void RankTrace::learn() {
  const EventTable& table = log_.table();
  if (generation_ != table.generation()) {
    generation_ = table.generation();
    uses_.clear();
    signed_values_.clear();
    stream_hashes_.clear();
  }
  while (uses_.size() < table.size()) {
    const EventTable::Entry& entry = table[static_cast<std::uint32_t>(uses_.size())];
    const std::span<const std::int64_t> values = table.values(entry);
    const CallUse& call = call_use(entry.call);
    EventUse use;
    use.symbol = Node::event_symbol(entry.call, entry.path);
    use.creates = call.creates;
    use.counted_only = call.flag >= 0 && static_cast<std::size_t>(call.flag) < values.size() &&
                       values[static_cast<std::size_t>(call.flag)] == 0;
    use.first = static_cast<std::uint32_t>(signed_values_.size());
    for (const SignedPlace& place : signed_[entry.call]) {
      // How many polls there are is chance: nothing of an unsuccessful one is signed.
      if (place.at >= values.size() || use.counted_only) break;
      std::int64_t value = values[place.at];
      const bool special = place.end_point && EndPoint{EndPointForm::kBoth, value}.special() != 0;
      if (place.end_point) value = packed_relative(value);
      if (place.parameter == Parameter::kDataOperation) value = type_bit(place.range, value);
      signed_values_.push_back({place.parameter, special, value});
    }
    use.end = static_cast<std::uint32_t>(signed_values_.size());
    uses_.push_back(use);
    if (options_.hashes) stream_hashes_.push_back(hashes_of(call.values, use.symbol, values));
  }
}

void RankTrace::sign() {
  learn();
  const bool ordered = options_.signature == CallPathForm::kOrdered;
  const bool hashes = options_.hashes;
  log_.for_each([&](const IntervalLog::Record& record) {
    const EventUse& use = uses_[record.event()];
    ++interval_events_;
    creates_ = creates_ || use.creates;
    last_symbol_ = use.symbol;
    if (use.counted_only)
      signature_.unsigned_call();
    else if (ordered)
      signature_.call(use.symbol);
    for (std::uint32_t i = use.first; i < use.end; ++i) {
      const SignedValue& value = signed_values_[i];
      if (value.special) [[unlikely]]
        signature_.add_special(value.parameter, value.value);
      else
        signature_.add(value.parameter, value.value);
    }
    if (hashes) {
      const StreamHashes& event = stream_hashes_[record.event()];
      for (std::size_t i = 0; i < event.size(); ++i)
        if (event[i] != 0) interval_hashes_[i] = combine(interval_hashes_[i], event[i]);
    }
  });
  add_times();
}

/// The times of what is in the log, if they are signed. An unsuccessful poll is no event of the
/// average, but the time that went with it was spent.
void RankTrace::add_times() {
  if (!signs(Parameter::kCompute) && !signs(Parameter::kCommunication)) return;
  log_.for_each([&](const IntervalLog::Record& record) {
    compute_ticks_ += record.compute();
    communication_ticks_ += record.communication();
    timed_ += uses_[record.event()].counted_only ? 0 : 1;
  });
}

void RankTrace::fold_log(Folder& folder, double ns_per_tick) {
  std::vector<std::int64_t> with_times;
  const auto ns = [&](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(
        static_cast<double>(static_cast<std::int64_t>(ticks)) * ns_per_tick));
  };
  const EventTable& table = log_.table();
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
                    return std::pair(ns(next[i].compute()), ns(next[i].communication()));
                  });
    at += repeated;
    if (repeated != 0) continue;
    const EventTable::Entry& entry = table[next->event()];
    Event event{entry.call,          entry.path,
                ns(next->compute()), ns(next->communication()),
                table.values(entry), generation | next->event()};
    if (full_times) {
      with_times.assign(event.values.begin(), event.values.end());
      with_times.push_back(static_cast<std::int64_t>(encode_time(event.compute)));
      with_times.push_back(static_cast<std::int64_t>(encode_time(event.communication)));
      event.values = with_times;
      event.identity = 0;
    }
    folder.push(event);
    ++at;
  }
  log_.clear();
}

void RankTrace::spill(double ns_per_tick) {
  if (log_.empty() || log_.sealed() || broken_) return;
  const Change change(broken_);
  if (!spilled_) open_.set_last_symbol(partial_.last_symbol());
  spilled_ = true;
  sign();
  fold_log(open_, ns_per_tick);
}

/// Whether the interval's events are those of the one before that was signed as a whole.
bool RankTrace::repeats() const {
  const std::span<const IntervalLog::Record> records = log_.records();
  if (spilled_ || records.size() != sequence_.size() || records.empty() ||
      sequence_generation_ != log_.table().generation())
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

/// Signs what is in the log as `sign` does, or as it did if the interval repeats the one before.
void RankTrace::sign_interval() {
  if (repeats()) {
    interval_events_ += sequence_.size();
    creates_ = signed_before_.creates;
    last_symbol_ = signed_before_.last_symbol;
    interval_hashes_ = signed_before_.hashes;
    last_ = signed_before_.totals;
    add_times();  // these do not repeat
    return;
  }
  sign();
  last_ = signature_.take_totals();
  sequence_.clear();
  if (spilled_) return;
  sequence_generation_ = log_.table().generation();
  for (const IntervalLog::Record& record : log_.records()) sequence_.push_back(record.event());
  signed_before_ = {last_, interval_hashes_, last_symbol_, creates_};
}

void RankTrace::sign_times(double ns_per_tick) {
  const auto total = [&](std::uint64_t ticks) {
    const double ns = static_cast<double>(ticks) * ns_per_tick;
    return ParameterTotal{static_cast<std::int64_t>(ns), timed_, 0};
  };
  if (signs(Parameter::kCompute)) last_[Parameter::kCompute] = total(compute_ticks_);
  if (signs(Parameter::kCommunication))
    last_[Parameter::kCommunication] = total(communication_ticks_);
  compute_ticks_ = communication_ticks_ = timed_ = 0;
}

/// Folds the interval to see its loops, unless it repeats one whose loops were seen.
void RankTrace::sign_loops(double ns_per_tick) {
  ParameterTotal& loops = last_[Parameter::kLoop];
  if (loops.count != 0) return;
  if (!spilled_) {
    open_.set_last_symbol(partial_.last_symbol());
    fold_log(open_, ns_per_tick);
    spilled_ = true;
  }
  loops = loop_total(open_.nodes());
  signed_before_.totals[Parameter::kLoop] = loops;
}

SignatureVector RankTrace::close_interval(double ns_per_tick, bool clusters) {
  if (broken_) return last_.signature();
  const Change change(broken_);
  // The published form is over folded events.
  const bool folds = options_.signature == CallPathForm::kXor;
  if (folds) spill(ns_per_tick);
  sign_interval();
  sign_times(ns_per_tick);
  if (clusters && signs(Parameter::kLoop)) sign_loops(ns_per_tick);
  log_.seal();
  if (spilled_) folded_ = open_.take();
  if (folds) last_.call_path = xor_signature(folded_);
  all_events_ += interval_events_;
  interval_creates_ = creates_;
  creates_ = false;
  closed_ = true;
  return last_.signature();
}

/// The closed interval belongs to what is flushed next, whether it is kept or not. (Not
/// before: a flush may come between closing it and this, and begins these anew.)
void RankTrace::close_books() {
  closed_ = false;
  history_.append(last_);
  history_creates_ = history_creates_ || interval_creates_;
  for (std::size_t i = 0; i < hashes_.size(); ++i)
    hashes_[i] = combine(hashes_[i], interval_hashes_[i]);
  interval_hashes_ = {};
}

void RankTrace::join(double ns_per_tick) {
  if (!closed_ || broken_) return;
  const Change change(broken_);
  close_books();
  if (spilled_) partial_.append(std::exchange(folded_, {}), 0);
  fold_log(partial_, ns_per_tick);
  events_ += interval_events_;
  interval_events_ = 0;
  spilled_ = false;
}

void RankTrace::drop() {
  if (!closed_ || broken_) return;
  const Change change(broken_);
  close_books();
  folded_.clear();
  log_.clear();
  interval_events_ = 0;
  spilled_ = false;
  partial_.set_last_symbol(last_symbol_);
}

std::vector<Node> RankTrace::take() {
  events_ = 0;
  history_ = {};
  hashes_ = {};
  history_creates_ = false;
  if (broken_) return {};
  const Change change(broken_);
  return partial_.take();
}

SignatureVector RankTrace::history() {
  IntervalTotals totals = history_;
  if (signs(Parameter::kLoop)) totals[Parameter::kLoop] = loop_total(partial_.nodes());
  return totals.signature();
}

}  // namespace chameleon::record
