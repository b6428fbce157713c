// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/matrix.h"

#include <utility>

#include "analysis/rank_rounds.h"

namespace chameleon::analysis {

void MatrixBuilder::add(const RankOperations& at, std::uint64_t times) {
  const std::uint32_t rank = at.rank();
  const bool wanted = ranks_.contains(rank);
  std::uint64_t receives = 0;
  for (const Operation& operation : at.operations())
    receives += operation.kind == Operation::Kind::kReceive ? 1 : 0;
  for (const Operation& operation : at.operations()) {
    if (operation.kind == Operation::Kind::kSend &&
        (wanted || ranks_.contains(operation.channel.dest))) {
      MatrixCell& cell = matrix.cells[{rank, operation.channel.dest}];
      cell.messages += times;
      cell.bytes += times * static_cast<std::uint64_t>(operation.bytes);
    } else if (operation.kind == Operation::Kind::kReceive &&
               (wanted || ranks_.contains(operation.channel.source))) {
      matrix.cells[{operation.channel.source, rank}].wait_ns +=
          times * (at.communication_ns() / receives);
    } else if (operation.kind == Operation::Kind::kBegin && operation.moves_data && wanted) {
      CollectiveBytes& sums = matrix.collectives[rank];
      sums.calls += times;
      sums.sent += times * static_cast<std::uint64_t>(operation.sent);
      sums.received += times * static_cast<std::uint64_t>(operation.received);
    }
  }
}

void take_own_waits(const Trace& trace, CommunicationMatrix& matrix) {
  for (const PairAccount& account : trace.pair_accounts.all()) {
    const std::uint32_t rank = trace.rank_of(account.stream);
    const auto found = matrix.cells.find({account.source, rank});
    if (found == matrix.cells.end()) continue;
    MatrixCell& cell = found->second;
    if (!std::exchange(cell.own_wait, true)) cell.wait_ns = 0;
    if (__builtin_add_overflow(cell.wait_ns, account.ns, &cell.wait_ns)) cell.wait_ns = UINT64_MAX;
    if (cell.longest.event == 0 || account.longest_ns > cell.longest.ns)
      cell.longest = {account.longest_ns, rank, trace.thread_of(account.stream),
                      account.longest_event};
  }
}

std::string waits_text(std::size_t pairs, std::size_t own) {
  if (pairs == 0) return "";
  if (own == pairs) return "waits are each receiver's own";
  if (own == 0)
    return "waits are means at each place, which ranks that behave alike may share; "
           "CHAMELEON_PAIRS=on records each receiver's own";
  return "waits of " + std::to_string(own) + " of " + std::to_string(pairs) +
         " pairs are each receiver's own, the others' are means at each place";
}

Result<CommunicationMatrix> communication_matrix(const Trace& trace, const RankList& ranks,
                                                 Loops loops) {
  MatrixBuilder builder(ranks);
  const TracePlan plan = plan_trace(trace);
  const std::unordered_set<const Node*> steady =
      loops == Loops::kAtOnce ? loops_at_once(plan) : std::unordered_set<const Node*>();
  // Ranks outside send to those inside: all are read.
  for (const std::uint32_t rank : trace.whole_ranks().ranks()) {
    Result<RankOperations> at = RankOperations::make(trace, plan, rank);
    if (!at) return at.error();
    RankRounds rounds(*at, steady);
    while (rounds.next()) builder.add(*at, rounds.times());
    builder.matrix.events += rounds.read().events;
    builder.matrix.at_once += rounds.read().at_once;
    if (ranks.contains(rank))
      for (const auto& [call, count] : at->unmodelled()) builder.matrix.unmodelled[call] += count;
  }
  take_own_waits(trace, builder.matrix);
  return std::move(builder.matrix);
}

}  // namespace chameleon::analysis
