// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The state of one traced process: objects and their symbolic ids, its events
/// (rank_trace.h), what happens at markers (online.h), and time accounting. One exists between
/// MPI_Init and MPI_Finalize; without it every wrapper passes straight through.
/// Programs with MPI_THREAD_MULTIPLE serialize on a lock outside the MPI calls,
/// and their events form one stream in order of completion.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "callpath/engine.h"
#include "cluster/flush.h"
#include "markers/marker.h"
#include "mpi/call_table.h"
#include "runtime/arguments.h"
#include "runtime/clock.h"
#include "runtime/clock_fit.h"
#include "runtime/governor.h"
#include "runtime/rank_trace.h"
#include "runtime/settings.h"
#include "runtime/slots.h"
#include "runtime/termination.h"
#include "statemachine/table.h"
#include "trace/file.h"
#include "trace/trace.h"

namespace chameleon {

class Online;

/// What the completion of a request must know of its posting.
struct RequestFacts {
  bool receives = false;
  bool any_source = false;
  bool any_tag = false;
  bool persistent = false;
  bool active = false;
  bool cancelled = false;
  CommShape comm;
  std::int64_t bytes = 0;  ///< posted
};

/// While one lives, a thread is in tool code and may change the tracer.
class ToolSection {
 public:
  explicit ToolSection(std::mutex* mutex) : mutex_(mutex) {
    g_door.enter();
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~ToolSection() {
    if (mutex_ != nullptr) mutex_->unlock();
    g_door.leave();
  }
  ToolSection(const ToolSection&) = delete;
  ToolSection& operator=(const ToolSection&) = delete;

 private:
  std::mutex* mutex_;
};

class Tracer {
 public:
  /// `votes` and `last` are communicators of the tool's own; rank 0 has the `writer`.
  Tracer(Settings settings, int rank, int size, MPI_Comm votes, MPI_Comm last,
         std::string path, std::unique_ptr<TraceWriter> writer);
  ~Tracer();

  // -- objects
  Slots& slots(Kind kind) { return *slots_[static_cast<std::size_t>(kind)]; }
  const CommShape& comm_shape(MPI_Comm comm);
  void forget_comm(MPI_Comm comm);
  void learn_comm(MPI_Comm comm, const CommShape& shape);
  RequestFacts& request(std::int64_t id);
  std::int64_t type_bytes(MPI_Datatype type);
  void forget_type() { cached_type_ = MPI_DATATYPE_NULL; }
  /// The id of an array, which is kept until the next flush. Those seen lately cost a hash.
  std::uint64_t intern(std::span<const std::int64_t> array) {
    const std::uint64_t id = array_id(array);
    std::uint64_t& recent = recent_arrays_[id % kRecent];
    if (recent != id || id == 0) keep_array(recent = id, array);
    return id;
  }

  // -- events
  bool records(CallId call) const { return !paused_ && records_[static_cast<std::size_t>(call)]; }
  template <std::size_t N>
  void append(CallId call, void* site, std::uint64_t compute, std::uint64_t communication,
              const std::array<std::int64_t, N>& values) {
    seen_[static_cast<std::size_t>(call)] = true;
    IntervalLog& log = rank_trace_.log();
    log.append(static_cast<std::uint16_t>(call), engine_.capture(site), compute, communication,
               values.data(), N);
    if (log.full()) [[unlikely]]
      spill();
  }
  void count_paused() { ++facts_.paused; }
  /// A call had too little stack for being recorded. Any thread.
  void count_squeezed() { squeezed_.fetch_add(1, std::memory_order_relaxed); }
  /// MPI_Pcontrol.
  void pause(bool paused);
  /// Stops recording for good when the tool has more memory than it may: said once, declared.
  void watch_memory();
  /// For the budget: calls of the interval that begins are left out, or not.
  void leave_out(bool interval);
  bool leaves_out() const { return left_out_; }

  // -- markers
  void mark(const MarkerCall& call) {
    if (markers_.source(call)) mark();
  }
  bool is_marker_comm(MPI_Comm comm) const { return handle_bits(comm) == marker_comm_; }
  void name_comm(MPI_Comm comm, const char* name);

  // -- time, in ticks
  const Clock& clock() const { return clock_; }
  /// Computation between the last call and this one's `entry`.
  std::uint64_t computed_until(std::uint64_t entry) const {
    return last_exit_ < entry ? entry - last_exit_ : 0;
  }
  /// A call is over and recorded. What recording took after the call is measured at the first
  /// of its kind and every 16th, and after anything unusual; else it is taken to be as then.
  void leave(CallId call, std::uint64_t entry, std::uint64_t before, std::uint64_t after) {
    Epilogue& epilogue = epilogues_[static_cast<std::size_t>(call)];
    std::uint64_t spent = epilogue.ticks;
    if (unusual_ || epilogue.calls++ % 16 == 0) {
      spent = clock_.now() - after;
      // An interrupt in the sample is that call's, hardly the next ones'.
      if (!unusual_)
        epilogue.ticks = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(spent, epilogue.ticks == 0 ? 1U << 20 : 2 * epilogue.ticks));
      unusual_ = false;
    }
    last_exit_ = after + spent;
    tool_ticks_ += (before - entry) + spent;
    call_ticks_ += after - before;
  }
  /// Collective: compares the ranks' clocks.
  void start_clock();
  ClockFit& clock_fit() { return clock_fit_; }
  /// What this rank's clock shows, with a scale that `ns_per_tick` gave.
  std::int64_t local_ns(double scale) const {
    return static_cast<std::int64_t>(static_cast<double>(clock_.now() - start_) * scale);
  }
  double ns_per_tick() { return ns_per_tick_ = clock_.ns_per_tick(); }
  std::uint64_t elapsed_ns();
  /// Time since `begin` was the tool's: neither computation nor communication.
  void spent_at_marker(std::uint64_t begin, State state);
  Governor& governor() { return governor_; }
  Governor::Spent spent();
  /// The step all ranks take, or this one where there are no markers.
  void govern(Governor::Cause cause, const Governor::Spent& now);

  // -- what is kept
  RankTrace& rank_trace() { return rank_trace_; }
  /// What this rank brings to a flush; its partial trace is empty afterwards.
  Share take_share(bool keeps);
  /// What is not needed to compare shares: call paths, modules, predefined objects.
  void complete_share(Share& share) const;
  /// A trace without events that says what this rank knows of itself.
  Trace own_facts(bool lost);
  /// The job's trace before any event.
  Trace empty_trace() const;
  /// Brings the file up to date (rank 0); says so once if it cannot.
  void write(const Trace& partial, const Trace& online);
  void write_last(const Trace& whole);
  /// Leaves this rank's partial trace beside the file; one line says so.
  void leave_partial(const std::string& why, bool everyone);

  // -- life
  ToolSection lock() { return ToolSection(threaded_ ? &mutex_ : nullptr); }
  /// With the door closed: waits, a second at most, until no thread is inside.
  bool close();
  void set_threaded() { threaded_ = true; }
  std::FILE* raw() const { return raw_; }
  void finish();
  const Settings& settings() const { return settings_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  static constexpr std::size_t kRecent = 64;

  void mark();
  void spill();
  void keep_array(std::uint64_t id, std::span<const std::int64_t> array);
  void report(const Status& written);
  void describe_calls(Trace& trace) const;
  bool open_raw();

  Settings settings_;
  int rank_;
  int size_;
  std::string path_;
  std::unique_ptr<TraceWriter> writer_;
  std::array<std::unique_ptr<Slots>, static_cast<std::size_t>(Kind::kOther) + 1> slots_;
  std::unordered_map<std::uint64_t, CommShape> comms_;
  std::uint64_t cached_comm_ = 0;
  const CommShape* cached_shape_ = nullptr;
  std::vector<RequestFacts> requests_;
  MPI_Datatype cached_type_ = MPI_DATATYPE_NULL;
  std::int64_t cached_bytes_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> arrays_;
  std::array<std::uint64_t, kRecent> recent_arrays_{};  ///< of `arrays_`, by id

  std::array<bool, kCallIdEnd> records_{};
  std::array<bool, kCallIdEnd> seen_{};
  bool paused_ = false;    ///< by the program, or left out
  bool stopped_ = false;   ///< by the program
  bool left_out_ = false;
  bool out_of_memory_ = false;  ///< CHAMELEON_MEMORY is used up
  bool was_paused_ = false;
  bool threaded_ = false;
  callpath::Engine engine_;
  RankTrace rank_trace_;
  std::unique_ptr<Online> online_;
  MarkerSource markers_;
  std::uint64_t marker_comm_ = 0;
  Clock clock_{settings_.counter};
  ClockFit clock_fit_;
  std::uint64_t start_ = 0;
  std::uint64_t last_exit_ = 0;
  std::uint64_t tool_ticks_ = 0;
  std::uint64_t call_ticks_ = 0;    ///< in MPI
  std::uint64_t marker_ticks_ = 0;  ///< of these, at markers
  Governor governor_{settings_.budget, settings_.timing == Timing::kHistogram};
  std::vector<std::string> governed_;  ///< its steps
  struct Epilogue {
    std::uint32_t calls = 0;
    std::uint32_t ticks = 0;
  };
  std::array<Epilogue, kCallIdEnd> epilogues_{};
  bool unusual_ = false;  ///< the present call's recording took long
  double ns_per_tick_ = 1;
  bool said_write_ = false;
  std::atomic<std::uint64_t> squeezed_{0};
  RankFacts facts_;
  std::FILE* raw_ = nullptr;
  std::mutex mutex_;
};

/// The tracer of this process, or null when calls are not traced.
extern std::atomic<Tracer*> g_tracer;

/// Above 0 inside a traced call: calls that MPI makes of itself pass through.
extern CHAMELEON_PER_THREAD int t_depth CHAMELEON_FAST_TLS;

/// Begins tracing, after MPI_Init succeeded; says why on rank 0 if it cannot.
void start_tracer(bool threaded);
/// Merges all ranks' traces and writes the file; called inside MPI_Finalize.
void finish_tracer();
/// A session ends and nothing is traced: says so once, on the first rank, if MPI_Init never was.
void note_untraced_session();
/// Leaves this rank's trace beside the file; called inside MPI_Abort.
void abandon_tracer();

}  // namespace chameleon
