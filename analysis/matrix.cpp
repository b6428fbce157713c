// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/matrix.h"

#include "analysis/operations.h"

namespace chameleon {

Result<CommunicationMatrix> communication_matrix(const Trace& trace, const RankList& ranks) {
  CommunicationMatrix matrix;
  const TracePlan plan = plan_trace(trace);
  // Ranks outside send to those inside: all are read.
  for (const std::uint32_t rank : trace.ranks.ranks()) {
    Result<RankOperations> at = RankOperations::make(trace, plan, rank);
    if (!at) return at.error();
    const bool wanted = ranks.contains(rank);
    while (at->next()) {
      std::uint64_t receives = 0;
      for (const Operation& operation : at->operations())
        receives += operation.kind == Operation::Kind::kReceive ? 1 : 0;
      for (const Operation& operation : at->operations()) {
        if (operation.kind == Operation::Kind::kSend &&
            (wanted || ranks.contains(operation.channel.dest))) {
          MatrixCell& cell = matrix.cells[{rank, operation.channel.dest}];
          ++cell.messages;
          cell.bytes += static_cast<std::uint64_t>(operation.bytes);
        } else if (operation.kind == Operation::Kind::kReceive &&
                   (wanted || ranks.contains(operation.channel.source))) {
          matrix.cells[{operation.channel.source, rank}].wait_ns +=
              at->communication_ns() / receives;
        } else if (operation.kind == Operation::Kind::kBegin && operation.moves_data && wanted) {
          CollectiveBytes& sums = matrix.collectives[rank];
          ++sums.calls;
          sums.sent += static_cast<std::uint64_t>(operation.sent);
          sums.received += static_cast<std::uint64_t>(operation.received);
        }
      }
    }
    if (wanted)
      for (const auto& [call, count] : at->unmodelled()) matrix.unmodelled[call] += count;
  }
  return matrix;
}

}  // namespace chameleon
