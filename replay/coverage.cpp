// SPDX-License-Identifier: BSD-3-Clause
// Holds docs/reference/mpi-coverage.md equal to the MPI table and to what a replay issues: between
// its lines `<!-- generated -->` and `<!-- end of generated -->` stand counts and a row a function.
// Fails too where fewer calls have meaning or are replayed than the page promises.
//
//     mpi_coverage PAGE PROGRAMS            exit status 1 where the page says something else
//     mpi_coverage --approve PAGE PROGRAMS  writes them into the page
//
// PROGRAMS is the folder of the conformance programs, whose sources are searched for each function.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/reissue.h"
#include "base/generated_part.h"
#include "mpi/event_layout.h"
#include "replay/calls.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace chameleon::replay {
namespace {

/// Of the calls that communicate, complete, or make or change handles, in percent.
constexpr double kMeaningGoal = 95, kReplayGoal = 90;

/// Wrappers pass calls without an error code straight on.
bool has_code(const CallInfo& call) {
  static const std::set<CallId> kNone = {
#define CHAMELEON_REPLAY(...)
#define CHAMELEON_NO_CODE(call) call,
#include "replay_calls.inc"  // generated
#undef CHAMELEON_REPLAY
#undef CHAMELEON_NO_CODE
  };
  return kNone.count(static_cast<CallId>(call.id)) == 0;
}

/// Calls that only ask or convert, and those of the tool interface, are not counted.
bool counts(const CallInfo& call) { return !has(call, Attribute::kLocal | Attribute::kMpit); }

std::string traced(const CallInfo& call) {
  if (has(call, Attribute::kMpit) || !has_code(call)) return "no";
  if (has(call, Attribute::kIrregular)) return "as a switch";
  return has(call, Attribute::kLocal) ? "if asked for" : "yes";
}

/// What of a call its event does not hold, of what says what the call does; empty: nothing.
std::string missing(const CallInfo& call) {
  switch (static_cast<CallId>(call.id)) {
    case CallId::kPcontrol: return "the event";
    case CallId::kCommJoin: return "what is behind the socket";
    case CallId::kWinDetach: return "which of several attached pieces";
    default: break;
  }
  std::string list;
  for (const ParamInfo& param : params(call)) {
    const bool texts = param.kind == Kind::kString && param.length.rule != Length::Rule::kScalar;
    // Statuses given to a call are of local calls only.
    if ((stored_values(param) > 0 && !texts) || param.kind == Kind::kStatus) continue;
    list += (list.empty() ? "" : ", ") + std::string(param.name);
  }
  return list;
}

/// Open MPI 4.1 is of MPI 3.1, and has two of its functions as macros. tests/openmpi holds this
/// against its library.
bool in_open_mpi(const CallInfo& call) {
  const auto id = static_cast<CallId>(call.id);
  return call.version[0] < '4' && id != CallId::kAintAdd && id != CallId::kAintDiff;
}

/// Function to the programs that call it. Those that call it wrongly do not count.
std::map<std::string, std::string> find_programs(const char* folder) {
  std::map<std::string, std::string> found;
  std::vector<std::filesystem::path> sources;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".c" && !entry.path().stem().string().starts_with("wrong_"))
      sources.push_back(entry.path());
  std::sort(sources.begin(), sources.end());
  for (const std::filesystem::path& source : sources) {
    std::ifstream in(source);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const CallInfo& call : all_calls())
      if (text.find(std::string(call.name) + "(") != std::string::npos)
        found[call.name] += (found[call.name].empty() ? "" : ", ") + source.stem().string();
  }
  return found;
}

struct Counts {
  int all = 0, counted = 0, meaning = 0, replayed = 0, shown = 0, in_open_mpi = 0;
  double meaning_share() const { return 100.0 * meaning / counted; }
  double replay_share() const { return 100.0 * replayed / counted; }
};

std::string table(const char* folder, Counts& counts_of) {
  const std::map<std::string, std::string> programs = find_programs(folder);
  std::string rows =
      "| function | traced | not in its event | replayed | Open MPI 4.1 | conformance program |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const CallInfo& call : all_calls()) {
    if (is_discovery(call)) continue;
    const std::string lacks = missing(call);
    const char* why = why_not_reissued(call);
    const bool replayed = find_entry(call) != nullptr;
    const auto program = programs.find(call.name);
    ++counts_of.all;
    counts_of.in_open_mpi += in_open_mpi(call);
    if (counts(call)) {
      ++counts_of.counted;
      counts_of.meaning += lacks.empty();
      counts_of.replayed += replayed;
      counts_of.shown += program != programs.end();
    }
    rows += std::string("| `") + call.name + "` | " + traced(call) + " | " +
            (counts(call) ? lacks : "") + " | ";
    if (replayed)
      rows += needs_scratch(call) ? "on scratch files" : "yes";
    else
      rows += std::string("no: ") + (why != nullptr   ? why
                                     : has_code(call) ? "MPICH 4.0 lacks it"
                                                      : "it returns no error code");
    rows += in_open_mpi(call) ? " | yes | " : " |  | ";
    rows += (program == programs.end() ? "" : program->second) + " |\n";
  }
  char head[512];
  std::snprintf(head, sizeof head,
                "%d functions; %d of them communicate, complete, or make or change handles. Of "
                "these, %d (%.1f %%) are recorded with all that says what they do, %d (%.1f %%) "
                "are replayed, and %d (%.1f %%) are called by a conformance program. Open MPI 4.1 "
                "has %d of the %d functions.\n\n",
                counts_of.all, counts_of.counted, counts_of.meaning, counts_of.meaning_share(),
                counts_of.replayed, counts_of.replay_share(), counts_of.shown,
                100.0 * counts_of.shown / counts_of.counted, counts_of.in_open_mpi, counts_of.all);
  return head + rows;
}

int run(const char* path, const char* folder, bool approve) {
  Counts found;
  const std::string wanted = table(folder, found);
  if (found.meaning_share() < kMeaningGoal || found.replay_share() < kReplayGoal) {
    std::fprintf(stderr, "%.1f %% with meaning and %.1f %% replayed; promised are %.0f and %.0f\n",
                 found.meaning_share(), found.replay_share(), kMeaningGoal, kReplayGoal);
    return 1;
  }
  return hold_generated_part(path, wanted, "the table of functions", approve);
}

}  // namespace
}  // namespace chameleon::replay

int main(int argc, char** argv) {
  const bool approve = argc > 1 && std::strcmp(argv[1], "--approve") == 0;
  if (argc != (approve ? 4 : 3)) {
    std::fprintf(stderr, "usage: mpi_coverage [--approve] PAGE PROGRAMS\n");
    return 2;
  }
  return chameleon::replay::run(argv[argc - 2], argv[argc - 1], approve);
}
