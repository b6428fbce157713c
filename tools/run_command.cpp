// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon run`: starts an MPI application with the tracer preloaded. The
/// application matters more than its trace: what cannot be traced runs untraced.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "amounts.h"
#include "base/edit_distance.h"
#include "common.h"
#include "foreign_names.h"
#include "job_check.h"
#include "launch.h"
#include "left_parts.h"
#include "process/settings.h"
#include "program_file.h"
#include "runtimes.h"
#include "summary.h"

namespace chameleon::tools {
namespace run_verb {

namespace fs = std::filesystem;

struct Options {
  int ranks = 0;
  std::string launcher, mpi;
  std::string output;
  std::string fidelity, algorithm, clustering, format, steps, k, equality, count_tolerance;
  std::string rules, filter;
  std::string markers, every, vote, flush_seconds, wait, energy, timing, pairs, frames;
  std::string effort, effort_steps, effort_k, effort_error, effort_confidence;
  std::vector<std::string> settings;
  std::vector<std::string> application;
};

using Traces = std::map<std::string, std::pair<fs::file_time_type, std::uintmax_t>>;

/// The traces where one may appear, to tell a new one by. `output` is as the
/// tracer takes it; empty stands for its default, PROGRAM.JOB.cham here.
Traces traces(const std::string& output) {
  Traces found;
  std::error_code error;
  const fs::path folder =
      output.empty() ? fs::path(".") : fs::absolute(output, error).parent_path();
  // The tracer numbers what would overwrite: NAME.cham, NAME.1.cham.
  const fs::path name = fs::path(output).filename();
  const std::string prefix = name.extension() == ".cham" ? name.stem().string() : name.string();
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    if (output.empty() ? entry.path().extension() != ".cham" : file.rfind(prefix, 0) != 0) continue;
    std::error_code gone;
    found[file] = {fs::last_write_time(entry.path(), gone), fs::file_size(entry.path(), gone)};
  }
  return found;
}

std::vector<std::string> environment(const Options& options, const std::string& preload) {
  std::vector<std::string> settings = options.settings;
  const auto set = [&settings](const char* name, const std::string& value) {
    if (!value.empty()) settings.push_back(name + ("=" + value));
  };
  set("CHAMELEON_OUTPUT", options.output);
  set("CHAMELEON_FIDELITY", options.fidelity);
  set("CHAMELEON_ALGORITHM", options.algorithm);
  set("CHAMELEON_CLUSTERING", options.clustering);
  set("CHAMELEON_FORMAT", options.format);
  set("CHAMELEON_STEPS", options.steps);
  set("CHAMELEON_K", options.k);
  set("CHAMELEON_EQUALITY", options.equality);
  set("CHAMELEON_COUNT_TOLERANCE", options.count_tolerance);
  set("CHAMELEON_RULES", options.rules);
  set("CHAMELEON_FILTER", options.filter);
  set("CHAMELEON_MARKERS", options.markers);
  set("CHAMELEON_CALL_FREQUENCY", options.every);
  set("CHAMELEON_VOTE", options.vote);
  set("CHAMELEON_FLUSH_SECONDS", options.flush_seconds);
  set("CHAMELEON_WAIT", options.wait);
  set("CHAMELEON_ENERGY", options.energy);
  set("CHAMELEON_TIMING", options.timing);
  set("CHAMELEON_PAIRS", options.pairs);
  set("CHAMELEON_FRAMES", options.frames);
  set("CHAMELEON_EFFORT", options.effort);
  set("CHAMELEON_EFFORT_STEPS", options.effort_steps);
  set("CHAMELEON_EFFORT_K", options.effort_k);
  set("CHAMELEON_EFFORT_ERROR", options.effort_error);
  set("CHAMELEON_EFFORT_CONFIDENCE", options.effort_confidence);
  set("LD_PRELOAD", preload);
  return settings;
}

/// What the tracer will read: this command's environment, and what its options add.
std::vector<std::string> variables(const Options& options) {
  std::map<std::string, std::string> found;
  const auto add = [&found](const std::string& text) {
    found[text.substr(0, text.find('='))] = text;
  };
  for (char** variable = environ; *variable != nullptr; ++variable) add(*variable);
  for (const std::string& text : environment(options, "")) add(text);
  std::vector<std::string> all;
  for (auto& [name, text] : found) all.push_back(std::move(text));
  return all;
}

/// Why the tracer could not do what is asked of it, which it would say only once the job runs.
Status check_settings(const Options& options) {
  const std::vector<std::string> all = variables(options);
  std::vector<const char*> list;
  for (const std::string& text : all) list.push_back(text.c_str());
  list.push_back(nullptr);
  Result<process::Settings> settings = process::parse_settings(list.data());
  if (!settings) return settings.error();
  if (const Status read = process::load_rules(*settings); !read) return read;
  const auto folder = [](const char* what, const fs::path& path) -> Status {
    std::error_code error;
    if (fs::is_directory(path, error) && access(path.c_str(), W_OK) == 0) return Unit{};
    const char* const why = fs::is_directory(path, error) ? " cannot be written to"
                                                          : " is not a folder: create it first";
    return Error{ErrorKind::kUsage, what + (": " + path.string()) + why, 0};
  };
  if (!settings->output.empty()) {
    const fs::path parent = fs::path(settings->output).parent_path();
    if (const Status found = folder("output", parent.empty() ? "." : parent); !found) return found;
  }
  return settings->raw.empty() ? Status(Unit{}) : folder("CHAMELEON_RAW", settings->raw);
}

/// The files that are new or were written since.
std::vector<std::string> fresh_traces(const std::string& output, const Traces& before,
                                      const Traces& after) {
  std::vector<std::string> fresh;
  for (const auto& [name, state] : after) {
    const auto old = before.find(name);
    if (old == before.end() || old->second != state)
      fresh.push_back((fs::path(output).parent_path() / name).string());
  }
  return fresh;
}

/// What stands out in the one trace that came, unless it takes long to find out.
void tell_outcome(const Options& options, const std::vector<std::string>& fresh) {
  constexpr std::uintmax_t kMostBytes = 16U << 20;
  if (fresh.size() != 1 || variable("CHAMELEON_VERBOSE", options.settings) == "0") return;
  const std::string& path = fresh.front();
  std::error_code gone;
  if (fs::file_size(path, gone) > kMostBytes) return;
  Result<Trace> trace = read_bounded(path);
  if (!trace || !allow_visits(path, *trace, false)) return;
  if (!trace->complete) join_parts(*trace, path);
  make_names_printable(*trace);
  if (const Result<TraceSummary> summary = TraceSummary::make(*trace))
    print_outcome(path, *trace, *summary);
}

/// The runtime and launcher of an MPI that the program does not name: it will load it.
Status choose_mpi(const std::string& name, const std::string& tracer, Diagnosis& diagnosis) {
  const std::vector<Runtime> all = runtimes(tracer);
  const auto chosen = std::find_if(all.begin(), all.end(), [&](const Runtime& runtime) {
    const std::string file = fs::path(runtime.path).filename().string();
    // The first one's file does not say what it is for.
    return file == "libchameleon-" + name + ".so" ||
           (file.rfind("libchameleon.so", 0) == 0 && family_of(runtime.mpi_library) == name);
  });
  if (chosen == all.end())
    return Error{ErrorKind::kUsage, "--mpi " + name + ": there is no libchameleon-" + name + ".so",
                 0};
  if (!diagnosis.mpi_library.empty() && diagnosis.mpi_library != chosen->mpi_library)
    return Error{ErrorKind::kUsage,
                 "--mpi " + name + ": the program is linked with " + diagnosis.mpi_library, 0};
  diagnosis.tracer = chosen->path;
  diagnosis.mpi_library = chosen->mpi_library;
  return Unit{};
}

/// Variables in --env that the tracer does not have. Those of the environment may be another
/// version's: the tracer names them, and the program runs.
Status check_variables(const Options& options) {
  std::vector<const char*> list;
  for (const std::string& text : options.settings) list.push_back(text.c_str());
  list.push_back(nullptr);
  const Result<process::Settings> settings = process::parse_settings(list.data());
  if (!settings || settings->warnings.empty()) return Unit{};
  return Error{ErrorKind::kUsage, settings->warnings.front(), 0};
}

/// Why this word cannot stand before the program.
Error misplaced(const CLI::App& verb, const std::string& word) {
  if (word.empty() || word.front() != '-')
    return {ErrorKind::kUsage, word + ": the program comes after --, and only options before", 0};
  const std::string name = word.substr(0, word.find('='));
  std::string near;
  std::size_t least = kUnrelatedNames;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& known : option->get_lnames())
      if (const std::size_t away = edit_distance(name, "--" + known); away < least) {
        least = away;
        near = ": --" + known + " is";
      }
  return {ErrorKind::kUsage, name + " is no option" + near, 0};
}

int run(const Options& options) {
  if (options.application.empty())
    return fail("run", "no program (chameleon run -n RANKS -- PROGRAM ARGUMENTS...)", kExitUsage);
  if (const std::string nested = launcher_as_program(options.application); !nested.empty())
    return fail("run", nested, kExitUsage);
  for (const std::string& text : options.settings)
    if (!is_setting(text)) return fail("run", "--env takes NAME=VALUE, not " + text, kExitUsage);
  for (const Status& checked : {check_variables(options), check_settings(options)})
    if (!checked) return fail("run", checked.error().message, kExitUsage);
  std::string tracer = find_tracer();
  Result<Diagnosis> diagnosis = diagnose(options.application, tracer, options.settings);
  if (!diagnosis) return fail("run", diagnosis.error().message, kExitUsage);
  if (!diagnosis->executable)
    return fail("run", diagnosis->program + " is not executable: " + diagnosis->advice, kExitUsage);
  if (!options.mpi.empty())
    if (const Status chosen = choose_mpi(options.mpi, tracer, *diagnosis); !chosen)
      return fail("run", chosen.error().message, kExitUsage);
  tracer = diagnosis->tracer;

  const auto untraced = [](const std::string& why) { fail("run", "runs untraced: " + why, 0); };
  bool expected = variable("CHAMELEON_ENABLE", options.settings) != "0";
  if (!diagnosis->preload) {
    tracer.clear();
    if (!diagnosis->traceable) {
      untraced(diagnosis->reason + "; " + diagnosis->advice);
      expected = false;
    }
  } else if (tracer.empty() && !diagnosis->chameleon_first) {
    untraced("libchameleon.so is not beside this command (CHAMELEON_LIBRARY names it)");
    expected = false;
  } else if (!tracer.empty() && !fs::exists(tracer)) {
    untraced(tracer + " is not there (CHAMELEON_LIBRARY)");
    tracer.clear();
    expected = false;
  }

  const std::string output =
      options.output.empty() ? variable("CHAMELEON_OUTPUT", options.settings) : options.output;
  const Traces before = expected ? traces(output) : Traces();
  // What is not linked with an MPI gets the first library, and its launcher.
  const std::string mpi =
      diagnosis->mpi_library.empty() ? mpi_of_file(tracer) : diagnosis->mpi_library;
  const std::string launcher = options.launcher.empty() ? default_launcher(mpi) : options.launcher;
  const std::vector<std::string> words = launcher_words(launcher);
  if (const std::string wrong = wrong_launcher(words, diagnosis->mpi_library); !wrong.empty())
    fail("run", wrong, 0);
  std::string preload;
  if (!tracer.empty()) preload = preload_list(*diagnosis, variable("LD_PRELOAD", options.settings));
  int status = launch("run", launch_line(launcher, options.ranks, environment(options, preload),
                                         options.application));
  if (!expected || status == kExitNoLauncher) return status;
  const std::vector<std::string> fresh = fresh_traces(output, before, traces(output));
  if (!fresh.empty()) {
    const std::string alone = lone_ranks(fresh, options.ranks, words);
    if (alone.empty()) return tell_outcome(options, fresh), status;
    return fail("run", alone, status == 0 ? kExitMismatch : status);
  }
  std::string why = "the program ended before MPI_Init or failed there";
  if (diagnosis->linking == Linking::kNone || diagnosis->kind == "other" || !diagnosis->traceable)
    why = diagnosis->reason;
  if (diagnosis->kind == "script" && diagnosis->starts.empty())
    why = "the script started no program that can be traced";
  if (!diagnosis->missing.empty())
    why = "library " + diagnosis->missing.front().name + " was not found";
  return fail(
      "run",
      "no trace appeared" + (output.empty() ? std::string(" here") : " at " + output) + ": " + why,
      status);
}

}  // namespace run_verb

void add_run_command(CLI::App& app, const std::vector<std::string>& application, int& status) {
  using namespace run_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "run", "Run an MPI application and trace it: run [OPTIONS] -- PROGRAM [ARGUMENTS...]");
  verb->add_option("-n,--ranks", options->ranks, "Ranks, passed to the launcher as -n")
      ->check(count_of("ranks"));
  verb->add_option("--launcher", options->launcher,
                   "Launcher and its options (default that of the program's MPI, mpiexec.mpich or "
                   "mpiexec.openmpi, or mpiexec)");
  verb->add_option("--mpi", options->mpi,
                   "MPI of what a script or interpreter starts or loads: mpich, openmpi (default "
                   "that of the program that the command names, of Python's mpi4py, or mpich)");
  verb->add_option("--output,-o", options->output, "Trace file (CHAMELEON_OUTPUT)");
  verb->add_option("--fidelity", options->fidelity, "exact, checked, lead (CHAMELEON_FIDELITY)");
  verb->add_option("--timing", options->timing, "histogram, full, none (CHAMELEON_TIMING)");
  verb->add_option("--pairs", options->pairs,
                   "Whether each rank adds up its waits for each sender: on, off "
                   "(CHAMELEON_PAIRS)");
  verb->add_option("--frames", options->frames,
                   "Frames of call paths that have to agree: all, or L+T, the L innermost and the "
                   "T outermost (CHAMELEON_FRAMES)");
  verb->add_option("--algorithm", options->algorithm,
                   "chameleon, callpath+parameter, reference, acurdion, dynamic "
                   "(CHAMELEON_ALGORITHM)");
  verb->add_option("--clustering", options->clustering,
                   "k-farthest, k-medoid, k-random, capek, off (CHAMELEON_CLUSTERING)");
  verb->add_option("--format", options->format,
                   "Signatures that distinguish ranks: all, adaptive, or names (CHAMELEON_FORMAT)");
  verb->add_option("--steps", options->steps, "double, single (CHAMELEON_STEPS)");
  verb->add_option("-k", options->k, "Largest number of leads, or all (CHAMELEON_K)");
  verb->add_option("--equality", options->equality, "exact, xor, packed (CHAMELEON_EQUALITY)");
  verb->add_option("--count-tolerance", options->count_tolerance,
                   "Share by which COUNTs may differ (CHAMELEON_COUNT_TOLERANCE)");
  verb->add_option("--rules", options->rules,
                   "Formulas for expected values: a file, or rules (CHAMELEON_RULES)");
  verb->add_option("--filter", options->filter,
                   "Whether ranks send only values that differ: auto, on, off "
                   "(CHAMELEON_FILTER)");
  verb->add_option(
      "--effort", options->effort,
      "Time that is sampled over ranks and steps: off, compute, communication, names of "
      "MPI calls, or @FUNCTION that makes them (CHAMELEON_EFFORT)");
  verb->add_option("--effort-steps", options->effort_steps,
                   "Number of acted-on markers in a window (CHAMELEON_EFFORT_STEPS)");
  verb->add_option("--effort-k", options->effort_k,
                   "Number of strata in a window, or bic, samples (CHAMELEON_EFFORT_K)");
  verb->add_option("--effort-error", options->effort_error,
                   "Largest relative error of a window's mean (CHAMELEON_EFFORT_ERROR)");
  verb->add_option("--effort-confidence", options->effort_confidence,
                   "Probability that the error is not larger (CHAMELEON_EFFORT_CONFIDENCE)");
  verb->add_option("--markers", options->markers,
                   "Markers: program, those that it sets; auto, found by the tracer; off "
                   "(CHAMELEON_MARKERS)");
  verb->add_option("--every", options->every,
                   "Act on every n-th marker; default auto: so that an interval lasts a tenth of a "
                   "second (CHAMELEON_CALL_FREQUENCY)");
  verb->add_option("--vote", options->vote,
                   "When a marker's vote is acted on: deferred, at the next marker, or blocking "
                   "(CHAMELEON_VOTE)");
  verb->add_option(
      "--flush-seconds", options->flush_seconds,
      "Longest time between flushes, in seconds, if there are markers (CHAMELEON_FLUSH_SECONDS)");
  verb->add_option("--wait", options->wait,
                   "How ranks wait in the tool: yield, sleep (CHAMELEON_WAIT)");
  verb->add_option("--energy", options->energy,
                   "Count instructions and read the energy of nodes: off, on (CHAMELEON_ENERGY)");
  verb->add_option("--env", options->settings, "NAME=VALUE for the application; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->prefix_command();  // without `--`, the application begins at the first other word
  verb->callback([options, verb, &application, &status] {
    const std::vector<std::string> words = verb->remaining();
    if (!words.empty() && (!application.empty() || words.front().starts_with("-"))) {
      status = fail("run", misplaced(*verb, words.front()).message, kExitUsage);
      return;
    }
    options->application = application.empty() ? words : application;
    status = run(*options);
  });
}

}  // namespace chameleon::tools
