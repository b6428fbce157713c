// SPDX-License-Identifier: BSD-3-Clause
// Compiled with a table that has calls of no MPI (prepare.py): what plans, volumes, exports and
// replay make of them, and a trace with them.
//
//     invented_calls TRACE    writes TRACE; exit status 1 where something is not known

#include <mpi.h>

#include <cstdio>
#include <map>
#include <string>

#include "analysis/operations.h"
#include "analysis/sent_bytes.h"
#include "format/file.h"
#include "mpi/event_layout.h"
#include "replay/plan.h"
#include "tools/export/collective_steps.h"
#include "unit/trace_builder.h"
#ifdef CHAMELEON_OTF2
#include "tools/export/otf2_roles.h"
#endif

// What the library of such an MPI would have.
extern "C" {
int MPI_Xcast(void*, int, MPI_Datatype, int, MPI_Comm) { return 0; }
int MPI_Ixcast(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*) { return 0; }
int MPI_Xcast_init(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*) { return 0; }
int MPI_Xcast_c(void*, MPI_Count, MPI_Datatype, int, MPI_Comm) { return 0; }
int MPI_Xdeal(const void*, const int*, MPI_Datatype, void*, const int*, MPI_Datatype, MPI_Comm) {
  return 0;
}
int MPI_Neighbor_xdeal(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) {
  return 0;
}
int MPI_Ineighbor_xdeal(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm,
                        MPI_Request*) {
  return 0;
}
int MPI_Xmax(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm) { return 0; }
int MPI_Type_xgrid(int, const int*, int, MPI_Datatype, MPI_Datatype*) { return 0; }
int MPI_Xsend(const void*, int, MPI_Datatype, int, int, MPI_Comm) { return 0; }
}

namespace chameleon {
namespace {

using namespace analysis;
using namespace mpi;
using testing::TraceBuilder;

int failures = 0;

void check(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED %s\n", what.c_str());
  ++failures;
}

CallPlan plan_of(const char* name) { return plan_call(describe_call(*find_call(name))); }

void check_plans() {
  const Movement broadcast = plan_of("Bcast").movement;
  for (const char* name : {"Xcast", "Ixcast", "Xcast_init", "Xcast_c"}) {
    const CallPlan plan = plan_of(name);
    check(plan.action == Action::kCollective && plan.waits == Waits::kForRoot &&
              plan.movement == broadcast && !plan.combines,
          std::string(name) + ": plan");
    check(plan.persistent == (name == std::string("Xcast_init")), std::string(name) + " lasts");
  }
  check(plan_of("Xcast_c").name == "Xcast", "Xcast_c is Xcast to other ranks");
  check(plan_of("Xmax").waits == Waits::kRootForAll && plan_of("Xmax").combines, "Xmax: plan");
  check(plan_of("Xdeal").waits == Waits::kForAll && plan_of("Xdeal").many_sent, "Xdeal: plan");
  for (const char* name : {"Neighbor_xdeal", "Ineighbor_xdeal"})
    check(plan_of(name).waits == Waits::kForNobody, std::string(name) + ": plan");
  check(plan_of("Type_xgrid").action == Action::kDatatype, "Type_xgrid: plan");
  check(plan_of("Xsend").action == Action::kSend, "Xsend: plan");
}

void check_exports() {
#ifdef CHAMELEON_OTF2
  using tools::collective_of;
  using tools::role_of;
  for (const char* name : {"Xcast", "Ixcast", "Xcast_init"}) {
    check(collective_of(plan_of(name), false) == OTF2_COLLECTIVE_OP_BCAST,
          std::string(name) + ": OTF2");
    check(role_of(plan_of(name)) == OTF2_REGION_ROLE_COLL_ONE2ALL, std::string(name) + ": role");
  }
  check(collective_of(plan_of("Xdeal"), false) == OTF2_COLLECTIVE_OP_ALLTOALLV, "Xdeal: OTF2");
  check(collective_of(plan_of("Xmax"), false) == OTF2_COLLECTIVE_OP_REDUCE, "Xmax: OTF2");
  check(role_of(plan_of("Xsend")) == OTF2_REGION_ROLE_POINT2POINT, "Xsend: OTF2");
#endif
  Operation operation;
  operation.root = 1;
  operation.sent = 40;
  std::vector<tools::CollectiveStep> steps;
  check(tools::collective_steps(plan_of("Xcast"), operation, {}, 4, 1, steps) &&
            steps.size() == 2 && steps[0].send_bytes == 40,
        "Xcast: steps of its root");
  check(!tools::collective_steps(plan_of("Neighbor_xdeal"), operation, {}, 4, 1, steps),
        "Neighbor_xdeal: steps");
}

void check_replay() {
  using replay::Repeat;
  Trace trace;
  const char* names[] = {"Xcast", "Ixcast", "Xdeal", "Neighbor_xdeal", "Xmax", "Type_xgrid"};
  for (const char* name : names) trace.calls[find_call(name)->id] = describe_call(*find_call(name));
  const replay::CallPlans plans = replay::make_plans(trace);
  const auto plan = [&](const char* name) { return plans.at(find_call(name)->id); };
  for (const char* name : names)
    check(plan(name).entry != nullptr, std::string(name) + ": is not replayed");
  check(plan("Ixcast").request == 5 && plan("Ixcast").root == 3, "Ixcast: replay's parameters");
  check(plan("Xcast").params[0].buffer.count == 1 &&
            plan("Xcast").params[0].buffer.repeat == Repeat::kOnce,
        "Xcast: replay's buffer");
  check(plan("Neighbor_xdeal").params[0].buffer.repeat == Repeat::kOutDegree &&
            plan("Neighbor_xdeal").params[3].buffer.repeat == Repeat::kInDegree,
        "Neighbor_xdeal: replay's buffers");
  check(plan("Xmax").params[0].buffer.repeat == Repeat::kOnce, "Xmax: replay's buffer");
}

/// A trace of three ranks: each call once, arguments by name.
class Job {
 public:
  void add(const char* name, std::map<std::string, std::int64_t> arguments,
           std::int32_t root = -1) {
    const CallDescription call = describe_call(*find_call(name));
    std::vector<std::string> fields;
    for (std::size_t i = 1; i < call.fields.size(); ++i) {
      const Field& field = call.fields[i];
      fields.push_back(field.name + ":" + field.kind +
                       (field.stored == FieldKind::kEndPoint ? ":e"
                        : field.stored == FieldKind::kArray  ? ":a"
                                                             : ""));
    }
    job_.call(find_call(name)->id, name, fields);
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      arguments["root"] = pack_rank(root < 0 ? 0 : root, rank, 3);
      arguments["dest"] = pack_rank((rank + 1) % 3, rank, 3);
      std::vector<std::int64_t> values;
      for (std::size_t i = 1; i < call.fields.size(); ++i)
        values.push_back(arguments[call.fields[i].name]);
      job_.push(static_cast<std::uint32_t>(rank), find_call(name)->id, values);
    }
  }
  std::int64_t array(std::vector<std::int64_t> values) { return job_.array(std::move(values)); }
  Trace build() { return job_.build(); }

 private:
  TraceBuilder job_{3};
};

Trace make_trace() {
  constexpr std::int64_t kInt = -3, kGrid = 4;
  Job job;
  job.add("Xcast", {{"count", 10}, {"datatype", kInt}}, 1);
  job.add("Ixcast", {{"count", 20}, {"datatype", kInt}, {"request", 0}}, 0);
  job.add("Wait", {{"request", 0}});
  job.add("Xcast_init", {{"count", 30}, {"datatype", kInt}, {"request", 0}}, 0);
  job.add("Start", {{"request", 0}});
  job.add("Type_xgrid", {{"ndims", 2},
                         {"edges", job.array({2, 3})},
                         {"layers", 5},
                         {"oldtype", kInt},
                         {"newtype", kGrid}});
  job.add("Xmax", {{"count", 1}, {"datatype", kGrid}, {"op", -2}}, 0);
  job.add("Xdeal", {{"sendcounts", job.array({1, 2, 3})},
                    {"sendtype", kInt},
                    {"recvcounts", job.array({4, 5, 6})},
                    {"recvtype", kInt}});
  job.add("Xsend", {{"count", 7}, {"datatype", kInt}, {"tag", 3}});
  return job.build();
}

/// "Xcast 40 0": what rank 0 begins and sends, event by event.
void check_volumes(const Trace& trace) {
  const TracePlan plan = plan_trace(trace);
  Result<RankOperations> at = RankOperations::make(trace, plan, 0);
  check(static_cast<bool>(at), "the trace can be read");
  std::string told;
  while (at && at->next())
    for (const Operation& operation : at->operations()) {
      if (operation.kind == Operation::Kind::kBegin)
        told += at->call().name + " " + std::to_string(operation.sent) + " " +
                std::to_string(operation.received) + "; ";
      if (operation.kind == Operation::Kind::kSend)
        told += at->call().name + " " + std::to_string(operation.bytes) + "; ";
    }
  check(told == "Xcast 0 40; Ixcast 80 0; Start 120 0; Xmax 120 120; Xdeal 24 60; Xsend 28; ",
        "volumes: " + told);
  std::map<std::string, std::uint64_t> sums;
  const SentBytes sent = sent_bytes(trace, trace.ranks);
  for (const auto& [node, bytes] : sent.bytes) sums[trace.calls.at(node->call).name] += bytes;
  check(sent.complete &&
            sums ==
                std::map<std::string, std::uint64_t>{
                    {"Ixcast", 80}, {"Xcast", 40}, {"Xdeal", 72}, {"Xmax", 360}, {"Xsend", 84}},
        "sent bytes");
}

}  // namespace
}  // namespace chameleon

int main(int argc, char** argv) {
  using namespace chameleon;
  if (argc != 2) return 2;
  check_plans();
  check_exports();
  check_replay();
  const Trace trace = make_trace();
  check_volumes(trace);
  check(static_cast<bool>(format::create_trace_file(argv[1], trace)), "the trace can be written");
  return failures == 0 ? 0 : 1;
}
