// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Checks whether a trace is true. Each rank's events are read from the trace and compared,
/// in step, with the raw records the same run wrote without any encoding. Symbolic ids are
/// held against the raw handles by a model of their own (verify_model.h) that follows MPI's
/// rules of creation and release and shares no code with the tracer. The result is a share
/// of matches in each column: COUNT, LOOP, # EVENTS, SRC, DEST, TAG (Table 4.2), ROOT,
/// COMM, DATATYPE, REQUEST, OP, OTHER for the rest, and PATH for call paths. The base is
/// raw events x parameters; a missing event counts against every column in which it has
/// parameters. O(events), memory of one rank's open objects.
///
/// A difference of a kind that the trace declares inexact for this rank at this event is
/// *declared*; where it declares that events differ, missing and additional ones are too.
/// For an incomplete trace the prefix is compared: records after the last flush do not count
/// against it, and events that the records of a killed job lack do not count against
/// them.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

enum class Column : std::uint8_t {
  kCount,
  kLoop,
  kEvents,
  kSource,
  kDest,
  kTag,
  kRoot,
  kComm,
  kDatatype,
  kRequest,
  kOp,
  kOther,
  kPath,  ///< call path, if the records have it
};
inline constexpr std::size_t kColumns = 13;
/// "COUNT", "LOOP", "# EVENTS" ...
const char* column_name(Column column);

inline constexpr std::size_t kMostMismatches = 10;

struct VerifyReport {
  struct Share {
    std::uint64_t matched = 0, declared = 0, total = 0;
    std::uint64_t undeclared() const { return total - matched - declared; }
  };
  /// Declared at nodes, but nothing of this kind differs on these ranks.
  struct TooWide {
    std::uint32_t kind = 0;  ///< one bit of Inexactness
    RankList ranks;
  };
  /// One difference. A missing or additional event has an empty `parameter`.
  struct Mismatch {
    std::uint32_t rank = 0, thread = 0;
    std::uint64_t event = 0;  ///< in the raw record, from 1
    std::string call, parameter, raw, trace;
  };
  std::array<Share, kColumns> columns;
  std::uint32_t ranks = 0;
  std::uint64_t raw_events = 0, trace_events = 0;
  std::uint64_t missing_events = 0;  ///< in the raw records only
  std::uint64_t extra_events = 0;    ///< in the trace only
  std::uint64_t after_flush = 0;     ///< raw events past the end of an incomplete trace
  std::uint64_t unrecorded = 0;      ///< events of an incomplete trace past the end of the records
  std::uint64_t polls = 0;           ///< unsuccessful, which are no events of the trace
  std::uint64_t polls_missed = 0;    ///< by how many their numbers differ from the trace's
  std::uint64_t mismatch_count = 0;  ///< declared or not
  std::uint64_t declared_count = 0;  ///< of these, declared
  std::vector<Mismatch> mismatches;  ///< undeclared, the first `kMostMismatches`
  std::vector<Mismatch> declared_mismatches;  ///< likewise
  RankList differing;                         ///< ranks with any mismatch
  std::vector<TooWide> too_wide;
  std::vector<Declaration> declarations;
  bool complete = false;

  bool matches() const { return mismatch_count == 0 && polls_missed == 0; }
  std::uint64_t undeclared() const { return mismatch_count - declared_count + polls_missed; }
  /// Everything that differs is declared to.
  bool declared() const { return undeclared() == 0; }
};

/// Compares `trace` with `raw_directory/rank.N.raw` of every rank of the job, and `rank.N.T.raw` of
/// its further threads, stream by stream, but in the order in which the rank's calls ended: what a
/// thread posts another may complete.
/// Errors: a record that is missing, malformed, or of another job; a damaged trace.
/// `rank_done` is called after each rank.
Result<VerifyReport> verify(const Trace& trace, const std::string& raw_directory,
                            const std::function<void()>& rank_done = {});

}  // namespace chameleon::analysis
