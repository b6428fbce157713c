// SPDX-License-Identifier: BSD-3-Clause
#include "program_file.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/foreign_file.h"
#include "base/foreign_lines.h"
#include "python_program.h"
#include "runtimes.h"
#include "started_program.h"

namespace chameleon::tools {
namespace {

namespace fs = std::filesystem;

bool is_fortran_binding(const std::string& name) {
  return name.starts_with("libmpichfort") || name.starts_with("libmpifort") ||
         name.starts_with("libmpi_mpifh");
}

/// Runtimes of sanitizers that end the program, or miss what was called before, unless they come
/// first of all libraries. GCC's, and Clang's where it links them as libraries.
bool has_to_be_first(const std::string& name) {
  for (const char* runtime : {"asan", "tsan", "lsan", "hwasan", "memprof"})
    for (const char* prefix : {"lib", "libclang_rt."}) {
      const std::string begin = prefix + std::string(runtime);
      if (name.starts_with(begin) && name.find(".so", begin.size()) != std::string::npos &&
          (name[begin.size()] == '.' || name[begin.size()] == '-' || name[begin.size()] == '_'))
        return true;
    }
  return false;
}

/// Chooses the runtime for the program's MPI; false if there is none.
bool choose_runtime(const std::string& tracer, Diagnosis& diagnosis) {
  std::string known;
  const std::vector<Runtime> all = runtimes(tracer);
  for (const Runtime& runtime : all) {
    known += (known.empty() ? "" : ", ") + runtime.mpi_library;
    if (runtime.mpi_library != diagnosis.mpi_library) continue;
    diagnosis.tracer = runtime.path;
    // Whatever else runs in the job's environment has to find the library too.
    if (&runtime != &all.front()) diagnosis.mpi_preload = diagnosis.mpi_path;
    return true;
  }
  diagnosis.reason = "it is linked with " + diagnosis.mpi + " (" + diagnosis.mpi_library +
                     "); this Chameleon is for " + known;
  return false;
}

void diagnose_script(std::istream& file, Diagnosis& diagnosis) {
  std::string line;
  std::getline(file, line);
  diagnosis.kind = "script";
  diagnosis.interpreter = line.substr(0, 200);
  diagnosis.traceable = diagnosis.preload = true;
  diagnosis.reason = "a script: MPI programs that it starts or loads are traced, if they can be";
  diagnosis.advice = "ask about the program itself: chameleon doctor PROGRAM";
}

void diagnose_dynamic(const ElfFile& elf, const std::string& tracer,
                      const std::vector<std::string>& settings, Diagnosis& diagnosis) {
  bool tracer_seen = false;
  for (const LoadedLibrary& library : loaded_libraries(elf, settings)) {
    if (library.path.empty()) diagnosis.missing.push_back(library);
    if (!library.path.empty() && has_to_be_first(library.name))
      diagnosis.first.push_back(library.path);
    if (library.name.starts_with("libchameleon.so")) tracer_seen = true;
    if (is_fortran_binding(library.name)) diagnosis.fortran = library.name;
    if (const char* mpi = mpi_of(library.name); mpi != nullptr && diagnosis.mpi.empty()) {
      diagnosis.mpi = mpi;
      diagnosis.mpi_library = library.name;
      diagnosis.mpi_path = library.path;
      diagnosis.chameleon_first = tracer_seen;
    }
  }
  diagnosis.chameleon_linked = tracer_seen;
  if (diagnosis.mpi.empty()) {
    diagnosis.linking = Linking::kNone;
    diagnosis.preload = true;
    diagnosis.reason = "it is not linked with MPI";
    diagnosis.advice =
        "if it loads MPI while it runs (an interpreter, a plug-in), or starts programs of MPI, "
        "start "
        "it with chameleon run: that is traced too";
    return;
  }
  diagnosis.linking = Linking::kDynamic;
  if (!choose_runtime(tracer, diagnosis)) {
    diagnosis.advice =
        "build the program with the MPI of Chameleon (mpicc.mpich), or Chameleon "
        "with the MPI of the program";
    return;
  }
  diagnosis.traceable = diagnosis.preload = true;
  if (!diagnosis.chameleon_linked) {
    diagnosis.reason = "it is linked dynamically with " + diagnosis.mpi;
    diagnosis.advice = "chameleon run -n RANKS -- " + diagnosis.program;
  } else if (diagnosis.chameleon_first) {
    diagnosis.reason = "libchameleon is linked in, before the MPI library";
    diagnosis.advice = "start it as ever: every run is traced (CHAMELEON_ENABLE=0: none)";
  } else {
    diagnosis.reason =
        "libchameleon is linked in, but after the MPI library, where it sees nothing";
    diagnosis.advice = "start it with chameleon run, or link with -lchameleon before -lmpich";
  }
}

void diagnose_elf(const ElfFile& elf, const std::string& tracer,
                  const std::vector<std::string>& settings, Diagnosis& diagnosis) {
  diagnosis.kind = "elf";
  diagnosis.interpreter = elf.interpreter;
  if (!elf.native) {
    diagnosis.reason = elf.is_64 ? "it is for another machine" : "it is a 32-bit program";
    diagnosis.advice = "build it for this machine";
  } else if (!elf.is_program_or_library) {
    diagnosis.reason = "it is an object file, not a program";
    diagnosis.advice = "link it";
  } else if (elf.defines_mpi) {
    diagnosis.linking = Linking::kStatic;
    diagnosis.mpi = "an MPI linked statically";
    diagnosis.chameleon_linked = diagnosis.chameleon_first = elf.defines_chameleon;
    diagnosis.traceable = elf.defines_chameleon;
    diagnosis.reason = elf.defines_chameleon ? "Chameleon and MPI are linked in statically"
                                             : "MPI is linked in statically, without Chameleon";
    diagnosis.advice = elf.defines_chameleon
                           ? "start it as ever: every run is traced (CHAMELEON_ENABLE=0: none)"
                           : "link it with the shared MPI library (without -static)";
  } else if (!elf.dynamic) {
    diagnosis.linking = Linking::kNone;
    diagnosis.preload = true;  // what it starts may be a program of MPI
    diagnosis.reason = "it is static and has no MPI in it";
    diagnosis.advice = "if it starts programs of MPI, start it with chameleon run: they are traced";
  } else {
    diagnose_dynamic(elf, tracer, settings, diagnosis);
  }
}

/// A library in a folder around a module's, as in the environment PREFIX, where MPI's is in
/// PREFIX/lib and mpi4py in PREFIX/lib/python3.12/site-packages: an mpi4py that chooses its MPI
/// when it is imported loads it from there. Otherwise an empty string.
std::string beside_module(const std::string& module, const std::string& library) {
  std::error_code error;
  if (!fs::exists(fs::path(module).parent_path() / "_mpiabi.py", error)) return {};
  for (fs::path folder = fs::path(module).parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (fs::exists(folder / library, error)) return (folder / library).string();
  return {};
}

/// By a library that the program will load: `owner` is linked with its MPI. Nothing is changed if
/// it is linked with none.
void diagnose_module(const std::string& module, const std::string& owner, const std::string& tracer,
                     const std::vector<std::string>& settings, Diagnosis& diagnosis) {
  const Result<ElfFile> elf = read_elf(module);
  if (!elf) return;
  Diagnosis found;
  for (const LoadedLibrary& library : loaded_libraries(*elf, settings)) {
    const char* const mpi = mpi_of(library.name);
    if (mpi == nullptr) continue;
    found.mpi = mpi;
    found.mpi_library = library.name;
    found.mpi_path = beside_module(module, library.name);
    if (found.mpi_path.empty()) found.mpi_path = library.path;
    break;
  }
  if (found.mpi.empty()) return;
  const bool known = choose_runtime(tracer, found);
  diagnosis.mpi = found.mpi;
  diagnosis.mpi_library = found.mpi_library;
  diagnosis.mpi_path = found.mpi_path;
  diagnosis.tracer = known ? found.tracer : diagnosis.tracer;
  diagnosis.mpi_preload = found.mpi_preload;
  diagnosis.traceable = diagnosis.preload = known;
  if (known) diagnosis.linking = Linking::kDynamic;
  diagnosis.reason = owner + " is linked with " + found.mpi;
  if (known) return;
  diagnosis.reason += " (" + found.mpi_library + "), for which this Chameleon has no library";
  diagnosis.advice = "use an mpi4py of another MPI, or Chameleon with this one";
}

/// Completes the diagnosis of a command that is not a program of MPI itself by what it starts.
void look_through(const std::vector<std::string>& command, const std::string& tracer,
                  const std::vector<std::string>& settings, Diagnosis& diagnosis) {
  const auto started = find_started(command, settings);
  if (!started) return;
  const bool itself = started->program == diagnosis.program;
  if (!itself) diagnosis.starts = started->program;
  if (!started->module.empty()) {
    diagnose_module(started->module,
                    itself ? "it is Python, whose mpi4py" : "it starts Python, whose mpi4py",
                    tracer, started->settings, diagnosis);
    if (diagnosis.traceable)
      diagnosis.advice =
          "chameleon run -n RANKS -- " + (command.size() > 1 || diagnosis.kind == "script"
                                              ? command_line(command)
                                              : diagnosis.program + " SCRIPT");
    return;
  }
  Result<ElfFile> elf = read_elf(started->program);
  if (!elf) return;
  Diagnosis found;
  found.tracer = diagnosis.tracer;
  found.program = started->program;
  diagnose_elf(*elf, tracer, started->settings, found);
  // It is preloaded in any case: the command may start something else.
  found.preload = true;
  found.program = diagnosis.program;
  found.starts = started->program;
  found.kind = diagnosis.kind;
  found.interpreter = diagnosis.interpreter;
  found.reason = "it starts " + started->program + ": " + found.reason;
  if (found.traceable && !found.chameleon_first)
    found.advice = "chameleon run -n RANKS -- " + command_line(command);
  diagnosis = found;
}

}  // namespace

Result<Diagnosis> diagnose(const std::vector<std::string>& command, const std::string& tracer,
                           const std::vector<std::string>& settings) {
  const std::string& program = command.front();
  Diagnosis diagnosis;
  diagnosis.tracer = tracer;
  diagnosis.program = find_program(program, settings);
  std::error_code error;
  // `doctor app` means the file here, if there is no such command.
  if (diagnosis.program.empty() && fs::exists(program, error)) diagnosis.program = program;
  if (diagnosis.program.empty()) return Error{ErrorKind::kSystem, program + ": no such program"};
  const std::string& path = diagnosis.program;
  if (fs::is_directory(path, error)) return Error{ErrorKind::kSystem, path + ": is a folder"};
  ForeignLines file(path);
  std::array<char, 4> magic{};
  if (!file || (file.read(magic.data(), magic.size()), file.bad()))
    return Error{ErrorKind::kSystem, path + ": " + std::strerror(errno)};
  file.clear();
  file.seekg(0);

  if (magic[0] == '#' && magic[1] == '!') {
    diagnose_script(file, diagnosis);
  } else if (std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0) {
    Result<ElfFile> elf = read_elf(path);
    if (!elf) return elf.error();
    diagnose_elf(*elf, tracer, settings, diagnosis);
  } else {
    diagnosis.kind = "other";
    diagnosis.preload = true;
    diagnosis.reason = "it is neither an ELF program nor a script";
    diagnosis.advice = "name the program itself";
  }
  if (diagnosis.preload && diagnosis.mpi_library.empty())
    look_through(command, tracer, settings, diagnosis);
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) != 0 &&
      !diagnosis.chameleon_first) {
    diagnosis.traceable = diagnosis.preload = false;
    diagnosis.reason = "it is set-user-ID or set-group-ID, and the system refuses to preload";
    diagnosis.advice = "start a copy without these bits";
  }
  if (access(path.c_str(), X_OK) != 0) {
    diagnosis.executable = diagnosis.traceable = diagnosis.preload = false;
    diagnosis.reason = "it is not executable";
    diagnosis.advice =
        is_python_file(path) ? "chameleon run -n RANKS -- python3 " + path : "chmod +x " + path;
  }
  return diagnosis;
}

std::string command_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) {
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n'\"$`\\;|&()<>*?#~") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return line;
}

bool is_python_file(const std::string& path) { return path.ends_with(".py"); }

std::string preload_list(const Diagnosis& diagnosis, const std::string& others) {
  std::vector<std::string> first = diagnosis.first, rest;
  for (const std::string& path : split(others, ": "))
    (has_to_be_first(path.substr(path.rfind('/') + 1)) ? first : rest).push_back(path);
  std::string list;
  const auto add = [&list](const std::string& path) {
    const std::string all = ":" + list + ":";
    if (path.empty() || all.find(":" + path + ":") != std::string::npos) return;
    list += (list.empty() ? "" : ":") + path;
  };
  for (const std::string& path : first) add(path);
  add(diagnosis.tracer);
  add(diagnosis.mpi_preload);
  for (const std::string& path : rest) add(path);
  return list;
}

}  // namespace chameleon::tools
