// SPDX-License-Identifier: BSD-3-Clause
// make_traces FOLDER: two runs of one program on four ranks, once.cham and again.cham, and beside
// each what every rank spent, once.csv and again.csv: rank, call, count, ns computed before it, ns
// in it. One call comes after different predecessors on different ranks differently often, and
// takes long after one and short after the other. In the second run, the times of rank 3 after that
// one are just far enough from those of the others for a distribution of their own. classes.cham
// and apart.cham are the same runs with a table of times, as tracers write it: in the one all ranks
// are a class, in the other rank 3 is one of its own. There rank r waited r + 1 ms at markers.

#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/file.h"
#include "unit/trace_builder.h"

namespace chameleon {
namespace {

enum Call : std::uint16_t { kInit = 1, kBarrier, kAllreduce, kFinalize };
constexpr const char* kNames[] = {"", "Init", "Barrier", "Allreduce", "Finalize"};
constexpr std::uint32_t kRanks = 4;
constexpr int kSteps = 60;
constexpr int kSweeps[kRanks] = {2, 5, 10, 50};  ///< Allreduces a step
constexpr std::uint64_t kUs = 1000;

struct Sums {
  std::uint64_t count = 0, compute = 0, call = 0;
};

struct Job : testing::TraceBuilder {
  Job() : TraceBuilder(kRanks) {
    call(kInit, "Init", {});
    call(kBarrier, "Barrier", {"comm:comm"});
    call(kAllreduce, "Allreduce", {"count:count", "comm:comm"});
    call(kFinalize, "Finalize", {});
  }

  void event(std::uint32_t rank, Call call, std::uint64_t compute, std::uint64_t in_call) {
    if (call == kAllreduce)
      push(rank, call, {1, 0}, compute, in_call);
    else if (call == kBarrier)
      push(rank, call, {0}, compute, in_call);
    else
      push(rank, call, {}, compute, in_call);
    Sums& sums = truth[{rank, call}];
    ++sums.count;
    sums.compute += compute;
    sums.call += in_call;
    const std::uint64_t symbol = Node::event_symbol(call, 100U + call);
    Durations& times = accounts[rank][{symbol, before[rank]}];
    times.compute.add(compute);
    times.communication.add(in_call);
    before[rank] = symbol;
  }

  /// Of classes of ranks.
  TimeTable table(const std::vector<RankList>& classes) const {
    TimeTable table;
    for (const RankList& ranks : classes) {
      const std::uint32_t number = table.add_class({ranks, 0});
      ranks.for_each([&](std::uint32_t rank) {
        for (const auto& [place, times] : accounts[rank]) table.add(place, number, times);
      });
    }
    return table;
  }

  std::map<std::pair<std::uint32_t, Call>, Sums> truth;

 private:
  std::unordered_map<Place, Durations, Place::Hash> accounts[kRanks];
  std::uint64_t before[kRanks] = {};
};

void forget_times(std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    node.times.clear();
    forget_times(node.body);
  }
}

/// Two intervals: rank r computes r + 1 ms, is in calls for 2 ms and waits for (r + 1) / 2 ms.
Series series() {
  Series series;
  for (std::uint64_t marker = 1; marker <= 2; ++marker) {
    SeriesSpan span;
    span.first = span.slowest = marker;
    span.end_ns = marker * 10 * 1000 * kUs;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      IntervalTally one;
      one.compute = RankExtent::of(rank, (rank + 1) * 1000 * kUs);
      one.communication = RankExtent::of(rank, 2000 * kUs);
      one.busy = RankExtent::of(rank, (rank + 3) * 1000 * kUs);
      one.waiting = RankExtent::of(rank, (rank + 1) * 500 * kUs);
      if (rank == 0)
        span.all = one;
      else
        span.all.add(one);
    }
    span.worst = span.all;
    series.add(span);
  }
  return series;
}

/// With `classes`, times are in a table and not at the nodes.
bool write(const std::string& stem, bool apart, const std::vector<RankList>& classes = {}) {
  Job job;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    job.event(rank, kInit, 0, 300 * kUs);
    for (int step = 0; step < kSteps; ++step) {
      const std::uint64_t jitter = static_cast<std::uint64_t>(step % 3) * kUs;
      job.event(rank, kBarrier, 20 * kUs + jitter, 10 * kUs);
      const std::uint64_t first = apart && rank == 3 ? 1120 : 1000;
      for (int sweep = 0; sweep < kSweeps[rank]; ++sweep)
        job.event(rank, kAllreduce, (sweep == 0 ? first : 10) * kUs + jitter,
                  (sweep == 0 ? 500 : 20) * kUs + jitter);
    }
    job.event(rank, kFinalize, 5 * kUs, kUs);
  }
  Trace trace = job.build();
  trace.program = "sweeps";
  trace.timing = "histogram";
  if (!classes.empty()) {
    forget_times(trace.nodes);
    trace.times = job.table(classes);
    trace.series = series();
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      trace.facts[rank].waiting_ns = (rank + 1) * 1000 * kUs;
  }
  if (const Status written = format::replace_trace_file(stem + ".cham", trace); !written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return false;
  }
  std::FILE* file = std::fopen((stem + ".csv").c_str(), "w");
  if (file == nullptr) return false;
  for (const auto& [at, sums] : job.truth)
    std::fprintf(file, "%u,%s,%llu,%llu,%llu\n", at.first, kNames[at.second],
                 static_cast<unsigned long long>(sums.count),
                 static_cast<unsigned long long>(sums.compute),
                 static_cast<unsigned long long>(sums.call));
  return std::fclose(file) == 0;
}

}  // namespace
}  // namespace chameleon

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  using chameleon::RankList;
  const bool written =
      chameleon::write(folder + "/once", false) && chameleon::write(folder + "/again", true) &&
      chameleon::write(folder + "/classes", false, {RankList::range(0, 3)}) &&
      chameleon::write(folder + "/apart", true, {RankList::range(0, 2), RankList::single(3)});
  return written ? 0 : 1;
}
