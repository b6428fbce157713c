// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>

#include "model/end_point.h"
#include "mpi/event_layout.h"
#include "record/rank_trace.h"

namespace chameleon {
using namespace cluster;
using namespace compress;
using namespace flush;
using namespace mpi;
using namespace process;
using namespace record;
using namespace signature;
using namespace world;
namespace {

constexpr auto kBarrier = static_cast<std::uint16_t>(CallId::kBarrier);

void append(RankTrace& trace, std::uint64_t path) {
  const std::int64_t comm = 0;
  trace.log().append(trace.log().find(kBarrier, path, &comm, 1), 1, 1);
}

TEST_CASE("what comes while an interval is decided belongs to the next") {
  const bool keep = GENERATE(true, false);
  RecordOptions options;
  options.buffer = 16384;
  RankTrace trace(options);
  append(trace, 7);
  const SignatureVector first = trace.close_interval(1.0);
  for (int i = 0; i < 1000; ++i) {  // more than fits the log
    append(trace, 9);
    if (trace.log().full()) trace.spill(1.0);
  }
  CHECK(trace.all_events() == 1);
  if (keep)
    trace.join(1.0);
  else
    trace.drop();
  CHECK(trace.events() == (keep ? 1 : 0));
  const SignatureVector second = trace.close_interval(1.0);
  CHECK(first.call_path != second.call_path);
  trace.join(1.0);
  CHECK(trace.events() == (keep ? 1001 : 1000));
  CHECK(trace.all_events() == 1001);
  std::uint64_t events = 0;
  for (const Node& node : trace.take()) events += node.is_loop() ? 1000 : 1;
  CHECK(events == (keep ? 1001U : 1000U));
}

TEST_CASE("an interval closed before a flush and kept after it is in the next flush's books") {
  RecordOptions options;
  options.hashes = true;
  RankTrace one(options), other(options);
  const auto interval = [](RankTrace& trace, std::uint64_t path) {
    append(trace, path);
    trace.close_interval(1.0);
  };
  for (RankTrace* trace : {&one, &other}) {
    interval(*trace, 7);
    trace->join(1.0);
    interval(*trace, trace == &one ? 8 : 9);
  }
  CHECK(one.hashes() == other.hashes());
  CHECK(one.history().call_path == other.history().call_path);
  CHECK(one.take().size() == 1);
  CHECK(other.take().size() == 1);
  one.join(1.0);
  other.join(1.0);
  CHECK_FALSE(one.hashes() == other.hashes());
  CHECK(one.history().call_path != other.history().call_path);
}

TEST_CASE("an interval that repeats the one before is signed as any other") {
  RecordOptions options;
  options.hashes = true;
  options.buffer = 64 << 10;
  const std::vector<std::vector<std::uint64_t>> intervals = {
      {7, 8, 7}, {7, 8, 7}, {7, 8}, {7, 8, 7}, {7, 8, 7}, {}, {7, 7, 8}, {7, 8, 7}, {7, 8, 7}};
  RankTrace all(options);
  for (const std::vector<std::uint64_t>& paths : intervals) {
    RankTrace alone(options);
    for (const std::uint64_t path : paths) {
      append(all, path);
      append(alone, path);
    }
    CHECK(all.close_interval(1.0) == alone.close_interval(1.0));
    CHECK(all.interval_events() == paths.size());
    all.drop();
    alone.drop();
    CHECK(all.hashes() == alone.hashes());
    all.take();
  }
}

TEST_CASE("only parameters of the signature format are signed") {
  RecordOptions options;
  options.format = kCallPathBit | format_bit(Parameter::kCount);
  RankTrace counts(options);
  Settings others;
  RankTrace ends(others);
  constexpr const CallInfo& send = *find_call(CallId::kSend);
  const auto interval = [&](RankTrace& trace, std::int64_t count, std::int64_t to) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(stored_values(send)));
    values[static_cast<std::size_t>(value_offset(send, 1))] = count;
    values[static_cast<std::size_t>(value_offset(send, 3))] = (std::int64_t{1} << 32) * to + to;
    trace.log().append(trace.log().find(send.id, 7, values.data(), values.size()), 1, 1);
    const SignatureVector signature = trace.close_interval(1.0);
    trace.join(1.0);
    return signature;
  };
  CHECK_FALSE(interval(counts, 10, 1) == interval(counts, 11, 1));
  CHECK(interval(counts, 10, 1) == interval(counts, 10, 2));
  CHECK(interval(ends, 10, 1) == interval(ends, 11, 1));
  CHECK_FALSE(interval(ends, 10, 1) == interval(ends, 10, 2));
}

}  // namespace
}  // namespace chameleon
