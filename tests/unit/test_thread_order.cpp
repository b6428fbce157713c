// SPDX-License-Identifier: BSD-3-Clause
/// The events of a rank's threads as one sequence, and what orders them.

#include <algorithm>

#include "analysis/rank_streams.h"
#include "unit/catch.h"
#include "unit/thread_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::compress;
using namespace chameleon::testing;

namespace {

constexpr Who kMain{0, 0}, kWorker{0, 1};

/// "Send0 Recv1": each call of a rank and its thread, in order; in each thread they are numbered.
std::string sequence(const Trace& trace, std::uint32_t rank = 0) {
  const std::vector<CallPlan> plans = plan_calls(trace);
  Result<RankStreams> streams = RankStreams::make(trace, plans, rank);
  REQUIRE(streams);
  CHECK(streams->rank() == rank);
  std::string text;
  std::map<std::uint32_t, std::uint64_t> numbers;
  EventView event;
  while (streams->next(event)) {
    CHECK(trace.rank_of(streams->stream()) == rank);
    CHECK(streams->number() == ++numbers[streams->stream()]);
    text += (text.empty() ? "" : " ") + trace.calls.at(event.node->call).name +
            std::to_string(trace.thread_of(streams->stream()));
  }
  CHECK_FALSE(streams->next(event));
  return text;
}

std::vector<bool> handed_over(const Trace& trace, std::uint32_t stream, std::uint64_t events) {
  const std::vector<CallPlan> plans = plan_calls(trace);
  const ObjectRoles roles(trace, plans);
  Result<HandOvers> found = HandOvers::find(trace, roles, stream);
  REQUIRE(found);
  std::vector<bool> handed;
  for (std::uint64_t number = 1; number <= events; ++number)
    handed.push_back(found->contains(number));
  return handed;
}

/// The uses of a stream's last event.
ObjectUse last_use(const Trace& trace, std::uint32_t stream) {
  const std::vector<CallPlan> plans = plan_calls(trace);
  const ObjectRoles roles(trace, plans);
  Result<RankView> view = RankView::make(trace, stream);
  REQUIRE(view);
  ObjectUse use;
  EventView event;
  while (view->next(event)) roles.find(event, stream, use);
  return use;
}

}  // namespace

TEST_CASE("threads are ordered by the recorded times, each in its own order") {
  ThreadJob job(2, 3);
  // Calls at one place in the program have their times in common: different ones tell more.
  job.compute(100).send({0, 0}, 1, 0);
  job.compute(100).recv({0, 0}, 1, 0);
  job.compute(150).barrier({0, 2});
  job.compute(10).isend({0, 1}, 1, 1, id(1, 0));
  job.compute(300).wait({0, 1}, id(1, 0));
  job.event({1, 1}, kCancel, {kNull});
  const Trace trace = job.build();
  CHECK(sequence(trace) == "Isend1 Send0 Barrier2 Recv0 Wait1");
  CHECK(sequence(trace, 1) == "Cancel1");
}

TEST_CASE("without times the thread that has done least is next") {
  ThreadJob job(1, 2);
  for (int i = 0; i < 3; ++i) {
    job.push(0, kSend, {0, 1, kInt, job.at(0, kMain), i, kWorld}, 0, 0);
    job.push(1, kBarrier, {kWorld}, 0, 0);
  }
  CHECK(sequence(job.build()) == "Send0 Barrier1 Send0 Barrier1 Send0 Barrier1");
}

TEST_CASE("streams that are missing or empty leave the others as they are") {
  ThreadJob job(2, 3);
  job.barrier({0, 0});
  job.send({0, 2}, 1, 0);
  job.barrier({1, 2});
  Trace trace = job.build();
  CHECK(sequence(trace) == "Barrier0 Send2");  // thread 1 has no events
  CHECK(sequence(trace, 1) == "Barrier2");
  trace.ranks = trace.ranks.minus(RankList::single(trace.stream_of(0, 1)));
  CHECK(sequence(trace) == "Barrier0 Send2");
  CHECK(trace.streams_of(0) == std::vector<std::uint32_t>{0, 4});
  // A rank of one stream, which is not that of its first thread.
  trace.ranks = trace.ranks.minus(RankList::range(1, 3));
  CHECK(trace.streams_of(1) == std::vector<std::uint32_t>{5});
  CHECK(sequence(trace, 1) == "Barrier2");
  trace.ranks = trace.ranks.minus(RankList::single(5));
  CHECK(sequence(trace, 1).empty());
  CHECK(trace.whole_ranks() == RankList::single(0));
}

TEST_CASE("values that do not cover a thread's events are an error") {
  ThreadJob job(1, 2);
  job.barrier(kMain);
  for (int i = 0; i < 5; ++i) job.send(kWorker, 0, i * i);
  Trace trace = job.build();
  const auto loop = std::find_if(trace.nodes.begin(), trace.nodes.end(),
                                 [](const Node& node) { return node.is_loop(); });
  REQUIRE(loop != trace.nodes.end());
  Node alone = loop->body.front();  // with the tags of five
  alone.ranks = loop->ranks;
  trace.nodes.push_back(alone);
  const std::vector<CallPlan> plans = plan_calls(trace);
  const Result<RankStreams> streams = RankStreams::make(trace, plans, 0);
  REQUIRE_FALSE(streams);
  CHECK(streams.error().message.find("the trace is damaged: rank 1: ") == 0);
}

TEST_CASE("an object is used after another thread made it, whatever the times say") {
  ThreadJob job(1, 2);
  const int kind = GENERATE(0, 1, 2, 3, 4);
  std::string expected;
  if (kind == 0) {
    job.compute(1000).dup(kMain, id(0, 2));
    job.barrier(kWorker, id(0, 2));
    expected = "Comm_dup0 Barrier1";
  } else if (kind == 1) {
    job.compute(1000).event(kMain, kContiguous, {3, kInt, id(0, 0)});
    job.send(kWorker, 0, 0, 1, kWorld, id(0, 0));
    expected = "Type_contiguous0 Send1";
  } else if (kind == 2) {
    job.compute(1000).event(kMain, kWinCreate, {8, kWorld, id(0, 0)});
    job.event(kWorker, kWinFence, {0, id(0, 0)});
    expected = "Win_create0 Win_fence1";
  } else if (kind == 3) {
    job.compute(1000).event(kMain, kFileOpen, {kWorld, 1, id(0, 0)});
    job.event(kWorker, kFileClose, {id(0, 0)});
    expected = "File_open0 File_close1";
  } else {
    job.compute(1000).mprobe(kMain, 0, 0, id(0, 0));
    job.mrecv(kWorker, id(0, 0), 1);
    expected = "Mprobe0 Mrecv1";
  }
  CHECK(sequence(job.build()) == expected);
}

TEST_CASE("a request's id is given out again after another thread completed it") {
  ThreadJob job(1, 2);
  for (int i = 0; i < 3; ++i) {
    job.compute(1).irecv(kMain, 0, 0, id(0, 0));
    if (i == 1) {
      job.wait(kMain, id(0, 0));  // this one itself
    } else {
      job.compute(1000).wait(kWorker, id(0, 0));
    }
  }
  const Trace trace = job.build();
  CHECK(sequence(trace) == "Irecv0 Wait1 Irecv0 Wait0 Irecv0 Wait1");
  CHECK(handed_over(trace, 0, 4) == std::vector<bool>{true, false, false, true});
}

TEST_CASE("arrays of requests are completed as far as the call says") {
  ThreadJob job(1, 2);
  const std::int64_t all = job.array({id(0, 0), id(0, 1), kNull, id(1, 0)});
  const std::int64_t empty = job.array({});
  const int form = GENERATE(0, 1, 2);
  job.irecv(kWorker, 0, 9, id(1, 0));
  if (form == 0) job.event(kWorker, kWaitall, {4, all, empty, empty, empty});
  if (form == 1) job.event(kWorker, kWaitany, {4, all, 1, job.none(), kNotRecorded, kNotRecorded});
  if (form == 2) job.event(kWorker, kWaitsome, {4, all, 2, job.array({0, 3}), empty, empty, empty});
  const ObjectUse use = last_use(job.build(), 1);
  CHECK(use.makes.empty());
  CHECK(use.ends.size() == std::vector<std::size_t>{3, 1, 2}[static_cast<std::size_t>(form)]);
  CHECK(use.needs.size() == std::vector<std::size_t>{2, 1, 1}[static_cast<std::size_t>(form)]);
}

TEST_CASE("what completes nothing waits for nobody") {
  ThreadJob job(1, 2);
  const bool array = GENERATE(false, true);
  // The first thread completes its request itself, long after the other has looked at it.
  job.irecv(kMain, 0, 0, id(0, 0));
  job.compute(1000).wait(kMain, id(0, 0));
  job.irecv(kWorker, 0, 1, id(1, 0));
  if (array)
    job.event(kWorker, kWaitany,
              {2, job.array({id(0, 0), id(1, 0)}), 1, job.none(), kNotRecorded, kNotRecorded});
  else
    job.event(kWorker, kTest, {id(0, 0), 0, job.none(), kNotRecorded, kNotRecorded});
  job.barrier(kWorker);
  const Trace trace = job.build();
  CHECK(handed_over(trace, 0, 2) == std::vector<bool>{false, false});
  CHECK(sequence(trace) ==
        (array ? "Irecv0 Irecv1 Waitany1 Barrier1 Wait0" : "Irecv0 Irecv1 Test1 Barrier1 Wait0"));
}

TEST_CASE("a request that its maker completes may be cancelled by another thread") {
  ThreadJob job(1, 2);
  job.compute(10).irecv(kMain, 0, 0, id(0, 0));
  job.compute(1000).wait(kMain, id(0, 0));
  job.event(kWorker, kCancel, {id(0, 0)});
  CHECK(sequence(job.build()) == "Irecv0 Cancel1 Wait0");
}

TEST_CASE("a persistent request is any thread's until it is freed") {
  ThreadJob job(1, 2);
  job.compute(100).event(kMain, kRecvInit, {0, 1, kInt, job.at(0, kMain), 0, kWorld, id(0, 0)});
  job.irecv(kMain, 0, 1, id(0, 0));  // the same id
  for (int i = 0; i < 2; ++i) {
    job.event(kWorker, kStart, {id(0, 0)});
    job.wait(kWorker, id(0, 0));
  }
  job.compute(1000).event(kWorker, kRequestFree, {id(0, 0)});
  job.barrier(kWorker);
  CHECK(sequence(job.build()) ==
        "Recv_init0 Start1 Wait1 Start1 Wait1 Request_free1 Irecv0 Barrier1");
}

TEST_CASE("null and predefined handles are nobody's") {
  ThreadJob job(1, 2);
  job.compute(1000).barrier(kMain);
  job.wait(kWorker, kNull);
  job.event(kWorker, kTypeFree, {kInt});
  job.barrier(kWorker, kNull);
  job.event(kWorker, kWinFence, {0, kNull});
  job.send(kWorker, 0, 0, 1, kSelf);
  const Trace trace = job.build();
  CHECK(sequence(trace) == "Wait1 Type_free1 Barrier1 Win_fence1 Send1 Barrier0");
  for (const ThreadCall call : {kWait, kTypeFree, kWinFence}) {
    ThreadJob one(1, 2);
    if (call == kWait) one.wait(kWorker, kNull);
    if (call == kTypeFree) one.event(kWorker, kTypeFree, {kInt});
    if (call == kWinFence) one.event(kWorker, kWinFence, {0, kNull});
    const ObjectUse use = last_use(one.build(), 1);
    CHECK(use.makes.size() + use.needs.size() + use.sees.size() + use.ends.size() == 0);
  }
}

TEST_CASE("ids never made, or of threads that do not exist, hold up nobody for good") {
  ThreadJob job(1, 2);
  const std::int64_t strange = GENERATE(id(0, 7), id(2, 0), id(5000, 1), INT64_MAX);
  job.compute(1000).barrier(kMain);
  job.wait(kWorker, strange);
  job.barrier(kWorker, strange);
  job.event(kWorker, kStart, {strange});
  job.event(kWorker, kCancel, {strange});
  job.mrecv(kWorker, strange, 1);
  job.event(kWorker, kRequestFree, {strange});
  const std::string order = sequence(job.build());
  const std::string worker = "Wait1 Barrier1 Start1 Cancel1 Mrecv1 Request_free1";
  // One of this rank's threads could have made it still.
  CHECK(order == (strange == id(0, 7) ? "Barrier0 " + worker : worker + " Barrier0"));
}
