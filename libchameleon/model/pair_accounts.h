// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How long each receiver was in the calls that completed its receives from each sender, by size of
/// message. Every rank adds up its own times, also where the trace has only distributions of times
/// that ranks share. The time of a call that completes several receives is divided evenly among
/// them. At most `kMost` accounts of a run are kept: all of a sender and receiver or none of them,
/// those that waited longest first. The rest is one sum.

#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.h"

namespace chameleon::inline model {

struct PairAccount {
  std::uint32_t stream = 0;  ///< that received
  std::uint32_t source = 0;  ///< world rank of the sender
  std::uint8_t size = 0;     ///< 0 for no bytes, else n for 2^(n - 1) to 2^n - 1 bytes
  std::uint64_t messages = 0;
  std::uint64_t ns = 0;
  std::uint64_t longest_ns = 0;     ///< of one message
  std::uint64_t longest_event = 0;  ///< that completed it: its number in the stream, from 1

  bool operator==(const PairAccount&) const = default;
};

/// The fewest bytes that a message of the account's size has.
constexpr std::uint64_t least_bytes(const PairAccount& account) {
  return account.size == 0 ? 0 : std::uint64_t{1} << (account.size - 1);
}

class PairAccounts {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 13;
  static constexpr unsigned kSizes = 64;  ///< a `size` is below that

  /// Receives that have no account: too many pairs, or a sender that could not be determined.
  struct Others {
    std::uint64_t messages = 0, ns = 0;
    bool operator==(const Others&) const = default;
  };

  bool empty() const { return all_.empty() && others_ == Others(); }
  /// By stream, source and size.
  const std::vector<PairAccount>& all() const { return all_; }
  const Others& others() const { return others_; }

  void add(const PairAccount& account) { all_.push_back(account); }
  void add(const Others& others);
  /// After `add`: puts accounts in order, and adds those that are too many to the others.
  void settle();
  /// The same for those of both. Where both have a stream, the accounts of `other` hold.
  void merge(const PairAccounts& other);

  bool operator==(const PairAccounts&) const = default;

 private:
  void limit();

  std::vector<PairAccount> all_;
  Others others_;
};

}  // namespace chameleon::inline model
