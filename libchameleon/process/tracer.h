// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The tracer of a process: what records its calls, its rank in the online trace, and on rank 0 the
/// file. One exists between MPI_Init and MPI_Finalize; without it every wrapper passes straight
/// through.

#include <mpi.h>

#include <atomic>
#include <memory>
#include <string>

#include "markers/marker.h"
#include "online/online.h"
#include "process/fault.h"
#include "process/found_markers.h"
#include "process/settings.h"
#include "process/trace_file.h"
#include "process/traced_rank.h"
#include "record/recorder.h"
#include "world/mpi_world.h"

namespace chameleon::process {

class Tracer {
 public:
  /// `votes` and `last` are communicators of the tool's own, the latter for MPI_Finalize; rank 0
  /// has the `writer`.
  Tracer(Settings settings, int rank, int size, MPI_Comm votes, MPI_Comm last, std::string path,
         std::unique_ptr<TraceWriter> writer);

  Recorder& recorder() { return recorder_; }
  RankReport& report() { return report_; }

  // -- markers
  /// A call that may be one.
  void mark(const MarkerCall& call);
  bool is_marker_comm(MPI_Comm comm) const {
    return handle_bits(comm) == marker_comm_.load(std::memory_order_relaxed);
  }
  void name_comm(MPI_Comm comm, const char* name);
  /// MPI_Pcontrol.
  void pause(bool paused);

  // -- life
  /// Compares the ranks' clocks; they go on together, as they left MPI_Init. Collective.
  void start_clock();
  /// At the end: waits for the other ranks; then merges and completes the trace. False if a process
  /// is about to end before that: this rank's part is left beside the file then.
  void meet();
  bool finish();
  /// The last line, on rank 0.
  void say_summary(const OutsideRun& outside) const {
    if (file_) file_->say_summary(outside);
  }
  /// Leaves this rank's partial trace beside the file. `everyone`: all ranks do so by themselves,
  /// and rank 0 has the one line about it; else this rank has it if it `says` so.
  void leave_partial(const std::string& why, bool everyone, bool says = true);
  /// The same without a line, in a copy of the process. `last`: the process itself ends, else
  /// what it has is left alone. False if that failed.
  bool leave_copy(const std::string& why, bool last);
  /// After a fault.
  void stop_for_good() { recorder_.pause(Pause::kFault, true); }

  const Settings& settings() const { return settings_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  Status write_partial(const std::string& why);
  void mark();
  void see_collective(const MarkerCall& call);
  void heed_search();
  void note_source(const std::string& source, bool paces);
  void progress_beside();
  void say_if_unmarked();
  static bool progress_votes();
  MpiWorld world_on(MPI_Comm comm);
  bool is_first_of_node() const;

  Settings settings_;
  int rank_;
  int size_;
  std::string path_;
  MPI_Comm last_;
  Recorder recorder_;
  RankReport report_;
  RankBudget budget_;
  RankPieces pieces_;
  TracedRank traced_;
  std::unique_ptr<TraceFile> file_;  ///< rank 0
  Online<MpiWorld> online_;
  MarkerSource markers_;
  FoundMarkers found_;
  std::atomic<std::uint64_t> marker_comm_{0};
};

/// The tracer of this process, or null when calls are not traced.
extern std::atomic<Tracer*> g_tracer;

/// Whether the tracer wants to see blocking collectives of all ranks, to find markers.
extern std::atomic<bool> g_sees_collectives;

/// Begins tracing, after MPI_Init succeeded; says why on rank 0 if it cannot. `prepare` is called
/// before the clock starts.
void start_tracer(bool threaded, void (*prepare)(Tracer&));
/// Merges all ranks' traces and writes the file; called inside MPI_Finalize.
void finish_tracer();
/// A session ends and nothing is traced: says so once, on the first rank, if MPI_Init never was.
void note_untraced_session();

}  // namespace chameleon::process
