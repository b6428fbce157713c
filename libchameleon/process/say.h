// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Messages of the traced process: lines on stderr, and the parts of a trace that describe the
/// job.

#include <cstdint>
#include <string>

#include "format/packed_facts.h"
#include "model/trace.h"
#include "record/options.h"

namespace chameleon::process {

/// One line on stderr, in one write.
void say(const std::string& line);
/// The same by printf's rules, up to 500 characters, without an allocation.
[[gnu::format(printf, 1, 2)]] void say_plain(const char* format, ...);

/// Where MPI cannot be asked: whether this process is the one that speaks for its job, by what
/// launchers set, and the tracer is not switched off.
bool speaks_for_job();

/// A trace without events: program, tool, MPI, time.
Trace new_trace(int size);
/// Functions of MPI that the process imports and the tracer does not know (the fact `untraced`).
void note_untraced(std::string functions);
/// The same with how its events are recorded.
Trace new_trace(int size, const record::RecordOptions& options);

/// The run's summary line, of the trace just written.
struct RunSummary {
  double calls = 0, run = 0, tool = 0, waiting = 0;  ///< the latter in s, means of ranks
  std::uint64_t markers = 0, bytes = 0;
  std::uint32_t ranks = 0;
  std::string path;
};
RunSummary summarize(const Trace& trace, const format::PackedFacts& of_ranks, std::uint64_t bytes,
                     const std::string& path);

/// Seconds that the tool took in MPI_Init before the run, and in MPI_Finalize after it.
struct OutsideRun {
  double start = 0, end = 0;
};
void say_summary(const RunSummary& summary, const OutsideRun& outside);

}  // namespace chameleon::process
