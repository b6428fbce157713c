// SPDX-License-Identifier: BSD-3-Clause
// An analysis out of tree: which collective calls wait for whom? For each place it prints the mean
// and the shortest time a rank spends there. The rank with the shortest is the one to look at: it
// comes last, and the others wait for it.
#include <chameleon/trace_reader.h>

#include <cstdio>
#include <map>
#include <string>
#include <utility>

namespace reader = chameleon::reader;

int main(int argc, char** argv) {
  reader::Error error;
  const auto trace = reader::TraceReader::open(argc > 1 ? argv[1] : "", error);
  if (!trace) return std::fprintf(stderr, "%s\n", error.message.c_str()), 3;

  std::map<std::string, std::map<std::uint32_t, std::uint64_t>> places;  // ns, by rank
  const auto add = [&](const reader::Event& event) {
    const bool collective = event.call->field("comm") >= 0 && event.call->field("dest") < 0 &&
                            event.call->field("source") < 0;
    if (collective)
      places[event.call->name + " at " + trace->site(event.path)][event.rank] += event.call_ns;
    return true;
  };
  for (const reader::RankInterval& streams : trace->run().ranks)
    for (std::uint32_t stream = streams.first; stream <= streams.last; ++stream)
      if (!trace->for_each_event(stream, add, error))
        return std::fprintf(stderr, "%s\n", error.message.c_str()), 3;

  for (const auto& [place, times] : places) {
    std::uint64_t sum = 0;
    auto last = times.begin();
    for (auto rank = times.begin(); rank != times.end(); ++rank) {
      sum += rank->second;
      if (rank->second < last->second) last = rank;
    }
    std::printf("%s: %zu ranks, mean %.3f ms, rank %u %.3f ms\n", place.c_str(), times.size(),
                1e-6 * static_cast<double>(sum) / static_cast<double>(times.size()), last->first,
                1e-6 * static_cast<double>(last->second));
  }
}
