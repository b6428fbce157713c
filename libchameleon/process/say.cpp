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

RunSummary summarize(const Trace& trace, const format::PackedFacts& of_ranks, std::uint64_t bytes,
                     const std::string& path) {
  const double ranks = std::max<double>(static_cast<double>(of_ranks.ranks().size()), 1);
  const auto seconds = [&](std::uint64_t RankFacts::*fact) {
    return 1e-9 * of_ranks.sum(fact) / ranks;
  };
  return {of_ranks.sum(&RankFacts::events),
          seconds(&RankFacts::run_ns),
          seconds(&RankFacts::tool_ns),
          seconds(&RankFacts::waiting_ns),
          trace.online.markers,
          bytes,
          trace.world_size,
          path};
}

/// One line: where the trace is, what it holds, and what tracing took. All ranks begin and end
/// together, so this rank's time there is the job's.
void say_summary(const RunSummary& summary, const OutsideRun& outside) {
  const double tool = summary.tool + outside.start + outside.end;
  const double all = summary.run + outside.start + outside.end;
  const double share = all > 0 ? 100 * tool / all : 0;  // 100 has three digits
  char markers[80] = "";
  if (summary.markers > 0)
    std::snprintf(markers, sizeof markers, "; %llu markers, waiting there %s s",
                  static_cast<unsigned long long>(summary.markers),
                  number_text(summary.waiting, 3).c_str());
  say_plain(
      "%.0f calls of %u rank%s; tool %s s of %s s (%s %%), at the end %s s%s; %llu bytes in %s",
      summary.calls, summary.ranks, summary.ranks == 1 ? "" : "s", number_text(tool, 3).c_str(),
      number_text(all, 3).c_str(), number_text(share, share < 99.5 ? 2 : 3).c_str(),
      number_text(outside.end, 3).c_str(), markers, static_cast<unsigned long long>(summary.bytes),
      summary.path.c_str());
}

}  // namespace chameleon::process
