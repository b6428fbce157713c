// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/untraced_functions.h"

#include <dlfcn.h>
#include <link.h>

#include <set>

#include "intercept/import_slots.h"
#include "intercept/own_wrappers.h"
#include "mpi/untraced_name.h"

namespace chameleon::intercept {
namespace {

struct Untraced {
  const OwnWrappers own;
  std::set<std::string> found;
};

/// Not one of MPI's constants that are imported, too.
bool is_imported_function(const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  Dl_info info{};
  ElfW(Sym)* symbol = nullptr;
  return address != nullptr &&
         dladdr1(address, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) != 0 &&
         symbol != nullptr && (symbol->st_info & 0xf) == STT_FUNC;
}

/// Nothing is led elsewhere.
void* note_if_untraced(const char* name, const void* with) {
  auto& untraced = *static_cast<Untraced*>(const_cast<void*>(with));
  if (!mpi::converts_a_handle(name) && OwnWrappers::find(name, &untraced.own) == nullptr &&
      is_imported_function(name))
    untraced.found.insert(name);
  return nullptr;
}

bool is_mpis_own(std::string_view soname) {
  return soname.starts_with("libmpi") || soname.starts_with("libchameleon");
}

}  // namespace

std::string untraced_functions() {
  Untraced untraced;
  for (const LoadedModule& module : loaded_modules())
    if (!is_mpis_own(module.soname)) redirect_imports(module, "MPI_", note_if_untraced, &untraced);
  std::string all;
  for (const std::string& one : untraced.found) all += (all.empty() ? "" : ", ") + one;
  return all;
}

}  // namespace chameleon::intercept
