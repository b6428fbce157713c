// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <random>
#include <utility>

#include "model/view.h"
#include "mpi/call_table.h"
#include "record/streams.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::compress;
using namespace chameleon::flush;
using namespace chameleon::mpi;
using namespace chameleon::process;
using namespace chameleon::record;
using namespace chameleon::signature;
using namespace chameleon::world;

namespace {

void append(Streams& streams, std::uint32_t thread, std::uint64_t path) {
  const std::int64_t values[] = {0, 0};
  IntervalLog& log = streams.of(thread).trace.log();
  log.append(log.find(static_cast<std::uint16_t>(CallId::kBarrier), path, values, 2), 10, 5);
}

SignatureVector interval(const std::vector<std::uint64_t>& path_of_thread) {
  const RecordOptions options;
  Streams streams(options, 1, 4);
  for (std::uint32_t thread = 0; thread < path_of_thread.size(); ++thread)
    for (int i = 0; i < 3; ++i)
      if (path_of_thread[thread] != 0) append(streams, thread, path_of_thread[thread]);
  return streams.close_interval(1.0);
}

}  // namespace

TEST_CASE("a rank's signature is over its streams, whichever thread has which number") {
  CHECK(interval({1, 2, 3}) == interval({1, 3, 2}));
  CHECK(interval({1, 2, 3}).call_path != interval({1, 2, 2}).call_path);
  CHECK(interval({1, 2}).call_path != interval({1}).call_path);
  CHECK(interval({1, 0, 0}) == interval({1}));  // threads that did nothing
}

TEST_CASE("a stream begins with its thread; a rank's trace has all of them, and their events") {
  const RecordOptions options;
  Streams streams(options, 1, 4);
  append(streams, 0, 1);
  CHECK(streams.count() == 1);
  CHECK(&streams.of(0) == &streams.first());
  for (int i = 0; i < 5; ++i) append(streams, 2, 7);
  CHECK(streams.count() == 3);
  streams.close_interval(1.0);
  append(streams, 2, 8);  // of the next interval
  streams.end_interval(1.0, true);
  Trace schema;
  schema.calls[static_cast<std::uint16_t>(CallId::kBarrier)] = {
      "Barrier", {{"return", "int", FieldKind::kPlain}, {"comm", "comm", FieldKind::kPlain}}};
  const Trace trace = streams.take(schema);
  CHECK(trace.threads == 3);
  CHECK(trace.ranks == *RankList::parse("1,5,9"));
  CHECK(trace.facts.at(1).events == 1);
  CHECK(trace.facts.at(5).events == 0);
  CHECK(trace.facts.at(9).events == 5);
  Result<RankView> view = RankView::make(trace, 9);
  REQUIRE(view);
  EventView event;
  int events = 0;
  while (view->next(event)) {
    CHECK(event.node->path == 7);
    ++events;
  }
  CHECK(events == 5);
}

TEST_CASE("objects are found across streams, and requests by their maker") {
  const RecordOptions options;
  Streams streams(options, 0, 1);
  const auto requests = [&](std::uint32_t thread) -> Slots& {
    return streams.of(thread).slots[static_cast<std::size_t>(Kind::kRequest)];
  };
  requests(2);
  const std::int64_t id = requests(1).create(42);
  CHECK(requests(2).find(42) == id);
  CHECK(requests(0).find(42) == id);
  CHECK(streams.maker(id) == &streams.of(1));
  CHECK(streams.maker(3) == &streams.first());
  CHECK(streams.maker(-2) == nullptr);
  CHECK(streams.maker(std::int64_t{7} << kObjectThreadShift) == nullptr);
}

TEST_CASE("threads beyond the most share the last stream") {
  RecordOptions options;
  options.buffer = 64U << 10;
  Streams streams(options, 0, 1 << 21);  // 2^24 streams in all
  CHECK(&streams.of(7) == &streams.of(9));
  CHECK(streams.crowded());
  CHECK(streams.count() == 8);
}

TEST_CASE("an interval that is decided late is in the trace as a whole, or not at all",
          "[property]") {
  const auto seed = static_cast<std::uint32_t>(GENERATE(range(1, 30)));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](unsigned end) { return random() % end; };
  RecordOptions options;
  options.buffer = 8192;  // 256 records
  Streams streams(options, 0, 1);
  RankTrace& trace = streams.first().trace;
  using Paths = std::vector<std::uint64_t>;
  Paths kept, open;
  std::optional<Paths> closed;
  std::uint64_t all = 0;
  const auto decide = [&] {
    if (!closed) return;
    const bool keeps = below(2) == 0;
    if (keeps) kept.insert(kept.end(), closed->begin(), closed->end());
    CHECK(streams.end_interval(1.0, keeps));
    CHECK(trace.events() == kept.size());
    closed.reset();
  };
  const bool late = below(4) != 0;
  for (int interval = 0; interval < 40; ++interval) {
    const unsigned kinds = 1 + below(6), shape = below(3);
    for (unsigned i = 0, count = below(3) == 0 ? below(900) : below(40); i < count; ++i) {
      open.push_back(1 + (shape == 0 ? below(kinds) : i % kinds));
      append(streams, 0, open.back());
      if (trace.log().full()) trace.spill(1.0);
      CHECK_FALSE(trace.log().full());
    }
    decide();
    streams.close_interval(1.0);
    all += open.size();
    closed = std::exchange(open, {});
    if (!late) decide();
  }
  decide();
  CHECK(trace.all_events() == all);
  std::uint64_t timed = 0;
  const std::vector<StreamAccounts> accounts = streams.accounts();
  for (const Account& account : accounts.front().accounts)
    timed += account.times.communication.count();
  CHECK(timed == all);
  Trace schema;
  schema.calls[static_cast<std::uint16_t>(CallId::kBarrier)] = {
      "Barrier", {{"return", "int", FieldKind::kPlain}, {"comm", "comm", FieldKind::kPlain}}};
  const Trace taken = streams.take(schema);
  Paths expanded;
  auto view = RankView::make(taken, 0);
  REQUIRE(view);
  for (EventView event; view->next(event);) expanded.push_back(event.node->path);
  CHECK(expanded == kept);
}
