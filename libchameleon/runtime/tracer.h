// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The state of one traced process: objects and their symbolic ids, the buffer
/// of events not folded yet, the fold, and time accounting. One exists between
/// MPI_Init and MPI_Finalize; without it every wrapper passes straight through.
/// Programs with MPI_THREAD_MULTIPLE serialize on a lock outside the MPI calls,
/// and their events form one stream in order of completion.

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "callpath/engine.h"
#include "mpi/call_table.h"
#include "runtime/arguments.h"
#include "runtime/clock.h"
#include "runtime/settings.h"
#include "runtime/slots.h"
#include "trace/fold.h"
#include "trace/trace.h"

namespace chameleon {

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

class Tracer {
 public:
  Tracer(Settings settings, int rank, int size, MPI_Comm tool_comm);
  ~Tracer();

  // -- objects
  Slots& slots(Kind kind) { return *slots_[static_cast<std::size_t>(kind)]; }
  const CommShape& comm_shape(MPI_Comm comm);
  void forget_comm(MPI_Comm comm);
  void learn_comm(MPI_Comm comm, const CommShape& shape);
  RequestFacts& request(std::int64_t id);
  std::int64_t type_bytes(MPI_Datatype type);
  void forget_type() { cached_type_ = MPI_DATATYPE_NULL; }
  std::uint64_t intern(std::vector<std::int64_t>&& array);

  // -- events
  bool records(CallId call) const { return !paused_ && records_[static_cast<std::size_t>(call)]; }
  void append(CallId call, void* site, std::uint64_t compute, std::uint64_t communication,
              const std::int64_t* values, std::size_t count);
  void count_paused() { ++facts_.paused; }
  void pause(bool paused);

  // -- time, in ticks
  const Clock& clock() const { return clock_; }
  std::uint64_t last_exit() const { return last_exit_; }
  void leave(std::uint64_t entry, std::uint64_t before, std::uint64_t after) {
    last_exit_ = clock_.now();
    tool_ticks_ += (before - entry) + (last_exit_ - after);
  }
  void start_clock() { start_ = last_exit_ = clock_.now(); }

  // -- life
  std::mutex& mutex() { return mutex_; }
  bool threaded() const { return threaded_; }
  void set_threaded() { threaded_ = true; }
  std::FILE* raw() const { return raw_; }
  Trace finish();  ///< ends tracing and gives this rank's trace
  const Settings& settings() const { return settings_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm tool_comm() const { return tool_comm_; }
  std::string path;  ///< of the trace file

 private:
  void fold_buffer();
  void describe_calls(Trace& trace) const;
  bool open_raw();

  Settings settings_;
  int rank_;
  int size_;
  MPI_Comm tool_comm_;
  std::array<std::unique_ptr<Slots>, static_cast<std::size_t>(Kind::kOther) + 1> slots_;
  std::unordered_map<std::uint64_t, CommShape> comms_;
  std::uint64_t cached_comm_ = 0;
  const CommShape* cached_shape_ = nullptr;
  std::vector<RequestFacts> requests_;
  MPI_Datatype cached_type_ = MPI_DATATYPE_NULL;
  std::int64_t cached_bytes_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> arrays_;

  std::array<bool, kCallIdEnd> records_{};
  std::array<bool, kCallIdEnd> seen_{};
  bool paused_ = false;
  bool was_paused_ = false;
  bool threaded_ = false;
  callpath::Engine engine_;
  std::vector<std::int64_t> buffer_;
  Folder folder_;
  Clock clock_;
  std::uint64_t start_ = 0;
  std::uint64_t last_exit_ = 0;
  std::uint64_t tool_ticks_ = 0;
  double ns_per_tick_ = 0;
  RankFacts facts_;
  std::FILE* raw_ = nullptr;
  std::mutex mutex_;
};

/// The tracer of this process, or null when calls are not traced.
extern std::atomic<Tracer*> g_tracer;

/// Above 0 inside a traced call: calls that MPI makes of itself pass through.
extern thread_local int t_depth [[gnu::tls_model("initial-exec")]];

/// Begins tracing, after MPI_Init succeeded; says why on rank 0 if it cannot.
void start_tracer(bool threaded);
/// Merges all ranks' traces and writes the file; called inside MPI_Finalize.
void finish_tracer();
/// Leaves this rank's trace beside the file; called inside MPI_Abort.
void abandon_tracer();

}  // namespace chameleon
