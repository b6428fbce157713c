// SPDX-License-Identifier: BSD-3-Clause
#include "record/event_uses.h"

#include <span>

#include "base/hash.h"
#include "model/end_point.h"
#include "model/node.h"
#include "mpi/event_layout.h"
#include "record/call_use.h"

namespace chameleon::record {
namespace {

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

}  // namespace

EventUses::EventUses(const RecordOptions& options) : hashing_(options.hashes), places_(kCallIdEnd) {
  for (const CallInfo& call : all_calls()) {
    const std::vector<ValueUse>& values = call_use(call.id).values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].parameter < 0) continue;
      const auto parameter = static_cast<Parameter>(values[i].parameter);
      if ((options.format & format_bit(parameter)) != 0)
        places_[call.id].push_back(
            {static_cast<std::uint8_t>(i), parameter, values[i].end_point, values[i].range});
    }
  }
}

void EventUses::learn(const EventTable& table) {
  if (generation_ != table.generation()) {
    generation_ = table.generation();
    uses_.clear();
    values_.clear();
    hashes_.clear();
  }
  while (uses_.size() < table.size()) learn(table, table[static_cast<std::uint32_t>(uses_.size())]);
}

void EventUses::learn(const EventTable& table, const EventTable::Entry& entry) {
  const std::span<const std::int64_t> values = table.values(entry);
  const CallUse& call = call_use(entry.call);
  Use use;
  use.symbol = Node::event_symbol(entry.call, entry.path);
  use.creates = call.creates;
  use.polls = call.flag >= 0;
  use.counted_only = call.flag >= 0 && static_cast<std::size_t>(call.flag) < values.size() &&
                     values[static_cast<std::size_t>(call.flag)] == 0;
  use.first = static_cast<std::uint32_t>(values_.size());
  for (const SignedPlace& place : places_[entry.call]) {
    // How many polls there are is chance: nothing of an unsuccessful one is signed.
    if (place.at >= values.size() || use.counted_only) break;
    std::int64_t value = values[place.at];
    const bool special = place.end_point && EndPoint{EndPointForm::kBoth, value}.special() != 0;
    if (place.end_point) value = packed_relative(value);
    if (place.parameter == Parameter::kDataOperation) value = type_bit(place.range, value);
    values_.push_back({place.parameter, special, value});
  }
  use.end = static_cast<std::uint32_t>(values_.size());
  if (hashing_) hashes_.push_back(hashes_of(call.values, use.symbol, values, use.counted_only));
  uses_.push_back(use);
}

}  // namespace chameleon::record
