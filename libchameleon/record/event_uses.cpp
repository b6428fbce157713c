// SPDX-License-Identifier: BSD-3-Clause
#include "record/event_uses.h"

#include <algorithm>
#include <span>

#include "base/hash.h"
#include "model/end_point.h"
#include "model/node.h"
#include "mpi/event_layout.h"
#include "record/call_use.h"
#include "signature/null_test.h"

namespace chameleon::record {
namespace {

constexpr std::size_t kReturn = 0;  ///< among the values of any event

/// How many unsuccessful polls come before what is polled for is chance: they have a hash of their
/// own, in which the other events say where they are.
StreamHashes hashes_of(std::span<const ValueUse> uses, std::uint64_t symbol,
                       std::span<const std::int64_t> values, bool unsuccessful) {
  StreamHashes hashes{};
  hashes[flush::kPollsHash] = combine(1, symbol);
  if (unsuccessful) {
    for (const std::int64_t value : values)
      hashes[flush::kPollsHash] =
          combine(hashes[flush::kPollsHash], static_cast<std::uint64_t>(packed_relative(value)));
    return hashes;
  }
  hashes[0] = combine(1, symbol);
  for (std::size_t i = 0; i < values.size() && i < uses.size(); ++i) {
    const ValueUse& use = uses[i];
    std::int64_t number = values[i];
    if (use.end_point) number = use.root ? packed_absolute(number) : packed_relative(number);
    hashes[use.kind] = combine(hashes[use.kind] | 1, static_cast<std::uint64_t>(number));
  }
  return hashes;
}

/// Of the event with all of its values.
std::int64_t whole_hash(std::span<const ValueUse> uses, std::uint64_t symbol,
                        std::span<const std::int64_t> values) {
  std::uint64_t whole = values.size();
  for (const std::uint64_t one : hashes_of(uses, symbol, values, false))
    whole = combine(whole, one);
  return static_cast<std::int64_t>(whole);
}

/// Where an event of a test says that there was nothing to test; -1: nowhere.
struct NullTest {
  int value = -1;
  bool list = false;  ///< an array says it
};

const NullTest& null_test(std::uint16_t call) {
  static const std::vector<NullTest> places = [] {
    std::vector<NullTest> all(kCallIdEnd);
    for (const CallInfo& info : all_calls())
      if (const int param = signature::null_test_param(info); param >= 0)
        all[info.id] = {static_cast<int>(value_offset(info, static_cast<std::size_t>(param))),
                        is_array(params(info)[static_cast<std::size_t>(param)])};
    return all;
  }();
  return places[call];
}

void hash_path(std::uint64_t symbol, bool unsuccessful, StreamHashes& hashes) {
  std::uint64_t& hash = hashes[unsuccessful ? flush::kPollsHash : ValueUse().kind];
  hash = combine(hash | 1, symbol);
}

}  // namespace

/// A poll of which nothing came: it found nothing, or there was nothing to find.
bool EventUses::is_vain(std::uint16_t call, int flag, std::span<const std::int64_t> values) const {
  const auto at = [&](int place) { return values[static_cast<std::size_t>(place)]; };
  const auto has = [&](int place) {
    return place >= 0 && static_cast<std::size_t>(place) < values.size();
  };
  if (has(flag) && at(flag) == 0) return true;
  const NullTest& null = null_test(call);
  if (!has(null.value)) return false;
  if (!null.list) return at(null.value) < 0;
  if (!arrays_) return false;
  const std::span<const std::int64_t> requests = arrays_(at(null.value));
  return std::all_of(requests.begin(), requests.end(), [](std::int64_t id) { return id < 0; });
}

EventUses::EventUses(const RecordOptions& options)
    : paths_(options),
      wanted_{options.hashes, (options.format & kSequenceBit) != 0, options.all_events},
      places_(kCallIdEnd) {
  for (const CallInfo& call : all_calls())
    for (const SignedValue& value : call_use(call.id).signed_values)
      if ((options.format & format_bit(value.parameter)) != 0) places_[call.id].push_back(value);
}

void EventUses::learn(const EventTable& table) {
  if (generation_ != table.generation()) {
    generation_ = table.generation();
    uses_.clear();
    values_.clear();
    hashes_.clear();
    leaves_out_ = false;
  }
  while (uses_.size() < table.size()) learn(table, table[static_cast<std::uint32_t>(uses_.size())]);
}

void EventUses::find_ruled(const EventTable::Entry& entry, std::span<const std::int64_t> values) {
  ruled_.clear();
  const std::vector<signature::RuledValue>& ruled = rules_->of(entry.call);
  if (ruled.empty()) return;
  auto caller = rules_->caller(entry.call, values);
  const std::int64_t site = sites_.number(entry.call, paths_.of(entry));
  if (!caller) return;
  caller->site = site;
  for (std::size_t i = 0; i < ruled.size(); ++i) {
    const signature::SignedValue& at = ruled[i].value;
    const bool seen = std::any_of(ruled.begin(), ruled.begin() + static_cast<std::ptrdiff_t>(i),
                                  [&](const auto& one) { return one.value.at == at.at; });
    if (seen || at.at >= values.size() || !rules_->apply(entry.call, at.at, *caller)) continue;
    ++rule_counts_.values;
    const std::uint32_t rule = rules_->matching(entry.call, at, values, *caller);
    if (rule == 0) continue;
    ++rule_counts_.matched;
    ruled_.push_back({at.at, rule});
  }
}

std::uint32_t EventUses::rule_of(std::uint8_t at) const {
  for (const Ruled& one : ruled_)
    if (one.at == at) return one.rule;
  return 0;
}

void EventUses::learn(const EventTable& table, const EventTable::Entry& entry) {
  const std::span<const std::int64_t> values = table.values(entry);
  const CallUse& call = call_use(entry.call);
  Use use;
  use.symbol = paths_.symbol(entry);
  use.creates = call.creates;
  use.polls = call.flag >= 0;
  use.counted_only = is_vain(entry.call, call.flag, values);
  // One that failed is an event.
  use.left_out = use.counted_only && !wanted_.all_events && values[kReturn] == 0;
  leaves_out_ = leaves_out_ || use.left_out;
  use.first = static_cast<std::uint32_t>(values_.size());
  if (rules_ != nullptr && !use.counted_only) find_ruled(entry, values);
  for (const SignedValue& place : places_[entry.call]) {
    // How many polls there are is chance: nothing of an unsuccessful one is signed.
    if (place.at >= values.size() || use.counted_only) break;
    if (const std::uint32_t rule = rule_of(place.at); rule != 0) {
      values_.push_back({place.parameter, false, true, rule});
      continue;
    }
    std::int64_t value = values[place.at];
    if (place.parameter == Parameter::kDataOperation) value = type_bit(place.range, value);
    values_.push_back({place.parameter, place.end_point, false, value});
  }
  // The whole sequence has whole call paths.
  const std::uint64_t own = Node::event_symbol(entry.call, entry.path);
  if (wanted_.sequence && !use.counted_only)
    values_.push_back({Parameter::kSequence, false, false, whole_hash(call.values, own, values)});
  use.end = static_cast<std::uint32_t>(values_.size());
  if (wanted_.hashes) {
    StreamHashes hashes = hashes_of(call.values, use.symbol, values, use.counted_only);
    // Folded by a relaxed path, the own one is one of the event's values.
    if (paths_.relaxed()) hash_path(own, use.counted_only, hashes);
    hashes_.push_back(hashes);
  }
  uses_.push_back(use);
}

}  // namespace chameleon::record
