// SPDX-License-Identifier: BSD-3-Clause
#include "tools/export/otf2_roles.h"

namespace chameleon::tools {
namespace {

/// Does nothing but wait for all members of the communicator.
bool is_barrier(const CallInfo& call) {
  const auto all = params(call);
  return all.size() == 1 && all.front().kind == mpi::Kind::kComm && !has(call, Attribute::kFrees) &&
         meaning_of(call).waits == Waits::kForAll;
}

OTF2_RegionRole role_of_collective(const CallPlan& plan) {
  if (plan.info != nullptr && is_barrier(*plan.info)) return OTF2_REGION_ROLE_BARRIER;
  if (plan.waits == Waits::kForRoot) return OTF2_REGION_ROLE_COLL_ONE2ALL;
  if (plan.waits == Waits::kRootForAll) return OTF2_REGION_ROLE_COLL_ALL2ONE;
  return plan.movement.moves() ? OTF2_REGION_ROLE_COLL_ALL2ALL : OTF2_REGION_ROLE_COLL_OTHER;
}

OTF2_CollectiveOp combining(const CallPlan& plan) {
  if (plan.movement.from == Movement::From::kUpTo) return OTF2_COLLECTIVE_OP_SCAN;
  if (plan.movement.from == Movement::From::kBelow) return OTF2_COLLECTIVE_OP_EXSCAN;
  if (plan.movement.to_root()) return OTF2_COLLECTIVE_OP_REDUCE;
  if (plan.movement.part == Movement::Part::kWhole) return OTF2_COLLECTIVE_OP_ALLREDUCE;
  return plan.many_received ? OTF2_COLLECTIVE_OP_REDUCE_SCATTER
                            : OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK;
}

OTF2_CollectiveOp moving(const CallPlan& plan) {
  const bool blocks = plan.movement.part == Movement::Part::kBlock;
  if (plan.movement.from_root()) {
    if (!blocks) return OTF2_COLLECTIVE_OP_BCAST;
    return plan.many_sent ? OTF2_COLLECTIVE_OP_SCATTERV : OTF2_COLLECTIVE_OP_SCATTER;
  }
  if (plan.movement.to_root())
    return plan.many_received ? OTF2_COLLECTIVE_OP_GATHERV : OTF2_COLLECTIVE_OP_GATHER;
  if (!blocks)
    return plan.many_received ? OTF2_COLLECTIVE_OP_ALLGATHERV : OTF2_COLLECTIVE_OP_ALLGATHER;
  if (plan.many_types) return OTF2_COLLECTIVE_OP_ALLTOALLW;
  return plan.many_sent ? OTF2_COLLECTIVE_OP_ALLTOALLV : OTF2_COLLECTIVE_OP_ALLTOALL;
}

}  // namespace

OTF2_RegionRole role_of(const CallPlan& plan) {
  if (plan.info != nullptr && has(*plan.info, Attribute::kIo)) return OTF2_REGION_ROLE_FILE_IO;
  if (plan.info != nullptr && has(*plan.info, Attribute::kRma)) return OTF2_REGION_ROLE_RMA;
  switch (plan.action) {
    case Action::kSend:
    case Action::kRecv:
    case Action::kSendrecv:
    case Action::kProbe:
    case Action::kMatchedProbe:
    case Action::kMatchedRecv:
    case Action::kComplete:
    case Action::kCompleteAll:
    case Action::kCompleteAny:
    case Action::kCompleteSome:
    case Action::kStart: return OTF2_REGION_ROLE_POINT2POINT;
    case Action::kCollective: return role_of_collective(plan);
    default: return OTF2_REGION_ROLE_FUNCTION;
  }
}

OTF2_CollectiveOp collective_of(const CallPlan& plan, bool creates) {
  if (creates) return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
  if (comes_last(plan)) return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
  if (!plan.movement.moves()) return OTF2_COLLECTIVE_OP_BARRIER;
  return plan.combines ? combining(plan) : moving(plan);
}

}  // namespace chameleon::tools
