// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check_collectives.h"

#include "analysis/volumes.h"
#include "base/hash.h"

namespace chameleon::analysis {
namespace {

bool disagree(std::int64_t a, std::int64_t b) {
  return a != b && a != kUnknownSize && b != kUnknownSize;
}

std::uint64_t pair_hash(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  return combine(combine(mix(static_cast<std::uint64_t>(from) + 1), static_cast<std::uint64_t>(to)),
                 static_cast<std::uint64_t>(bytes));
}

void add_pair(Contribution& mine, bool sent, std::int64_t from, std::int64_t to,
              std::int64_t bytes) {
  if (bytes == kUnknownSize) mine.pairs_known = false;
  (sent ? mine.sent : mine.received) += pair_hash(from, to, bytes);
}

/// What all must give alike, where it is one number or one array.
void tell_amount(const CallPlan& plan, const Exchange& exchange, const Communicator& comm,
                 Contribution& mine) {
  const Movement& movement = plan.movement;
  const Blocks& sent = exchange.sent_blocks();
  const Blocks& received = exchange.received_blocks();
  const bool blocks = movement.part == Movement::Part::kBlock;
  if (!blocks && (movement.from_root() || plan.combines)) {
    mine.amount = received.bytes(0);
  } else if (comm.is_inter) {
    return;  // the groups may give differently, with blocks of their own
  } else if (plan.many_received) {
    mine.amount = received.hash(comm.size());
    mine.hashed = true;
  } else if (movement.from_root()) {
    mine.amount = mine.is_root ? sent.bytes(0) : received.bytes(0);
  } else if (movement.to_root()) {
    mine.amount = mine.is_root ? received.bytes(0) : sent.bytes(0);
  } else {
    mine.amount = received.bytes(0);
  }
  // What a rank gives to itself: else the sums of `sent` and `received` cannot agree.
  if (!comm.is_inter && movement.from == Movement::From::kAll &&
      movement.to == Movement::To::kAll && !plan.combines && !exchange.sends_in_place() &&
      disagree(sent.bytes(0), received.bytes(comm.self)))
    mine.sent = 1;
}

/// What goes between two ranks, as each of them tells it.
void tell_pairs(const CallPlan& plan, const Exchange& exchange, const Communicator& comm,
                Contribution& mine) {
  const WorldRanks& peers = comm.peers();
  const std::int64_t me = comm.local[comm.self];
  const bool rooted = plan.movement.from_root() || plan.movement.to_root();
  if (rooted && !mine.is_root) {
    if (mine.root < 0) return;
    if (plan.movement.to_root())
      add_pair(mine, true, me, mine.root, exchange.sent_blocks().bytes(0));
    else
      add_pair(mine, false, mine.root, me, exchange.received_blocks().bytes(0));
    return;
  }
  for (std::int32_t i = 0; i < peers.count; ++i) {
    if (rooted && peers[i] == me) continue;
    if (!plan.movement.to_root()) add_pair(mine, true, me, peers[i], exchange.sent_to(i));
    if (!plan.movement.from_root())
      add_pair(mine, false, peers[i], me, exchange.received_blocks().bytes(i));
  }
}

/// Of the datatypes that count on this rank, whose data goes from one rank to another.
void tell_elements(const CallPlan& plan, const EventView& event, const Exchange& exchange,
                   const std::function<Element(std::int64_t)>& element, Contribution& mine) {
  if (plan.many_types) return;
  const Movement& movement = plan.movement;
  const auto of = [&](int field) {
    return field < 0 ? kMixed : element(event.values[static_cast<std::size_t>(field)]);
  };
  const bool sends = (mine.is_root || !movement.from_root()) && !exchange.sends_in_place();
  const bool receives = mine.is_root || !movement.to_root();
  if (sends && exchange.sent_blocks().bytes(0) != 0) mine.sent_of = of(plan.send_type);
  if (receives && exchange.received_blocks().bytes(0) != 0) mine.received_of = of(plan.recv_type);
}

/// Counts that only the root, or two ranks of each block, know.
bool by_pairs(const CallPlan& plan) {
  const Movement& movement = plan.movement;
  if (plan.combines) return false;
  if (movement.from_root()) return plan.many_sent;
  return plan.many_received && (movement.to_root() || movement.part == Movement::Part::kBlock);
}

}  // namespace

Contribution contribution_of(const Trace& trace, const CallPlan& plan, const EventView& event,
                             const Partner& root, const Communicator& comm, const TypeSizes& size,
                             const std::function<Element(std::int64_t)>& element) {
  Contribution mine;
  const RootRole role = root_role(plan, root, comm);
  mine.root = role.world;
  mine.is_root = role.is_root;
  mine.takes_part = role.takes_part;
  if (plan.op >= 0 && event.values[static_cast<std::size_t>(plan.op)] < -1)
    mine.op = event.values[static_cast<std::size_t>(plan.op)];
  if (!mine.takes_part || !plan.movement.moves()) return mine;
  const Exchange exchange(trace, plan, event, root, comm, size);
  if (!comm.is_inter) tell_elements(plan, event, exchange, element, mine);
  if (by_pairs(plan))
    tell_pairs(plan, exchange, comm, mine);
  else
    tell_amount(plan, exchange, comm, mine);
  return mine;
}

std::string Agreement::add(const CollectivePlace& here, const std::string& name,
                           const Contribution& mine,
                           const std::function<std::string(const CollectivePlace&)>& name_of,
                           const Trace& trace) {
  if (arrived++ == 0) {
    first = here;
    call = &name;
  } else if (*call != name) {
    return "the same collective is " + name_of(first) + ", another call";
  }
  std::string differs;
  // The first who tells is believed.
  const auto told = [&](std::int64_t value, std::int64_t& known, CollectivePlace& by) {
    if (value == -1 || value == known) return true;
    if (known != -1) return false;
    known = value;
    by = here;
    return true;
  };
  if (!told(mine.root, root, root_told))
    differs = "the root is world rank " + std::to_string(mine.root) + ", but world rank " +
              std::to_string(root) + " in " + name_of(root_told);
  if (!told(mine.op, op, op_told) && differs.empty())
    differs = "the operation is not that of " + name_of(op_told);
  if (!told(mine.amount, amount, amount_told) && differs.empty())
    differs = mine.hashed ? "the counts are not those of " + name_of(amount_told)
                          : std::to_string(mine.amount) + " bytes, but " + std::to_string(amount) +
                                " in " + name_of(amount_told);
  for (const Element one : {mine.sent_of, mine.received_of}) {
    if (one == kMixed) continue;
    if (element == kMixed) {
      element = one;
      element_told = here;
    } else if (!elements_agree(trace, element, one) && differs.empty()) {
      differs = "the datatype is " + element_name(trace, one) + ", but " +
                element_name(trace, element) + " in " + name_of(element_told);
    }
  }
  sent += mine.sent;
  received += mine.received;
  pairs_known = pairs_known && mine.pairs_known;
  return differs;
}

}  // namespace chameleon::analysis
