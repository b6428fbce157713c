// SPDX-License-Identifier: BSD-3-Clause
/// What threads of a rank share, and `check` of those that share nothing.

#include "analysis/check_threads.h"
#include "analysis/thread_sharing.h"
#include "unit/catch.h"
#include "unit/thread_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::compress;
using namespace chameleon::testing;

namespace {

constexpr Who kA{0, 0}, kB{0, 1};  // two threads of rank 0

std::string shared(ThreadJob& job) {
  const auto site = [](std::uint64_t path) { return "place " + std::to_string(path % 10); };
  const Result<SharedOperations> found = shared_by_threads(job.build(), site);
  REQUIRE(found);
  CHECK(found->first.empty() == (found->count() == 0));
  return found->first;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

CheckReport checked(const Trace& trace) {
  const Result<SharedOperations> shared = shared_by_threads(trace);
  REQUIRE(shared);
  REQUIRE(shared->first == "");
  Result<CheckReport> report = check_threads(trace);
  REQUIRE(report);
  for (const auto& problem : report->problems) UNSCOPED_INFO(problem.kind << ": " << problem.text);
  return *report;
}

CheckReport checked(ThreadJob& job) { return checked(job.build()); }

/// The only problem is this one.
void only(const CheckReport& report, const std::string& kind, const std::string& text) {
  CHECK_FALSE(report.ok);
  CHECK(report.problem_count == 1);
  REQUIRE(report.problems.size() == 1);
  CHECK(report.problems[0].kind == kind);
  CHECK_THAT(report.problems[0].text, testing::contains(text));
}

/// Each of two ranks has a thread that works on a communicator of its own (id 2 of thread 0),
/// which the first thread makes.
struct Workers : ThreadJob {
  Workers() : ThreadJob(2, 2) {
    for (int rank = 0; rank < 2; ++rank) dup({rank, 0}, 2);
  }
};

}  // namespace

TEST_CASE("two threads on one channel are named, on two channels not") {
  ThreadJob job(2, 2);
  const bool one = GENERATE(true, false);
  const bool sends = GENERATE(true, false);
  for (const Who who : {kA, kB}) {
    const int tag = one ? 7 : who.thread;
    if (sends)
      job.send(who, 1, tag);
    else
      job.recv(who, 1, tag);
  }
  const std::string text = shared(job);
  if (!one) CHECK(text == "");
  if (one && sends)
    CHECK(text ==
          "rank 0: threads 0 and 1 both send to world rank 1 with tag 7 on MPI_COMM_WORLD in "
          "event 1 of thread 1");
  if (one && !sends) CHECK(has(text, "both receive from world rank 1 with tag 7"));
}

TEST_CASE("a receive beside another thread's wildcard is named, whichever comes first") {
  ThreadJob job(3, 2);
  const bool first = GENERATE(true, false);
  const bool any_tag = GENERATE(true, false);
  const bool same_tag = GENERATE(true, false);
  const auto wild = [&](Who who) {
    job.recv_any(who, 1, any_tag ? -1 : 3, any_tag ? 3 : kNotRecorded);
  };
  const auto exact = [&](Who who) { job.recv(who, 2, same_tag ? 3 : 4); };
  if (first) {
    wild(kA);
    exact(kB);
  } else {
    exact(kA);
    wild(kB);
  }
  const std::string text = shared(job);
  if (any_tag)
    CHECK(has(text, "threads 0 and 1 both receive on MPI_COMM_WORLD, where one takes any tag"));
  else if (same_tag)
    CHECK(has(text,
              "threads 0 and 1 both receive with tag 3 on MPI_COMM_WORLD, one from any source"));
  else
    CHECK(text == "");
}

TEST_CASE("receives of one tag from different ranks compete only for a wildcard") {
  ThreadJob job(3, 2);
  const bool wild = GENERATE(false, true);
  job.recv(kA, 1, 3);
  job.recv(kB, 2, 3);
  if (wild) job.recv_any(kA, 1, 3);
  const std::string text = shared(job);
  if (wild) CHECK(has(text, "one from any source"));
  if (!wild) CHECK(text == "");
}

TEST_CASE("receives of nobody and posted ones that others complete are not shared") {
  ThreadJob job(2, 2);
  const bool another = GENERATE(false, true);
  job.irecv(kA, 1, 3, id(0, 0));
  job.wait(kB, id(0, 0));
  for (const Who who : {kA, kB})
    job.event(who, kRecv,
              {0, 1, kInt, pack_special(SpecialRank::kProcNull), 3, kWorld, job.none(),
               kNotRecorded, kNotRecorded});
  if (another) job.irecv(kB, 1, 3, id(1, 0));
  const std::string text = shared(job);
  if (another)
    CHECK(
        has(text,
            "both receive from world rank 1 with tag 3 on MPI_COMM_WORLD in event 3 of thread 1"));
  else
    CHECK(text == "");
}

TEST_CASE("persistent receives count where they are started") {
  ThreadJob job(2, 2);
  const bool both = GENERATE(false, true);
  for (int i = 0; i < 2; ++i)
    job.event(kA, kRecvInit, {0, 1, kInt, job.at(1, kA), 3, kWorld, id(0, i)});
  job.event(kB, kStart, {id(0, 0)});
  if (both) job.event(kA, kStart, {id(0, 1)});
  const std::string text = shared(job);
  if (both) CHECK(has(text, "both receive from world rank 1 with tag 3"));
  if (!both) CHECK(text == "");
}

TEST_CASE("a probe takes nothing, a matched probe does") {
  ThreadJob job(2, 2);
  const bool matched = GENERATE(false, true);
  job.recv(kA, 1, 3);
  job.event(kB, kIprobe, {job.any(), 3, kWorld, 1, job.at(1, kB), kNotRecorded, 4});
  if (matched) job.mprobe(kB, 1, 3, id(1, 0));
  const std::string text = shared(job);
  if (matched) CHECK(has(text, "both receive from world rank 1 with tag 3"));
  if (!matched) CHECK(text == "");
}

TEST_CASE("collectives on one communicator are shared, on one's own not") {
  ThreadJob job(2, 2);
  const int form = GENERATE(0, 1, 2, 3, 4);
  job.dup(kA, 2);
  job.barrier(kB, 2);
  if (form == 0) job.barrier(kA, kWorld);
  if (form == 1) job.barrier(kA, 2);
  if (form == 2) job.event(kA, kCommFree, {2});  // when the others are done
  if (form == 3)
    for (const Who who : {kA, kB}) job.barrier(who, kSelf);  // of this rank alone
  if (form == 4)
    for (const Who who : {kA, kB}) job.event(who, kBcast, {0, 1, kInt, job.at(0, who), kNull});
  const std::string text = shared(job);
  if (form == 1)
    CHECK(has(text, "both call collectives on the communicator that Comm_dup at place"));
  else
    CHECK(text == "");
}

TEST_CASE("windows and files of one rank's threads are told apart") {
  ThreadJob job(2, 2);
  const bool same = GENERATE(true, false);
  for (int n = 0; n < 2; ++n) job.event(kA, kWinCreate, {8, kWorld, n});
  job.event(kA, kWinFence, {0, 0});
  job.event(kB, kWinFence, {0, same ? 0 : 1});
  const std::string text = shared(job);
  if (same) CHECK(has(text, "both call collectives on the window of Win_fence"));
  if (!same) CHECK(text == "");
}

TEST_CASE("communicators that threads make for one group with one tag cannot be told apart") {
  ThreadJob job(4, 2);
  const bool same_group = GENERATE(true, false), same_tag = GENERATE(true, false);
  const bool same = same_group && same_tag;
  for (const Who who : {kA, kB}) {
    const std::int64_t members = job.array({0, same_group ? 1 : 1 + who.thread});
    const std::int64_t tag = same_tag ? 5 : who.thread;
    job.event(who, kCommCreateGroup, {kWorld, 0, tag, id(who.thread, 2), members});
  }
  const std::string text = shared(job);
  if (same) CHECK(has(text, "both make communicators of one group with Comm_create_group"));
  if (!same) CHECK(text == "");
}

TEST_CASE("of threads that share a channel the rest is checked") {
  Workers job;
  const int wrong = GENERATE(0, 1, 2, 3);
  // Both threads of rank 0 send on one channel, of which the sizes are then in no order.
  job.send({0, 1}, 1, 5, 3);
  job.send({0, 0}, 1, 5, 1);
  job.recv({1, 1}, 0, 5, 1);
  job.recv({1, 1}, 0, 5, 3);
  for (int rank = 0; rank < 2; ++rank)
    for (int thread = 0; thread < 2; ++thread) job.barrier({rank, thread}, kWorld);
  if (wrong == 1) job.send({0, 0}, 1, 6, 3), job.recv({1, 0}, 0, 6, 2);
  if (wrong == 2) job.send({0, 0}, 1, 6, 3);
  if (wrong == 3) job.recv({1, 0}, 0, 6, 3);
  job.finalize();
  const Result<CheckReport> report = check_threads(job.build());
  REQUIRE(report);
  CHECK(report->shared_count == 2);
  CHECK(report->shared ==
        "rank 0: threads 1 and 0 both send to world rank 1 with tag 5 on MPI_COMM_WORLD in event 2 "
        "of thread 0");
  if (wrong == 0) CHECK(report->ok);
  if (wrong == 1) only(*report, "truncation", "receives at most 8 bytes");
  if (wrong == 2) only(*report, "unreceived", "1 message to world rank 1 with tag 6");
  if (wrong == 3) CHECK(report->doubt == report->shared);  // what never ends may be for the order
  if (wrong != 3) CHECK(report->doubt == "");
}

TEST_CASE("what follows from threads that share nothing is consistent") {
  Workers job;
  for (int i = 0; i < 10; ++i)
    for (int rank = 0; rank < 2; ++rank) {
      const Who main{rank, 0}, worker{rank, 1};
      job.irecv(worker, 1 - rank, 1, id(1, 0));
      job.send(worker, 1 - rank, 1, 3, 2);  // of the worker's communicator
      job.recv(worker, 1 - rank, 1, 3, 2);
      job.allreduce(worker, 2, 2);
      job.send(main, 1 - rank, 1);
      job.wait(main, id(1, 0));
    }
  for (int rank = 0; rank < 2; ++rank) job.event({rank, 0}, kCommFree, {2});
  job.finalize();
  const CheckReport report = checked(job);
  CHECK(report.ok);
  CHECK(report.events == 2 * (10 * 6 + 3));
  CHECK(report.messages == 40);
  CHECK(report.bytes == 20 * 4 + 20 * 12);
  CHECK(report.collectives == 10 + 3);
  CHECK(report.doubt == "");
}

TEST_CASE("what never comes is named with its thread") {
  Workers job;
  const int wrong = GENERATE(0, 1, 2);
  if (wrong == 0) job.send({0, 1}, 1, 5);
  if (wrong == 1) job.recv({0, 1}, 1, 5);
  if (wrong == 2) job.barrier({0, 1}, 2);
  job.finalize();
  const CheckReport report = checked(job);
  if (wrong == 0) only(report, "unreceived", "1 message to world rank 1 with tag 5");
  if (wrong == 1) only(report, "deadlock", "no message from world rank 1 with tag 5");
  if (wrong == 2) only(report, "deadlock", "only 1 of 2 ranks make this collective call");
  CHECK(report.problems[0].rank == 0);
  CHECK(report.problems[0].thread == 1);
  CHECK(report.problems[0].text.find("rank 0 thread 1 event 1") == 0);
}

TEST_CASE("of an incomplete trace what is left over was cut off, a wrong amount is a fault") {
  Workers job;
  job.complete = false;
  const bool wrong = GENERATE(false, true);
  job.send({0, 1}, 1, 5);
  job.send({0, 1}, 1, 6, 2);
  job.recv({1, 1}, 0, 6, wrong ? 1 : 2);
  job.event({0, 0}, kIallreduce, {0, 0, 1, kInt, kSum, kWorld, 0});
  job.barrier({0, 1}, 2);
  const CheckReport report = checked(job);
  CHECK(report.ok == !wrong);
  CHECK(report.in_flight.sends == 1);
  CHECK(report.in_flight.receives == 0);
  CHECK(report.in_flight.collectives == 2);
  CHECK(report.cut_count == 2);
  if (wrong) only(report, "truncation", "rank 1 thread 1 event 1 (Recv)");
}

TEST_CASE("a message longer than its receive is named, also where another thread completes it") {
  Workers job;
  const bool wrong = GENERATE(false, true);
  const bool handed = GENERATE(false, true);
  job.send({0, 1}, 1, 5, 3);
  if (handed) {
    job.irecv({1, 1}, 0, 5, id(1, 0), wrong ? 2 : 3);
    job.wait({1, 0}, id(1, 0));
  } else {
    job.recv({1, 1}, 0, 5, wrong ? 2 : 3);
  }
  job.finalize();
  const CheckReport report = checked(job);
  CHECK(report.ok == !wrong);
  if (wrong)
    only(report, "truncation",
         (handed ? std::string("rank 1 thread 0 event 2 (Wait)")
                 : std::string("rank 1 thread 1 event 1 (Recv)")) +
             ": receives at most 8 bytes, but world rank 0 sends 12 with "
             "tag 5");
}

TEST_CASE("a matched receive takes the message of its probe") {
  Workers job;
  const bool wrong = GENERATE(false, true);
  const bool handed = GENERATE(false, true);
  const int take = GENERATE(0, 1);
  job.send({0, 1}, 1, 5, 10);
  job.send({0, 1}, 1, 5, 1);
  // The first message is received after the second.
  const Who worker{1, 1}, taker{1, handed ? 0 : 1};
  job.compute(1000).mprobe(worker, 0, 5, id(1, 0));
  job.recv(worker, 0, 5, 1);
  if (take == 0) {
    job.mrecv(taker, id(1, 0), wrong ? 9 : 10);
  } else {
    job.event(taker, kImrecv, {0, wrong ? 9 : 10, kInt, id(1, 0), id(taker.thread, 0)});
    job.wait(taker, id(taker.thread, 0));
  }
  job.finalize();
  const CheckReport report = checked(job);
  CHECK(report.ok == !wrong);
  if (wrong) only(report, "truncation", "receives at most 36 bytes, but world rank 0 sends 40");
}

TEST_CASE("a receive after a wildcard whose match is not told is not judged") {
  ThreadJob job(2, 2);
  const bool told = GENERATE(false, true);
  const Who worker{1, 1};
  job.send({0, 1}, 1, 5, 1);
  job.send({0, 1}, 1, 5, 2);
  job.event(worker, kIrecv, {0, 2, kInt, job.any(), 5, kWorld, id(1, 0)});
  job.event(worker, kWait, {id(1, 0), told ? job.at(0, worker) : job.none(), kNotRecorded, 4});
  job.recv(worker, 0, 5, 1);
  job.finalize();
  const CheckReport report = checked(job);
  if (told) only(report, "truncation", "receives at most 4 bytes, but world rank 0 sends 8");
  if (!told) CHECK(report.ok);
}

TEST_CASE("threads' collectives must agree in call, root, op and amounts") {
  Workers job;
  const int wrong = GENERATE(0, 1, 2, 3, 4, 5, 6, 7);
  const std::int64_t none = job.array({0, 0});
  for (int rank = 0; rank < 2; ++rank) {
    const Who worker{rank, 1};
    const bool other = rank == 1;
    job.event(
        worker, kBcast,
        {0, other && wrong == 1 ? 5 : 4, kInt, job.at(other && wrong == 2 ? 1 : 0, worker), 2});
    job.allreduce(worker, 1, 2, other && wrong == 3 ? kMax : kSum);
    const std::int64_t sent = other ? job.array({3, 4}) : job.array({1, 2});
    const std::int64_t got = other ? job.array({wrong == 4 ? 3 : 2, 4}) : job.array({1, 3});
    job.event(worker, kAlltoallv, {0, sent, none, kInt, 0, got, none, kInt, 2});
    if (other && wrong == 5)
      job.allreduce(worker, 1, 2);
    else
      job.barrier(worker, 2);
    // Completed by the other thread.
    job.event(worker, kIallreduce, {0, 0, other && wrong == 6 ? 2 : 1, kInt, kSum, 2, id(1, 0)});
    job.wait({rank, 0}, id(1, 0));
    job.event(worker, kAllreduceInit,
              {0, 0, other && wrong == 7 ? 2 : 1, kInt, kSum, 2, kNull, id(1, 1)});
    job.event(worker, kStart, {id(1, 1)});
    job.wait(worker, id(1, 1));
  }
  job.finalize();
  const CheckReport report = checked(job);
  CHECK(report.ok == (wrong == 0));
  CHECK(report.collectives == 8);
  if (wrong == 1) only(report, "collective", "20 bytes, but 16 in rank 0 thread 1 event 1 (Bcast)");
  if (wrong == 2) only(report, "collective", "root is world rank 1, but world rank 0 in rank 0");
  if (wrong == 3) only(report, "collective", "operation is not that of rank 1 thread 1 event 2");
  if (wrong == 4) only(report, "collective", "is not what that one receives");
  if (wrong == 5) only(report, "collective", "is rank 1 thread 1 event 4 (Allreduce), another");
  if (wrong == 6) only(report, "collective", "8 bytes, but 4 in rank 0 thread 1 event 5");
  if (wrong == 7) only(report, "collective", "8 bytes, but 4 in rank 0 thread 1 event 7 (Start)");
}

TEST_CASE("sizes of another thread's datatypes are compared where they are certain") {
  Workers job;
  const int form = GENERATE(0, 1, 2);
  for (int rank = 0; rank < 2; ++rank) {
    const Who main{rank, 0}, worker{rank, 1};
    job.compute(10).event(main, kContiguous, {3, kInt, 0});
    job.event(main, kTypeFree, {0});
    // The first thread makes another with the same id, of the same or of another size.
    if (form > 0) job.compute(1000).event(main, kContiguous, {form == 1 ? 3 : 5, kInt, 0});
    job.compute(100).allreduce(worker, rank + 1, 2, kSum, 0);
  }
  job.finalize();
  const CheckReport report = checked(job);
  if (form < 2) only(report, "collective", "12 bytes, but 24 in rank 1 thread 1 event 1");
  if (form == 2) CHECK(report.ok);
}

TEST_CASE("a communicator is freed after its uses, whatever the times say") {
  Workers job;
  for (int rank = 0; rank < 2; ++rank) {
    // On the second rank the first thread seems to free it before the worker comes. (Calls at one
    // place have their times in common; this one is made on one rank only.)
    if (rank == 0) job.compute(1000).wait({rank, 0}, kNull);
    job.event({rank, 0}, kCommFree, {2});
    job.compute(100).event({rank, 1}, kWinCreate, {8, 2, id(1, 0)});
    job.compute(100).event({rank, 1}, kWinFence, {0, id(1, 0)});
    job.barrier({rank, 1}, 2);
  }
  job.finalize();
  const CheckReport report = checked(job);
  CHECK(report.ok);
  CHECK(report.collectives == 6);
}

TEST_CASE("where ids were given out again what is found is in doubt") {
  ThreadJob job(2, 2);
  const bool again = GENERATE(true, false);
  for (int rank = 0; rank < 2; ++rank) {
    const Who main{rank, 0}, worker{rank, 1};
    for (int round = 0; round < 2; ++round) {
      job.compute(100).dup(main, again ? 2 : 2 + round);
      // On the second rank the worker seems to come after both.
      if (rank == 1 && round == 0) job.compute(1000).wait(worker, kNull);
      job.compute(100);
      if (round == 0)
        job.barrier(worker, 2);
      else
        job.allreduce(worker, 1, again ? 2 : 3);
      job.event(main, kCommFree, {again ? 2 : 2 + round});
    }
  }
  job.finalize();
  const CheckReport report = checked(job);
  CHECK(report.ok == !again);
  CHECK(report.doubt ==
        (again ? "rank 0: thread 1 uses what thread 0 made 2 times with the same id" : ""));
}

TEST_CASE("which send another thread completes is in doubt, unless it waited for its receive") {
  ThreadJob job(2, 2);
  const bool synchronous = GENERATE(true, false);
  const Who poster{0, 1};
  job.event(poster, synchronous ? kIssend : kIsend,
            {0, 1, kInt, job.at(1, poster), 1, kWorld, id(1, 0)});
  job.recv({1, 0}, 0, 1);
  job.compute(10).wait({0, 0}, id(1, 0));
  job.send(poster, 1, 2);  // never received
  job.finalize();
  const CheckReport report = checked(job);
  CHECK_FALSE(report.ok);
  CHECK(report.doubt ==
        (synchronous ? "" : "rank 0: thread 0 completes a send that thread 1 posted"));
}

TEST_CASE("a trace of some ranks is checked for what they have") {
  ThreadJob job(2, 2);
  for (int rank = 0; rank < 2; ++rank) job.dup({rank, 0}, 2);
  const std::int64_t none = job.array({0, 0}), all = job.array({1, 2});
  job.event({0, 1}, kAlltoallv, {0, all, none, kInt, 0, none, none, kInt, 2});
  job.recv({0, 1}, 1, 0);
  job.send({0, 1}, 1, 0);
  job.finalize();
  Trace trace = job.build();
  for (std::uint32_t stream : {1U, 3U}) trace.ranks = trace.ranks.minus(RankList::single(stream));
  const CheckReport report = checked(trace);
  CHECK(report.ok);
  CHECK(report.events == 5);
  CHECK(report.collectives == 3);
}

TEST_CASE("hostile ids and empty streams are no more than faults") {
  ThreadJob job(2, 3);
  const std::int64_t strange = GENERATE(id(0, 99), id(3, 0), id(70000, 5), INT64_MAX, INT64_MIN);
  const Who worker{0, 2};
  job.barrier(worker, strange);
  job.send(worker, 1, 0, 1, strange);
  job.send(worker, 1, 0, 1, kWorld, strange);
  job.recv({1, 0}, 0, 0, 1, kWorld, strange);
  job.wait(worker, strange);
  job.event(worker, kStart, {strange});
  job.mrecv(worker, strange, 1);
  job.event(worker, kContiguous, {INT64_MAX, kInt, strange});
  job.event(worker, kContiguous, {INT64_MAX, strange, strange});
  job.allreduce(worker, 1, kSelf, kSum, strange);
  job.irecv(worker, 1, 1, strange);
  job.finalize();
  const CheckReport report = checked(job);
  CHECK(report.ok);
  CHECK(report.events == 13);
  CHECK(report.messages == 1);
  const Trace none = ThreadJob(2, 2).build();
  CHECK(checked(none).events == 0);
}
