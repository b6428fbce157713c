// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The state of one traced process: objects and their symbolic ids, its events (streams.h), what
/// happens at markers (online.h), and time accounting. One exists between MPI_Init and
/// MPI_Finalize; without it every wrapper passes straight through. Programs that may call MPI from
/// several threads (above MPI_THREAD_FUNNELED) serialize on a lock outside the MPI calls; under it
/// one stream is the present one, that of the thread that holds it. docs/design/threads.md

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
#include "flush/flush.h"
#include "format/file.h"
#include "markers/marker.h"
#include "model/trace.h"
#include "mpi/call_table.h"
#include "online/clock_fit.h"
#include "online/governor.h"
#include "process/fault.h"
#include "process/settings.h"
#include "process/termination.h"
#include "record/arguments.h"
#include "record/clock.h"
#include "record/streams.h"
#include "statemachine/table.h"

namespace chameleon::online {
class Online;
}

namespace chameleon::process {

class Tracer;

/// While one lives, a thread is in tool code and may change the tracer, which is given where
/// there are several threads.
class ToolSection {
 public:
  explicit ToolSection(Tracer* threaded);
  /// To record: the thread's stream is the present one. It may throw.
  ToolSection(Tracer* threaded, bool records);
  ~ToolSection();
  ToolSection(const ToolSection&) = delete;
  ToolSection& operator=(const ToolSection&) = delete;

 private:
  Tracer* threaded_;
};

class Tracer {
 public:
  /// `votes` and `last` are communicators of the tool's own; rank 0 has the `writer`.
  Tracer(Settings settings, int rank, int size, MPI_Comm votes, MPI_Comm last, std::string path,
         std::unique_ptr<TraceWriter> writer);
  ~Tracer();

  // -- objects
  Slots& slots(Kind kind) { return stream_->slots[static_cast<std::size_t>(kind)]; }
  const CommShape& comm_shape(MPI_Comm comm);
  void forget_comm(MPI_Comm comm);
  void learn_comm(MPI_Comm comm, const CommShape& shape);
  RequestFacts& request(std::int64_t id) {
    std::vector<RequestFacts>& own = streams_.first().requests;
    if (static_cast<std::uint64_t>(id) < own.size()) return own[static_cast<std::size_t>(id)];
    return request_anew(id);
  }
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
  bool records(CallId call) const {
    return !paused_.load(std::memory_order_relaxed) && records_[static_cast<std::size_t>(call)];
  }
  /// The present stream, under `enter`'s lock.
  Stream& stream() { return *stream_; }
  /// Signature of the stack from the frame that returns to `site` on.
  std::uint64_t path(void* site) { return engine_.capture(site); }
  /// Appends an event that was there before with the same key, or gives false.
  template <class Record>
  [[gnu::always_inline]] bool append_again(Stream& stream, CallId call, std::uint64_t path,
                                           std::uint64_t compute, std::uint64_t communication,
                                           const Record& event) {
    IntervalLog& log = stream.trace.log();
    const auto has_key = [&](const std::int64_t* key) __attribute__((always_inline)) {
      return event.has_key(key, objects_changed_);
    };
    const std::uint32_t number = log.expect(static_cast<std::uint16_t>(call), path, has_key);
    if (number == EventTable::kNone) return false;
    log.append(number, compute, communication);
    if (log.full()) [[unlikely]]
      spill();
    return true;
  }
  template <class Record>
  void append(Stream& stream, CallId call, std::uint64_t path, std::uint64_t compute,
              std::uint64_t communication, const Record& event) {
    seen_[static_cast<std::size_t>(call)] = true;
    IntervalLog& log = stream.trace.log();
    const auto& values = event.values();
    const std::uint32_t number =
        log.find(static_cast<std::uint16_t>(call), path, values.data(), values.size());
    if constexpr (Record::kKeyed) {
      if (values[0] == MPI_SUCCESS) {
        const auto key = event.key(objects_changed_);
        log.learn_key(number, {key.data(), key.size()});
      }
    }
    log.append(number, compute, communication);
    if (log.full()) [[unlikely]]
      spill();
  }
  /// Handles may stand for other objects from now on, which keys of events do not tell.
  void objects_changed() { ++objects_changed_; }
  /// The trace says so of this rank.
  void declare(std::string what) { declared_.push_back(std::move(what)); }
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
  /// After a fault.
  void stop_for_good();

  // -- markers
  void mark(const MarkerCall& call) {
    if (markers_.source(call)) mark();
  }
  bool is_marker_comm(MPI_Comm comm) const {
    return handle_bits(comm) == marker_comm_.load(std::memory_order_relaxed);
  }
  void name_comm(MPI_Comm comm, const char* name);

  // -- time, in ticks
  const Clock& clock() const { return clock_; }
  /// A call is over and recorded. What recording took after the call is measured at the first
  /// of its kind and every 16th, and after anything unusual; else it is taken to be as then.
  void leave(Stream& stream, CallId call, std::uint64_t entry, std::uint64_t before,
             std::uint64_t after) {
    Epilogue& epilogue = stream.epilogues[static_cast<std::size_t>(call)];
    std::uint64_t spent = epilogue.ticks;
    if (stream.unusual || epilogue.calls++ % 16 == 0) {
      spent = clock_.now() - after;
      // An interrupt in the sample is that call's, hardly the next ones'.
      if (!stream.unusual)
        epilogue.ticks = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(spent, epilogue.ticks == 0 ? 1U << 20 : 2 * epilogue.ticks));
      stream.unusual = false;
    }
    stream.last_exit = after + spent;
    stream.tool_ticks += (before - entry) + spent;
    stream.call_ticks += after - before;
  }
  /// Collective: compares the ranks' clocks.
  void start_clock();
  /// Before the first call: what recording one takes beside what its stamps see (the way into a
  /// wrapper and out of it, readings of the clock), found by `record()`, which records the same
  /// call each time. Nothing of that is kept. Costs some 100 us.
  template <class Record>
  void measure_unseen(CallId call, Record record) {
    if constexpr (kSimulated) return;
    const std::uint64_t begin = clock_.now();
    const auto id = static_cast<std::size_t>(call);
    const auto scratch = std::make_unique<Stream>(settings_, 64U << 10, 0);  // large
    stream_ = scratch.get();
    paused_ = has_fault();
    const bool threaded = std::exchange(threaded_, false);
    const bool records = std::exchange(records_[id], true), seen = seen_[id];
    std::uint64_t least = UINT64_MAX;
    for (int batch = 0; batch < 8; ++batch) {
      const std::uint64_t first = clock_.now(), told = scratch->tool_ticks;
      for (std::int64_t i = 0; i < kRehearsed; ++i) record();
      const std::uint64_t all = clock_.now() - first;
      if (all >= least) continue;
      least = all;
      unseen_ticks_ = static_cast<std::int64_t>(all - (scratch->tool_ticks - told));
    }
    seen_[id] = seen;
    records_[id] = records;
    threaded_ = threaded;
    update_paused();
    stream_ = &streams_.first();
    stream_->last_exit = clock_.now();
    other_ticks_ += stream_->last_exit - begin;
  }
  ClockFit& clock_fit() { return clock_fit_; }
  /// What this rank's clock shows, with a scale that `ns_per_tick` gave.
  std::int64_t local_ns(double scale) const {
    return static_cast<std::int64_t>(static_cast<double>(clock_.now() - start_) * scale);
  }
  double ns_per_tick() {
    const double ratio = clock_.ns_per_tick();
    ns_per_tick_.store(ratio, std::memory_order_relaxed);
    return ratio;
  }
  std::uint64_t elapsed_ns();
  /// Time since `begin` was the tool's: neither computation nor communication.
  void spent_at_marker(std::uint64_t begin, State state);
  Governor& governor() { return governor_; }
  Governor::Spent spent();
  /// The step all ranks take, or this one where there are no markers.
  void govern(Governor::Cause cause, const Governor::Spent& now);

  // -- what is kept
  /// Under the lock.
  Streams& streams() { return streams_; }
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
  /// Puts aside what `write_last_words` writes, which declares something for these ranks.
  void keep_last_words(const RankList& ranks);
  /// Where that cannot be: what the file lacks is declared in it. No allocation.
  void write_last_words() noexcept { writer_->say_last_words(); }
  /// Leaves this rank's partial trace beside the file; one line says so.
  void leave_partial(const std::string& why, bool everyone);

  // -- life
  ToolSection lock() { return ToolSection(threaded_ ? this : nullptr); }
  /// The same for recording: the thread's stream is the present one.
  ToolSection enter() { return ToolSection(threaded_ ? this : nullptr, true); }
  /// With the door closed: waits, a second at most, until no thread is inside.
  bool close();
  /// There may be several threads. Called by the one that called MPI_Init.
  void set_threaded();
  bool threaded() const { return threaded_; }
  /// Whether there are raw records; a stream's file may be missing all the same.
  bool writes_raw() const { return !settings_.raw.empty(); }
  /// A number for the next line of raw records, where there are threads; else 0.
  std::uint64_t next_raw_line() { return threaded_ ? ++raw_lines_ : 0; }
  /// At the end: waits for the other ranks; then merges and completes the trace.
  void meet();
  void finish();
  const Settings& settings() const { return settings_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  friend class ToolSection;
  static constexpr std::size_t kRecent = 64;
  static constexpr std::int64_t kRehearsed = 64;

  Stream& own_stream();
  std::uint64_t spent_at_calls(const Stream& stream) const;
  RequestFacts& request_anew(std::int64_t id);
  void update_paused();
  void mark();
  void spill();
  void keep_array(std::uint64_t id, std::span<const std::int64_t> array);
  void report(const Status& written);
  void describe_calls(Trace& trace) const;
  void open_raw(Stream& stream);

  Settings settings_;
  int rank_;
  int size_;
  std::string path_;
  std::unique_ptr<TraceWriter> writer_;
  std::unordered_map<std::uint64_t, CommShape> comms_;
  std::uint64_t cached_comm_ = 0;
  const CommShape* cached_shape_ = nullptr;
  MPI_Datatype cached_type_ = MPI_DATATYPE_NULL;
  std::int64_t cached_bytes_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> arrays_;
  std::array<std::uint64_t, kRecent> recent_arrays_{};  ///< of `arrays_`, by id

  std::uint64_t objects_changed_ = 0;

  std::array<bool, kCallIdEnd> records_{};
  std::array<bool, kCallIdEnd> seen_{};
  std::atomic<bool> paused_{false};  ///< by the program, or left out
  bool stopped_ = false;             ///< by the program
  bool left_out_ = false;
  bool out_of_memory_ = false;  ///< CHAMELEON_MEMORY is used up
  bool was_paused_ = false;
  bool threaded_ = false;
  callpath::Engine engine_;
  Streams streams_;
  Stream* stream_ = &streams_.first();  ///< of the thread that holds the lock
  std::unique_ptr<Online> online_;
  MarkerSource markers_;
  std::atomic<std::uint64_t> marker_comm_{0};
  Clock clock_{settings_.counter};
  ClockFit clock_fit_;
  std::uint64_t start_ = 0;
  std::uint64_t begun_ = 0;         ///< tracing, once the clocks were compared
  std::uint64_t marker_ticks_ = 0;  ///< of the tool, at markers
  std::uint64_t other_ticks_ = 0;   ///< of the tool, before the first call
  std::int64_t unseen_ticks_ = 0;   ///< of `kRehearsed` calls
  Governor governor_{settings_.budget, settings_.timing == Timing::kHistogram};
  std::vector<std::string> declared_;  ///< what is to be known of this rank's trace
  std::atomic<double> ns_per_tick_{1};
  bool said_write_ = false;
  std::atomic<std::uint64_t> squeezed_{0};
  RankFacts facts_;
  std::uint64_t raw_lines_ = 0;
  std::mutex mutex_;
};

inline ToolSection::ToolSection(Tracer* threaded) : threaded_(threaded) {
  g_door.enter();
  if (threaded_ != nullptr) threaded_->mutex_.lock();
}

inline ToolSection::ToolSection(Tracer* threaded, bool records) : ToolSection(threaded) {
  if (records && threaded_ != nullptr) threaded_->stream_ = &threaded_->own_stream();
}

inline ToolSection::~ToolSection() {
  if (threaded_ != nullptr) threaded_->mutex_.unlock();
  g_door.leave();
}

/// The tracer of this process, or null when calls are not traced.
extern std::atomic<Tracer*> g_tracer;

/// Above 0 inside a traced call: calls that MPI makes of itself pass through.
extern CHAMELEON_PER_THREAD int t_depth CHAMELEON_FAST_TLS;

/// Begins tracing, after MPI_Init succeeded; says why on rank 0 if it cannot. `prepare` is called
/// before the clock starts.
void start_tracer(bool threaded, void (*prepare)(Tracer&));
/// Merges all ranks' traces and writes the file; called inside MPI_Finalize.
void finish_tracer();
/// A session ends and nothing is traced: says so once, on the first rank, if MPI_Init never was.
void note_untraced_session();
/// Leaves this rank's trace beside the file; called inside MPI_Abort.
void abandon_tracer();

}  // namespace chameleon::process
