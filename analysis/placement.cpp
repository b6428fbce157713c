// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/placement.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <string>

namespace chameleon::analysis {
namespace {

int power_of(std::int64_t bytes) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
}

bool is_message(const Operation& operation) {
  using Kind = Operation::Kind;
  return (operation.kind == Kind::kReceive && operation.sequence != kNoSequence) ||
         operation.kind == Kind::kSendDone ||
         (operation.kind == Kind::kSend && operation.request == 0);
}

}  // namespace

Placement::Placement(const Trace& trace, std::uint32_t ranks_per_node)
    : ranks_per_node_(std::max(ranks_per_node, 1U)), node_(trace.world_size, 0) {
  std::map<std::string, std::uint32_t> nodes;
  for (const auto& [stream, facts] : trace.facts)
    if (const std::uint32_t rank = trace.rank_of(stream); rank < node_.size())
      node_[rank] =
          nodes.try_emplace(facts.host, static_cast<std::uint32_t>(nodes.size())).first->second;
}

bool Placement::within_now(std::int64_t a, std::int64_t b) const {
  const auto ranks = static_cast<std::int64_t>(node_.size());
  if (a < 0 || b < 0 || a >= ranks || b >= ranks) return true;
  return node_[static_cast<std::size_t>(a)] == node_[static_cast<std::size_t>(b)];
}

bool Placement::within_then(std::int64_t a, std::int64_t b) const {
  return a / ranks_per_node_ == b / ranks_per_node_;
}

/// Calls of one message tell what it takes.
void Placement::learn(const TimedEvent& event) {
  const Operation* message = nullptr;
  for (const Operation& operation : event.at->operations()) {
    if (!is_message(operation)) continue;
    if (message != nullptr) return;
    message = &operation;
  }
  if (message == nullptr) return;
  const std::uint64_t ready = std::max(event.begin_ns, event.cause.begin_ns);
  const bool within = within_now(message->channel.source, message->channel.dest);
  times_[{within, power_of(message->bytes)}].add(event.end_ns - std::min(event.end_ns, ready));
}

double Placement::ratio(bool to_within, std::int64_t bytes) const {
  const int wanted = power_of(bytes);
  std::optional<std::pair<int, double>> nearest;
  for (const auto& [key, from] : times_) {
    if (key.first == to_within) continue;
    const auto to = times_.find({to_within, key.second});
    if (to == times_.end() || !(from.quantile(0.5) > 0)) continue;
    const int away = std::abs(key.second - wanted);
    if (!nearest || away < nearest->first)
      nearest = {away, to->second.quantile(0.5) / from.quantile(0.5)};
  }
  return nearest ? nearest->second : 1;
}

double Placement::transfer_ns(const RankOperations& at, double ns) const {
  double weights = 0, sum = 0;
  for (const Operation& operation : at.operations()) {
    if (!is_message(operation)) continue;
    const std::int64_t a = operation.channel.source, b = operation.channel.dest;
    const bool then = within_then(a, b);
    const double weight = static_cast<double>(countable(operation.bytes)) + 1;
    sum += weight * (then == within_now(a, b) ? 1 : ratio(then, operation.bytes));
    weights += weight;
  }
  return weights > 0 ? ns * sum / weights : ns;
}

Result<std::shared_ptr<const Placement>> Placement::make(const Trace& trace,
                                                         std::uint32_t ranks_per_node) {
  const std::shared_ptr<Placement> placement(new Placement(trace, ranks_per_node));
  const Result<TimelineFacts> run = run_timeline(
      trace, trace.whole_ranks(), [&](const TimedEvent& event) { placement->learn(event); });
  if (!run) return run.error();
  for (const bool within : {true, false})
    if (std::none_of(placement->times_.begin(), placement->times_.end(),
                     [&](const auto& one) { return one.first.first == within; }))
      return Error{ErrorKind::kUsage,
                   std::string("the trace has no messages ") +
                       (within ? "within a node" : "between nodes") +
                       ", so what they take is not known: trace a run on several nodes, with "
                       "several ranks on each",
                   0};
  return std::shared_ptr<const Placement>(placement);
}

}  // namespace chameleon::analysis
