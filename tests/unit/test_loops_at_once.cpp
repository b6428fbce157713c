// SPDX-License-Identifier: BSD-3-Clause
/// Iterations of loops that others stand for: what timelines, patterns, phases, efficiencies and
/// critical paths say is the same as if each had been run.

#include <random>

#include "analysis/critical_path.h"
#include "analysis/efficiency.h"
#include "analysis/matrix.h"
#include "analysis/phases.h"
#include "analysis/place_waits.h"
#include "analysis/slow_instances.h"
#include "analysis/stream_times.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TraceBuilder;

namespace {

enum : std::uint16_t { kSend = 1, kRecv, kIsend, kIrecv, kWaitall, kAllreduce, kBcast, kFinalize };
constexpr std::int64_t kInt = -3;

/// What a rank does in an iteration, over and over.
class Program : TraceBuilder {
 public:
  Program(std::uint32_t ranks, unsigned seed) : TraceBuilder(ranks), ranks_(ranks), random_(seed) {
    call(kSend, "Send");
    call(kRecv, "Recv");
    call(kIsend, "Isend");
    call(kIrecv, "Irecv");
    call(kWaitall, "Waitall");
    call(kAllreduce, "Allreduce");
    call(kBcast, "Bcast");
    call(kFinalize, "Finalize", {});
  }

  std::uint64_t pick(std::uint64_t most) { return random_() % most; }

  enum class Step { kShift, kPipeline, kBack, kAllreduce, kBcast, kAnybody };

  /// A loop around some steps, of which ranks take times of their own.
  void loop(int iterations, const std::vector<Step>& steps) {
    std::vector<std::uint64_t> times(steps.size() * ranks_);
    for (std::uint64_t& time : times) time = 1000 + pick(100000);
    for (int i = 0; i < iterations; ++i)
      for (std::size_t s = 0; s < steps.size(); ++s)
        for (std::uint32_t rank = 0; rank < ranks_; ++rank)
          step(steps[s], rank, static_cast<int>(s), times[s * ranks_ + rank]);
  }

  Trace trace() {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) push(rank, kFinalize, {}, 1000, 1);
    Trace built = build();
    built.timing = "histogram";
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      built.facts[rank].clock_samples = 1;
      built.facts[rank].run_ns = 100000000 + pick(1000);
      built.facts[rank].clock_begin_ns = static_cast<std::int64_t>(pick(200000));
      built.facts[rank].clock_drift_ppb = static_cast<std::int64_t>(pick(20000));
    }
    return built;
  }

 private:
  std::int64_t to(std::uint32_t self, std::uint32_t other) const {
    return pack_rank(static_cast<std::int32_t>(other), static_cast<std::int32_t>(self),
                     static_cast<std::int32_t>(ranks_));
  }
  void send(std::uint32_t rank, std::uint32_t other, int tag, std::uint64_t ns) {
    push(rank, kSend, {0, 1 + tag, kInt, to(rank, other), tag, 0}, ns, 1000);
  }
  void receive(std::uint32_t rank, std::uint32_t other, int tag, std::uint64_t ns) {
    push(rank, kRecv,
         {0, 1 + tag, kInt, to(rank, other), tag, 0, kNotRecorded, kNotRecorded, kNotRecorded}, ns,
         2000);
  }
  /// From all others, in an order that depends on the tag; only the statuses tell.
  void receive_from_anybody(int tag, std::uint64_t ns) {
    std::vector<std::int64_t> requests, sources, nothing;
    for (std::uint32_t i = 0; i + 1 < ranks_; ++i) {
      push(0, kIrecv, {0, 1 + tag, kInt, pack_special(SpecialRank::kAnySource), tag, 0, i}, ns,
           400);
      const auto source = 1 + (i + static_cast<std::uint32_t>(tag)) % (ranks_ - 1);
      requests.push_back(i);
      sources.push_back(
          relative_rank(static_cast<std::int32_t>(source), 0, static_cast<std::int32_t>(ranks_)));
      nothing.push_back(kNotRecorded);
    }
    push(0, kWaitall,
         {static_cast<std::int64_t>(requests.size()), array(requests), array(sources),
          array(nothing), array(nothing)},
         200, 3000);
  }
  void step(Step what, std::uint32_t rank, int tag, std::uint64_t ns) {
    const std::int64_t none = array({});
    switch (what) {
      case Step::kShift:
        push(rank, kIrecv, {0, 8, kInt, to(rank, (rank + ranks_ - 1) % ranks_), tag, 0, 0}, ns,
             500);
        push(rank, kIsend, {0, 8, kInt, to(rank, (rank + 1) % ranks_), tag, 0, 1}, 700, 500);
        push(rank, kWaitall, {2, array({0, 1}), none, none, none}, 300, 4000);
        return;
      case Step::kPipeline:
        if (rank > 0) receive(rank, rank - 1, tag, 900);
        if (rank + 1 < ranks_) send(rank, rank + 1, tag, ns);
        return;
      case Step::kBack:
        if (rank + 1 < ranks_) receive(rank, rank + 1, tag, 800);
        if (rank > 0) send(rank, rank - 1, tag, ns);
        return;
      case Step::kAllreduce: push(rank, kAllreduce, {0, 0, 1 + tag, kInt, -2, 0}, ns, 3000); return;
      case Step::kAnybody:
        if (rank == 0)
          receive_from_anybody(tag, ns);
        else
          send(rank, 0, tag, ns);
        return;
      case Step::kBcast: push(rank, kBcast, {0, 4, kInt, to(rank, 0), 0}, ns, 1500); return;
    }
  }

  std::uint32_t ranks_;
  std::mt19937_64 random_;
};

Trace some_program(unsigned seed) {
  Program program(2 + seed % 5, seed);
  const auto loops = static_cast<int>(1 + program.pick(3));
  for (int i = 0; i < loops; ++i) {
    std::vector<Program::Step> steps;
    const std::uint64_t count = 1 + program.pick(4);
    for (std::uint64_t k = 0; k < count; ++k)
      steps.push_back(static_cast<Program::Step>(program.pick(6)));
    program.loop(static_cast<int>(150 + program.pick(200)), steps);
  }
  return program.trace();
}

/// Times are rounded to ns wherever they begin.
void check_near(double a, double b, double times) { CHECK(a == Approx(b).margin(2 * times)); }

void check_sums(const InstanceSums& a, const InstanceSums& b) {
  CHECK(a.instances == b.instances);
  CHECK(a.events == b.events);
  CHECK(a.least_events == b.least_events);
  CHECK(a.most_events == b.most_events);
  CHECK(a.bytes == Approx(b.bytes));
  check_near(a.ns, b.ns, static_cast<double>(a.instances));
  check_near(a.least_ns, b.least_ns, 1);
  check_near(a.most_ns, b.most_ns, 1);
}

void check_facts(const TimelineFacts& a, const TimelineFacts& b) {
  CHECK(a.events == b.events);
  CHECK(a.moved == b.moved);
  CHECK(a.unmatched == b.unmatched);
  check_near(static_cast<double>(a.end_ns), static_cast<double>(b.end_ns), 1);
  REQUIRE(a.lane_ends_ns.size() == b.lane_ends_ns.size());
  for (std::size_t i = 0; i < a.lane_ends_ns.size(); ++i)
    check_near(static_cast<double>(a.lane_ends_ns[i]), static_cast<double>(b.lane_ends_ns[i]), 1);
  CHECK(b.at_once == 0);
}

void check_patterns(const Patterns& a, const Patterns& b) {
  CHECK(a.instances == b.instances);
  CHECK(a.facts.segments == b.facts.segments);
  CHECK(a.facts.events == b.facts.events);
  CHECK(a.cycles == b.cycles);
  REQUIRE(a.patterns.size() == b.patterns.size());
  REQUIRE(a.families.size() == b.families.size());
  for (std::size_t i = 0; i < a.patterns.size(); ++i)
    check_sums(a.patterns[i].sums, b.patterns[i].sums);
  for (std::size_t i = 0; i < a.families.size(); ++i)
    check_sums(a.families[i].sums, b.families[i].sums);
  CHECK(a.sequence.patterns == b.sequence.patterns);
  CHECK(a.sequence.families == b.sequence.families);
  for (std::size_t i = 0; i < a.sequence.begins_ns.size(); ++i)
    if (std::max(a.sequence.begins_ns[i], b.sequence.begins_ns[i]) -
            std::min(a.sequence.begins_ns[i], b.sequence.begins_ns[i]) >
        2)
      FAIL("instance " << i << " begins elsewhere");
}

/// Slow by more than times are rounded.
std::vector<SlowInstance> slower(const SlowReport& report) {
  std::vector<SlowInstance> all = report.slow;
  std::erase_if(all, [](const SlowInstance& one) { return one.ns() - one.usual_ns < 10; });
  return all;
}

void check_slow(const SlowReport& a, const SlowReport& b) {
  check_patterns(a.patterns, b.patterns);
  CHECK(a.unjudged == b.unjudged);
  CHECK(a.unknown <= b.unknown);  // what was left out is not forgotten
  const std::vector<SlowInstance> of_a = slower(a), of_b = slower(b);
  REQUIRE(of_a.size() == of_b.size());
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const SlowInstance &one = of_a[i], &other = of_b[i];
    CHECK(one.pattern == other.pattern);
    CHECK(one.number == other.number);
    check_near(static_cast<double>(one.begin_ns), static_cast<double>(other.begin_ns), 1);
    check_near(one.usual_ns, other.usual_ns, 1);
    if (other.delay.kind == Delay::Kind::kUnknown) continue;
    CHECK(one.delay.kind == other.delay.kind);
    CHECK(one.delay.stream == other.delay.stream);
    CHECK(one.delay.path == other.delay.path);
    check_near(static_cast<double>(one.delay.ns), static_cast<double>(other.delay.ns), 10);
    CHECK(one.delay.event == other.delay.event);
  }
  if (a.unknown != b.unknown) return;
  REQUIRE(a.findings.size() == b.findings.size());
  for (std::size_t i = 0; i < a.findings.size(); ++i) {
    CHECK(a.findings[i].instances.size() == b.findings[i].instances.size());
    CHECK(a.findings[i].usual_ns == Approx(b.findings[i].usual_ns).margin(2));
    CHECK(a.findings[i].saving_ns.has_value() == b.findings[i].saving_ns.has_value());
    if (a.findings[i].saving_ns)
      check_near(*a.findings[i].saving_ns, *b.findings[i].saving_ns, 1000);
  }
}

}  // namespace

TEST_CASE("iterations that others stand for change no result") {
  std::uint64_t at_once = 0, events = 0, pairs_at_once = 0, pairs_events = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    const Trace trace = some_program(seed);

    for (const Network network : {Network::kRecorded, Network::kIdeal}) {
      const auto once = run_facts(trace, network), each = run_facts(trace, network, Loops::kEach);
      REQUIRE(once);
      REQUIRE(each);
      check_facts(*once, *each);
      at_once += once->at_once;
      events += once->events;
    }

    std::vector<Lane> lanes(2);
    lanes[1].transfer = [](const RankOperations&, std::uint64_t, double ns) { return ns / 3; };
    check_facts(*run_lanes(trace, lanes), *run_lanes(trace, lanes, Loops::kEach));

    PatternOptions together, apart;
    apart.loops = Loops::kEach;
    const auto phases = find_phases(trace, together, {}),
               each_phase = find_phases(trace, apart, {});
    REQUIRE(phases);
    REQUIRE(each_phase);
    check_patterns(phases->patterns, each_phase->patterns);
    REQUIRE(phases->phases.size() == each_phase->phases.size());
    for (std::size_t i = 0; i < phases->phases.size(); ++i) {
      const ExecutionPhase &a = phases->phases[i], &b = each_phase->phases[i];
      CHECK(a.first == b.first);
      const auto margin = static_cast<double>(phases->patterns.timeline.events);
      check_near(static_cast<double>(a.begin_ns), static_cast<double>(b.begin_ns), 1);
      check_near(a.compute_ns, b.compute_ns, margin);
      check_near(a.most_compute_ns, b.most_compute_ns, margin);
    }

    const auto path = critical_path(trace, Loops::kAtOnce, true),
               each_path = critical_path(trace, Loops::kEach, true);
    REQUIRE(path);
    REQUIRE(each_path);
    CHECK(path->jumps == each_path->jumps);
    CHECK(path->last == each_path->last);
    REQUIRE(path->places.size() == each_path->places.size());
    for (std::size_t i = 0; i < path->places.size(); ++i) {
      const CriticalPlace &a = path->places[i], &b = each_path->places[i];
      CHECK(a.stream == b.stream);
      CHECK(a.path == b.path);
      CHECK(a.share.visits == b.share.visits);
      check_near(static_cast<double>(a.share.ns()), static_cast<double>(b.share.ns()),
                 static_cast<double>(a.share.visits + path->jumps));
    }

    REQUIRE(path->slack->size() == each_path->slack->size());
    for (std::size_t i = 0; i < path->slack->size(); ++i) {
      const PlaceSlack &a = (*path->slack)[i], &b = (*each_path->slack)[i];
      CHECK(a.stream == b.stream);
      CHECK(a.path == b.path);
      CHECK(a.slack.events == b.slack.events);
      const auto margin = static_cast<double>(a.slack.events);
      check_near(static_cast<double>(a.slack.least_ns), static_cast<double>(b.slack.least_ns),
                 margin);
      check_near(a.slack.mean_ns(), b.slack.mean_ns(), margin);
    }

    const auto waits = waits_of(trace), each_wait = waits_of(trace, Loops::kEach);
    REQUIRE(waits->places.size() == each_wait->places.size());
    for (std::size_t i = 0; i < waits->places.size(); ++i) {
      const WaitTimes &a = waits->places[i].times, &b = each_wait->places[i].times;
      CHECK(a.events == b.events);
      CHECK(a.call_ns == b.call_ns);
      for (std::size_t k = 0; k < kWaitClasses; ++k)
        check_near(a.waited_ns[k], b.waited_ns[k], a.events);
      check_near(a.transfer_ns, b.transfer_ns, a.events);
    }

    const auto matrix = communication_matrix(trace, trace.ranks),
               each_pair = communication_matrix(trace, trace.ranks, Loops::kEach);
    CHECK(matrix->events == each_pair->events);
    pairs_at_once += matrix->at_once;
    pairs_events += matrix->events;
    REQUIRE(matrix->cells.size() == each_pair->cells.size());
    for (const auto& [pair, cell] : matrix->cells) {
      const MatrixCell& other = each_pair->cells.at(pair);
      CHECK(cell.messages == other.messages);
      CHECK(cell.bytes == other.bytes);
      CHECK(cell.wait_ns == other.wait_ns);
    }
    CHECK(matrix->collectives.size() == each_pair->collectives.size());
    for (const auto& [rank, sums] : matrix->collectives) {
      CHECK(sums.calls == each_pair->collectives.at(rank).calls);
      CHECK(sums.received == each_pair->collectives.at(rank).received);
    }

    const auto efficiency = efficiency_of(trace), each_one = efficiency_of(trace, Loops::kEach);
    CHECK(efficiency->compute_ns == Approx(each_one->compute_ns));
    CHECK(efficiency->parallel() == Approx(each_one->parallel()));
    CHECK(efficiency->transfer() == Approx(each_one->transfer()));
  }
  INFO(at_once << " of " << events << ", " << pairs_at_once << " of " << pairs_events);
  CHECK(4 * at_once > events);
  CHECK(2 * pairs_at_once > pairs_events);
}

TEST_CASE("a loop is run to its end where its iterations differ") {
  using Step = Program::Step;
  Program steady(4, 1), fleeting(4, 1);
  steady.loop(500, {Step::kShift, Step::kAllreduce});
  CHECK(run_facts(steady.trace(), Network::kRecorded)->at_once > 4 * 4 * 300);
  for (int i = 0; i < 500; ++i) fleeting.loop(1, {i % 7 == 0 ? Step::kAllreduce : Step::kShift});
  fleeting.loop(3, {Step::kPipeline});
  Trace trace = fleeting.trace();
  CHECK(run_facts(trace, Network::kRecorded)->events ==
        run_facts(trace, Network::kRecorded, Loops::kEach)->events);
}

namespace {

/// The same run with times by stream and place, of which some events took far longer than others.
Trace with_outliers(Trace trace, unsigned seed) {
  constexpr std::uint64_t kRare = 1500, kLonger = 40;
  std::mt19937_64 random(seed);
  std::vector<StreamAccounts> streams;
  trace.outliers.know();
  for (const std::uint32_t stream : trace.ranks.ranks()) {
    const StreamTimes times(trace, stream);
    Result<RankView> view = RankView::make(trace, stream);
    REQUIRE(view);
    AccountBook book;
    EventView event;
    while (view->next(event)) {
      const auto means = times.means(*event.node, event.predecessor);
      REQUIRE(means);
      std::uint64_t ns[] = {static_cast<std::uint64_t>(means->compute_ns),
                            static_cast<std::uint64_t>(means->communication_ns)};
      if (random() % kRare == 0) {
        const bool in_call = random() % 2 == 0;
        std::uint64_t& longer = ns[in_call ? 1 : 0];
        const std::uint64_t usual = longer;
        longer = kLonger * (longer + 1000);
        trace.outliers.add({stream, event.number, in_call,
                            Place{event.node->symbol(), event.predecessor}, longer, usual, 0});
      }
      book.add(book.number_of(event.node->symbol()), ns[0], ns[1]);
    }
    streams.push_back({stream, book.accounts()});
  }
  trace.outliers.settle();
  trace.times = TimeTable::of(streams);
  return trace;
}

}  // namespace

TEST_CASE("outliers have times of their own, and iterations without them stand for each other") {
  std::uint64_t at_once = 0, events = 0, outliers = 0, slow_at_once = 0, instances = 0, gains = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const Trace trace = with_outliers(some_program(seed), seed);
    const auto once = run_facts(trace, Network::kRecorded),
               each = run_facts(trace, Network::kRecorded, Loops::kEach);
    REQUIRE(once);
    REQUIRE(each);
    check_facts(*once, *each);
    at_once += once->at_once;
    events += once->events;
    outliers += trace.outliers.all().size();
    const auto waits = waits_of(trace), each_wait = waits_of(trace, Loops::kEach);
    REQUIRE(waits->places.size() == each_wait->places.size());
    for (std::size_t i = 0; i < waits->places.size(); ++i) {
      CHECK(waits->places[i].times.call_ns == each_wait->places[i].times.call_ns);
      check_near(waits->places[i].times.in_calls_ns(), each_wait->places[i].times.in_calls_ns(),
                 waits->places[i].times.events);
    }

    const auto matrix = communication_matrix(trace, trace.ranks),
               each_pair = communication_matrix(trace, trace.ranks, Loops::kEach);
    for (const auto& [pair, cell] : matrix->cells)
      CHECK(cell.wait_ns == each_pair->cells.at(pair).wait_ns);

    SlowOptions apart;
    apart.patterns.loops = Loops::kEach;
    const auto slow = find_slow(trace, {}), each_slow = find_slow(trace, apart);
    REQUIRE(slow);
    REQUIRE(each_slow);
    slow_at_once += slow->patterns.timeline.at_once;
    check_slow(*slow, *each_slow);
    instances += slow->slow.size();
    for (const SlowFinding& one : slow->findings) gains += one.saving_ns.value_or(0) > 0 ? 1 : 0;

    // As they were recorded, and in all as long as the places say.
    std::vector<Outlier> left = trace.outliers.all();
    double computed = 0, in_calls = 0, count = 0;
    const Result<TimelineFacts> run =
        run_timeline(trace, trace.ranks, [&](const TimedEvent& event) {
          computed += static_cast<double>(event.at->compute_ns());
          in_calls += static_cast<double>(event.at->communication_ns());
          count += 1;
          std::erase_if(left, [&](const Outlier& one) {
            return one.stream == event.stream() && one.event == event.at->number() &&
                   one.ns == (one.in_call ? event.at->communication_ns() : event.at->compute_ns());
          });
        });
    REQUIRE(run);
    CHECK(left.empty());
    const Durations all = trace.times.total();
    CHECK(computed == Approx(static_cast<double>(all.compute.sum())).margin(count));
    CHECK(in_calls == Approx(static_cast<double>(all.communication.sum())).margin(count));
  }
  INFO(at_once << " of " << events << " with " << outliers << " outliers");
  CHECK(outliers > 100);
  CHECK(8 * at_once > events);
  CHECK(instances > 50);
  INFO(gains << " findings with a gain");
  CHECK(gains > 0);
  CHECK(slow_at_once > 0);
}

TEST_CASE("the mean of the others is what is usual where their sum is lost in rounding") {
  Histogram all;
  for (int i = 0; i < 40; ++i) all.add(100'000);
  all.add(20'000'000'000);
  OutlierSums::Apart apart;
  CHECK(apart.mean_of_others(all, true) == all.mean());
  apart.events[1] = 1;
  apart.ns[1] = 20e9 * (1 + 1.0 / 2048);
  apart.usual_ns[1] = 99'000;
  CHECK(apart.mean_of_others(all, true) == 99'000);
  apart.ns[1] = 0.1 * static_cast<double>(all.sum());
  CHECK(apart.mean_of_others(all, true) == Approx(0.9 * static_cast<double>(all.sum()) / 40));
}
