// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon doctor PROGRAM`: can it be traced, and if not, what to do.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "common.h"
#include "launch.h"
#include "mpi/untraced_name.h"
#include "program_file.h"

namespace chameleon::tools {
namespace doctor_verb {

struct Options {
  std::vector<std::string> command;
  bool json = false;
};

const char* name_of(Linking linking) {
  switch (linking) {
    case Linking::kDynamic: return "dynamic";
    case Linking::kStatic: return "static";
    case Linking::kNone: return "none";
    case Linking::kUnknown: break;
  }
  return "unknown";
}

/// Functions of MPI that the program and its libraries call and the tracer does not know.
std::set<std::string> untraced_functions(const Diagnosis& diagnosis) {
  std::set<std::string> untraced;
  const Result<ElfFile> tracer = read_elf(diagnosis.tracer);
  const Result<ElfFile> program =
      read_elf(diagnosis.starts.empty() ? diagnosis.program : diagnosis.starts);
  if (!tracer || !program) return untraced;
  const std::set<std::string> known(tracer->mpi_exports.begin(), tracer->mpi_exports.end());
  const auto look = [&](const ElfFile& file) {
    if (file.soname.starts_with("libmpi") || file.defines_mpi) return;
    for (const std::string& name : file.mpi_imports)
      if (known.count(name) == 0 && !mpi::converts_a_handle(name)) untraced.insert(name);
  };
  look(*program);
  for (const LoadedLibrary& library : loaded_libraries(*program, {}))
    if (const Result<ElfFile> file = read_elf(library.path)) look(*file);
  return untraced;
}

void print_document(const Diagnosis& diagnosis) {
  auto document = json_document("doctor");
  document["program"] = diagnosis.program;
  document["traceable"] = diagnosis.traceable;
  document["reason"] = diagnosis.reason;
  document["advice"] = diagnosis.advice;
  document["kind"] = diagnosis.kind;
  document["interpreter"] = diagnosis.interpreter;
  document["linking"] = name_of(diagnosis.linking);
  document["mpi"] = diagnosis.mpi;
  document["mpi_library"] = diagnosis.mpi_library;
  document["mpi_path"] = diagnosis.mpi_path;
  document["starts"] = diagnosis.starts;
  document["preload"] = preload_list(diagnosis, "");
  document["fortran"] = diagnosis.fortran;
  document["chameleon_linked"] = diagnosis.chameleon_linked;
  document["chameleon_first"] = diagnosis.chameleon_first;
  document["chameleon_library"] = diagnosis.tracer;
  document["untraced"] =
      diagnosis.traceable ? untraced_functions(diagnosis) : std::set<std::string>();
  document["missing"] = nlohmann::ordered_json::array();
  for (const LoadedLibrary& library : diagnosis.missing)
    document["missing"].push_back(library.name);
  print_json(document);
}

/// The line for use without `chameleon run`, where preloading the tracer alone is not enough.
std::string by_hand(const Diagnosis& diagnosis) {
  if (diagnosis.first.empty()) return {};
  return "env LD_PRELOAD=" + preload_list(diagnosis, "") + ", as chameleon run sets it";
}

void print_text(const std::vector<std::string>& command, const Diagnosis& diagnosis) {
  const auto line = [](const char* label, const std::string& text) {
    if (!text.empty()) std::cout << "  " << label << text << "\n";
  };
  std::cout << (command.size() > 1 ? command_line(command) : diagnosis.program) << ": "
            << (diagnosis.traceable ? "can be traced" : "cannot be traced") << "\n";
  line("why        ", diagnosis.reason);
  if (!diagnosis.mpi_library.empty())
    line("MPI        ", diagnosis.mpi + ", " + diagnosis.mpi_library +
                            (diagnosis.mpi_path.empty() ? "" : " => " + diagnosis.mpi_path));
  line("Fortran    ", diagnosis.fortran);
  for (const std::string& path : diagnosis.first)
    line("first      ", path + ": has to be preloaded before the tracer");
  if (diagnosis.kind == "script") line("starts     ", diagnosis.interpreter);
  line("tracer     ", diagnosis.tracer.empty() ? "libchameleon.so not found: set CHAMELEON_LIBRARY"
                                               : diagnosis.tracer);
  line("by hand    ", by_hand(diagnosis));
  std::string untraced;
  if (diagnosis.traceable)
    for (const std::string& name : untraced_functions(diagnosis))
      untraced += (untraced.empty() ? "" : ", ") + name;
  if (!untraced.empty())
    line("not traced ", untraced + ": newer than this tracer; calls go to MPI as ever");
  for (const LoadedLibrary& library : diagnosis.missing)
    line("not found  ", library.name + ": set LD_LIBRARY_PATH as for running the program");
  line("do         ", diagnosis.advice);
}

int doctor(const Options& options) {
  const std::string tracer = find_tracer();
  std::vector<std::string> command = options.command;
  // Such a file is run by the interpreter, unless it says by which one and can be started itself.
  std::error_code error;
  const std::string file = find_program(command.front());
  if (is_python_file(command.front()) && std::filesystem::exists(command.front(), error) &&
      (file.empty() || access(file.c_str(), X_OK) != 0))
    command.insert(command.begin(), "python3");
  Result<Diagnosis> diagnosis = diagnose(command, tracer, {});
  if (!diagnosis) return fail("doctor", diagnosis.error());
  if (options.json)
    print_document(*diagnosis);
  else
    print_text(command, *diagnosis);
  return diagnosis->traceable ? kExitOk : kExitMismatch;
}

}  // namespace doctor_verb

void add_doctor_command(CLI::App& app, int& status) {
  using namespace doctor_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("doctor", "Check whether a program can be traced");
  verb->add_option("program", options->command,
                   "File, or name found in PATH; its arguments, if it is a wrapper (after --, if "
                   "options are among them)")
      ->required();
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = doctor(*options); });
}

}  // namespace chameleon::tools
