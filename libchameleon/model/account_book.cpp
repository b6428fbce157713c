// SPDX-License-Identifier: BSD-3-Clause
#include "model/account_book.h"

#include <utility>

namespace chameleon::inline model {

std::uint32_t AccountBook::number_of(std::uint64_t symbol) {
  const auto known = numbers_.find(symbol);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(symbols_.size());
  latest_.resize(number + std::size_t{1});
  symbols_.push_back(symbol);
  numbers_.emplace(symbol, number);
  return number;
}

/// Makes the account of `symbol` after the last event the first of `latest`.
void AccountBook::turn_to(std::uint32_t symbol, std::array<Latest, 2>& latest) {
  std::swap(latest[0], latest[1]);
  if (latest[0].before == last_) return;
  const std::uint64_t key = std::uint64_t{last_} << 32 | symbol;
  const auto known = places_.find(key);
  auto account = static_cast<std::uint32_t>(accounts_.size());
  if (known != places_.end()) {
    account = known->second;
  } else {
    tallies_.emplace_back();  // first: should memory run out, each account has one
    accounts_.push_back({{symbols_[symbol], last_ == kNone ? 0 : symbols_[last_]}, {}});
    places_.emplace(key, account);
  }
  latest[0] = {last_, account};
}

void AccountBook::add_apart(std::uint32_t account, std::uint64_t compute,
                            std::uint64_t communication) {
  Durations& rest = accounts_[account].times;
  rest.compute.add(compute);
  rest.communication.add(communication);
  tallies_[account].missed(compute, communication, rest);
}

Durations AccountBook::durations(std::uint32_t account) const {
  Durations times = accounts_[account].times;
  tallies_[account].add_to(times);
  return times;
}

Accounts AccountBook::accounts() const {
  Accounts all = accounts_;
  for (std::size_t i = 0; i < all.size(); ++i) tallies_[i].add_to(all[i].times);
  return all;
}

}  // namespace chameleon::inline model
