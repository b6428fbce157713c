// SPDX-License-Identifier: BSD-3-Clause
/// Segments, instances, patterns and families; the example of Tables 2 to 4.

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "analysis/phases.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TraceBuilder;

namespace {

enum : std::uint16_t {
  kSend = 1,
  kRecv,
  kIsend,
  kIrecv,
  kWaitall,
  kBarrier,
  kAllreduce,
  kFinalize
};
constexpr std::int64_t kInt = -3;

struct Job : TraceBuilder {
  explicit Job(std::uint32_t ranks_) : TraceBuilder(ranks_), ranks(ranks_), open(ranks_) {
    const std::vector<std::string> send = {"buf:buffer",  "count:count", "datatype:datatype",
                                           "dest:dest:e", "tag:tag",     "comm:comm"};
    const std::vector<std::string> receive = {"buf:buffer",      "count:count", "datatype:datatype",
                                              "source:source:e", "tag:tag",     "comm:comm"};
    const auto with = [](std::vector<std::string> fields, const std::vector<std::string>& more) {
      fields.insert(fields.end(), more.begin(), more.end());
      return fields;
    };
    call(kSend, "Send", send);
    call(kRecv, "Recv",
         with(receive, {"status.source:source:e", "status.tag:tag", "status.bytes:bytes"}));
    call(kIsend, "Isend", with(send, {"request:request"}));
    call(kIrecv, "Irecv", with(receive, {"request:request"}));
    call(kWaitall, "Waitall");
    call(kBarrier, "Barrier");
    call(kAllreduce, "Allreduce");
    call(kFinalize, "Finalize", {});
  }

  std::int64_t rank_of(std::uint32_t self, std::uint32_t other) const {
    return pack_rank(static_cast<std::int32_t>(other), static_cast<std::int32_t>(self),
                     static_cast<std::int32_t>(ranks));
  }
  void send(std::uint32_t from, std::uint32_t to, int count = 1) {
    push(from, kSend, {0, count, kInt, rank_of(from, to), 7, 0});
  }
  void receive(std::uint32_t at, std::uint32_t from, int count = 1) {
    push(at, kRecv,
         {0, count, kInt, rank_of(at, from), 7, 0, kNotRecorded, kNotRecorded, kNotRecorded});
  }
  void isend(std::uint32_t from, std::uint32_t to, int count = 1) {
    push(from, kIsend, {0, count, kInt, rank_of(from, to), 7, 0, open[from]++});
  }
  void ireceive(std::uint32_t at, std::uint32_t from, int count = 1) {
    push(at, kIrecv, {0, count, kInt, rank_of(at, from), 7, 0, open[at]++});
  }
  void waitall(std::uint32_t rank) {
    std::vector<std::int64_t> requests;
    for (std::int64_t id = 0; id < open[rank]; ++id) requests.push_back(id);
    const std::int64_t none = array({});
    push(rank, kWaitall, {open[rank], array(requests), none, none, none});
    open[rank] = 0;
  }
  void allreduce(std::uint32_t rank, int count = 1) {
    push(rank, kAllreduce, {0, 0, count, kInt, -2, 0});
  }
  Trace finalized() {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) push(rank, kFinalize, {});
    return build();
  }

  std::uint32_t ranks;
  std::vector<std::int64_t> open;  ///< requests of each rank
};

Patterns patterns_of(const Trace& trace, PatternOptions options = {}) {
  options.sequence = true;
  Result<Patterns> found = find_patterns(trace, options);
  REQUIRE(found);
  CHECK(found->sequence.patterns.size() == found->instances);
  return std::move(*found);
}

/// Calls of one of these are of another function than all others.
ContextOf context_of(std::vector<std::uint16_t> calls) {
  return [calls](std::uint64_t path) -> std::uint64_t {
    return std::count(calls.begin(), calls.end(), path - 100) > 0 ? 2 : 1;
  };
}

}  // namespace

TEST_CASE("patterns, their order and their sizes: Tables 2 to 4") {
  const auto vectors = nlohmann::json::parse(std::ifstream(CHAMELEON_STATISTICS_VECTORS));
  Job job(4);
  std::vector<std::vector<std::string>> segments(4);
  for (const auto& [name, text] : vectors["table2_traces"].items()) {
    const std::uint32_t rank = static_cast<std::uint32_t>(name[1] - '1');
    std::istringstream words(text.get<std::string>());
    for (std::string word; words >> word;) {
      const std::uint32_t other = word == "|" ? 0 : static_cast<std::uint32_t>(word[1] - '1');
      if (word == "|")
        job.waitall(rank);
      else if (word[0] == 'S')
        job.isend(rank, other);
      else
        job.ireceive(rank, other);
    }
  }
  const SplitRule rule = GENERATE(SplitRule::kAuto, SplitRule::kWait);
  PatternOptions options;
  options.split = rule;
  const Trace trace = job.finalized();
  const Patterns found = patterns_of(trace, options);
  std::uint64_t segment_count = 0;
  for (const auto& row : vectors["table2"]) segment_count += row["positions"].size();
  CHECK(found.facts.segments == segment_count);
  CHECK(found.facts.unmatched == 0);
  CHECK(found.cycles == 0);
  REQUIRE(found.patterns.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const auto& row = vectors["table3"]["CP" + std::to_string(i + 1)];
    CHECK(found.patterns[i].processes == row["processes"]);
    CHECK(found.patterns[i].sums.least_events == row["events"]);
    CHECK(found.patterns[i].sums.most_events == row["events"]);
    CHECK(found.patterns[i].sums.instances == row["frequency"]);
    CHECK(found.patterns[i].sums.bytes ==
          4 * row["messages"].get<int>() * row["frequency"].get<int>());
  }
  std::vector<std::string> order;
  for (const std::uint32_t pattern : found.sequence.patterns)
    order.push_back("CP" + std::to_string(pattern + 1));
  CHECK(order == vectors["table4"].get<std::vector<std::string>>());
}

TEST_CASE("a segment ends where messages change to collectives, and when its requests are done") {
  Job job(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    job.isend(rank, 1 - rank);
    job.ireceive(rank, 1 - rank);
    job.waitall(rank);
    job.isend(rank, 1 - rank);
    job.ireceive(rank, 1 - rank);
    job.waitall(rank);
    job.push(rank, kBarrier, {0});
    job.allreduce(rank, 10);
    job.allreduce(rank, 10);
  }
  const Trace trace = job.finalized();
  const Patterns found = patterns_of(trace);
  REQUIRE(found.patterns.size() == 2);
  CHECK(found.patterns[0].sums.instances == 2);
  CHECK(found.patterns[0].sums.least_events == 4);
  CHECK(found.patterns[0].sums.bytes == 2 * 8);
  CHECK(found.patterns[1].sums.instances == 2);  // the same call again is another one
  CHECK(found.patterns[1].sums.least_events == 2);
  // Each rank gives 40 bytes and gets 40: half of both ranks' 80.
  CHECK(found.patterns[1].sums.bytes == 2 * 80);

  PatternOptions options;
  options.split = SplitRule::kContext;
  const Patterns whole = patterns_of(trace, options);
  REQUIRE(whole.patterns.size() == 2);
  CHECK(whole.patterns[0].sums.least_events == 8);
  CHECK(whole.patterns[1].sums.least_events == 4);
}

TEST_CASE("a segment ends where another function begins") {
  Job job(2);
  job.send(0, 1);
  job.isend(0, 1);
  job.waitall(0);
  job.receive(1, 0);
  job.ireceive(1, 0);
  job.waitall(1);
  const Trace trace = job.finalized();
  CHECK(patterns_of(trace).patterns.front().sums.least_events == 4);
  PatternOptions options;
  options.context = context_of({kIsend, kIrecv, kWaitall});
  const Patterns found = patterns_of(trace, options);
  REQUIRE(found.patterns.size() == 1);  // the same messages between the same ranks
  CHECK(found.patterns.front().sums.instances == 2);
  CHECK(found.patterns.front().families == std::vector<std::uint32_t>{0, 1});
  REQUIRE(found.families.size() == 2);
  CHECK(found.families[0].paths == std::vector<std::uint64_t>{100 + kSend, 100 + kRecv});
  CHECK(found.families[1].paths == std::vector<std::uint64_t>{100 + kIsend, 100 + kIrecv});
}

TEST_CASE("the first operation of a segment that comes again begins another one") {
  Job job(2);
  for (int plane = 0; plane < 5; ++plane) {
    job.send(0, 1);
    job.receive(0, 1);
    job.receive(1, 0);
    job.send(1, 0);
  }
  const Trace trace = job.finalized();
  const Patterns found = patterns_of(trace);
  REQUIRE(found.patterns.size() == 1);
  CHECK(found.patterns.front().sums.instances == 5);
  CHECK(found.patterns.front().sums.most_events == 4);
}

TEST_CASE("patterns that are moved among the ranks are one family") {
  Job job(6);
  for (const std::uint32_t rank : {0U, 2U, 4U})
    for (int i = 0; i < 3; ++i) {
      job.send(rank, rank + 1, static_cast<int>(rank) + 1);
      job.receive(rank + 1, rank, static_cast<int>(rank) + 1);
    }
  const Trace trace = job.finalized();
  const Patterns found = patterns_of(trace);
  CHECK(found.patterns.size() == 3);
  REQUIRE(found.families.size() == 1);
  const PatternFamily& family = found.families.front();
  CHECK(family.patterns == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(family.sums.instances == 9);
  CHECK(family.sums.least_bytes == 4);
  CHECK(family.sums.most_bytes == 20);
  CHECK(family.least_processes == 2);
  CHECK(family.most_processes == 2);
}

TEST_CASE("a message that is never received, and a collective that not all make") {
  Job job(3);
  job.send(0, 1);
  job.allreduce(0);
  job.allreduce(1);
  job.complete = false;
  const Trace trace = job.build();
  const Patterns found = patterns_of(trace);
  CHECK(found.instances == 2);
  CHECK(found.facts.unmatched == 2);
}

TEST_CASE("segments that overlap all along are cut at what all ranks wait for") {
  // Every segment begins with a message of the one before: sent before, received after.
  constexpr int kSteps = 400;
  Job job(2);
  job.isend(0, 1);
  for (int step = 0; step < kSteps; ++step) {
    job.waitall(0);
    job.isend(0, 1);
    if (step > 0) job.waitall(1);
    job.ireceive(1, 0);
    job.ireceive(1, 0);
    job.isend(0, 1);
    for (const std::uint32_t rank : {0U, 1U}) job.push(rank, kBarrier, {0});
  }
  job.waitall(0);
  job.waitall(1);
  const Trace trace = job.finalized();
  PatternOptions options;
  options.split = SplitRule::kContext;
  // One segment a rank is no chain.
  CHECK_FALSE(patterns_of(trace, options).cut_at_collectives);
  options.split = SplitRule::kAuto;
  const Patterns found = patterns_of(trace, options);
  CHECK(found.cut_at_collectives);
  CHECK(found.instances > kSteps / 2);
}

TEST_CASE("instances come in the order of every rank's program, whoever is first") {
  const unsigned seed = GENERATE(range(1U, 11U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr std::uint32_t kRanks = 5;
  constexpr int kMessages = 60;
  Job job(kRanks);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sent;
  for (int i = 0; i < kMessages; ++i) {
    const std::uint32_t from = random() % kRanks;
    const std::uint32_t to = (from + 1 + random() % (kRanks - 1)) % kRanks;
    sent.emplace_back(from, to);
    job.isend(from, to);
    job.waitall(from);
    job.ireceive(to, from);
    job.waitall(to);
  }
  const Trace trace = job.finalized();
  const Patterns found = patterns_of(trace);
  REQUIRE(found.instances == kMessages);
  CHECK(found.cycles == 0);
  std::vector<std::size_t> next(kRanks);  // of a rank: how many of the messages are done
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> of(kRanks);
  for (const auto& message : sent) {
    of[message.first].push_back(message);
    of[message.second].push_back(message);
  }
  for (const std::uint32_t pattern : found.sequence.patterns) {
    const std::vector<PatternRole>& roles = found.patterns[pattern].roles;
    REQUIRE(roles.size() == 2);
    const bool first_sends = roles[0].symbols.front() >> 32 == 0;
    const auto message = first_sends ? std::pair(roles[0].rank, roles[1].rank)
                                     : std::pair(roles[1].rank, roles[0].rank);
    for (const std::uint32_t rank : {message.first, message.second}) {
      REQUIRE(next[rank] < of[rank].size());
      CHECK(of[rank][next[rank]++] == message);
    }
  }
}

TEST_CASE("phases: where the mix of patterns changes, with their time and load") {
  constexpr std::uint64_t kMs = 1'000'000;
  Job job(2);
  const auto step = [&](std::uint64_t compute0, std::uint64_t compute1, bool ring) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const std::uint64_t compute = rank == 0 ? compute0 : compute1;
      if (ring)
        job.push(rank, kAllreduce, {0, 0, 1, kInt, -2, 0}, compute, 1);
      else if (rank == 0)
        job.push(0, kSend, {0, 1, kInt, job.rank_of(0, 1), 7, 0}, compute, 1);
      else
        job.push(1, kRecv,
                 {0, 1, kInt, job.rank_of(1, 0), 7, 0, kNotRecorded, kNotRecorded, kNotRecorded},
                 compute, 1);
    }
  };
  for (int i = 0; i < 30; ++i) step(kMs, kMs, true);
  for (int i = 0; i < 10; ++i) step(2 * kMs, kMs, false);
  const Trace trace = job.finalized();
  const Result<ExecutionPhases> found = find_phases(trace, {}, {});
  REQUIRE(found);
  REQUIRE(found->phases.size() == 2);
  const ExecutionPhase &first = found->phases[0], &second = found->phases[1];
  CHECK(first.first == 0);
  CHECK(first.last == 30);
  CHECK(second.last == 40);
  CHECK(second.tie_first == 30);
  CHECK(second.strength > 0);
  CHECK(first.begin_ns == 0);
  CHECK(first.ns() == Approx(31.0 * kMs).epsilon(1e-3));  // up to the first message
  CHECK(second.ns() == Approx(19.0 * kMs).epsilon(1e-3));
  CHECK(first.end_ns == second.begin_ns);
  // It begins with rank 1's receive, when rank 0 has computed for half of its first step.
  CHECK(second.compute_ns == Approx(19.0 * kMs + 9.0 * kMs).epsilon(1e-3));
  CHECK(second.most_compute_ns == Approx(19.0 * kMs).epsilon(1e-3));
  CHECK(first.families == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{0, 30}});
  CHECK(second.families == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{1, 10}});
}

namespace {

/// Spans of so many intervals with these Call-Paths, a millisecond an interval.
Series series_of(const std::vector<std::uint32_t>& call_paths, std::uint64_t intervals = 1) {
  Series series;
  std::uint64_t first = 1;
  for (const std::uint32_t phase : call_paths) {
    SeriesSpan span;
    span.first = first;
    span.intervals = intervals;
    first += intervals;
    span.end_ns = (first - 1) * 1'000'000;
    span.phase = phase;
    span.all.compute.sum_ns = 3 * intervals;
    span.all.communication.sum_ns = 2 * intervals;
    span.all.waiting.sum_ns = intervals;
    series.add(span);
  }
  return series;
}

}  // namespace

TEST_CASE("phases by markers begin where the Call-Paths change") {
  std::vector<std::uint32_t> call_paths(10, 0);
  call_paths.insert(call_paths.end(), 20, 1);
  for (int i = 0; i < 12; ++i) call_paths.push_back(i % 2 == 0 ? 2 : 3);
  const std::vector<MarkerPhase> phases = find_marker_phases(series_of(call_paths), {});
  REQUIRE(phases.size() == 3);
  CHECK((phases[0].first == 1 && phases[0].last == 10));
  CHECK((phases[1].first == 11 && phases[1].last == 30));
  CHECK((phases[2].first == 31 && phases[2].last == 42));
  CHECK((phases[1].begin_ns == 10'000'000 && phases[1].end_ns == 30'000'000));
  CHECK((phases[1].compute_ns == 60 && phases[1].calls_ns == 40 && phases[1].waiting_ns == 20));
  CHECK(phases[1].call_paths == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{1, 20}});
  CHECK(phases[2].call_paths.size() == 2);
  CHECK(phases[1].strength > 0);
  CHECK((phases[1].tie_first <= 11 && phases[1].tie_last >= 11));
  CHECK(find_marker_phases(series_of(std::vector<std::uint32_t>(50, 4)), {}).size() == 1);
  CHECK(find_marker_phases(Series(), {}).empty());
  statistics::SegmentationOptions none;
  none.depth = 0;
  CHECK(find_marker_phases(series_of(call_paths), none).size() == 1);
}
