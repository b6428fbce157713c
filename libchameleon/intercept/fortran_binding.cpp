// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/fortran_binding.h"

#include "intercept/import_slots.h"
#include "intercept/own_wrappers.h"

namespace chameleon::intercept {
namespace {

bool is_binding(std::string_view soname) {
  for (const std::string_view prefix :
       {"libmpichfort.so", "libmpifort.so", "libmpi_mpifh.so", "libmpi_usempif08.so"})
    if (soname.substr(0, prefix.size()) == prefix) return true;
  return false;
}

}  // namespace

void redirect_fortran_binding() {
  // Linked after MPI the tracer sees nothing, and should not see these calls alone.
  if (!OwnWrappers::come_first()) return;
  for (const LoadedModule& module : loaded_modules()) {
    if (!is_binding(module.soname)) continue;
    const OwnWrappers own;
    redirect_imports(module, "PMPI_", OwnWrappers::find_of_pmpi, &own);
  }
}

}  // namespace chameleon::intercept
