// SPDX-License-Identifier: BSD-3-Clause
// node_times TRACE: what the C++ reader says of the times at each event of the loop tree.
// node_times TRACE totals: what it says that ranks spent, by phase.
// node_times TRACE efforts: its effort windows, steps and samples.
#include <chameleon/trace_reader.h>

#include <cinttypes>
#include <cstdio>
#include <string_view>

namespace reader = chameleon::reader;

namespace {

void print_stratum(const reader::EffortStratum& stratum) {
  std::printf("stratum %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", stratum.medoid, stratum.size,
              stratum.deviation_ns, stratum.least_ns, stratum.most_ns);
  for (std::size_t i = 0; i < stratum.sum_ns.size(); ++i)
    std::printf("cell %" PRIu64 " %" PRIu64 "\n", stratum.sum_ns[i], stratum.deviations_ns[i]);
  for (std::size_t i = 0; i < stratum.sampled.size(); ++i) {
    std::printf("sampled %u", stratum.sampled[i]);
    for (const std::uint64_t ns : stratum.ns[i]) std::printf(" %" PRIu64, ns);
    std::printf("\n");
  }
}

int print_efforts(const reader::TraceReader& trace) {
  for (const reader::EffortWindow& window : trace.efforts()) {
    std::printf("window %" PRIu64 " %" PRIu64 " %s %u %.0f %.0f %.0f\n", window.first_marker,
                window.last_marker, window.gap.c_str(), window.ranks, window.mean_ns,
                window.estimate_ns, window.claimed_error_ns);
    std::printf("asked %u %d %u %g %g\n", window.unstratified, window.strata_pay ? 1 : 0,
                window.length, window.error, window.confidence);
    for (const reader::EffortStep& step : window.steps)
      std::printf("step %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", step.marker,
                  step.sum_ns, step.deviation_ns, step.least_ns, step.most_ns);
    for (const reader::EffortStratum& stratum : window.strata) print_stratum(stratum);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  reader::Error error;
  const auto trace = reader::TraceReader::open(argc > 1 ? argv[1] : "", error);
  if (!trace) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 3;
  }
  if (argc > 2 && std::string_view(argv[2]) == "efforts") return print_efforts(*trace);
  if (argc > 2) {
    for (const reader::Total& total : trace->totals()) {
      const std::uint64_t spent[] = {total.compute, total.point_to_point, total.collective,
                                     total.waiting, total.tool};
      std::printf("%u %u %d", total.ranks.front().first, total.ranks.back().last, total.phase);
      for (const std::uint64_t ns : spent) std::printf(" %" PRIu64, ns);
      std::printf("\n");
    }
    return 0;
  }
  trace->for_each_node([](const reader::Node& node) {
    if (node.is_loop || node.call == nullptr) return;
    std::printf("%s", node.call->name.c_str());
    for (const reader::Times& times : {node.compute, node.in_call})
      std::printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, times.count, times.sum,
                  times.min, times.max);
    std::printf("\n");
  });
}
