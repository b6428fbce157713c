// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The times of a stream by place: an account for each event and predecessor, both by their symbols
/// (`Node::symbol`), of compute time before the event and time in it. Accounts are kept separately
/// from the events, so that a rank that drops its events still knows its own times, and over the
/// whole run, so their size grows with distinct places only.
///
/// Cost of `add`: two reads to find the account if the event follows one of its last two
/// predecessors, otherwise a look-up of about 20 ns; and an EventTally, 4 to 5 ns. About 420 bytes
/// for each account.

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "model/event_tally.h"
#include "model/node.h"

namespace chameleon::inline model {

/// An event that comes after another.
struct Place {
  std::uint64_t symbol = 0;
  std::uint64_t predecessor = 0;  ///< 0: none
  auto operator<=>(const Place&) const = default;

  struct Hash {
    std::size_t operator()(const Place& place) const {
      return combine(place.symbol, place.predecessor);
    }
  };
};

struct Account {
  Place place;
  Durations times;
};
using Accounts = std::vector<Account>;

/// The waiting of a stream at markers for slower ranks, between one event and the next.
struct MarkerWait {
  std::uint64_t ns = 0;
  std::uint64_t markers = 0;   ///< at which it waited
  std::uint64_t ahead_ns = 0;  ///< computed since the event before, up to these markers

  void add(const MarkerWait& other) {
    ns += other.ns;
    markers += other.markers;
    ahead_ns += other.ahead_ns;
  }
  bool operator==(const MarkerWait&) const = default;
};

/// The accounts of one stream, see Trace.
struct StreamAccounts {
  std::uint32_t stream = 0;
  Accounts accounts;
  std::map<Place, MarkerWait> waits = {};  ///< by the place of the event that came next
};

class AccountBook {
 public:
  /// The number by which `add` knows a symbol.
  std::uint32_t number_of(std::uint64_t symbol);

  /// The stream's next event: times in ns.
  void add(std::uint32_t symbol, std::uint64_t compute, std::uint64_t communication) {
    const std::uint32_t account = account_of(symbol);
    const bool small = (compute | communication) >> 31 == 0;
    if (!small || !tallies_[account].add(EventTally::pair(compute, communication))) [[unlikely]]
      add_apart(account, compute, communication);
  }
  /// The same in ticks below 2^48, of which whole ns are made.
  void add_ticks(std::uint32_t symbol, std::uint64_t compute, std::uint64_t communication,
                 double ns_per_tick) {
    const std::uint32_t account = account_of(symbol);
    const bool small = (compute | communication) >> 31 == 0 && ns_per_tick <= 1;
    if (!small || !tallies_[account].add(EventTally::pair(compute, communication, ns_per_tick)))
        [[unlikely]]
      add_apart(account, whole_ns(compute, ns_per_tick), whole_ns(communication, ns_per_tick));
  }
  /// Fetches what `add` will probably need.
  void prefetch(std::uint32_t symbol) const {
    const auto* bytes = reinterpret_cast<const char*>(tallies_.data() + latest_[symbol][0].account);
    for (const std::size_t at : {0, 64, 128, 192}) __builtin_prefetch(bytes + at, 1);
  }

  std::size_t size() const { return accounts_.size(); }
  /// O(places).
  Accounts accounts() const;
  /// The account of the event added last; there must be one.
  const Place& last_place() const { return place(last_account()); }
  std::uint32_t last_account() const { return latest_[last_][0].account; }
  /// The place of an account.
  const Place& place(std::uint32_t account) const { return accounts_[account].place; }
  Durations durations(std::uint32_t account) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Latest {
    std::uint32_t before = kNone - 1;  ///< number of the predecessor's symbol
    std::uint32_t account = 0;
  };

  void turn_to(std::uint32_t symbol, std::array<Latest, 2>& latest);
  void add_apart(std::uint32_t account, std::uint64_t compute, std::uint64_t communication);
  /// Waiting before the next event.
  std::uint32_t account_of(std::uint32_t symbol) {
    std::array<Latest, 2>& latest = latest_[symbol];
    if (latest[0].before != last_) [[unlikely]]
      turn_to(symbol, latest);
    last_ = symbol;
    return latest[0].account;
  }
  static std::uint64_t whole_ns(std::uint64_t ticks, double ns_per_tick) {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick);
  }

  Accounts accounts_;                ///< with what is not in tallies
  std::vector<EventTally> tallies_;  ///< by account
  std::uint32_t last_ = kNone;
  std::vector<std::uint64_t> symbols_;
  std::vector<std::array<Latest, 2>> latest_;  ///< by symbol
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;  ///< by numbers of both symbols
};

}  // namespace chameleon::inline model
