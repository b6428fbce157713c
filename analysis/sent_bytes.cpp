// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/sent_bytes.h"

#include <algorithm>
#include <array>
#include <set>

#include "analysis/operations.h"

namespace chameleon::analysis {
namespace {

/// What the bytes of a call are found by.
enum class Bytes {
  kNothing,
  kCount,  ///< its count and type, whoever the partners are
  kWalk,   ///< each call
};

Bytes bytes_of(const CallPlan& plan) {
  if (plan.persistent) return Bytes::kNothing;
  // A call that the table does not have, but with a partner as sends have one.
  if (plan.info == nullptr && plan.dest >= 0 && plan.send_count >= 0 && plan.send_type >= 0)
    return Bytes::kCount;
  if (plan.action == Action::kSend || plan.action == Action::kSendrecv) return Bytes::kCount;
  if (plan.action != Action::kCollective || !plan.movement.moves()) return Bytes::kNothing;
  const bool whole = plan.movement.part == Movement::Part::kWhole;
  return plan.combines && whole && !plan.movement.from_root() ? Bytes::kCount : Bytes::kWalk;
}

/// A parameter's values on ranks that have the same.
struct OneSequence {
  const ValueSequence* values = nullptr;
  EndPointForm form = EndPointForm::kBoth;
};

/// In this order: return code, count, type, partner. The last is missing where a call has none.
using Sequences = std::array<OneSequence, 4>;

class FoldedSum {
 public:
  FoldedSum(const Trace& trace, const Node& node, const CallPlan& plan)
      : trace_(trace), node_(node) {
    fields_ = {0, plan.send_count, plan.send_type, plan.dest >= 0 ? plan.dest : plan.root};
  }

  /// False if the folded form cannot tell.
  bool add(const RankList& ranks, std::uint64_t& sum) {
    const auto there = [&](int field) {
      return field >= 0 && static_cast<std::size_t>(field) < node_.params.size();
    };
    known_ = there(fields_[1]) && there(fields_[2]) && (fields_[3] < 0 || there(fields_[3]));
    Sequences values;
    if (known_) combine(0, ranks, values);
    sum = sum_;
    return known_;
  }

 private:
  /// Ranks that have the same values of all parameters.
  void combine(std::size_t at, const RankList& ranks, Sequences& values) {
    if (ranks.empty()) return;
    if (at == values.size() || fields_[at] < 0) {
      sum_ += of_one_rank(values) * ranks.size();
      return;
    }
    node_.params[static_cast<std::size_t>(fields_[at])].for_each_group(
        ranks, [&](const RankList& group, EndPointForm form, const ValueSequence& sequence) {
          values[at] = {&sequence, form};
          combine(at + 1, group.intersection(ranks), values);
        });
  }

  std::uint64_t of_one_rank(const Sequences& values) {
    std::array<ValueSequence::Cursor, 4> at{cursor(values[0]), cursor(values[1]), cursor(values[2]),
                                            cursor(values[3])};
    const std::size_t used = fields_[3] < 0 ? 3 : 4;
    std::uint64_t sum = 0;
    while (known_ && !at[1].done()) {
      std::uint64_t run = at[1].segment().count;
      bool varies = false;
      for (std::size_t i = 0; i < used; ++i) {
        if (at[i].done()) {
          known_ = false;
          return sum;
        }
        run = std::min(run, at[i].segment().count);
        varies = varies || at[i].segment().stride != 0;
      }
      if (varies) run = 1;
      // To nobody, or as a root that others send to.
      const bool to_nobody =
          used == 4 && EndPoint{values[3].form, at[3].segment().start}.special() != 0;
      if (at[0].segment().start == 0 && !to_nobody)
        sum += run * bytes(at[1].segment().start, at[2].segment().start);
      for (std::size_t i = 0; i < used; ++i) at[i].skip(run);
    }
    return sum;
  }

  static ValueSequence::Cursor cursor(const OneSequence& one) {
    static const ValueSequence nothing;
    return ValueSequence::Cursor(one.values == nullptr ? nothing : *one.values);
  }

  std::uint64_t bytes(std::int64_t count, std::int64_t type) {
    const std::int64_t all = plausible_bytes(exact_bytes(count, predefined_size(trace_, type)));
    known_ = known_ && all >= 0;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(all, 0));
  }

  const Trace& trace_;
  const Node& node_;
  std::array<int, 4> fields_;
  bool known_ = true;
  std::uint64_t sum_ = 0;
};

class Summation {
 public:
  Summation(const Trace& trace, const RankList& streams)
      : trace_(trace), plan_(plan_trace(trace)), streams_(streams) {
    plan_.reads_twice = false;  // what receives matched does not matter
    fold(trace.nodes, streams);
  }

  SentBytes result() {
    if (left_.empty()) return std::move(sent_);
    if (trace_.event_count() > kMostWalked) {
      sent_.complete = false;
      return std::move(sent_);
    }
    trace_.ranks_of(ranks_).for_each([&](std::uint32_t rank) { walk(rank); });
    return std::move(sent_);
  }

 private:
  void fold(const std::vector<Node>& nodes, const RankList& around) {
    for (const Node& node : nodes) {
      const RankList ranks = node.ranks.empty() ? around : node.ranks.intersection(around);
      if (ranks.empty()) continue;
      if (node.is_loop()) {
        fold(node.body, ranks);
        continue;
      }
      if (!trace_.calls.contains(node.call)) continue;
      const CallPlan& plan = plan_.follow.calls[node.call];
      const Bytes bytes = bytes_of(plan);
      std::uint64_t sum = 0;
      if (bytes == Bytes::kNothing) continue;
      if (bytes == Bytes::kCount && FoldedSum(trace_, node, plan).add(ranks, sum)) {
        sent_.bytes[&node] = sum;
      } else if (plan.info == nullptr) {
        sent_.complete = false;
      } else {
        left_.insert(&node);
        ranks_.merge(ranks);
      }
    }
  }

  void walk(std::uint32_t rank) {
    Result<RankOperations> at = RankOperations::make(trace_, plan_, rank);
    if (!at) {
      sent_.complete = false;
      return;
    }
    while (at->next())
      if (left_.contains(at->event().node) && streams_.contains(at->stream())) count(*at);
  }

  void count(const RankOperations& at) {
    if (at.event().values[0] != 0) return;
    std::int64_t sum = 0;
    if (at.communicator() == nullptr && at.followed().comm == nullptr) sent_.complete = false;
    for (const Operation& operation : at.operations()) {
      if (operation.kind == Operation::Kind::kSend) {
        sum += operation.bytes;
        if (operation.capacity == kUnknownSize) sent_.complete = false;
      } else if (operation.kind == Operation::Kind::kBegin) {
        sum += operation.sent;
        if (!operation.amounts_known) sent_.complete = false;
      }
    }
    if (sum > 0) sent_.bytes[at.event().node] += static_cast<std::uint64_t>(sum);
  }

  const Trace& trace_;
  TracePlan plan_;
  const RankList& streams_;
  SentBytes sent_;
  std::set<const Node*> left_;
  RankList ranks_;  ///< streams with events that are walked to
};

}  // namespace

SentBytes sent_bytes(const Trace& trace, const RankList& streams) {
  return Summation(trace, streams).result();
}

}  // namespace chameleon::analysis
