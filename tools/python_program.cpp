// SPDX-License-Identifier: BSD-3-Clause
#include "python_program.h"

#include "command_output.h"

namespace chameleon::tools {
namespace {

/// Where the module is, without loading it.
constexpr const char* kQuestion =
    "import importlib.util as u; s = u.find_spec('mpi4py.MPI'); print(s.origin if s else '')";

}  // namespace

bool names_python(const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  return name.starts_with("python") &&
         name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

std::string find_mpi4py(const std::string& interpreter, const std::vector<std::string>& settings) {
  std::string module = command_output({interpreter, "-c", kQuestion}, settings);
  module.erase(module.find_last_not_of(" \n") + 1);
  module.erase(0, module.find_last_of('\n') + 1);  // what else was printed comes before
  return module;
}

}  // namespace chameleon::tools
