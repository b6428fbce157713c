// SPDX-License-Identifier: BSD-3-Clause
// bench/facts TRACE...: what the parts of a trace take in a file that are not its events: bytes of
// the trace written as one commit, and the bytes that it takes less without the facts of ranks, the
// totals of ranks, the times of places or the series.
#include <cstdio>

#include "format/codec.h"
#include "format/commit.h"
#include "format/file.h"

namespace {

using namespace chameleon;

std::size_t size(const Trace& trace) {
  return format::commit::frame(format::commit::kWhole, format::encode_trace(trace)).size();
}

template <class Clear>
std::size_t part(const Trace& whole, Clear clear) {
  Trace rest = whole;
  clear(rest);
  return size(whole) - size(rest);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto trace = format::read_trace(argv[i]);
    if (!trace) {
      std::fprintf(stderr, "facts: %s\n", trace.error().message.c_str());
      return 1;
    }
    const std::size_t ranks = trace->facts.size();
    const std::size_t facts = part(*trace, [](Trace& one) { one.facts.clear(); });
    std::printf(
        "%s: %zu ranks, %zu bytes: facts of ranks %zu (%.2f a rank), totals %zu, times %zu, "
        "series %zu\n",
        argv[i], ranks, size(*trace), facts,
        static_cast<double>(facts) / static_cast<double>(ranks),
        part(*trace, [](Trace& one) { one.totals = {}; }),
        part(*trace, [](Trace& one) { one.times = {}; }),
        part(*trace, [](Trace& one) { one.series.clear(); }));
  }
  return 0;
}
