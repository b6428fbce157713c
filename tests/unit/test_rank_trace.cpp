// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdio>

#include "model/end_point.h"
#include "mpi/event_layout.h"
#include "record/rank_trace.h"
#include "unit/catch.h"

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
    trace.drop(1);
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

TEST_CASE("what was waited before an interval is entered for its first event") {
  RecordOptions options;
  RankTrace trace(options);
  const auto symbol = [](std::uint64_t path) { return Node::event_symbol(kBarrier, path); };
  const auto marker = [&](std::uint64_t waited, bool keeps) {
    trace.close_interval(1);
    if (waited != 0) trace.book().waited({waited, 1, 0});
    if (keeps)
      trace.join(1);
    else
      trace.drop(1);
  };
  append(trace, 1), append(trace, 2);
  marker(0, true);
  append(trace, 1), append(trace, 2);
  marker(100, true);  // known now, waited at the marker before
  marker(20, true);   // no event in between
  trace.spill(1);
  append(trace, 3), append(trace, 2);
  trace.spill(1);
  append(trace, 1);
  marker(3, false);
  append(trace, 1);
  marker(4, true);
  const std::map<Place, MarkerWait> wanted = {{{symbol(1), symbol(2)}, {100, 1, 0}},
                                              {{symbol(3), symbol(2)}, {23, 2, 0}},
                                              {{symbol(1), symbol(1)}, {4, 1, 0}}};
  CHECK(trace.book().waits() == wanted);
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
    CHECK(all.interval().events == paths.size());
    all.drop(1);
    alone.drop(1);
    CHECK(all.hashes() == alone.hashes());
    all.take();
  }
}

TEST_CASE("only parameters of the signature format are signed") {
  RecordOptions options;
  options.format = kCallPathBit | format_bit(Parameter::kCount);
  RankTrace counts(options);
  RecordOptions others;
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

RecordOptions with_format(std::initializer_list<Parameter> parameters) {
  RecordOptions settings;
  settings.buffer = 64 << 10;
  settings.format = kCallPathBit;
  for (const Parameter one : parameters) settings.format |= format_bit(one);
  return settings;
}

void append(RankTrace& trace, std::uint64_t path, std::uint64_t compute,
            std::uint64_t communication) {
  const std::int64_t comm = 0;
  trace.log().append(trace.log().find(kBarrier, path, &comm, 1), compute, communication);
}

/// An unsuccessful MPI_Test.
void append_poll(RankTrace& trace, std::uint64_t path, std::uint64_t compute) {
  constexpr const CallInfo& test = *find_call(CallId::kTest);
  const std::vector<std::int64_t> values(static_cast<std::size_t>(stored_values(test)));
  trace.log().append(trace.log().find(test.id, path, values.data(), values.size()), compute, 0);
}

TEST_CASE("times are signed in microseconds, averaged over the events of the interval") {
  const RecordOptions settings = with_format({Parameter::kCompute, Parameter::kCommunication});
  RankTrace trace(settings);
  append(trace, 7, 400, 100);
  append(trace, 8, 2600, 300);
  const SignatureVector first = trace.close_interval(2.0);
  CHECK(first[Parameter::kCompute].mean == 3.0);  // 3000 ticks of 2 ns, two events
  CHECK(first[Parameter::kCommunication].mean == 0.4);
  CHECK(first[Parameter::kCompute].exact != first[Parameter::kCommunication].exact);
  trace.join(2.0);

  // The same events, other times.
  append(trace, 7, 400, 100);
  append(trace, 8, 4600, 100);
  const SignatureVector second = trace.close_interval(2.0);
  CHECK(second.call_path == first.call_path);
  CHECK(second[Parameter::kCompute].mean == 5.0);
  CHECK(second[Parameter::kCommunication].mean == 0.2);
  CHECK(second[Parameter::kCompute].exact != first[Parameter::kCompute].exact);
  trace.drop(1);
  CHECK(trace.history()[Parameter::kCompute].mean == 4.0);

  // What an unsuccessful poll took was spent, but it is no event: the next one has its time, be
  // it of another interval.
  append(trace, 7, 1000, 0);
  append_poll(trace, 9, 3000);
  append(trace, 8, 1000, 0);
  append_poll(trace, 9, 6000);
  CHECK(trace.close_interval(1.0)[Parameter::kCompute].mean == 2.5);
  CHECK(trace.interval().events == 2);
  trace.join(1.0);
  CHECK(trace.close_interval(1.0)[Parameter::kCompute] == SignatureVector::Summary{});
  trace.join(1.0);
  append(trace, 7, 1000, 0);
  CHECK(trace.close_interval(1.0)[Parameter::kCompute].mean == 7.0);
  CHECK(trace.polls() == 2);
}

TEST_CASE("polls that do not fit the log leave their times to the event after them") {
  RecordOptions settings = with_format({});
  settings.buffer = 4096;
  RankTrace trace(settings);
  append(trace, 7, 10, 5);
  append(trace, 8, 10, 5);
  for (int i = 0; i < 1000; ++i) {
    append_poll(trace, 9, 3);
    if (trace.log().full()) trace.spill(1.0);
  }
  append(trace, 10, 10, 5);
  trace.close_interval(1.0);
  trace.drop(1.0);
  std::map<std::uint64_t, double> computed;
  for (const Account& account : trace.book().accounts())
    computed[account.place.symbol] += account.times.compute.sum();
  CHECK(computed[Node::event_symbol(kBarrier, 7)] == 10);
  CHECK(computed[Node::event_symbol(kBarrier, 8)] == 10);
  CHECK(computed[Node::event_symbol(kBarrier, 10)] == 3010);
}

TEST_CASE("all events: an unsuccessful poll is one, but for signatures") {
  RecordOptions settings = with_format({Parameter::kCompute, Parameter::kCommunication});
  settings.all_events = true;
  RankTrace trace(settings);
  append(trace, 7, 1000, 0);
  append_poll(trace, 9, 3000);
  CHECK(trace.close_interval(1.0)[Parameter::kCompute].mean == 4.0);
  CHECK(trace.interval().events == 2);
  trace.join(1.0);
  CHECK(trace.polls() == 0);
  CHECK(trace.take().size() == 2);
}

TEST_CASE("a test of null requests is a poll, whatever it says") {
  const CallId id = GENERATE(CallId::kTest, CallId::kTestany, CallId::kTestsome);
  const bool null = GENERATE(false, true);
  const CallInfo& call = *find_call(id);
  std::vector<std::int64_t> values(static_cast<std::size_t>(stored_values(call)));
  for (std::size_t i = 0; i < params(call).size(); ++i) {
    const ParamInfo& param = params(call)[i];
    std::int64_t& value = values[value_offset(call, i)];
    if (param.kind == Kind::kFlag) value = 1;
    const bool out = param.direction == Direction::kOut && !is_array(param);
    if (id == CallId::kTest && param.kind == Kind::kRequest) value = null ? -1 : 0;
    if (out && param.kind == Kind::kIndex) value = null ? -32766 : 0;
    if (out && param.kind == Kind::kCount) value = null ? -32766 : 1;
  }
  RankTrace trace(with_format({}));
  trace.log().append(trace.log().find(call.id, 9, values.data(), values.size()), 1, 0);
  append(trace, 7, 10, 5);
  trace.close_interval(1.0), trace.join(1.0);
  CHECK(trace.polls() == (null ? 1 : 0));
  CHECK(trace.take().size() == (null ? 1 : 2));
}

TEST_CASE("a trace that drops its events keeps accounts of their times") {
  const bool drops = GENERATE(false, true);
  RecordOptions options;
  options.buffer = 4096;
  RankTrace trace(options);
  for (int interval = 0; interval < 3; ++interval) {
    for (std::uint64_t i = 0; i < 1000; ++i) {
      append(trace, 1 + i % 2, 10 * (1 + i % 2), 5);
      if (trace.log().full()) trace.spill(2.0);
    }
    trace.close_interval(2.0);
    if (drops)
      trace.drop(2.0);
    else
      trace.join(2.0);
  }
  const std::uint64_t one = Node::event_symbol(kBarrier, 1), two = Node::event_symbol(kBarrier, 2);
  std::map<Place, Durations> accounts;
  for (const Account& account : trace.book().accounts()) accounts[account.place] = account.times;
  REQUIRE(accounts.size() == 3);
  CHECK(accounts[Place{one, 0}].compute.count() == 1);
  CHECK(accounts[Place{one, two}].compute.count() == 1499);
  CHECK(accounts[Place{two, one}].compute.count() == 1500);
  CHECK(accounts[Place{two, one}].compute.sum() == 1500 * 40);
  CHECK(accounts[Place{two, one}].communication.sum() == 1500 * 10);
  trace.drop_times();
  append(trace, 1, 10, 5);
  trace.close_interval(2.0);
  trace.join(2.0);
  CHECK(trace.book().accounts().front().times.compute.count() == 1);
}

TEST_CASE("times of an interval that does not fit the log are all signed") {
  const RecordOptions settings = with_format({Parameter::kCompute});
  RankTrace whole(settings), parts(settings);
  for (std::uint64_t i = 0; i < 1000; ++i)
    for (RankTrace* trace : {&whole, &parts}) {
      append(*trace, 7 + i % 3, 1000 * i, 1);
      if (trace == &parts && i % 100 == 0) trace->spill(1.0);
    }
  const SignatureVector expected = whole.close_interval(1.0);
  CHECK(expected[Parameter::kCompute].mean == 499.5);
  CHECK(parts.close_interval(1.0) == expected);
}

TEST_CASE("what is not in the format is not signed") {
  const RecordOptions settings;
  RankTrace trace(settings);
  append(trace, 7, 1000, 1000);
  append(trace, 7, 1000, 1000);
  const SignatureVector signature = trace.close_interval(1.0);
  for (const Parameter none : {Parameter::kCompute, Parameter::kCommunication, Parameter::kLoop})
    CHECK(signature[none] == SignatureVector::Summary{});
}

/// `outer` times: 7, then 8 `inner` times.
void append_loops(RankTrace& trace, int outer, int inner) {
  for (int i = 0; i < outer; ++i) {
    append(trace, 7);
    for (int k = 0; k < inner; ++k) append(trace, 8);
  }
}

TEST_CASE("loops are signed, and what is folded for them is what is joined") {
  const RecordOptions settings = with_format({Parameter::kLoop}), defaults;
  RankTrace signing(settings), plain(defaults);
  const auto close = [&](RankTrace& trace, int outer, int inner) {
    append_loops(trace, outer, inner);
    return trace.close_interval(1.0)[Parameter::kLoop];
  };
  const auto first = close(signing, 5, 3);
  CHECK(first.mean == (5 << 16 | 3));
  close(plain, 5, 3);
  for (RankTrace* trace : {&signing, &plain}) trace->join(1.0);
  CHECK(close(signing, 5, 3) == first);  // it repeats
  CHECK(signing.interval().events == 20);
  close(plain, 5, 3);
  for (RankTrace* trace : {&signing, &plain}) trace->join(1.0);
  CHECK(signing.events() == plain.events());
  CHECK(signing.history().call_path == plain.history().call_path);
  CHECK(signing.history()[Parameter::kLoop].mean == (10 << 16 | 3));
  CHECK(shape_of(signing.take()) == shape_of(plain.take()));
  CHECK(close(signing, 5, 3) == first);
  signing.drop(1);
  CHECK(close(signing, 6, 3).exact != first.exact);
  signing.drop(1);
  CHECK(signing.take().empty());
}

TEST_CASE("an average of iterations hides what the hash of LOOP shows") {
  const RecordOptions settings = with_format({Parameter::kLoop});
  const auto loops = [&](std::initializer_list<int> inner) {
    RankTrace trace(settings);
    for (const int each : inner) append_loops(trace, 1, each);
    return trace.close_interval(1.0)[Parameter::kLoop];
  };
  CHECK(loops({3, 5, 3, 5}).mean == loops({4, 4, 4, 4}).mean);
  CHECK(loops({3, 5, 3, 5}).exact != loops({4, 4, 4, 4}).exact);
  CHECK(loops({3, 5, 3, 5}).exact != loops({5, 3, 5, 3}).exact);
}

TEST_CASE("an interval by which nobody is clustered is not folded for its loops") {
  const RecordOptions settings = with_format({Parameter::kLoop});
  RankTrace trace(settings);
  append_loops(trace, 4, 2);
  CHECK(trace.close_interval(1.0, false)[Parameter::kLoop] == SignatureVector::Summary{});
  CHECK(trace.log().records().size() == 12);  // they are still in the log
  trace.join(1.0);
  CHECK(trace.history()[Parameter::kLoop].mean == (4 << 16 | 2));  // but the history is folded
  append_loops(trace, 4, 2);
  CHECK(trace.close_interval(1.0, true)[Parameter::kLoop].mean == (4 << 16 | 2));
  CHECK(trace.log().records().empty());
  trace.join(1.0);
  append_loops(trace, 4, 2);
  CHECK(trace.close_interval(1.0, true)[Parameter::kLoop].mean == (4 << 16 | 2));
  CHECK(trace.log().records().size() == 12);  // known: it repeats
}

TEST_CASE("a history's averages are over all of its intervals, and its hashes tell their order") {
  const RecordOptions settings = with_format({Parameter::kCount});
  constexpr const CallInfo& send = *find_call(CallId::kSend);
  const auto history = [&](std::initializer_list<std::int64_t> counts) {
    RankTrace trace(settings);
    for (const std::int64_t count : counts) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(stored_values(send)));
      values[static_cast<std::size_t>(value_offset(send, 1))] = count;
      trace.log().append(trace.log().find(send.id, 7, values.data(), values.size()), 1, 1);
      trace.close_interval(1.0);
      trace.join(1.0);
    }
    return trace.history()[Parameter::kCount];
  };
  CHECK(history({10, 20, 30}).mean == 20);
  CHECK(history({10, 20, 30}).exact == history({10, 20, 30}).exact);
  CHECK(history({10, 20, 30}).exact != history({20, 10, 30}).exact);
  CHECK(history({10, 20, 30}).exact != history({30}).exact);
  CHECK(history({}) == SignatureVector::Summary{});
}

/// Signature of an interval of MPI_Sends of the given {partner as packed, datatype, communicator}.
struct Sent {
  std::int64_t to = 0, datatype = 0, comm = 0;
};
SignatureVector sends(const RecordOptions& settings, std::initializer_list<Sent> all) {
  constexpr const CallInfo& send = *find_call(CallId::kSend);
  RankTrace trace(settings);
  for (const Sent& one : all) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(stored_values(send)));
    values[static_cast<std::size_t>(value_offset(send, 2))] = one.datatype;
    values[static_cast<std::size_t>(value_offset(send, 3))] = one.to;
    values[static_cast<std::size_t>(value_offset(send, 5))] = one.comm;
    trace.log().append(trace.log().find(send.id, 7, values.data(), values.size()), 1, 1);
  }
  return trace.close_interval(1.0);
}

TEST_CASE("a partner that is no rank is in the hash and not in the mean") {
  const RecordOptions settings = with_format({Parameter::kDestination});
  const auto mean_and_hash = [&](std::initializer_list<Sent> all) {
    return sends(settings, all)[Parameter::kDestination];
  };
  const Sent to_2{pack_rank(5, 3, 16)}, to_4{pack_rank(7, 3, 16)};
  const Sent null{pack_special(SpecialRank::kProcNull)};
  CHECK(mean_and_hash({to_2, to_4}).mean == 3);
  CHECK(mean_and_hash({to_2, null, to_4, null}).mean == 3);
  CHECK(mean_and_hash({to_2, null, to_4}).exact != mean_and_hash({to_2, to_4}).exact);
  CHECK(mean_and_hash({to_2, null, to_4}).exact != mean_and_hash({null, to_2, to_4}).exact);
  CHECK(mean_and_hash({null}).mean == 0);
  CHECK(mean_and_hash({null}).exact != mean_and_hash({}).exact);
  CHECK(mean_and_hash({null}).exact !=
        mean_and_hash({{pack_special(SpecialRank::kUndefined)}}).exact);
}

TEST_CASE("a datatype and a communicator of one id are different bits") {
  const RecordOptions settings = with_format({Parameter::kDataOperation});
  const auto set = [&](std::int64_t datatype, std::int64_t comm) {
    return sends(settings, {{0, datatype, comm}})[Parameter::kDataOperation];
  };
  CHECK(set(3, 0).mean == 2);
  CHECK(set(3, 3).exact == ((1ULL << 3) | (1ULL << 58)));
  CHECK(set(3, 5).exact != set(5, 3).exact);
}

TEST_CASE("how often a rank polls in vain does not show in its signature") {
  RecordOptions settings = with_format({});
  settings.format = 0xffff & ~format_bit(Parameter::kLoop);
  constexpr const CallInfo& probe = *find_call(CallId::kIprobe);
  const auto polls = [&](int times) {
    RankTrace trace(settings);
    std::vector<std::int64_t> values(static_cast<std::size_t>(stored_values(probe)));
    values[static_cast<std::size_t>(value_offset(probe, 0))] = pack_rank(1, 0, 4);
    append(trace, 7);
    for (int i = 0; i < times; ++i)
      trace.log().append(trace.log().find(probe.id, 8, values.data(), values.size()), 0, 0);
    append(trace, 9);
    return trace.close_interval(1.0);
  };
  CHECK(polls(0) == polls(1));
  CHECK(polls(2) == polls(77));
}

// Not run by default: test_runtime '[.speed]' prints nanoseconds an event.
TEST_CASE("speed of closing an interval", "[.speed]") {
  const auto measure = [](const char* what, SignatureFormat more, bool repeats) {
    RecordOptions settings;
    settings.format |= more;
    RankTrace trace(settings);
    constexpr int kEvents = 100'000;
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < kEvents; ++i)
        append(trace, 7 + static_cast<std::uint64_t>(i + (repeats ? 0 : round)) % 12);
      const auto begin = std::chrono::steady_clock::now();
      trace.close_interval(1.0);
      const std::chrono::duration<double, std::nano> taken =
          std::chrono::steady_clock::now() - begin;
      best = std::min(best, taken.count() / kEvents);
      trace.join(1.0);
    }
    std::printf("%-44s %6.2f ns an event\n", what, best);
  };
  constexpr SignatureFormat kTimes =
      format_bit(Parameter::kCompute) | format_bit(Parameter::kCommunication);
  constexpr SignatureFormat kLoops = format_bit(Parameter::kLoop);
  measure("the default format, an interval that repeats", 0, true);
  measure("the default format, one that does not", 0, false);
  measure("with times, an interval that repeats", kTimes, true);
  measure("with times, one that does not", kTimes, false);
  measure("with LOOP, an interval that repeats", kLoops, true);
  measure("with LOOP, one that does not", kLoops, false);
}

}  // namespace
}  // namespace chameleon
