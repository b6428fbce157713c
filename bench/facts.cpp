// SPDX-License-Identifier: BSD-3-Clause
// bench/facts TRACE...: what the facts of ranks take in a file: bytes of the trace written as one
// commit with them and without, and the difference a rank.
#include <cstdio>

#include "format/codec.h"
#include "format/commit.h"
#include "format/file.h"

int main(int argc, char** argv) {
  using namespace chameleon;
  const auto size = [](const Trace& trace) {
    return format::commit::frame(format::commit::kWhole, format::encode_trace(trace)).size();
  };
  for (int i = 1; i < argc; ++i) {
    auto trace = format::read_trace(argv[i]);
    if (!trace) {
      std::fprintf(stderr, "facts: %s\n", trace.error().message.c_str());
      return 1;
    }
    const std::size_t ranks = trace->facts.size(), with = size(*trace);
    trace->facts.clear();
    const std::size_t without = size(*trace);
    std::printf("%s: %zu ranks, %zu bytes, without facts %zu: %.2f a rank\n", argv[i], ranks, with,
                without, static_cast<double>(with - without) / static_cast<double>(ranks));
  }
  return 0;
}
