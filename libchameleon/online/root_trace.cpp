// SPDX-License-Identifier: BSD-3-Clause
#include "online/root_trace.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "compress/append.h"
#include "compress/distribution.h"
#include "compress/merge.h"
#include "compress/pieces.h"

namespace chameleon::online {
namespace {

/// Bytes of values that a part may have in any case.
constexpr std::size_t kLeastOfValues = std::size_t{64} << 10;

/// Takes from `all` what parts have of it that are joined to it by adding up.
void take_sums(FactsOfRanks& all, const FactsOfRanks& parts) {
  for (const auto& [rank, part] : parts) {
    const auto found = all.find(rank);
    if (found == all.end()) continue;
    for_each_rank_fact([&, whole = &found->second, &one = part](const Fact& fact, auto member) {
      if constexpr (std::is_integral_v<std::remove_reference_t<decltype(whole->*member)>>)
        if (fact.join == Join::kSum) whole->*member -= one.*member;
    });
  }
}

}  // namespace

std::size_t RootTrace::most_values() const {
  const std::uint64_t all = options_.trace_limit;
  return std::max(kLeastOfValues, static_cast<std::size_t>(all - std::min(all, values_)));
}

void RootTrace::limit(Trace& trace) {
  if (limit_values(trace, most_values()) > 0 && !std::exchange(said_limit_, true))
    root_.say(
        "values differ at each step and take more than CHAMELEON_TRACE_LIMIT=%lluM: those that "
        "take most become distributions, which the trace declares",
        static_cast<unsigned long long>(options_.trace_limit >> 20));
}

void RootTrace::take_in(Trace part, bool writes) {
  if (let_go_) limit(part);
  held_ += memory_bytes(part.nodes);
  if (writes) output_.stage(part);
  whole_ = false;
  const std::uint64_t compared = append(online_, std::move(part));
  limit(online_);
  flush::limit_series(online_.series, options_.series_limit);
  whole_ = true;
  if (!writes) return;
  output_.write(online_, compared);
  if (is_large() && output_.let_go(online_)) let_go();
}

/// Loops that go on take no more memory: it is measured again where it may be too much.
bool RootTrace::is_large() {
  if (held_ <= options_.online_limit) return false;
  held_ = memory_bytes(online_.nodes);
  return held_ > options_.online_limit;
}

void RootTrace::let_go() {
  let_go_ = true;
  values_ += value_bytes(online_);
  for (const auto& [rank, fact] : online_.facts) join(former_[rank], fact);
  online_.facts.clear();
  online_.nodes = std::vector<Node>();
  online_.arrays.clear();
  online_.series = Series();
  online_.efforts = Efforts();
  held_ = 0;
}

void RootTrace::accept(RankReports reports) {
  Trace& all = reports.rest;
  Trace& into = last();
  into.world_size = online_.world_size;
  into.threads = std::max(online_.threads, all.threads);
  facts_ = std::move(reports.facts);
  if (!let_go_) into.facts.clear();
  into.totals = reports.totals.empty() ? std::move(all.totals) : reports.totals.means();
  into.outliers = std::move(all.outliers);
  into.pair_accounts = std::move(all.pair_accounts);
  into.declarations = std::move(all.declarations);
}

void RootTrace::declare(const char* what, const RankList& ranks) {
  for (Declaration& one : last().declarations)
    if (one.what == what) return one.ranks.merge(ranks);
  if (!ranks.empty()) last().declarations.push_back({what, ranks});
}

void RootTrace::write_completed() {
  if (!let_go_) {
    canonicalize(online_);
    return output_.write_last(online_, facts_);
  }
  if (!former_.empty() || !online_.facts.empty()) {
    last_.facts = facts_by_rank(facts_, last_);
    take_sums(last_.facts, former_);
    take_sums(last_.facts, online_.facts);
  }
  append(online_, last_);
  output_.write_last_part(last_, online_, facts_);
}

}  // namespace chameleon::online
