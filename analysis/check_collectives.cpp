// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check_collectives.h"

#include "analysis/datatype_size.h"

namespace chameleon::analysis {
namespace {

constexpr std::int64_t kInPlace = 1;  // of a buffer

std::int64_t times(std::int64_t count, std::int64_t size) {
  std::int64_t bytes = 0;
  return count < 0 || size < 0 || __builtin_mul_overflow(count, size, &bytes) ? kUnknownSize
                                                                              : bytes;
}

/// The counts and types of one side of a collective, scalar or array.
class Side {
 public:
  Side(const Trace& trace, const EventView& event, int count, int type, bool many, bool types,
       const std::function<std::int64_t(std::int64_t)>& size)
      : size_(size) {
    if (count < 0 || type < 0) return;
    valid_ = true;
    many_ = many;
    if (many)
      counts_ = array_of(trace, event.values[static_cast<std::size_t>(count)]);
    else
      count_ = event.values[static_cast<std::size_t>(count)];
    if (types)
      types_ = array_of(trace, event.values[static_cast<std::size_t>(type)]);
    else
      type_size_ = size_(event.values[static_cast<std::size_t>(type)]);
    each_type_ = types;
  }
  std::int64_t bytes(std::int32_t i) const {
    const auto at = static_cast<std::size_t>(i);
    if (!valid_ || (many_ && at >= counts_.size())) return kUnknownSize;
    const std::int64_t count = many_ ? counts_[at] : count_;
    if (count == 0) return 0;
    if (each_type_) return at < types_.size() ? times(count, size_(types_[at])) : kUnknownSize;
    return times(count, type_size_);
  }
  std::int64_t hash(std::int32_t n) const {
    std::uint64_t hash = 0;
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int64_t part = bytes(i);
      if (part == kUnknownSize) return -1;
      hash = combine(hash, static_cast<std::uint64_t>(part));
    }
    return static_cast<std::int64_t>(hash >> 1);
  }

 private:
  const std::function<std::int64_t(std::int64_t)>& size_;
  bool valid_ = false, many_ = false, each_type_ = false;
  std::span<const std::int64_t> counts_, types_;
  std::int64_t count_ = 0, type_size_ = kUnknownSize;
};

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

void tell_root(const EventView& event, const CallPlan& plan, const Communicator& comm,
               Contribution& mine) {
  if (plan.root < 0) return;
  const EndPoint root = event.end_point(static_cast<std::size_t>(plan.root));
  const std::int64_t me = comm.local[comm.self];
  const auto special = static_cast<SpecialRank>(root.special());
  if (special == SpecialRank::kRoot) {
    mine.root = me;
  } else if (root.special() != 0) {
    mine.takes_part = false;
  } else {
    const std::int32_t rank = root.rank(comm.self, comm.peers().count);
    if (rank >= 0 && rank < comm.peers().count) mine.root = comm.peers()[rank];
  }
  mine.is_root = mine.root == me;
}

}  // namespace

Contribution contribution_of(const Trace& trace, const CallPlan& plan, const EventView& event,
                             const Communicator& comm,
                             const std::function<std::int64_t(std::int64_t)>& size) {
  Contribution mine;
  tell_root(event, plan, comm, mine);
  if (plan.op >= 0 && event.values[static_cast<std::size_t>(plan.op)] < -1)
    mine.op = event.values[static_cast<std::size_t>(plan.op)];
  if (!mine.takes_part || plan.amounts == Amounts::kNone) return mine;

  const auto in_place = [&](int buffer) {
    return buffer >= 0 && event.values[static_cast<std::size_t>(buffer)] == kInPlace;
  };
  const bool pairs = plan.amounts == Amounts::kPairs;
  const bool typed = plan.name.find("lltoallw") != std::string::npos;
  const bool send_many = pairs || plan.amounts == Amounts::kPairsFromRoot;
  const bool recv_many =
      pairs || plan.amounts == Amounts::kPairsToRoot || plan.amounts == Amounts::kArray;
  const Side send(trace, event, plan.send_count, plan.send_type, send_many, typed, size);
  const Side recv(trace, event, plan.recv_count, plan.recv_type, recv_many, typed, size);
  const WorldRanks& peers = comm.peers();
  const std::int64_t me = comm.local[comm.self];

  switch (plan.amounts) {
    case Amounts::kNone: break;
    case Amounts::kSame: mine.amount = recv.bytes(0); break;
    case Amounts::kEqual:
      if (!comm.is_inter) mine.amount = recv.bytes(0);
      // The sums of `sent` and `received` then cannot agree.
      if (!comm.is_inter && !in_place(plan.send_buffer) && disagree(send.bytes(0), recv.bytes(0)))
        mine.sent = 1;
      break;
    case Amounts::kToRoot:
      if (comm.is_inter) break;
      mine.amount = mine.is_root ? recv.bytes(0) : send.bytes(0);
      break;
    case Amounts::kFromRoot:
      if (comm.is_inter) break;
      mine.amount = mine.is_root ? send.bytes(0) : recv.bytes(0);
      break;
    case Amounts::kArray:
      if (comm.is_inter) break;
      mine.amount = recv.hash(peers.count);
      mine.hashed = true;
      if (plan.send_count != plan.recv_count && !in_place(plan.send_buffer) &&
          disagree(send.bytes(0), recv.bytes(comm.self)))
        mine.sent = 1;
      break;
    case Amounts::kPairs:
      for (std::int32_t i = 0; i < peers.count; ++i) {
        const std::int64_t out = in_place(plan.send_buffer) ? recv.bytes(i) : send.bytes(i);
        add_pair(mine, true, me, peers[i], out);
        add_pair(mine, false, peers[i], me, recv.bytes(i));
      }
      break;
    case Amounts::kPairsToRoot:
      if (mine.is_root)
        for (std::int32_t i = 0; i < peers.count; ++i)
          if (peers[i] != me) add_pair(mine, false, peers[i], me, recv.bytes(i));
      if (!mine.is_root && mine.root >= 0) add_pair(mine, true, me, mine.root, send.bytes(0));
      break;
    case Amounts::kPairsFromRoot:
      if (mine.is_root)
        for (std::int32_t i = 0; i < peers.count; ++i)
          if (peers[i] != me) add_pair(mine, true, me, peers[i], send.bytes(i));
      if (!mine.is_root && mine.root >= 0) add_pair(mine, false, mine.root, me, recv.bytes(0));
      break;
  }
  return mine;
}

std::string Agreement::add(const CollectivePlace& here, const std::string& name,
                           const Contribution& mine,
                           const std::function<std::string(const CollectivePlace&)>& name_of) {
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
  sent += mine.sent;
  received += mine.received;
  pairs_known = pairs_known && mine.pairs_known;
  return differs;
}

}  // namespace chameleon::analysis
