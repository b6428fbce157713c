// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Is a trace true? Each rank's events are read from the trace and compared, in
/// step, with the raw records the same run wrote without any encoding. Symbolic
/// ids are held against the raw handles by a model of their own (verify_model.h)
/// that follows MPI's rules of creation and release and shares no code with the
/// tracer. The result is a share of matches in each column: COUNT, LOOP, # EVENTS,
/// SRC, DEST, TAG (Table 4.2), ROOT, COMM, DATATYPE, REQUEST, OP, and OTHER for
/// the rest. Of raw events x parameters; a missing event counts against every
/// column it has parameters in. O(events), memory of one rank's open objects.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace chameleon {

enum class Column : std::uint8_t {
  kCount, kLoop, kEvents, kSource, kDest, kTag, kRoot, kComm, kDatatype, kRequest, kOp, kOther,
};
inline constexpr std::size_t kColumns = 12;
/// "COUNT", "LOOP", "# EVENTS" ...
const char* column_name(Column column);

inline constexpr std::size_t kMostMismatches = 10;

struct VerifyReport {
  struct Share {
    std::uint64_t matched = 0, total = 0;
  };
  /// One difference. A missing or additional event has an empty `parameter`.
  struct Mismatch {
    std::uint32_t rank = 0;
    std::uint64_t event = 0;  ///< in the raw record, from 1
    std::string call, parameter, raw, trace;
  };
  std::array<Share, kColumns> columns;
  std::uint32_t ranks = 0;
  std::uint64_t raw_events = 0, trace_events = 0;
  std::uint64_t missing_events = 0;  ///< in the raw records only
  std::uint64_t extra_events = 0;    ///< in the trace only
  std::uint64_t mismatch_count = 0;
  std::vector<Mismatch> mismatches;  ///< the first `kMostMismatches`
  RankList differing;                ///< ranks with any mismatch
  std::vector<Declaration> declarations;
  bool complete = false;

  bool matches() const { return mismatch_count == 0; }
  /// Everything that differs is on ranks the trace declares to be inexact.
  bool declared() const;
};

/// Compares `trace` with `raw_directory/rank.N.raw` of every rank of the job.
/// Errors: a record that is missing, malformed, or of another job; a damaged trace.
Result<VerifyReport> verify(const Trace& trace, const std::string& raw_directory);

}  // namespace chameleon
