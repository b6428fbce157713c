// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon doctor PROGRAM`: can it be traced, and if not, what to do.

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "common.h"
#include "launch.h"
#include "program_file.h"
#include "python_program.h"

namespace chameleon::tools {
namespace doctor_verb {

struct Options {
  std::string program;
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
  document["fortran"] = diagnosis.fortran;
  document["chameleon_linked"] = diagnosis.chameleon_linked;
  document["chameleon_first"] = diagnosis.chameleon_first;
  document["chameleon_library"] = diagnosis.tracer;
  document["missing"] = nlohmann::ordered_json::array();
  for (const LoadedLibrary& library : diagnosis.missing)
    document["missing"].push_back(library.name);
  print_json(document);
}

void print_text(const Diagnosis& diagnosis) {
  const auto line = [](const char* label, const std::string& text) {
    if (!text.empty()) std::cout << "  " << label << text << "\n";
  };
  std::cout << diagnosis.program << ": "
            << (diagnosis.traceable ? "can be traced" : "cannot be traced") << "\n";
  line("why        ", diagnosis.reason);
  if (!diagnosis.mpi_library.empty())
    line("MPI        ", diagnosis.mpi + ", " + diagnosis.mpi_library +
                            (diagnosis.mpi_path.empty() ? "" : " => " + diagnosis.mpi_path));
  line("Fortran    ", diagnosis.fortran);
  if (diagnosis.kind == "script") line("starts     ", diagnosis.interpreter);
  line("tracer     ", diagnosis.tracer.empty() ? "libchameleon.so not found: set CHAMELEON_LIBRARY"
                                               : diagnosis.tracer);
  for (const LoadedLibrary& library : diagnosis.missing)
    line("not found  ", library.name + ": set LD_LIBRARY_PATH as for running the program");
  line("do         ", diagnosis.advice);
}

int doctor(const Options& options) {
  const std::string tracer = find_tracer();
  Result<Diagnosis> diagnosis = diagnose(options.program, tracer);
  if (!diagnosis) return fail("doctor", diagnosis.error());
  diagnose_python(tracer, {}, *diagnosis);
  if (options.json)
    print_document(*diagnosis);
  else
    print_text(*diagnosis);
  return diagnosis->traceable ? kExitOk : kExitMismatch;
}

}  // namespace doctor_verb

void add_doctor_command(CLI::App& app, int& status) {
  using namespace doctor_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("doctor", "Check whether a program can be traced");
  verb->add_option("program", options->program, "File, or name found in PATH")->required();
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = doctor(*options); });
}

}  // namespace chameleon::tools
