// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/matrix.h"

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
  return std::move(builder.matrix);
}

}  // namespace chameleon::analysis
