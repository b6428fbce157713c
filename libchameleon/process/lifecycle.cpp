// SPDX-License-Identifier: BSD-3-Clause
// How tracing begins and ends: the output file from the start, all ranks of one
// mind about it. Tool traffic is PMPI on private duplicates of the world.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "format/file.h"
#include "process/say.h"
#include "process/tracer.h"

extern char** environ;

namespace chameleon::process {
namespace {

std::string program_name() {
  char path[PATH_MAX] = "";
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path - 1);
  const std::string whole(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  return whole.substr(whole.rfind('/') + 1);
}

std::string default_output() {
  for (const char* variable : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"})
    if (const char* job = std::getenv(variable); job != nullptr && *job != 0)
      return program_name() + "." + job + ".cham";
  return program_name() + "." + std::to_string(::getpid()) + ".cham";
}

/// Programs may change their working folder.
std::string absolute(const std::string& path) {
  char folder[PATH_MAX];
  if (path[0] == '/' || ::getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + "/" + path;
}

/// Creates the file under a name not yet taken: NAME.cham, NAME.1.cham, ...
Result<TraceWriter> create_output(const Settings& settings, const Trace& trace) {
  const std::string wanted = absolute(settings.output.empty() ? default_output() : settings.output);
  const bool suffixed = wanted.size() > 5 && wanted.substr(wanted.size() - 5) == ".cham";
  const std::string stem = suffixed ? wanted.substr(0, wanted.size() - 5) : wanted;
  for (int i = 0;; ++i) {
    const std::string path = (i == 0 ? stem : stem + "." + std::to_string(i)) + ".cham";
    const std::string name = i == 0 && !suffixed ? wanted : path;
    if (::access(name.c_str(), F_OK) == 0) continue;
    auto created = TraceWriter::create(name, trace);
    if (created || errno != EEXIST) return created;
  }
}

/// Rank 0 decides for all: settings from its environment, the file's name.
struct Start {
  bool trace = false;
  Settings settings;
  std::string path;
  std::unique_ptr<TraceWriter> writer;  ///< rank 0
};

Start prepare(int size) {
  Start start;
  auto settings = parse_settings(environ);
  if (!settings) {
    say(settings.error().message + "; the program runs untraced");
    return start;
  }
  for (const std::string& warning : settings->warnings) say(warning);
  if (!settings->enable) return start;
  Trace first = new_trace(size);
  first.timing = timing_name(settings->timing);
  auto writer = create_output(*settings, first);
  if (!writer) {
    say(writer.error().message +
        "; set CHAMELEON_OUTPUT to a file in a writable folder; the program runs untraced");
    return start;
  }
  start.trace = true;
  start.settings = *settings;
  start.path = writer->path();
  start.writer = std::make_unique<TraceWriter>(std::move(*writer));
  return start;
}

/// Of the tool's own: for markers, and for MPI_Finalize.
MPI_Comm g_comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};

void share_text(std::string& text, MPI_Comm comm) {
  auto length = static_cast<int>(text.size());
  PMPI_Bcast(&length, 1, MPI_INT, 0, comm);
  text.resize(static_cast<std::size_t>(length));
  if (length > 0) PMPI_Bcast(text.data(), length, MPI_CHAR, 0, comm);
}

/// Rank 0's environment and file name hold for all ranks. Collective.
Start agree(int rank, int size) {
  Start start;
  std::string variables;  // each with its terminating zero
  if (rank == 0) {
    start = prepare(size);
    for (char** entry = environ; start.trace && *entry != nullptr; ++entry)
      if (std::strncmp(*entry, "CHAMELEON_", 10) == 0)
        variables.append(*entry, std::strlen(*entry) + 1);
  }
  share_text(start.path, g_comms[0]);
  share_text(variables, g_comms[0]);
  start.trace = !start.path.empty();
  if (rank == 0 || !start.trace) return start;
  std::vector<const char*> entries;
  for (std::size_t at = 0; at < variables.size(); at += std::strlen(&variables[at]) + 1)
    entries.push_back(&variables[at]);
  entries.push_back(nullptr);
  if (auto settings = parse_settings(entries.data())) start.settings = *settings;
  return start;
}

/// A launcher kills all ranks as soon as it sees one end. So each waits until the ranks around it
/// have left their traces too, for two seconds at most. Returns when all of them are to end: soon
/// after the last one's file appeared, by the clock that all of a node read; 0 if it is at once.
std::int64_t wait_for_others(const Tracer& tracer) {
  constexpr int kAround = 64;                  // ranks of a node mostly have numbers in a row
  constexpr std::int64_t kSoon = 100'000'000;  // ns
  const auto ns = [](const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  const int first = tracer.rank() - tracer.rank() % kAround;
  const int end = std::min(first + kAround, tracer.size());
  std::int64_t last = 0;
  const auto left = [&](int rank) {
    struct stat file {};
    const std::string path = tracer.path() + ".rank" + std::to_string(rank);
    if (::stat(path.c_str(), &file) != 0) return false;
    last = std::max(last, ns(file.st_ctim));
    return true;
  };
  for (int i = 0, rank = first; i < 200; ++i, ::usleep(10'000)) {
    while (rank < end && left(rank)) ++rank;
    if (rank < end) continue;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return last > ns(now) ? 0 : last + kSoon;  // a file server's clock may be another
  }
  return 0;
}

std::int64_t leave_on_termination() {
  if (!g_door.close()) return 0;
  Tracer* tracer = g_tracer.load();  // nobody changes it any more
  if (tracer == nullptr || !tracer->close()) return 0;
  tracer->leave_partial("SIGTERM", true);
  return wait_for_others(*tracer);
}

}  // namespace

void say(const std::string& line) {
  const std::string whole = "chameleon: " + line + "\n";
  if (::write(STDERR_FILENO, whole.data(), whole.size()) < 0) return;  // nowhere left to say it
}

bool speaks_for_job() {
  for (const char* variable : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(variable); rank != nullptr && std::strcmp(rank, "0") != 0)
      return false;
  const char* enabled = std::getenv("CHAMELEON_ENABLE");
  return enabled == nullptr || std::strcmp(enabled, "0") != 0;
}

const char* timing_name(Timing timing) {
  return timing == Timing::kNone ? "none" : timing == Timing::kFull ? "full" : "histogram";
}

Trace new_trace(int size) {
  Trace trace;
  trace.world_size = static_cast<std::uint32_t>(size);
  trace.program = program_name();
  trace.tool_version = CHAMELEON_VERSION;
  trace.started_unix = static_cast<std::uint64_t>(std::time(nullptr));
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(library, &length);
  for (const char* c = library; *c != 0 && *c != '\n'; ++c) {
    const bool space = *c == ' ' || *c == '\t';  // MPICH puts a tab after its colon
    if (!space || (!trace.mpi.empty() && trace.mpi.back() != ' ')) trace.mpi += space ? ' ' : *c;
  }
  return trace;
}

void summarize(const Trace& trace, std::uint64_t bytes, const std::string& path) {
  std::uint64_t run = 0;
  std::uint64_t tool = 0;
  for (const auto& [rank, fact] : trace.facts) {
    run += fact.run_ns;
    tool += fact.tool_ns;
  }
  char line[512];
  std::snprintf(
      line, sizeof line,
      "%s: %u ranks, markers %llu, #C %llu #L %llu #AT %llu #flush %llu, leads %zu, "
      "%llu events, %llu bytes, tool %.2f%% of run time, %s",
      CHAMELEON_VERSION, trace.world_size, static_cast<unsigned long long>(trace.online.markers),
      static_cast<unsigned long long>(trace.online.count_c),
      static_cast<unsigned long long>(trace.online.count_l),
      static_cast<unsigned long long>(trace.online.count_at),
      static_cast<unsigned long long>(trace.online.flushes), trace.online.clusters.size(),
      static_cast<unsigned long long>(trace.event_count()), static_cast<unsigned long long>(bytes),
      run == 0 ? 0.0 : 100.0 * static_cast<double>(tool) / static_cast<double>(run), path.c_str());
  say(line);
}

void start_tracer(bool threaded, void (*prepare)(Tracer&)) {
  if (g_tracer.load() != nullptr) return;
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  for (MPI_Comm& comm : g_comms)
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) {
      if (rank == 0) say("cannot make communicators of its own; the program runs untraced");
      if (g_comms[0] != MPI_COMM_NULL) PMPI_Comm_free(&g_comms[0]);
      return;
    }
  Start start = agree(rank, size);
  if (!start.trace) {
    for (MPI_Comm& comm : g_comms) PMPI_Comm_free(&comm);
    return;
  }
  if (const Status unwinder = callpath::Engine::start(); !unwinder && rank == 0)
    say(unwinder.error().message + "; calls are recorded without call paths");
  auto* tracer = new Tracer(start.settings, rank, size, g_comms[0], g_comms[1], start.path,
                            std::move(start.writer));
  if (threaded) tracer->set_threaded();
  if (rank == 0 && tracer->settings().verbose >= 1)
    say("tracing " + std::to_string(size) + " ranks of " + program_name() + " to " + start.path);
  if (tracer->settings().verbose >= 2) {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    say("rank " + std::to_string(rank) + " is process " + std::to_string(::getpid()) + " on " +
        host);
  }
  if constexpr (!kSimulated) watch_termination(leave_on_termination);
  prepare(*tracer);
  tracer->start_clock();
  g_tracer.store(tracer, std::memory_order_release);
}

void note_untraced_session() {
  static bool said = false;
  int initialized = 0;
  PMPI_Initialized(&initialized);
  if (initialized != 0 || std::exchange(said, true) || !speaks_for_job()) return;
  say("sessions without MPI_Init are not traced");
}

void finish_tracer() {
  Tracer* tracer = g_tracer.load();
  if (tracer == nullptr) return;
  tracer->meet();
  {
    const auto held = tracer->lock();  // not while SIGTERM's thread saves what there is
    g_tracer.store(nullptr);
    g_door.set(Together::kLastMerge);
  }
  tracer->finish();
  g_door.set(Together::kNothing);
  for (MPI_Comm& comm : g_comms) PMPI_Comm_free(&comm);
  if (!tracer->threaded()) delete tracer;  // else a thread may be asking whether it records
}

void abandon_tracer() {
  Tracer* tracer = g_tracer.load();
  if (tracer == nullptr) return;
  const auto held = tracer->lock();  // other threads may be recording
  if (g_tracer.exchange(nullptr) != nullptr) tracer->leave_partial("MPI_Abort", false);
}

}  // namespace chameleon::process
