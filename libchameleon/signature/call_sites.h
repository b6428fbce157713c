// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The places from which a rank calls each function, numbered in the order of their first calls:
/// ranks that do the same number them alike. Rules tell calls with equal arguments apart by them.
/// Cost: one look-up a distinct event of a call that has rules.

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "model/node.h"

namespace chameleon::signature {

class CallSites {
 public:
  /// The number, from 0, of the place by which events of this call are folded: a new one if there
  /// was no call from it.
  std::int64_t number(std::uint16_t call, std::uint64_t path) {
    const auto [site, fresh] = sites_.try_emplace(Node::event_symbol(call, path), 0);
    if (fresh) site->second = counts_[call]++;
    return site->second;
  }
  /// The same of a place that may be unknown.
  std::optional<std::int64_t> find(std::uint16_t call, std::uint64_t path) const {
    const auto site = sites_.find(Node::event_symbol(call, path));
    return site == sites_.end() ? std::nullopt : std::optional(site->second);
  }

 private:
  std::unordered_map<std::uint64_t, std::int64_t> sites_;   ///< by symbol
  std::unordered_map<std::uint16_t, std::int64_t> counts_;  ///< of the sites, by call
};

}  // namespace chameleon::signature
