// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Reads Chameleon's trace files: what ran, calls and call paths, the loop tree, clusters and
/// phases, and the events of each rank with all parameters, expanded one at a time in memory of the
/// folded trace. C++17; link chameleon::trace_reader (CMake) or chameleon-trace-reader
/// (pkg-config); MPI is not needed. Files are hostile input: damage is an Error, never a crash.
/// Nothing throws but for want of memory. A TraceReader may be used by several threads at once;
/// what it hands out by reference lives as long as any copy of it. Example:
/// docs/how-to/read-a-trace.md.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chameleon::reader {

struct Error {
  enum class Kind {
    kNotATrace,           ///< the file does not begin as a trace does
    kTruncated,           ///< it holds no whole trace
    kUnsupportedVersion,  ///< written by a newer version
    kCorrupt,             ///< a checksum or a value that cannot be
    kSystem,              ///< the operating system refused
    kUsage,               ///< no such rank
    kTooLarge,            ///< beyond the memory that reading it may take
  };
  Kind kind = Kind::kCorrupt;
  std::string message;  ///< one line, with the file's name
};

/// Ranks `first` to `last`, both included. Lists of them ascend.
struct RankInterval {
  std::uint32_t first = 0, last = 0;
};
using Ranks = std::vector<RankInterval>;

/// Values of a parameter that are no number but a partner: below 0 they are no rank.
enum SpecialRank : std::int64_t {
  kNone = -1,       ///< nothing to record: the posted receive has it
  kProcNull = -2,   ///< MPI_PROC_NULL
  kAnySource = -3,  ///< MPI_ANY_SOURCE
  kRoot = -4,       ///< MPI_ROOT
  kUndefined = -5,  ///< MPI_UNDEFINED and anything outside the communicator
  kNotKnown = -64,  ///< the communicator is not known
};

/// Stored where there is nothing to record, or the argument was not significant.
inline constexpr std::int64_t kNotRecorded = INT32_MIN;

struct Field {
  std::string name;  ///< as in the C prototype; "return", "members", "status.tag", ...
  std::string kind;  ///< count, datatype, dest, tag, comm, ...: docs/reference/format.md
};

struct Call {
  std::uint16_t id = 0;
  std::string name;  ///< without MPI_
  std::vector<Field> fields;
  /// Place of the field of this name, or -1.
  int field(std::string_view name) const;
};

struct Module {
  std::uint64_t id = 0;
  std::string build_id, path;
};

/// A return address: the module's id and the distance from where it is loaded. Module 0 is not a
/// file: its frames are lines of interpreted programs (TraceReader::source), or not known.
struct Frame {
  std::uint64_t module = 0, offset = 0;
};

/// The place of a call in an interpreted program.
struct SourceLine {
  std::string file, function;
  std::uint32_t begin = 0;  ///< the line on which the function begins
  std::uint32_t line = 0;
};

/// A fact that this version of the reader does not know, as a newer one wrote it.
struct OtherFact {
  std::string name, unit;
  bool is_text = false;
  std::int64_t number = 0;
  std::string text;
};

struct Run {
/// program, mpi, ...: docs/reference/facts.md.
#define CHAMELEON_RUN_FACT(type, name, unit, join, since, meaning) type name{};
#include "chameleon/facts.inc"
  std::vector<OtherFact> other_facts;
  std::uint32_t world_size = 0;
  bool complete = false;  ///< MPI_Finalize was reached
  Ranks ranks;            ///< the streams whose events are here
  /// The largest number of threads of a rank. The events of a thread are a stream: number s is of
  /// rank s mod world_size and thread s div world_size, so that with one thread a rank streams are
  /// ranks.
  std::uint32_t threads = 1;
  std::uint32_t rank_of(std::uint32_t stream) const {
    return threads > 1 && world_size > 0 ? stream % world_size : stream;
  }
  std::uint32_t thread_of(std::uint32_t stream) const {
    return threads > 1 && world_size > 0 ? stream / world_size : 0;
  }
};

struct RankFacts {
  std::uint32_t rank = 0;  ///< the stream
/// events, run_ns, host, ...: docs/reference/facts.md.
#define CHAMELEON_RANK_FACT(type, name, unit, join, since, meaning) type name{};
#include "chameleon/facts.inc"
  std::vector<OtherFact> others;
};

/// A declaration: what is not recorded exactly, and for which ranks.
struct Declaration {
  std::string what;
  Ranks ranks;
};

struct Cluster {
  std::uint64_t call_path = 0;  ///< Call-Path signature
  std::uint32_t lead = 0;
  Ranks ranks;
};

/// A run of acted-on markers that led to the same state.
struct Phase {
  std::string state;  ///< AT, C, L, F
  std::uint64_t first_marker = 0, markers = 0, changed = 0, end_ns = 0;
};

/// A duration of each of the ranks, in ns: the sum, and the extremes with their ranks.
struct OverRanks {
  std::uint64_t sum_ns = 0, least_ns = 0, most_ns = 0;
  std::uint32_t least_rank = 0, most_rank = 0;
};
/// The times of intervals between acted-on markers: outside MPI, in it, both, and waiting at the
/// marker that ends them for slower ranks. Times are within 1/128.
struct Took {
  OverRanks compute, in_call, busy, waiting;
};
/// One interval, or several in a row: sums over them, extremes of single ones.
struct Span {
  std::uint64_t first_marker = 0, intervals = 0, end_ns = 0;
  std::string state;   ///< that the last marker led to
  unsigned phase = 0;  ///< equal numbers, equal Call-Paths on all ranks
  Took took;
  std::uint64_t slowest_marker = 0;  ///< of the interval in which some rank was busy longest
  Took slowest;
};

/// The computing of ranks in an interval between acted-on markers, over ranks: exact, in ns.
/// Deviations are rounded up.
struct EffortStep {
  std::uint64_t marker = 0;  ///< that ends it
  std::uint64_t sum_ns = 0, deviation_ns = 0, least_ns = 0, most_ns = 0;
};
/// Ranks that compute alike.
struct EffortStratum {
  std::uint32_t medoid = 0, size = 0;
  /// A rank's computation in all steps, over its ranks.
  std::uint64_t deviation_ns = 0, least_ns = 0, most_ns = 0;
  std::vector<std::uint64_t> sum_ns, deviations_ns;  ///< by step, over its ranks
  std::vector<std::uint32_t> sampled;                ///< ranks
  std::vector<std::vector<std::uint64_t>> ns;        ///< by sampled rank and step
};
/// Consecutive intervals, and estimates from the sampled ranks: means of a rank and step, in ns.
/// With a gap other than "none" there is nothing but the markers.
struct EffortWindow {
  std::uint64_t first_marker = 0, last_marker = 0;
  std::string gap;  ///< none, uneven, left_out, stopped, lost
  std::uint32_t ranks = 0;
  std::vector<EffortStep> steps;
  std::vector<EffortStratum> strata;
  double mean_ns = 0, estimate_ns = 0;  ///< of all ranks; from the sampled ones
  double claimed_error_ns = 0;          ///< with at least the confidence asked for
  std::uint32_t unstratified = 0;       ///< ranks to be measured if there were no strata
  bool strata_pay = false;              ///< fewer ranks are measured than that
  std::uint32_t length = 0;             ///< markers of a whole window
  double error = 0, confidence = 0;     ///< that were asked for, parts of 1
};

/// The times of each of some ranks in a phase, in ns within 1/128: of one rank, or the mean of
/// ranks with like times, in jobs of more than 16,384.
struct Total {
  Ranks ranks;
  int phase = -1;  ///< as Span::phase; 14: any from there on; -1: after the last marker
  std::uint64_t compute = 0, point_to_point = 0, collective = 0;
  std::uint64_t waiting = 0;  ///< at markers, for slower ranks
  std::uint64_t tool = 0;
};

/// The times of a rank's calls at a call path, in ns: waiting for others by its cause, transfer,
/// and excess, the rest; docs/reference/command.md, stats. All but `marker` add up to `in_call`.
struct Wait {
  std::uint32_t rank = 0;
  const Call* call = nullptr;
  std::uint64_t path = 0, count = 0, in_call = 0;
  std::uint64_t late_sender = 0, late_receiver = 0, late_root = 0, early_root = 0, all_to_all = 0,
                barrier = 0;
  std::uint64_t marker = 0;  ///< at markers before the calls
  std::uint64_t transfer = 0, excess = 0;
};

/// A call that took far longer than others at its place, or before which a rank computed so.
struct Outlier {
  std::uint32_t rank = 0, thread = 0;
  std::uint64_t number = 0;  ///< as Event::number
  bool in_call = false;      ///< else computing before it
  /// When that began, since the start of the stream's first event, without the tool's work.
  std::uint64_t begin_ns = 0;
  std::uint64_t ns = 0, usual_ns = 0;  ///< the latter the median there
};

/// The time that a rank was in the calls that completed its receives from another, of messages of a
/// size: `least_bytes` or more, less than twice that (0: none).
struct PairAccount {
  std::uint32_t source = 0, rank = 0, thread = 0;
  std::uint64_t least_bytes = 0;
  std::uint64_t messages = 0, ns = 0;
  std::uint64_t longest_ns = 0;      ///< of one message
  std::uint64_t longest_number = 0;  ///< the event that completed it, as Event::number
};

/// How the trace came about on line.
struct Markers {
/// clustering, markers, acted, flushes, ...: docs/reference/facts.md.
#define CHAMELEON_ONLINE_FACT(type, name, unit, join, since, meaning) type name{};
#include "chameleon/facts.inc"
};

/// Durations in ns; a mean is sum / count.
struct Times {
  std::uint64_t count = 0, sum = 0, min = 0, max = 0;
};

/// A node of the loop tree.
struct Node {
  bool is_loop = false;
  unsigned depth = 0;
  Ranks ranks;
  std::uint64_t iterations = 0;  ///< of a loop, by its first rank, all visits together
  /// The place of a loop: "program+0x1234-0x1290", the first and the last return address of its
  /// body under the frames that all of it has in common; empty if there are none.
  std::string place;
  const Call* call = nullptr;  ///< of an event
  std::uint64_t path = 0;      ///< its call path
  Times compute, in_call;      ///< before it and inside, all its ranks
  unsigned inexact = 0;        ///< as Event::inexact, of some rank
};

/// A call as one thread of a rank made it. Objects made by thread t > 0 have ids from 2^32 t on.
struct Event {
  std::uint32_t rank = 0;
  std::uint64_t number = 0;  ///< from 1
  const Call* call = nullptr;
  std::uint64_t path = 0;  ///< signature of the call path
  /// One for each field of the call. Partners (kinds dest, source, root, rank of a call with a
  /// communicator) are ranks of the communicator or a SpecialRank; objects are symbolic ids
  /// (TraceReader::object_name); of an array it is a key (TraceReader::array).
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> iteration;  ///< of the loops around, outermost first
  /// Since the call before and inside this one: its own with full timing and where it is an
  /// outlier, else the mean of the others here.
  std::uint64_t compute_ns = 0, call_ns = 0;
  /// Waited before it at markers for slower ranks: the mean at its place.
  std::uint64_t waiting_ns = 0;
  /// The values that are another rank's: 1 the calls themselves, 2 counts, 4 sources, 8
  /// destinations, 16 tags, 32 other; 0: everything is exact.
  unsigned inexact = 0;
  std::uint32_t thread = 0;

  /// The value of a field by name; `otherwise` if the call has none of this name.
  std::int64_t value(std::string_view field, std::int64_t otherwise = kNotRecorded) const;
};

class __attribute__((visibility("default"))) TraceReader {
 public:
  /// Reads the file, or says why not. The file, what it is when decompressed, and what that stands
  /// for in memory are at most `most_bytes` together; 0: a quarter of this machine's memory, and at
  /// most 1 GiB.
  static std::optional<TraceReader> open(const std::string& path, Error& error,
                                         std::uint64_t most_bytes = 0);

  const Run& run() const;
  const std::vector<Call>& calls() const;
  const std::vector<Module>& modules() const;
  const std::vector<Declaration>& declarations() const;
  const std::vector<Cluster>& clusters() const;  ///< of the last election
  const std::vector<Phase>& phases() const;
  const Markers& markers() const;
  const std::vector<Span>& series() const;    ///< over markers
  std::vector<EffortWindow> efforts() const;  ///< only with CHAMELEON_EFFORT
  std::vector<RankFacts> facts() const;
  std::vector<Total> totals() const;  ///< by rank and phase; none without markers
  /// Single calls that took far longer than others, by stream and number; where times are
  /// distributions.
  std::vector<Outlier> outliers() const;
  /// By receiver, source and size; of complete traces with times.
  std::vector<PairAccount> pair_accounts() const;

  /// By rank, call and path. Reads every call of all ranks. None and `error` if the trace has no
  /// times, its ranks have several threads, or it is damaged.
  std::vector<Wait> waits(Error& error) const;

  /// Frames of a call path, innermost first; none if it is not known.
  std::vector<Frame> frames(std::uint64_t path) const;
  /// The line that a frame of an interpreted program is; nothing of other frames.
  std::optional<SourceLine> source(const Frame& frame) const;
  /// The innermost frame outside MPI's libraries: "program+0x1234", "solver.py:42 step()".
  std::string site(std::uint64_t path) const;
  /// "MPI_INT", "MPI_COMM_WORLD", "null", "comm 2".
  std::string object_name(std::string_view kind, std::int64_t value) const;
  /// Elements of an array; nothing for a key that is not known.
  const std::vector<std::int64_t>* array(std::int64_t key) const;

  /// Calls f(node) for each node of the loop tree, outside in, in the order of execution.
  void for_each_node(const std::function<void(const Node&)>& f) const;
  /// Calls f(event) for the events of a stream (with one thread a rank: of a rank) in order, until
  /// it gives false. The event holds during the call. False and `error` if there is no such stream
  /// or the trace is damaged. Partners on objects that other threads made may not be known.
  bool for_each_event(std::uint32_t stream, const std::function<bool(const Event&)>& f,
                      Error& error) const;

 private:
  struct State;
  explicit TraceReader(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

inline int Call::field(std::string_view wanted) const {
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == wanted) return static_cast<int>(i);
  return -1;
}

inline std::int64_t Event::value(std::string_view field, std::int64_t otherwise) const {
  const int at = call->field(field);
  return at < 0 ? otherwise : values[static_cast<std::size_t>(at)];
}

}  // namespace chameleon::reader
