// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include "analysis/check_collectives.h"
#include "analysis/sent_bytes.h"
#include "analysis/volumes.h"
#include "mpi/event_layout.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::mpi;
using chameleon::testing::TraceBuilder;

namespace {

constexpr std::int64_t kInPlace = 1, kInt = -3;

/// Ranks 0 to 2 of the world; or of an intercommunicator, ranks 0 and 1 with 2, 3 and 4 remote.
Communicator intra(std::int32_t self) { return {1, 1, self, false, {{}, 0, 3}, {}, 0}; }
Communicator inter(std::int32_t self) { return {1, 1, self, true, {{}, 0, 2}, {{}, 2, 3}, 0}; }

/// A call with arguments by name; what is not named is 0, buffers are ordinary.
struct Job {
  Trace trace;
  CallDescription call;
  EventView event;
  std::map<std::string, std::int64_t> arguments;

  Job(const std::string& name, std::map<std::string, std::int64_t> given)
      : call(describe_call(*find_call(name))), arguments(std::move(given)) {
    trace.predefined["datatype"] = {{"MPI_BYTE", 1}, {"MPI_INT", 4}};
  }
  std::int64_t array(std::vector<std::int64_t> values) {
    return static_cast<std::int64_t>(trace.intern(std::move(values)));
  }
  void put() {
    event = {};
    for (const Field& field : call.fields) {
      const auto given = arguments.find(field.name);
      event.values.push_back(given == arguments.end() ? 0 : given->second);
      event.forms.push_back(EndPointForm::kAbsolute);
    }
  }
  Partner root(const CallPlan& plan, const Communicator& comm) const {
    if (plan.root < 0) return {};
    return resolve(event.end_point(static_cast<std::size_t>(plan.root)), &comm);
  }
  Volume volume(const Communicator& comm) {
    put();
    const CallPlan plan = plan_call(call);
    const TypeSizes size = [&](std::int64_t type) { return predefined_size(trace, type); };
    return Exchange(trace, plan, event, root(plan, comm), comm, size).volume();
  }
  VectorBytes vectors(const Communicator& comm) {
    put();
    const CallPlan plan = plan_call(call);
    const TypeSizes size = [&](std::int64_t type) { return predefined_size(trace, type); };
    return Exchange(trace, plan, event, root(plan, comm), comm, size).vectors();
  }
};

std::string text(const Volume& volume) {
  return std::to_string(volume.sent) + " " + std::to_string(volume.received) +
         (volume.known ? "" : " at least");
}

/// Arguments of calls with a count and type for each side: 5 ints sent, 7 received.
std::map<std::string, std::int64_t> sides(std::int64_t root = 0) {
  return {
      {"sendcount", 5}, {"sendtype", kInt}, {"recvcount", 7}, {"recvtype", kInt}, {"root", root}};
}
std::map<std::string, std::int64_t> one_side(std::int64_t root = 0) {
  return {{"count", 5}, {"datatype", kInt}, {"recvcount", 5}, {"root", root}};
}

}  // namespace

TEST_CASE("collectives of every movement: what a rank sends and receives") {
  struct Row {
    const char* call;
    bool two_sides;  ///< a count and a type for each
    const char* at_root;
    const char* elsewhere;
  };
  const Row row = GENERATE(
      Row{"Bcast", false, "20 0", "0 20"}, Row{"Reduce", false, "20 20", "20 0"},
      Row{"Allreduce", false, "20 20", "20 20"}, Row{"Scan", false, "20 20", "20 20"},
      Row{"Exscan", false, "20 20", "20 20"}, Row{"Reduce_scatter_block", false, "60 20", "60 20"},
      Row{"Gather", true, "20 84", "20 0"}, Row{"Scatter", true, "60 28", "0 28"},
      Row{"Allgather", true, "20 84", "20 84"}, Row{"Alltoall", true, "60 84", "60 84"});
  INFO(row.call);
  for (const char* form : {"", "I", "_init", "_c", "I_c", "_init_c"}) {
    std::string name =
        form[0] == 'I' ? "I" + std::string(row.call) + (form + 1) : row.call + std::string(form);
    if (form[0] == 'I') name[1] = static_cast<char>(name[1] - 'A' + 'a');
    INFO(name);
    Job job(name, row.two_sides ? sides() : one_side());
    CHECK(text(job.volume(intra(0))) == row.at_root);
    CHECK(text(job.volume(intra(1))) == row.elsewhere);
  }
}

TEST_CASE("counts and datatypes for each partner are summed") {
  Job gather("Gatherv", sides());
  gather.arguments["recvcounts"] = gather.array({1, 2, 3});
  CHECK(text(gather.volume(intra(0))) == "20 24");
  CHECK(text(gather.volume(intra(1))) == "20 0");
  CHECK(gather.vectors(intra(0)).received == std::vector<std::int64_t>{4, 8, 12});
  Job scatter("Scatterv", sides());
  scatter.arguments["sendcounts"] = scatter.array({1, 2, 3});
  CHECK(text(scatter.volume(intra(0))) == "24 28");
  CHECK(text(scatter.volume(intra(1))) == "0 28");
  Job allgather("Allgatherv", sides());
  allgather.arguments["recvcounts"] = allgather.array({1, 2, 3});
  CHECK(text(allgather.volume(intra(1))) == "20 24");
  Job alltoall("Alltoallv", sides());
  alltoall.arguments["sendcounts"] = alltoall.array({1, 0, 1});
  alltoall.arguments["recvcounts"] = alltoall.array({4, 5, 6});
  CHECK(text(alltoall.volume(intra(1))) == "8 60");
  Job typed("Alltoallw", {});
  typed.arguments["sendcounts"] = typed.arguments["recvcounts"] = typed.array({4, 5, 0});
  typed.arguments["sendtypes"] = typed.array({kInt, -2, -1});
  typed.arguments["recvtypes"] = typed.array({-2, -2, -1});
  CHECK(text(typed.volume(intra(1))) == "21 9");
  CHECK(typed.vectors(intra(1)).sent == std::vector<std::int64_t>{16, 5, 0});
  Job reduced("Reduce_scatter", one_side());
  reduced.arguments["recvcounts"] = reduced.array({1, 2, 3});
  CHECK(text(reduced.volume(intra(1))) == "24 8");
}

TEST_CASE("a rank's own block counts in place too") {
  Job gather("Gather", sides());
  gather.arguments["sendbuf"] = kInPlace;
  CHECK(text(gather.volume(intra(0))) == "28 84");
  Job gatherv("Gatherv", sides());
  gatherv.arguments["sendbuf"] = kInPlace;
  gatherv.arguments["recvcounts"] = gatherv.array({1, 2, 3});
  CHECK(text(gatherv.volume(intra(0))) == "4 24");
  Job scatter("Scatter", sides());
  scatter.arguments["recvbuf"] = kInPlace;
  CHECK(text(scatter.volume(intra(0))) == "60 20");
  Job allgatherv("Allgatherv", sides());
  allgatherv.arguments["sendbuf"] = kInPlace;
  allgatherv.arguments["recvcounts"] = allgatherv.array({1, 2, 3});
  CHECK(text(allgatherv.volume(intra(1))) == "8 24");
  Job alltoall("Alltoall", sides());
  alltoall.arguments["sendbuf"] = kInPlace;
  CHECK(text(alltoall.volume(intra(1))) == "84 84");
  Job reduce("Reduce", one_side());
  reduce.arguments["sendbuf"] = kInPlace;
  CHECK(text(reduce.volume(intra(0))) == "20 20");
}

TEST_CASE("between the groups of an intercommunicator, roots only send or only receive") {
  const auto special = [](SpecialRank rank) { return -static_cast<std::int64_t>(rank); };
  const std::int64_t is_root = special(SpecialRank::kRoot),
                     beside = special(SpecialRank::kProcNull);
  for (const char* name : {"Bcast", "Reduce"}) {
    INFO(name);
    const bool from = name == std::string("Bcast");
    CHECK(text(Job(name, one_side(is_root)).volume(inter(0))) == (from ? "20 0" : "0 20"));
    CHECK(text(Job(name, one_side(beside)).volume(inter(1))) == "0 0");
    CHECK(text(Job(name, one_side(1)).volume(inter(0))) == (from ? "0 20" : "20 0"));
  }
  CHECK(text(Job("Gather", sides(is_root)).volume(inter(0))) == "0 84");
  CHECK(text(Job("Gather", sides(1)).volume(inter(1))) == "20 0");
  CHECK(text(Job("Scatter", sides(is_root)).volume(inter(0))) == "60 0");
  CHECK(text(Job("Alltoall", sides()).volume(inter(0))) == "60 84");
  // In as many blocks as the own group has ranks.
  CHECK(text(Job("Reduce_scatter_block", one_side()).volume(inter(0))) == "40 20");
  Job reduced("Reduce_scatter", one_side());
  reduced.arguments["recvcounts"] = reduced.array({1, 2});
  CHECK(text(reduced.volume(inter(1))) == "12 8");
}

TEST_CASE("what is not known of a volume is a lower bound") {
  Job derived("Allgather", sides());
  derived.arguments["sendtype"] = 7;
  CHECK(text(derived.volume(intra(1))) == "0 84 at least");
  Job some("Alltoallw", {});
  some.arguments["sendcounts"] = some.arguments["recvcounts"] = some.array({1, 1, 1});
  some.arguments["sendtypes"] = some.array({kInt, 7, kInt});
  some.arguments["recvtypes"] = some.array({kInt, kInt, kInt});
  CHECK(text(some.volume(intra(1))) == "8 12 at least");
  Job huge("Alltoall", sides());
  huge.arguments["sendcount"] = INT64_MAX / 2;
  CHECK(text(huge.volume(intra(1))) == "0 84 at least");
}

TEST_CASE("groups of an intercommunicator may scatter in blocks of their own") {
  Job job("Reduce_scatter_block", one_side());
  job.put();
  const CallPlan plan = plan_call(job.call);
  const TypeSizes size = [&](std::int64_t type) { return predefined_size(job.trace, type); };
  CHECK(contribution_of(job.trace, plan, job.event, {}, inter(0), size).amount == -1);
  CHECK(contribution_of(job.trace, plan, job.event, {}, intra(0), size).amount == 20);
}

TEST_CASE("failed calls, partners that are nobody and roots are summed as they are") {
  enum : std::uint16_t { kSend = 1, kReduce, kBcast, kSendInit };
  TraceBuilder job(3);
  const auto add = [&](std::uint16_t id, const char* name) {
    std::vector<std::string> fields;
    const CallDescription call = describe_call(*find_call(name));
    for (std::size_t i = 1; i < call.fields.size(); ++i)
      fields.push_back(call.fields[i].name + ":" + call.fields[i].kind +
                       (call.fields[i].stored == FieldKind::kEndPoint ? ":e" : ""));
    job.call(id, name, fields);
  };
  add(kSend, "Send");
  add(kReduce, "Reduce");
  add(kBcast, "Bcast");
  add(kSendInit, "Send_init");
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const auto self = static_cast<std::uint32_t>(rank);
    const std::int64_t to =
        rank == 2 ? pack_special(SpecialRank::kProcNull) : pack_rank(rank + 1, rank, 3);
    job.push(self, kSend, {0, 5, kInt, to, 1, 0});
    job.push(self, kReduce, {0, 0, 2, kInt, -2, pack_rank(1, rank, 3), 0});
    job.push(self, kBcast, {0, 3, kInt, pack_rank(1, rank, 3), 0});
    job.push(self, kSendInit, {0, 5, kInt, to, 1, 0, 0});
  }
  const Trace trace = job.build();
  const SentBytes sent = sent_bytes(trace, trace.ranks);
  std::map<std::uint16_t, std::uint64_t> sums;
  for (const auto& [node, bytes] : sent.bytes) sums[node->call] += bytes;
  CHECK(sent.complete);
  CHECK(sums == std::map<std::uint16_t, std::uint64_t>{{kSend, 40}, {kReduce, 24}, {kBcast, 12}});
}
