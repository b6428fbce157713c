// SPDX-License-Identifier: BSD-3-Clause

#include "analysis/follow.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TraceBuilder;

namespace {

enum : std::uint16_t {
  kSend = 1,
  kIrecv,
  kWaitall,
  kWait,
  kWaitsome,
  kSplit,
  kFree,
  kVector,
  kRecvInit,
  kStart,
  kMprobe,
  kMrecv,
  kBcast,
};
constexpr std::int64_t kInt = -3, kWorld = 0, kMade = 2;

std::int64_t none() { return pack_special(SpecialRank::kNone); }
std::int64_t any() { return pack_special(SpecialRank::kAnySource); }
std::int64_t relative(SpecialRank code) {
  return kFirstSpecialRelative + static_cast<std::int32_t>(code);
}

/// A job of four ranks; pairs are made of ranks 0 and 2, and 1 and 3.
struct Job : TraceBuilder {
  Job() : TraceBuilder(4) {
    call(kSend, "Send");
    const std::vector<std::string> receive = {"buf:buffer",      "count:count", "datatype:datatype",
                                              "source:source:e", "tag:tag",     "comm:comm",
                                              "request:request"};
    call(kIrecv, "Irecv", receive);
    call(kRecvInit, "Recv_init", receive);
    call(kStart, "Start", {"request:request"});
    call(kWaitall, "Waitall",
         {"count:int", "array_of_requests:request:a", "array_of_statuses.source:source:a",
          "array_of_statuses.tag:tag:a", "array_of_statuses.bytes:bytes:a"});
    const std::vector<std::string> status = {"status.source:source:e", "status.tag:tag",
                                             "status.bytes:bytes"};
    const auto with_status = [&](std::vector<std::string> fields) {
      fields.insert(fields.end(), status.begin(), status.end());
      return fields;
    };
    call(kWait, "Wait", with_status({"request:request"}));
    call(kWaitsome, "Waitsome",
         {"incount:count", "array_of_requests:request:a", "outcount:count",
          "array_of_indices:index:a", "array_of_statuses.source:source:a",
          "array_of_statuses.tag:tag:a", "array_of_statuses.bytes:bytes:a"});
    call(kSplit, "Comm_split",
         {"comm:comm", "color:int", "key:int", "newcomm:comm", "members:members:a"});
    call(kFree, "Comm_free");
    call(kVector, "Type_vector",
         {"count:int", "blocklength:int", "stride:int", "oldtype:datatype", "newtype:datatype"});
    call(kMprobe, "Mprobe",
         with_status({"source:source:e", "tag:tag", "comm:comm", "message:message"}));
    call(kMrecv, "Mrecv",
         with_status({"buf:buffer", "count:count", "datatype:datatype", "message:message"}));
    call(kBcast, "Bcast");
  }
  void split(std::uint32_t rank) {
    push(rank, kSplit, {kWorld, rank % 2, 0, kMade, array({rank % 2, rank % 2 + 2})});
  }
};

/// The events of a rank, and what is asked of each while it is at hand.
template <class F>
std::size_t follow(const Trace& trace, std::uint32_t rank, F f) {
  const FollowPlan plan(trace);
  Result<Follower> follower = Follower::of_rank(plan, rank);
  REQUIRE(follower);
  FollowedEvent event;
  std::size_t count = 0;
  while (follower->next(event)) f(*follower, event, count++);
  return count;
}

}  // namespace

TEST_CASE("partners are ranks of the communicator and of the world") {
  Job job;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const auto self = static_cast<std::int32_t>(rank / 2);
    job.split(rank);
    job.push(rank, kSend, {0, 3, kInt, pack_rank(1 - self, self, 2), 7, kMade});
    job.push(rank, kBcast, {0, 1, kInt, pack_rank(1, self, 2), kMade});
    job.push(rank, kSend, {0, 3, kInt, pack_special(SpecialRank::kProcNull), 7, kWorld});
    job.push(rank, kFree, {kMade});
    job.push(rank, kSend, {0, 3, kInt, pack_rank(1 - self, self, 2), 7, kMade});
  }
  const Trace trace = job.build();
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const auto seen = [&](const Follower& follower, const FollowedEvent& event, std::size_t at) {
      if (at == 0) {
        REQUIRE(event.made_comm != nullptr);
        CHECK(event.made_comm->local[1] == rank % 2 + 2);
        CHECK(event.group == &follower.world());
      }
      if (at == 1) {
        CHECK(event.dest.rank == 1 - rank / 2);
        CHECK(event.dest.world == (rank + 2) % 4);
        CHECK(event.send_bytes == 12);
      }
      if (at == 2) {
        CHECK(event.root.world == rank % 2 + 2);
        CHECK(event.collective == 0);
      }
      if (at == 3) CHECK((event.dest.is(SpecialRank::kProcNull) && !event.dest.is_member()));
      if (at == 4) CHECK((event.comm != nullptr && event.collective == 1));  // until it is over
      if (at == 5) {
        CHECK(event.comm == nullptr);
        CHECK(event.dest.special == Partner::kUnknown);
      }
    };
    CHECK(follow(trace, static_cast<std::uint32_t>(rank), seen) == 6);
  }
}

TEST_CASE("a rank computes as long as its class, though its events are those of other ranks too") {
  Job job;
  for (std::uint32_t rank = 0; rank < 4; ++rank) job.push(rank, kFree, {-1});
  Trace trace = job.build();
  REQUIRE(trace.nodes.size() == 1);
  const Place place{trace.nodes.front().symbol(), 0};
  const std::uint32_t like = trace.times.add_class({RankList::range(0, 2), 0});
  const std::uint32_t slow = trace.times.add_class({RankList::single(3), 0});
  for (const std::uint32_t of : {like, slow}) {
    Durations times;
    times.compute.add(of == slow ? 9000 : 100);
    times.communication.add(of == slow ? 10 : 8000);
    trace.times.add(place, of, times);
  }
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    CHECK(
        follow(trace, rank, [&](const Follower& follower, const FollowedEvent& event, std::size_t) {
          CHECK(follower.times(event).compute == (rank == 3 ? 9000U : 100U));
          CHECK(follower.times(event).communication == (rank == 3 ? 10U : 8000U));
        }) == 1);
}

TEST_CASE("MPI_COMM_NULL is no communicator") {
  Job job;
  job.push(0, kSplit, {kWorld, -32766, 0, -1, job.array({})});
  job.push(0, kSend, {0, 3, kInt, pack_rank(1, 0, 4), 7, -1});
  const Trace trace = job.build();
  CHECK(follow(trace, 0, [](const Follower&, const FollowedEvent& event, std::size_t at) {
          CHECK(event.made_comm == nullptr);
          CHECK((event.comm != nullptr) == (at == 0));
        }) == 2);
}

TEST_CASE("completed requests have the facts of their posting and what they matched") {
  Job job;
  job.split(2);  // rank 2 is 1 of 0 and 2
  job.push(2, kIrecv, {0, 4, kInt, any(), -1, kMade, 0});
  job.push(2, kIrecv, {0, 2, kInt, pack_rank(3, 2, 4), 9, kWorld, 1});
  job.push(
      2, kWaitall,
      {3, job.array({0, 1, 5}),
       job.array({-1, relative(SpecialRank::kNone), relative(SpecialRank::kNone)}),
       job.array({6, kNotRecorded, kNotRecorded}), job.array({8, kNotRecorded, kNotRecorded})});
  job.push(2, kIrecv, {0, 1, kInt, any(), 9, kWorld, 0});
  job.push(2, kWait, {0, none(), kNotRecorded, kNotRecorded});
  const Trace trace = job.build();
  const std::size_t events =
      follow(trace, 2, [](const Follower& follower, const FollowedEvent& event, std::size_t at) {
        if (at == 3) {
          REQUIRE(event.completions.size() == 3);
          const Match first = follower.match(event, event.completions[0]);
          CHECK(first.told);
          CHECK(first.source.world == 0);
          CHECK(first.source.rank == 0);
          CHECK(first.tag == 6);
          CHECK(first.bytes == 8);
          const Posting& posting = *event.completions[0].posting;
          CHECK(posting.event == 2);
          CHECK(posting.bytes == 16);
          CHECK((posting.any_source && posting.any_tag));
          const Match second = follower.match(event, event.completions[1]);
          CHECK((second.told && second.source.world == 3 && second.tag == 9));
          CHECK(second.bytes == kNotRecorded);
          CHECK(event.completions[1].posting->event == 3);
          CHECK(event.completions[2].posting == nullptr);
        }
        if (at == 4) CHECK(event.replaced == nullptr);
        if (at == 5) {
          CHECK(event.comm == &follower.world());
          CHECK_FALSE(follower.match(event, event.completions[0]).told);
        }
      });
  CHECK(events == 6);
}

TEST_CASE("what completes some requests says where they stand in its list") {
  Job job;
  for (std::int64_t id = 0; id < 3; ++id)
    job.push(0, kIrecv, {0, 1, kInt, pack_rank(1, 0, 4), id, kWorld, id});
  const std::int64_t as_posted = job.array({kNotRecorded, kNotRecorded});
  // The list has a null request, and an index outside it is of none.
  job.push(0, kWaitsome,
           {4, job.array({2, -1, 0, 1}), 3, job.array({3, 0, 9}),
            job.array({relative(SpecialRank::kNone), relative(SpecialRank::kNone)}), as_posted,
            as_posted});
  const Trace trace = job.build();
  const std::size_t events =
      follow(trace, 0, [](const Follower&, const FollowedEvent& event, std::size_t at) {
        if (at != 3) return;
        REQUIRE(event.completions.size() == 2);
        const Completion &first = event.completions[0], &second = event.completions[1];
        CHECK((first.id == 1 && first.place == 3 && first.status == 0));
        CHECK((second.id == 2 && second.place == 0 && second.status == 1));
      });
  CHECK(events == 4);
}

TEST_CASE("a persistent request stays, is posted where it was started, and completes only then") {
  Job job;
  job.push(0, kRecvInit, {0, 1, kInt, pack_rank(1, 0, 4), 5, kWorld, 0});
  job.push(0, kWait, {0, none(), kNotRecorded, kNotRecorded});
  for (int i = 0; i < 2; ++i) {
    job.push(0, kStart, {0});
    job.push(0, kWait, {0, none(), kNotRecorded, kNotRecorded});
  }
  job.push(0, kIrecv, {0, 1, kInt, pack_rank(1, 0, 4), 5, kWorld, 0});
  const Trace trace = job.build();
  const std::size_t events =
      follow(trace, 0, [](const Follower&, const FollowedEvent& event, std::size_t at) {
        if (at == 1) CHECK(event.completions.empty());
        if (at == 2 || at == 4) REQUIRE((event.started.size() == 1 && event.started[0] != nullptr));
        if (at == 3 || at == 5) {
          REQUIRE(event.completions.size() == 1);
          CHECK(event.completions[0].posting->event == at);
          CHECK(event.completions[0].posting->partner.world == 1);
        }
        if (at == 6) CHECK((event.replaced != nullptr && event.replaced->persistent));
      });
  CHECK(events == 7);
}

TEST_CASE("a matched receive knows what its probe found, and derived types have sizes") {
  Job job;
  job.push(1, kVector, {3, 2, 9, kInt, 0});
  job.push(1, kMprobe, {any(), -1, kWorld, 0, pack_rank(3, 1, 4), 4, 24});
  job.push(1, kMrecv, {0, 1, 0, 0, none(), kNotRecorded, kNotRecorded});
  const Trace trace = job.build();
  const std::size_t events =
      follow(trace, 1, [](const Follower& follower, const FollowedEvent& event, std::size_t at) {
        if (at == 1) CHECK(follower.match(event).source.world == 3);
        if (at != 2) return;
        CHECK(event.recv_bytes == 24);
        CHECK(event.source.world == 3);
        CHECK(follower.match(event).tag == 4);
        CHECK(follower.inexact(event) == 0);
      });
  CHECK(events == 3);
}
