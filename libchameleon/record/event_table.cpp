// SPDX-License-Identifier: BSD-3-Clause
#include "record/event_table.h"

namespace chameleon::record {
namespace {

/// Of pairs of values, so that their multiplications run beside each other.
std::uint64_t hash_of(std::uint16_t call, std::uint64_t path, const std::int64_t* values,
                      std::size_t count) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  std::uint64_t hash = path + call;
  std::uint64_t salt = kOdd;
  for (std::size_t i = 0; i < count; i += 2, salt += 2 * kOdd) {
    const auto a = static_cast<std::uint64_t>(values[i]) ^ salt;
    const auto b = (i + 1 < count ? static_cast<std::uint64_t>(values[i + 1]) : 0) ^ ~salt;
    const Wide product = static_cast<Wide>(a) * b;
    hash += static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  return mix(hash);
}

}  // namespace

std::uint32_t EventTable::look_up(std::uint16_t call, std::uint64_t path,
                                  const std::int64_t* values, std::size_t count) {
  if (2 * (entries_.size() + 1) > places_.size()) grow();
  const std::uint64_t hash = hash_of(call, path, values, count);
  const std::size_t mask = places_.size() - 1;
  const std::uint32_t before = last_;
  std::size_t at = hash & mask;
  for (; places_[at] != 0; at = (at + 1) & mask) {
    const std::uint32_t number = places_[at] - 1;
    if (entries_[number].hash == hash && is(entries_[number], call, path, values, count)) {
      last_ = number;
      break;
    }
  }
  if (places_[at] == 0) {
    // In an order in which nothing refers to what there was no memory for.
    const auto number = static_cast<std::uint32_t>(entries_.size());
    const auto first = static_cast<std::uint32_t>(values_.size());
    values_.insert(values_.end(), values, values + count);
    entries_.push_back({path, hash, first, number, 0, call, static_cast<std::uint16_t>(count)});
    last_ = number;
    places_[at] = last_ + 1;
  }
  entries_[before].next = last_;
  return last_;
}

void EventTable::learn_key(std::uint32_t number, std::span<const std::int64_t> key) {
  Entry& entry = entries_[number];
  if (entry.key + 1 < kKeyed) {
    ++entry.key;
    return;
  }
  if (entry.key < kKeyed) {
    const auto place = static_cast<std::uint32_t>(keys_.size());
    keys_.resize(keys_.size() + key.size());
    entry.key = place + kKeyed;
  }
  std::copy(key.begin(), key.end(), &keys_[entry.key - kKeyed]);
  by_path_[entry.path % kPaths] = number;
}

void EventTable::place(std::uint32_t number) {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = entries_[number].hash & mask;
  while (places_[at] != 0) at = (at + 1) & mask;
  places_[at] = number + 1;
}

void EventTable::grow() {
  places_.assign(std::max<std::size_t>(128, 2 * places_.size()), 0);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) place(i);
}

void EventTable::clear() {
  entries_.clear();
  values_.clear();
  keys_.clear();
  std::fill(places_.begin(), places_.end(), 0);
  last_ = 0;
  ++generation_;
}

}  // namespace chameleon::record
