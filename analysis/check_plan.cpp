// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check_plan.h"

#include <algorithm>
#include <cctype>

#include "analysis/communicators.h"
#include "mpi/call_table.h"

namespace chameleon::analysis {
namespace {

struct NamedAction {
  std::string_view name;
  Action action;
};

constexpr NamedAction kActions[] = {
    {"Wait", Action::kComplete},
    {"Test", Action::kComplete},
    {"Waitall", Action::kCompleteAll},
    {"Testall", Action::kCompleteAll},
    {"Waitany", Action::kCompleteAny},
    {"Testany", Action::kCompleteAny},
    {"Waitsome", Action::kCompleteSome},
    {"Testsome", Action::kCompleteSome},
    {"Start", Action::kStart},
    {"Startall", Action::kStart},
    {"Request_free", Action::kRequestFree},
    {"Cancel", Action::kCancel},
    {"Probe", Action::kProbe},
    {"Iprobe", Action::kProbe},
    {"Mprobe", Action::kMatchedProbe},
    {"Improbe", Action::kMatchedProbe},
    {"Mrecv", Action::kMatchedRecv},
    {"Imrecv", Action::kMatchedRecv},
    {"Finalize", Action::kFinalize},
};

struct NamedCollective {
  std::string_view name;
  Waits waits;
  Amounts amounts;
};

constexpr NamedCollective kCollectives[] = {
    {"Bcast", Waits::kForRoot, Amounts::kSame},
    {"Scatter", Waits::kForRoot, Amounts::kFromRoot},
    {"Scatterv", Waits::kForRoot, Amounts::kPairsFromRoot},
    {"Gather", Waits::kRootForAll, Amounts::kToRoot},
    {"Gatherv", Waits::kRootForAll, Amounts::kPairsToRoot},
    {"Reduce", Waits::kRootForAll, Amounts::kSame},
    {"Allreduce", Waits::kForAll, Amounts::kSame},
    {"Scan", Waits::kForAll, Amounts::kSame},
    {"Exscan", Waits::kForAll, Amounts::kSame},
    {"Reduce_scatter_block", Waits::kForAll, Amounts::kSame},
    {"Reduce_scatter", Waits::kForAll, Amounts::kArray},
    {"Allgather", Waits::kForAll, Amounts::kEqual},
    {"Alltoall", Waits::kForAll, Amounts::kEqual},
    {"Allgatherv", Waits::kForAll, Amounts::kArray},
    {"Alltoallv", Waits::kForAll, Amounts::kPairs},
    {"Alltoallw", Waits::kForAll, Amounts::kPairs},
    {"Comm_free", Waits::kForNobody, Amounts::kNone},
    {"Comm_set_info", Waits::kForNobody, Amounts::kNone},
    {"Win_set_info", Waits::kForNobody, Amounts::kNone},
    {"File_set_info", Waits::kForNobody, Amounts::kNone},
    {"Cart_map", Waits::kForNobody, Amounts::kNone},
    {"Graph_map", Waits::kForNobody, Amounts::kNone},
};

// "Ibcast" and "Bcast_init" move data as "Bcast" does.
std::string movement_of(std::string_view name) {
  constexpr std::string_view kInit = "_init";
  std::string movement(name);
  if (name.size() > kInit.size() && name.substr(name.size() - kInit.size()) == kInit)
    movement.resize(name.size() - kInit.size());
  if (movement.size() > 2 && movement[0] == 'I') {
    std::string blocking = movement.substr(1);
    blocking[0] = static_cast<char>(std::toupper(blocking[0]));
    for (const NamedCollective& known : kCollectives)
      if (known.name == blocking) return blocking;
  }
  return movement;
}

void find_arguments(const CallDescription& call, CallPlan& plan) {
  const auto at = [&call](auto... names) {
    int found = -1;
    ((found = found < 0 ? field_index(call, names) : found), ...);
    return found;
  };
  for (std::size_t i = 0; i < call.fields.size(); ++i) {
    const std::string& kind = call.fields[i].kind;
    const int place = static_cast<int>(i);
    if (kind == "comm") {
      if (plan.comm < 0) plan.comm = place;
      plan.new_comm = place;
    }
    if ((kind == "win" || kind == "file") && plan.object < 0) {
      plan.object = place;
      plan.object_is_file = kind == "file";
    }
    if (kind == "members") plan.members = place;
    if (kind == "op") plan.op = place;
  }
  if (plan.members < 0) plan.new_comm = -1;
  plan.dest = at("dest");
  plan.source = at("source");
  plan.send_tag = at("sendtag", "tag");
  plan.recv_tag = at("recvtag", "tag");
  plan.root = at("root");
  plan.send_buffer = at("sendbuf", "buffer", "buf");
  plan.send_count = at("sendcounts", "sendcount", "count", "recvcounts", "recvcount");
  plan.send_type = at("sendtypes", "sendtype", "datatype");
  plan.recv_buffer = at("recvbuf", "buffer", "buf");
  plan.recv_count = at("recvcounts", "recvcount", "count");
  plan.recv_type = at("recvtypes", "recvtype", "datatype");
  plan.partitions = at("partitions");
  plan.request = at("request");
  plan.requests = at("array_of_requests");
  plan.flag = at("flag");
  plan.index = at("indx", "index");
  plan.indices = at("array_of_indices");
  plan.message = at("message");
  plan.status_source = at("status.source", "array_of_statuses.source");
  plan.status_tag = at("status.tag", "array_of_statuses.tag");
  plan.status_bytes = at("status.bytes", "array_of_statuses.bytes");
}

Action action_of(const CallInfo* info, const CallDescription& call, const CallPlan& plan) {
  for (const NamedAction& known : kActions)
    if (known.name == plan.name) return known.action;
  if (info != nullptr && has(*info, Attribute::kLocal | Attribute::kInit)) return Action::kNothing;
  if (plan.name == "Comm_free" || plan.name == "Comm_disconnect" || plan.members >= 0)
    return Action::kCollective;
  if (plan.name.rfind("Type_", 0) == 0 && field_index(call, "newtype") >= 0)
    return Action::kDatatype;
  if (info == nullptr) return Action::kUnchecked;
  // A partitioned message counts as sent when it is started; what marks its partitions is not
  // followed.
  if (has(*info, Attribute::kPartitioned) && !has(*info, Attribute::kPersistent))
    return Action::kUnchecked;
  if (has(*info, Attribute::kCollective))
    return plan.comm >= 0 || plan.object >= 0 ? Action::kCollective : Action::kUnchecked;
  if (has(*info, Attribute::kSend) && has(*info, Attribute::kRecv)) return Action::kSendrecv;
  if (has(*info, Attribute::kSend)) return Action::kSend;
  if (has(*info, Attribute::kRecv)) return Action::kRecv;
  if (has(*info, Attribute::kNonblocking)) return Action::kOtherRequest;
  if (has(*info, Attribute::kRma)) return Action::kUnchecked;
  return Action::kNothing;
}

}  // namespace

std::string_view base_name(std::string_view call) {
  if (call.size() > 2 && call.substr(call.size() - 2) == "_c") call.remove_suffix(2);
  return call;
}

CallPlan plan_call(const CallDescription& call) {
  CallPlan plan;
  plan.name = base_name(call.name);
  const CallInfo* info = find_call(call.name);
  if (info == nullptr) info = find_call(plan.name);
  plan.changes_communicators = Communicators::changed_by(call);
  plan.persistent = info != nullptr && has(*info, Attribute::kPersistent);
  find_arguments(call, plan);
  plan.action = action_of(info, call, plan);
  if (plan.action == Action::kCollective) {
    const std::string movement = movement_of(plan.name);
    if (movement.find("eighbor") != std::string::npos) plan.waits = Waits::kForNobody;
    for (const NamedCollective& known : kCollectives)
      if (known.name == movement) {
        plan.waits = known.waits;
        plan.amounts = known.amounts;
      }
  }
  return plan;
}

}  // namespace chameleon::analysis
