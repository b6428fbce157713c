// SPDX-License-Identifier: BSD-3-Clause
#include "model/pair_accounts.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace chameleon::inline model {
namespace {

void add_up(std::uint64_t& sum, std::uint64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = UINT64_MAX;
}

auto pair_of(const PairAccount& one) { return std::pair(one.stream, one.source); }

bool in_order(const PairAccount& a, const PairAccount& b) {
  return std::tuple(a.stream, a.source, a.size) < std::tuple(b.stream, b.source, b.size);
}

/// The accounts of one pair, by place.
struct Group {
  std::size_t first = 0, end = 0;
  std::uint64_t ns = 0;
};

}  // namespace

void PairAccounts::add(const Others& others) {
  add_up(others_.messages, others.messages);
  add_up(others_.ns, others.ns);
}

void PairAccounts::settle() {
  std::sort(all_.begin(), all_.end(), in_order);
  limit();
}

// Whole pairs up to the first that does not fit: so it does not matter who is joined first.
void PairAccounts::limit() {
  if (all_.size() <= kMost) return;
  std::vector<Group> groups;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (i == 0 || pair_of(all_[i]) != pair_of(all_[i - 1])) groups.push_back({i, i, 0});
    groups.back().end = i + 1;
    add_up(groups.back().ns, all_[i].ns);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.ns > b.ns; });
  std::vector<PairAccount> kept;
  bool full = false;
  for (const Group& group : groups) {
    full = full || kept.size() + (group.end - group.first) > kMost;
    for (std::size_t i = group.first; i < group.end; ++i)
      if (full)
        add(Others{all_[i].messages, all_[i].ns});
      else
        kept.push_back(all_[i]);
  }
  std::sort(kept.begin(), kept.end(), in_order);
  all_ = std::move(kept);
}

void PairAccounts::merge(const PairAccounts& other) {
  if (other.empty()) return;
  std::vector<PairAccount> joined;
  joined.reserve(all_.size() + other.all_.size());
  auto mine = all_.begin();
  auto theirs = other.all_.begin();
  while (mine != all_.end() && theirs != other.all_.end()) {
    const std::uint32_t stream = theirs->stream;
    while (mine != all_.end() && mine->stream < stream) joined.push_back(*mine++);
    while (mine != all_.end() && mine->stream == stream) ++mine;
    while (theirs != other.all_.end() && theirs->stream == stream) joined.push_back(*theirs++);
  }
  joined.insert(joined.end(), mine, all_.end());
  joined.insert(joined.end(), theirs, other.all_.end());
  all_ = std::move(joined);
  add(other.others_);
  limit();
}

}  // namespace chameleon::inline model
