// SPDX-License-Identifier: BSD-3-Clause
#include "process/say.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/number_text.h"
#include "base/standard_error.h"

namespace chameleon::process {

void say(const std::string& line) { write_to_standard_error("chameleon: " + line + "\n"); }

void say_plain(const char* format, ...) {
  char line[512] = "chameleon: ";
  const std::size_t begin = std::strlen(line);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line + begin, sizeof line - begin - 1, format, arguments);
  va_end(arguments);
  const std::size_t size = std::strlen(line);
  line[size] = '\n';
  write_to_standard_error({line, size + 1});
}

bool speaks_for_job() {
  for (const char* variable : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(variable); rank != nullptr && std::strcmp(rank, "0") != 0)
      return false;
  const char* enabled = std::getenv("CHAMELEON_ENABLE");
  return enabled == nullptr || std::strcmp(enabled, "0") != 0;
}

/// One line: where the trace is, what it holds, and what tracing took of a rank's run.
void summarize(const Trace& trace, const format::PackedFacts& of_ranks, std::uint64_t bytes,
               const std::string& path) {
  const auto seconds = [&](std::uint64_t RankFacts::*fact) {  // summed over ranks
    return 1e-9 * of_ranks.sum(fact);
  };
  const double run = seconds(&RankFacts::run_ns), tool = seconds(&RankFacts::tool_ns),
               waiting = seconds(&RankFacts::waiting_ns);
  const double ranks = std::max<double>(static_cast<double>(of_ranks.ranks().size()), 1);
  char markers[80] = "";
  if (trace.online.markers > 0)
    std::snprintf(markers, sizeof markers, "; %llu markers, waiting there %s s",
                  static_cast<unsigned long long>(trace.online.markers),
                  number_text(waiting / ranks, 3).c_str());
  char line[512];
  std::snprintf(
      line, sizeof line, "%.0f calls of %u rank%s; tool %s s of %s s (%s %%)%s; %llu bytes in %s",
      of_ranks.sum(&RankFacts::events), trace.world_size, trace.world_size == 1 ? "" : "s",
      number_text(tool / ranks, 3).c_str(), number_text(run / ranks, 3).c_str(),
      number_text(run > 0 ? 100 * tool / run : 0, 2).c_str(), markers,
      static_cast<unsigned long long>(bytes), path.c_str());
  say_plain("%s", line);
}

}  // namespace chameleon::process
