// SPDX-License-Identifier: BSD-3-Clause
#include "job_check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "command_output.h"
#include "common.h"
#include "launch.h"
#include "runtimes.h"

namespace chameleon::tools {
namespace {

namespace fs = std::filesystem;

/// Traces beyond this number, or of more bytes, are not read: the others are of the same run.
constexpr std::size_t kMostTraces = 8;
constexpr std::uintmax_t kMostBytes = 16U << 20;

const char* name_of_family(const std::string& family) {
  return family == "openmpi" ? "Open MPI" : "MPICH";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The launcher to use instead.
std::string launcher_of(const std::string& family) {
  return "--launcher " + default_launcher(family == "openmpi" ? "libmpi.so.40" : "libmpich.so.12");
}

/// The number that a launcher's own options ask for; 0 if they do not.
int ranks_of(const std::vector<std::string>& launcher) {
  for (std::size_t at = 0; at + 1 < launcher.size(); ++at)
    for (const char* option : {"-n", "-np", "--np", "-c", "--ntasks"})
      if (launcher[at] == option) return std::atoi(launcher[at + 1].c_str());
  return 0;
}

}  // namespace

std::string family_of_launcher(const std::vector<std::string>& words) {
  const std::string name = words.empty() ? "" : fs::path(words.front()).filename().string();
  if (contains(name, "mpich") || contains(name, "hydra")) return "mpich";
  if (contains(name, "openmpi") || name == "orterun" || name == "prterun") return "openmpi";
  // Nothing else is asked: it might start something.
  if (!name.starts_with("mpiexec") && !name.starts_with("mpirun")) return {};
  const std::string said = command_output({words.front(), "--version"});
  for (const char* own : {"HYDRA", "Hydra", "MPICH", "Intel(R) MPI", "MVAPICH"})
    if (contains(said, own)) return "mpich";
  for (const char* own : {"OpenRTE", "Open MPI", "PRRTE", "PRTE"})
    if (contains(said, own)) return "openmpi";
  return {};
}

std::string launcher_as_program(const std::vector<std::string>& application) {
  const std::string name = fs::path(application.front()).filename().string();
  const std::string plain = name.substr(0, name.find('.'));
  for (const char* launcher : {"mpiexec", "mpirun", "orterun", "prterun", "srun", "jsrun", "aprun"})
    if (plain == launcher)
      return name +
             " is a launcher, which chameleon run starts itself: chameleon run -n RANKS "
             "--launcher \"" +
             name + " OPTIONS\" -- PROGRAM";
  return {};
}

std::string wrong_launcher(const std::vector<std::string>& words, const std::string& mpi_library) {
  const std::string wanted = family_of(mpi_library);
  if (wanted.empty() || wanted == "abi") return {};  // which is of every launcher's MPI
  const std::string found = family_of_launcher(words);
  if (found.empty() || found == wanted) return {};
  return words.front() + " starts jobs of " + name_of_family(found) + ", and the program is of " +
         name_of_family(wanted) + " (" + mpi_library +
         "): each process will be a job of one rank; use " + launcher_of(wanted);
}

std::string lone_ranks(const std::vector<std::string>& traces, int ranks,
                       const std::vector<std::string>& launcher) {
  if (ranks == 0) ranks = ranks_of(launcher);
  if (ranks < 2 || traces.empty()) return {};
  std::string mpi;
  for (std::size_t i = 0; i < std::min(traces.size(), kMostTraces); ++i) {
    std::error_code error;
    if (fs::file_size(traces[i], error) > kMostBytes || error) return {};
    const Result<Trace> trace = read_bounded(traces[i]);
    if (!trace || trace->world_size != 1) return {};
    mpi = trace->mpi;
  }
  const std::string family = contains(mpi, "Open MPI") ? "openmpi"
                             : contains(mpi, "MPICH")  ? "mpich"
                                                       : "";
  std::string text =
      "this was no job of " + std::to_string(ranks) + " ranks: " +
      (traces.size() == 1 ? "the program ran as a job"
                          : std::to_string(traces.size()) + " programs ran as jobs") +
      " of one rank each (" + traces.front() + (traces.size() == 1 ? ")" : " ...)") +
      ", and computed what one rank does";
  if (family.empty()) return text + "; start it with the launcher of its MPI (--launcher)";
  const std::string found = family_of_launcher(launcher);
  text += "; its MPI is " + std::string(name_of_family(family));
  if (found == family) return text + ", as the launcher: it was started in a way of its own";
  if (!found.empty())
    text += ", the launcher " + launcher.front() + " is of " + name_of_family(found);
  return text + "; use --mpi " + family + " " + launcher_of(family);
}

}  // namespace chameleon::tools
