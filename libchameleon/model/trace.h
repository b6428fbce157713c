// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A trace: what some ranks did, compressed, with everything needed to read it:
/// the calls' schemas, call paths, modules, arrays, and facts of the run. The
/// same type is one rank's trace, a subtree's on the way up, and the final one.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/call_path.h"
#include "model/carried_facts.h"
#include "model/effort.h"
#include "model/facts.h"
#include "model/node.h"
#include "model/online_facts.h"
#include "model/outliers.h"
#include "model/pair_accounts.h"
#include "model/phase_totals.h"
#include "model/series.h"
#include "model/time_code.h"
#include "model/time_table.h"

namespace chameleon::inline model {

/// One recorded value of a call: its name, the properties that the model uses, and its MPI kind
/// (dest, count, comm, ...), which tools use.
struct Field {
  std::string name;
  std::string kind;
  FieldKind stored = FieldKind::kPlain;
  bool operator==(const Field&) const = default;
};

/// The kind of inexactness that values of the field have.
inline Inexactness inexactness_of(const Field& field) {
  if (field.kind == "count" || field.kind == "bytes") return kInexactCount;
  if (field.kind == "tag") return kInexactTag;
  if (field.kind == "source") return kInexactSource;
  return field.kind == "dest" ? kInexactDest : kInexactOther;
}

/// The field is a duration: of kind `ns`, or of kind `time`, which is a code (time_code.h) and
/// occurs in traces of formats before 1.9.
inline bool is_time(const Field& field) { return field.kind == "ns" || field.kind == "time"; }
/// The nanoseconds that a value of such a field stands for.
inline std::uint64_t time_ns(const Field& field, std::int64_t value) {
  if (field.kind == "time") return decode_time(value);
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

/// A call that occurs in the trace.
struct CallDescription {
  std::string name;  ///< without the MPI_ prefix
  std::vector<Field> fields;
  bool operator==(const CallDescription&) const = default;
};

/// A declaration: what is not recorded exactly, and for which ranks. Every tool shows it.
struct Declaration {
  std::string what;
  RankList ranks;
};

inline constexpr const char* kPausedDeclaration =
    "tracing was switched off for a while (MPI_Pcontrol, CHAMELEON_BUDGET): calls are missing";

inline constexpr const char* kLostFlushDeclaration =
    "a flush failed: the events of its intervals are missing";

inline constexpr const char* kNoMemoryDeclaration =
    "the tracer ran out of memory: calls from then on are missing";

inline constexpr const char* kFailedDeclaration =
    "the tracer failed: calls from then on are missing";

inline constexpr const char* kLostWordsDeclaration =
    "what these ranks say of themselves was lost: calls may be missing";

/// An object every MPI program has from the start: its symbolic id is -2 minus
/// its place in the list of its kind.
struct Predefined {
  std::string name;        ///< MPI_INT, MPI_SUM, ...
  std::uint32_t size = 0;  ///< of a datatype, bytes
  bool operator==(const Predefined&) const = default;
};

/// Stored where there was nothing to record: the parts of a status that the posted call already
/// determines (source and tag without wildcard, bytes as posted).
inline constexpr std::int64_t kNotRecorded = INT32_MIN;

/// Ends of ranks (Trace::ends) that say more than their name: MPI ended the job because of an error
/// of the rank's last call; another rank of the host ended, but not yet this one; and no rank of
/// the host made progress, but the job may still run.
inline constexpr const char* kFatalError = "a fatal error of MPI";
inline constexpr const char* kOtherEnded = "the end of another rank";
inline constexpr const char* kNoProgress = "no progress";

/// Events come in *streams*: what one thread of a rank did. Stream s of a job of P ranks is of
/// rank s mod P and thread s div P, so that a program of one thread a rank has a stream a rank,
/// under the rank's number. All rank lists of nodes, and the facts, are of streams.
struct Trace final : CallSchema, RunFacts {
  RankList ranks;                ///< the streams whose events are in here
  std::uint32_t world_size = 0;  ///< ranks of the traced job
  std::uint32_t threads = 1;     ///< most threads that a rank of it has
  bool complete = false;         ///< the run reached MPI_Finalize
  std::vector<Node> nodes;

  std::map<std::uint16_t, CallDescription> calls;
  std::map<std::uint64_t, std::vector<std::int64_t>> arrays;  ///< by content hash
  std::map<std::uint64_t, CallPath> paths;                    ///< by stack signature
  std::map<std::uint64_t, Module> modules;                    ///< by Frame::module
  std::map<std::uint64_t, SourceFrame> sources;               ///< by Frame::offset

  std::map<std::string, std::vector<Predefined>> predefined;  ///< by kind: datatype, op

  FactsOfRanks facts;
  CarriedFacts carried;
  TimeTable times;  ///< empty: those of the nodes hold, as in files before 1.4
  PhaseTotals totals;
  Outliers outliers;           ///< of a complete trace whose times are distributions
  PairAccounts pair_accounts;  ///< of a complete trace with times
  std::vector<Declaration> declarations;
  /// By what a rank ended before MPI_Finalize was over: "SIGSEGV". In a file it is a
  /// declaration of that rank, "SIGSEGV on rank 2".
  std::map<std::uint32_t, std::string> ends;
  OnlineFacts online;
  Series series;    ///< over markers; of a part, what it adds
  Efforts efforts;  ///< likewise

  FieldKind field_kind(std::uint16_t call, std::size_t field) const override;
  /// The value of a call that is its whole call path, of traces with relaxed ones; -1: none.
  int path_field(std::uint16_t call) const;

  /// Adds an array to the table; its id is what events store.
  std::uint64_t intern(std::vector<std::int64_t> array);
  /// The rank that a stream is of, and its thread.
  std::uint32_t rank_of(std::uint32_t stream) const {
    return threads > 1 && world_size > 0 ? stream % world_size : stream;
  }
  std::uint32_t thread_of(std::uint32_t stream) const {
    return threads > 1 && world_size > 0 ? stream / world_size : 0;
  }
  std::uint32_t stream_of(std::uint32_t rank, std::uint32_t thread) const {
    return rank + world_size * thread;
  }
  /// The streams of a rank that the trace has, by thread.
  std::vector<std::uint32_t> streams_of(std::uint32_t rank) const;
  /// The ranks with a stream in `streams`.
  RankList ranks_of(const RankList& streams) const;
  /// The ranks whose events are in here.
  RankList whole_ranks() const { return ranks_of(ranks); }

  /// Adds up to `events` of all ranks.
  std::uint64_t event_count() const;
};

/// Whether unsuccessful polls are no events.
bool leaves_out_polls(const Trace& trace);

/// Whether the clocks of all ranks that the trace has events of were compared with rank 0's.
bool clocks_known(const Trace& trace);

/// Symbolic ids are the lowest free ones of the thread that made the object: it is in the upper
/// half of an id. Negative ids are of predefined objects.
inline constexpr int kObjectThreadShift = 32;
constexpr std::uint32_t object_thread(std::int64_t id) {
  return id < 0 ? 0 : static_cast<std::uint32_t>(id >> kObjectThreadShift);
}

/// Content hash of an array: its id in every trace.
std::uint64_t array_id(std::span<const std::int64_t> array);

}  // namespace chameleon::inline model
