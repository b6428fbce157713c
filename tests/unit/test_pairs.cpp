// SPDX-License-Identifier: BSD-3-Clause
/// Pairs of ranks: amounts, distances, what stands out, and what a trace cannot tell.

#include <cmath>

#include "analysis/pair_messages.h"
#include "analysis/pairs.h"
#include "model/time_code.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::statistics;
using chameleon::testing::TraceBuilder;

namespace {

enum : std::uint16_t { kSend = 1, kRecv };
constexpr std::int64_t kInt = -3;

struct Job : TraceBuilder {
  // Each rank's own times, as with full timing.
  explicit Job(std::uint32_t ranks_) : TraceBuilder(ranks_), ranks(ranks_) {
    call(kSend, "Send",
         {"buf:buffer", "count:count", "datatype:datatype", "dest:dest:e", "tag:tag", "comm:comm",
          "compute:time", "communication:time"});
    call(kRecv, "Recv",
         {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag",
          "comm:comm", "status.source:source:e", "status.tag:tag", "status.bytes:bytes",
          "compute:time", "communication:time"});
  }
  void message(std::uint32_t from, std::uint32_t to, int count, std::uint64_t send_ns = 1,
               std::uint64_t receive_ns = 1) {
    const auto rank_of = [&](std::uint32_t self, std::uint32_t other) {
      return pack_rank(static_cast<std::int32_t>(other), static_cast<std::int32_t>(self),
                       static_cast<std::int32_t>(ranks));
    };
    push(from, kSend,
         {0, count, kInt, rank_of(from, to), 7, 0, encode_time(1), encode_time(send_ns)});
    push(to, kRecv,
         {0, count, kInt, rank_of(to, from), 7, 0, kNotRecorded, kNotRecorded, kNotRecorded,
          encode_time(1), encode_time(receive_ns)});
  }
  std::uint32_t ranks;
};

}  // namespace

TEST_CASE("pairs add both directions, and cluster as the example of three pairs") {
  Job job(5);
  job.message(0, 1, 3);
  job.message(1, 0, 1);
  job.message(2, 3, 2);
  job.message(1, 2, 1);
  job.message(4, 4, 9);  // to itself: no pair of two ranks
  const Trace trace = job.build();
  const Result<RankPairs> found = rank_pairs(trace, PairMeasure::kBytes);
  REQUIRE(found);
  REQUIRE(found->pairs.size() == 4);
  CHECK(found->pairs[0].bytes == 16);
  CHECK(found->pairs[0].messages == 2);
  CHECK(found->pairs[3].a == found->pairs[3].b);
  CHECK(found->ranks.size() == 5);
  const auto distances = pair_distances(*found, PairMeasure::kBytes);
  REQUIRE(distances.size() == 3);
  const std::vector<Merge> merges = hierarchy(5, distances, Linkage::kSingle);
  CHECK(merges[0].height == 1.0 / 16);
  CHECK(merges[1].height == 1.0 / 8);
  CHECK(merges[2].height == 1.0 / 4);
  CHECK(std::isinf(merges[3].height));
  CHECK(leaf_order(5, merges) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a slow pair stands out by its residual, not the one that sends most") {
  Job job(16);
  for (std::uint32_t rank = 0; rank < 16; rank += 2) {
    const int messages = rank == 4 ? 100 : 10;
    for (int i = 0; i < messages; ++i)
      job.message(rank, rank + 1, 8, 1000 + rank * 10,
                  1000 + rank * 10 + (rank == 10 ? 90'000ULL : 0ULL));
  }
  const Trace trace = job.build();
  const Result<RankPairs> found = rank_pairs(trace, PairMeasure::kTransfer);
  REQUIRE(found);
  const std::vector<std::size_t> outstanding = outstanding_pairs(*found, PairMeasure::kTransfer);
  REQUIRE_FALSE(outstanding.empty());
  CHECK(found->pairs[outstanding.front()].a == 10);
  CHECK(found->pairs[outstanding.front()].residual_ns > 0);
  const Result<RankPairs> by_bytes = rank_pairs(trace, PairMeasure::kBytes);
  REQUIRE(by_bytes);
  const std::vector<std::size_t> heavy = outstanding_pairs(*by_bytes, PairMeasure::kMessages);
  REQUIRE(heavy.size() == 1);
  CHECK(by_bytes->pairs[heavy.front()].a == 4);
}

TEST_CASE("messages of a pair have their sizes, times and places") {
  Job job(4);
  for (int i = 0; i < 6; ++i) {
    job.message(2, 1, i < 4 ? 8 : 512, 1000, i == 3 ? 50'000 : 1000);
    job.message(1, 2, 8, 2000, 2000);
    job.message(0, 3, 8);
  }
  const Trace trace = job.build();
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs = {{2, 1}, {0, 1}};
  const auto found = pair_messages(trace, pairs, 100);
  REQUIRE(found);
  REQUIRE(found->size() == 2);
  CHECK((*found)[1].messages == 0);
  const PairMessages& pair = (*found)[0];
  CHECK(pair.a == 1);
  CHECK(pair.b == 2);
  CHECK(pair.messages == 12);
  CHECK(pair.every == 1);
  REQUIRE(pair.kept.size() == 12);
  for (std::size_t i = 1; i < pair.kept.size(); ++i)
    CHECK(pair.kept[i - 1].sent_ns <= pair.kept[i].sent_ns);
  REQUIRE(pair.sizes.size() == 3);
  double sum = 0;
  std::uint64_t messages = 0;
  for (const SizeMessages& size : pair.sizes) {
    sum += size.transfer_ns;
    messages += size.messages;
    CHECK(size.messages == (size.source == 1 ? 6U : size.bytes == 32 ? 4U : 2U));
    CHECK(size.median_ns <= static_cast<double>(size.longest.transfer_ns()));
  }
  CHECK(messages == 12);
  CHECK(pair.sizes[0].longest.transfer_ns() > 40'000);
  const Result<RankPairs> all = rank_pairs(trace, PairMeasure::kTransfer);
  REQUIRE(all);
  CHECK(all->pairs[1].transfer_ns == Approx(sum));
  CHECK(all->expected_ns.contains(size_class(2048)));
}

TEST_CASE("of many messages of a pair some are kept, evenly, and all are counted") {
  Job job(2);
  for (int i = 0; i < 1000; ++i) job.message(0, 1, 8, 1000, 1000 + i % 7);
  const Trace trace = job.build();
  const std::pair<std::uint32_t, std::uint32_t> wanted(0, 1);
  const auto all = pair_messages(trace, {&wanted, 1}, 1000),
             few = pair_messages(trace, {&wanted, 1}, 50);
  REQUIRE(all);
  REQUIRE(few);
  REQUIRE(all->front().kept.size() == 1000);
  CHECK(few->front().messages == 1000);
  CHECK(few->front().every == 32);
  REQUIRE(few->front().kept.size() == 32);
  for (std::size_t i = 0; i < 32; ++i)
    CHECK(few->front().kept[i].sent_ns == all->front().kept[32 * i].sent_ns);
  CHECK(few->front().sizes.front().transfer_ns == all->front().sizes.front().transfer_ns);
}

TEST_CASE("times of events are ns, or codes in traces of former formats") {
  const Field ns{"compute", "ns", FieldKind::kPlain}, code{"compute", "time", FieldKind::kPlain};
  CHECK((is_time(ns) && is_time(code)));
  CHECK_FALSE(is_time({"count", "count", FieldKind::kPlain}));
  CHECK(time_ns(ns, 12'345'678) == 12'345'678);
  CHECK(time_ns(ns, -1) == 0);
  CHECK(time_ns(ns, INT64_MAX) == std::uint64_t{INT64_MAX});
  CHECK(time_ns(code, 63) == 63);
  CHECK(time_ns(code, encode_time(12'345'678)) == decode_time(encode_time(12'345'678)));
  CHECK(time_ns(code, -1) == 0);
}

TEST_CASE("what a trace cannot tell is refused with the setting that would") {
  Job job(2);
  job.message(0, 1, 1);
  Trace trace = job.build();
  trace.timing = "histogram";
  CHECK_FALSE(unsupported(trace, PairMeasure::kBytes));
  CHECK_FALSE(unsupported(trace, PairMeasure::kWait));
  REQUIRE(unsupported(trace, PairMeasure::kTransfer));
  CHECK(unsupported(trace, PairMeasure::kTransfer)->find("CHAMELEON_TIMING=full") !=
        std::string::npos);
  trace.timing = "full";
  CHECK_FALSE(unsupported(trace, PairMeasure::kTransfer));
  trace.online.fidelity = "lead";
  CHECK(unsupported(trace, PairMeasure::kTransfer)->find("CHAMELEON_FIDELITY=exact") !=
        std::string::npos);
  trace.timing = "none";
  CHECK(unsupported(trace, PairMeasure::kWait));
  for (const char* name : {"transfer", "wait", "bytes", "messages"}) {
    PairMeasure measure{};
    REQUIRE(measure_of(name, measure));
    CHECK(std::string(measure_name(measure)) == name);
  }
}
