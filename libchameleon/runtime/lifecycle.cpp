// SPDX-License-Identifier: BSD-3-Clause
// How tracing begins and ends: the output file from the start, one merge up the
// tree at the end. Tool traffic is PMPI on a private duplicate of the world.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "runtime/tracer.h"
#include "trace/file.h"
#include "world/tree.h"

extern char** environ;

namespace chameleon {
namespace {

constexpr int kSizeTag = 1;
constexpr int kDataTag = 2;
constexpr std::size_t kPiece = 1U << 30;

void say(const std::string& line) {
  const std::string whole = "chameleon: " + line + "\n";
  if (::write(STDERR_FILENO, whole.data(), whole.size()) < 0) return;  // nowhere left to say it
}

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

Trace empty_trace(int size) {
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

/// Creates the file under a name not yet taken: NAME.cham, NAME.1.cham, ...
Result<std::string> create_output(const Settings& settings, const Trace& trace) {
  const std::string wanted = settings.output.empty() ? default_output() : settings.output;
  const bool suffixed = wanted.size() > 5 && wanted.substr(wanted.size() - 5) == ".cham";
  const std::string stem = suffixed ? wanted.substr(0, wanted.size() - 5) : wanted;
  for (int i = 0;; ++i) {
    const std::string path = (i == 0 ? stem : stem + "." + std::to_string(i)) + ".cham";
    const std::string name = i == 0 && !suffixed ? wanted : path;
    if (::access(name.c_str(), F_OK) == 0) continue;
    const Status created = create_trace_file(name, trace);
    if (created) return name;
    if (errno != EEXIST) return created.error();
  }
}

/// Rank 0 decides for all: settings from its environment, the file's name.
struct Start {
  bool trace = false;
  Settings settings;
  std::string path;
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
  auto path = create_output(*settings, empty_trace(size));
  if (!path) {
    say(path.error().message +
        "; set CHAMELEON_OUTPUT to a file in a writable folder; the program runs untraced");
    return start;
  }
  start.trace = true;
  start.path = *path;
  return start;
}

void send_bytes(const Bytes& bytes, int to, MPI_Comm comm) {
  std::uint64_t size = bytes.size();
  PMPI_Send(&size, 1, MPI_UINT64_T, to, kSizeTag, comm);
  for (std::size_t at = 0; at < bytes.size(); at += kPiece)
    PMPI_Send(bytes.data() + at, static_cast<int>(std::min(kPiece, bytes.size() - at)), MPI_BYTE,
              to, kDataTag, comm);
}

Bytes receive_bytes(int from, MPI_Comm comm) {
  std::uint64_t size = 0;
  PMPI_Recv(&size, 1, MPI_UINT64_T, from, kSizeTag, comm, MPI_STATUS_IGNORE);
  Bytes bytes(size);
  for (std::size_t at = 0; at < bytes.size(); at += kPiece)
    PMPI_Recv(bytes.data() + at, static_cast<int>(std::min(kPiece, bytes.size() - at)), MPI_BYTE,
              from, kDataTag, comm, MPI_STATUS_IGNORE);
  return bytes;
}

const char* timing_name(Timing timing) {
  return timing == Timing::kNone ? "none" : timing == Timing::kFull ? "full" : "histogram";
}

void summarize(const Trace& trace, std::uint64_t bytes, const std::string& path) {
  std::uint64_t run = 0;
  std::uint64_t tool = 0;
  for (const auto& [rank, fact] : trace.facts) {
    run += fact.run_ns;
    tool += fact.tool_ns;
  }
  char line[512];
  std::snprintf(line, sizeof line,
                "%s: %u ranks, markers 0, #C 0 #L 0 #AT 0 #flush 0, leads 0, %llu events, %llu bytes, "
                "tool %.2f%% of run time, %s",
                CHAMELEON_VERSION, trace.world_size,
                static_cast<unsigned long long>(trace.event_count()),
                static_cast<unsigned long long>(bytes),
                run == 0 ? 0.0 : 100.0 * static_cast<double>(tool) / static_cast<double>(run),
                path.c_str());
  say(line);
}

void complete(Tracer& tracer, Trace& trace, Trace&& mine) {
  trace.timing = timing_name(tracer.settings().timing);
  trace.ranks = mine.ranks;
  trace.complete = mine.complete;
  trace.nodes = std::move(mine.nodes);
  trace.calls = std::move(mine.calls);
  trace.arrays = std::move(mine.arrays);
  trace.paths = std::move(mine.paths);
  trace.modules = std::move(mine.modules);
  trace.predefined = std::move(mine.predefined);
  trace.facts = std::move(mine.facts);
  trace.declarations = std::move(mine.declarations);
  canonicalize(trace);
}

}  // namespace

void start_tracer(bool threaded) {
  if (g_tracer.load() != nullptr) return;
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm = MPI_COMM_NULL;
  if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) {
    if (rank == 0) say("cannot make a communicator of its own; the program runs untraced");
    return;
  }
  Start start;
  if (rank == 0) start = prepare(size);
  int length = start.trace ? static_cast<int>(start.path.size()) : -1;
  PMPI_Bcast(&length, 1, MPI_INT, 0, comm);
  if (length >= 0) {
    start.path.resize(static_cast<std::size_t>(length));
    PMPI_Bcast(start.path.data(), length, MPI_CHAR, 0, comm);
  }
  auto settings = parse_settings(environ);
  if (length < 0) {
    PMPI_Comm_free(&comm);
    return;
  }
  if (const Status unwinder = callpath::Engine::start(); !unwinder && rank == 0)
    say(unwinder.error().message + "; calls are recorded without call paths");
  auto* tracer = new Tracer(settings ? *settings : Settings{}, rank, size, comm);
  tracer->path = start.path;
  if (threaded) tracer->set_threaded();
  if (rank == 0 && tracer->settings().verbose >= 1)
    say("tracing " + std::to_string(size) + " ranks of " + program_name() + " to " + start.path);
  if (tracer->settings().verbose >= 2) {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    say("rank " + std::to_string(rank) + " is process " + std::to_string(::getpid()) + " on " +
        host);
  }
  tracer->start_clock();
  g_tracer.store(tracer, std::memory_order_release);
}

void finish_tracer() {
  Tracer* tracer = g_tracer.exchange(nullptr);
  if (tracer == nullptr) return;
  Trace trace = tracer->finish();
  const MPI_Comm comm = tracer->tool_comm();
  std::string fault;
  walk_up(
      static_cast<std::uint32_t>(tracer->rank()), static_cast<std::uint32_t>(tracer->size()),
      [&](std::uint32_t child) {
        auto theirs = decode_trace(receive_bytes(static_cast<int>(child), comm));
        if (theirs)
          merge(trace, std::move(*theirs));
        else
          fault = theirs.error().message;
      },
      [&](std::uint32_t parent) {
        send_bytes(encode_trace(trace), static_cast<int>(parent), comm);
      });
  if (tracer->rank() == 0) {
    Trace whole = empty_trace(tracer->size());
    complete(*tracer, whole, std::move(trace));
    const Status written = replace_trace_file(tracer->path, whole);
    if (!fault.empty()) say("internal fault while merging: " + fault);
    if (!written) {
      say(written.error().message + "; " + tracer->path + " holds no events");
    } else {
      struct stat file {};
      ::stat(tracer->path.c_str(), &file);
      summarize(whole, static_cast<std::uint64_t>(file.st_size), tracer->path);
    }
  }
  MPI_Comm mine = comm;
  PMPI_Comm_free(&mine);
  delete tracer;
}

void abandon_tracer() {
  Tracer* tracer = g_tracer.exchange(nullptr);
  if (tracer == nullptr) return;
  Trace mine = tracer->finish();
  mine.complete = false;
  const std::string rank = std::to_string(tracer->rank());
  mine.declarations.push_back({"the run ended in MPI_Abort on rank " + rank, mine.ranks});
  Trace trace = empty_trace(tracer->size());
  complete(*tracer, trace, std::move(mine));
  const std::string path = tracer->path + ".rank" + rank;
  const Status written = replace_trace_file(path, trace);
  say(written ? "MPI_Abort on rank " + rank + ": its trace is in " + path : written.error().message);
}

}  // namespace chameleon
