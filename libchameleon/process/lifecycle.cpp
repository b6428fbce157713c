// SPDX-License-Identifier: BSD-3-Clause
// How tracing begins and ends: the output file from the start, all ranks of one
// mind about it. Tool traffic is PMPI on private duplicates of the world.
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/masked_arguments.h"
#include "base/own_descriptor.h"
#include "format/file.h"
#include "process/ending.h"
#include "process/fault.h"
#include "process/say.h"
#include "process/tracer.h"
#include "process/unwinder_hook.h"
#include "record/aside.h"

extern char** environ;

namespace chameleon::process {

void (*g_ready_unwinder)() = nullptr;

namespace {

std::string program_name() {
  char path[PATH_MAX] = "";
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path - 1);
  const std::string whole(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  return whole.substr(whole.rfind('/') + 1);
}

/// A word as a shell takes it.
std::string in_quotes(std::string_view word) {
  const auto is_plain = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::strchr("_./:=,@%+-", letter) != nullptr;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
  return text + "'";
}

/// Whether a trace says how the program was started (CHAMELEON_RECORD_COMMAND), and what of that is
/// secret (CHAMELEON_MASK), as rank 0 has it: ranks write files of their own, too.
bool g_records_command = true;
SecretNames& secret_names() {
  static SecretNames names;
  return names;
}

std::string& untraced_functions() {
  static std::string functions;
  return functions;
}

void read_records_command(const char* const* variables) {
  constexpr const char* kOff = "CHAMELEON_RECORD_COMMAND=0";
  constexpr std::string_view kMask = "CHAMELEON_MASK=";
  for (; *variables != nullptr; ++variables) {
    const std::string_view entry = *variables;
    if (entry == kOff) g_records_command = false;
    if (entry.starts_with(kMask)) secret_names_of(entry.substr(kMask.size()), secret_names());
  }
}

/// The program's arguments, of which there may be many: the first `kMostOfCommandLine` bytes,
/// without what looks like a secret.
std::string command_line() {
  constexpr std::size_t kMostOfCommandLine = 4096;
  std::string words(kMostOfCommandLine, 0);
  const OwnDescriptor file("/proc/self/cmdline", O_RDONLY);
  const ssize_t size = ::read(file.get(), words.data(), words.size());
  words.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find('\0', at), words.size());
    arguments.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  std::string text;
  for (const std::string& word : masked_arguments(std::move(arguments), secret_names()))
    text += (text.empty() ? "" : " ") + in_quotes(word);
  return text;
}

/// How the process was started; programs may change their folder later.
struct Started {
  std::string command_line = process::command_line();
  std::string directory;
};
const Started& started() {
  static const Started found = [] {
    Started now;
    char folder[PATH_MAX];
    if (::getcwd(folder, sizeof folder) != nullptr) now.directory = folder;
    return now;
  }();
  return found;
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
  read_records_command(environ);
  auto settings = parse_settings(environ);
  if (!settings) {
    say(settings.error().message + "; the program runs untraced");
    return start;
  }
  for (const std::string& warning : settings->warnings) say(warning);
  if (const Status read = load_rules(*settings); !read)
    say(read.error().message + "; the program is traced without rules");
  if (!settings->enable) return start;
  const Trace first = new_trace(size, *settings);
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

/// Rank 0's text, in pieces, so that a rank without memory for it takes part. Gives its length.
std::size_t share_text(std::string& text, int rank, MPI_Comm comm) {
  unsigned long length = text.size();
  PMPI_Bcast(&length, 1, MPI_UNSIGNED_LONG, 0, comm);
  const bool kept = rank == 0 || guarded([&] { text.resize(length); });
  char piece[2048];
  for (std::size_t at = 0; at < length; at += sizeof piece) {
    const std::size_t size = std::min<std::size_t>(sizeof piece, length - at);
    if (rank == 0) std::memcpy(piece, text.data() + at, size);
    PMPI_Bcast(piece, static_cast<int>(size), MPI_CHAR, 0, comm);
    if (rank != 0 && kept) std::memcpy(text.data() + at, piece, size);
  }
  return length;
}

/// Variables of the tracer, each with its terminating zero. Rules are their text: only this rank
/// reads a file.
std::string shared_variables(const Settings& settings) {
  constexpr const char* kRules = "CHAMELEON_RULES=";
  std::string variables;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "CHAMELEON_", 10) == 0 &&
        std::strncmp(*entry, kRules, std::strlen(kRules)) != 0)
      variables.append(*entry, std::strlen(*entry) + 1);
  if (!settings.rules.empty()) variables += kRules + settings.rules.text() + '\0';
  return variables;
}

/// Rank 0's environment and file name hold for all ranks. Collective.
Start agree(int rank, int size) {
  Start start;
  std::string variables;
  if (rank == 0)
    guarded([&] {
      start = prepare(size);
      if (start.trace) variables = shared_variables(start.settings);
    });
  start.trace = share_text(start.path, rank, g_comms[0]) != 0;
  share_text(variables, rank, g_comms[0]);
  if (rank == 0 || !start.trace) return start;
  guarded([&] {
    std::vector<const char*> entries;
    for (std::size_t at = 0; at < variables.size(); at += std::strlen(&variables[at]) + 1)
      entries.push_back(&variables[at]);
    entries.push_back(nullptr);
    read_records_command(entries.data());
    auto settings = parse_settings(entries.data());
    if (settings && load_rules(*settings)) start.settings = *settings;
  });
  return start;
}

}  // namespace

void note_untraced(std::string functions) { untraced_functions() = std::move(functions); }

Trace new_trace(int size) {
  Trace trace;
  trace.untraced = untraced_functions();
  trace.world_size = static_cast<std::uint32_t>(size);
  trace.program = program_name();
  if (g_records_command) {
    trace.command_line = started().command_line;
    trace.directory = started().directory;
  }
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  trace.writer_host = host;
  trace.writer_process = static_cast<std::uint64_t>(::getpid());
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

Trace new_trace(int size, const record::RecordOptions& options) {
  Trace trace = new_trace(size);
  trace.timing = timing_name(options.timing);
  trace.recorded_polls = options.all_events ? "all" : "successful";
  trace.rules = options.rules.text();
  trace.effort = options.effort_given;
  if (!options.frames.all()) trace.frames_matched = frames_text(options.frames);
  return trace;
}

namespace {

/// What the tool takes where no run is: on all ranks at once.
OutsideRun g_outside;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// One that no other job on a host has. Collective.
std::uint64_t number_of_job(int rank) {
  unsigned long number = 0;
  if (rank == 0 && ::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
    number =
        static_cast<unsigned long>(std::chrono::system_clock::now().time_since_epoch().count());
  PMPI_Bcast(&number, 1, MPI_UNSIGNED_LONG, 0, g_comms[0]);
  return number;
}

/// The program's communicators keep the error handlers that they have, or have none: MPICH tells a
/// handler that was never set from one that is the usual one, and duplicates inherit the
/// difference. So an error here is MPI_COMM_WORLD's, as one in MPI_Init is; it is not asked for its
/// handler, not even to give the same one back.
bool make_communicators() {
  for (MPI_Comm& comm : g_comms) {
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) comm = MPI_COMM_NULL;
    if (comm == MPI_COMM_NULL) break;
    if constexpr (!kSimulated) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  if (g_comms[1] != MPI_COMM_NULL) {
    record::ask_on(g_comms[1]);
    return true;
  }
  if (g_comms[0] != MPI_COMM_NULL) PMPI_Comm_free(&g_comms[0]);
  return false;
}

/// What a rank needs before it may say that it can be traced; null if it cannot be had.
std::unique_ptr<Tracer> make_tracer(Start& start, int rank, int size, bool threaded,
                                    void (*prepare)(Tracer&)) {
  std::unique_ptr<Tracer> tracer;
  reserve_space();
  const bool made = guarded([&] {
    started();
    if (g_ready_unwinder != nullptr) g_ready_unwinder();
    const Status unwinder = callpath::Engine::start(start.settings.python);
    if (!unwinder && rank == 0)
      say(unwinder.error().message + "; calls are recorded without call paths");
    const std::string python = callpath::Engine::python_not_shown();
    if (!python.empty() && rank == 0) say(python);
    tracer = std::make_unique<Tracer>(start.settings, rank, size, g_comms[0], g_comms[1],
                                      start.path, std::move(start.writer));
    if (threaded) tracer->recorder().set_threaded();
    prepare(*tracer);
  });
  if (!made || has_fault()) tracer.reset();  // a fault may have been at load
  return tracer;
}

/// What is said as tracing begins.
void introduce(const Tracer& tracer, const std::string& path) {
  if (tracer.rank() == 0 && tracer.settings().verbose >= 1)
    say("tracing " + std::to_string(tracer.size()) + " ranks of " + program_name() + " to " + path);
  if (tracer.settings().verbose >= 2) {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    say("rank " + std::to_string(tracer.rank()) + " is process " + std::to_string(::getpid()) +
        " on " + host);
  }
}

/// All ranks are traced or none. Rank 0 says which cannot be, and the file too.
bool all_begin(bool can, int rank, int size, const std::string& path) {
  int first = can ? size : rank;
  int cannot = size;
  PMPI_Allreduce(&first, &cannot, 1, MPI_INT, MPI_MIN, g_comms[0]);
  if (cannot == size) return true;
  if (rank != 0) return false;
  say_plain("no memory for the tracer on rank %d: the program runs untraced", cannot);
  guarded([&] {
    if (path.empty()) return;
    Trace trace = new_trace(size);
    trace.declarations.push_back({"a rank had no memory for the tracer: nothing was recorded",
                                  RankList::range(0, static_cast<std::uint32_t>(size) - 1)});
    static_cast<void>(replace_trace_file(path, trace));
  });
  return false;
}

/// Collective.
void start_here(bool threaded, void (*prepare)(Tracer&)) {
  const auto begin = std::chrono::steady_clock::now();
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!make_communicators()) {
    if (rank == 0) say_plain("cannot make communicators of its own; the program runs untraced");
    return;
  }
  Start start = agree(rank, size);
  std::unique_ptr<Tracer> made;
  if (start.trace) made = make_tracer(start, rank, size, threaded, prepare);
  // Without a fault on rank 0 its reason for not tracing was said.
  int asks = start.trace || has_fault();
  PMPI_Bcast(&asks, 1, MPI_INT, 0, g_comms[0]);
  if (asks == 0 || !all_begin(made != nullptr, rank, size, start.path)) {
    made.reset();
    record::ask_on(MPI_COMM_NULL);
    for (MPI_Comm& comm : g_comms) PMPI_Comm_free(&comm);
    return;
  }
  Tracer* const tracer = made.release();
  guarded([&] { introduce(*tracer, start.path); });
  if constexpr (!kSimulated) share_end(*tracer, number_of_job(rank));
  g_outside.start = seconds_since(begin);
  tracer->start_clock();
  if constexpr (!kSimulated) end_sharing();
  if (has_fault()) tracer->stop_for_good();
  (has_fault() ? g_stopped : g_tracer).store(tracer, std::memory_order_release);
}

}  // namespace

void start_tracer(bool threaded, void (*prepare)(Tracer&)) {
  if (present_tracer() == nullptr) aside([&] { start_here(threaded, prepare); });
}

void note_untraced_session() {
  static bool said = false;
  int initialized = 0;
  PMPI_Initialized(&initialized);
  if (initialized != 0 || std::exchange(said, true) || !speaks_for_job()) return;
  aside([] { say("sessions without MPI_Init are not traced"); });
}

namespace {

void finish_here(Tracer* tracer) {
  give_back_space();
  tracer->meet();
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto held = tracer->recorder().lock();  // not while SIGTERM's thread saves what there is
    g_tracer.store(nullptr);
    g_stopped.store(nullptr);
    g_tool_gate.set(CollectivePhase::kLastMerge);
  }
  note_finished(*tracer, tracer->finish());
  g_tool_gate.set(CollectivePhase::kNothing);
  record::ask_on(MPI_COMM_NULL);
  // The tracer's communicators are left to MPI_Finalize. Votes that nobody waited for may be there
  // unreceived, and MPICH ends a job that frees such a communicator (from 4.2 on).
  g_outside.end = seconds_since(begin);
  guarded([&] { tracer->say_summary(g_outside); });
  if (!tracer->recorder().threaded())
    delete tracer;  // else a thread may be asking whether it records
}

}  // namespace

void finish_tracer() {
  if (Tracer* const tracer = present_tracer()) aside([&] { finish_here(tracer); });
}

}  // namespace chameleon::process
