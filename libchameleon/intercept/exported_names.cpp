// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/exported_names.h"

#include "intercept/import_slots.h"
#include "intercept/own_wrappers.h"

namespace chameleon::intercept {

void lead_names_here(std::string_view mpi) {
  if (mpi.empty() || !OwnWrappers::come_first()) return;
  const OwnWrappers own;
  for (const LoadedModule& module : loaded_modules())
    if (module.soname == mpi) redirect_exports(module, "MPI_", OwnWrappers::find, &own);
}

}  // namespace chameleon::intercept
