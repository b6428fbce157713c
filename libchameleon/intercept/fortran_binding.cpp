// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/fortran_binding.h"

#include <dlfcn.h>

#include <cstdint>

#include "intercept/callers.h"
#include "intercept/import_slots.h"

namespace chameleon::intercept {
namespace {

bool is_binding(std::string_view soname) {
  for (const std::string_view prefix :
       {"libmpichfort.so", "libmpifort.so", "libmpi_mpifh.so", "libmpi_usempif08.so"})
    if (soname.substr(0, prefix.size()) == prefix) return true;
  return false;
}

/// Where our own wrapper begins, not another tool's of the same name; null if we have none.
class OwnWrappers {
 public:
  OwnWrappers() {
    const auto here = reinterpret_cast<void*>(&redirect_fortran_binding);
    Dl_info self{};
    if (dladdr(here, &self) == 0) return;
    code_ = loaded_code(here);
    library_ = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  ~OwnWrappers() {
    if (library_ != nullptr) dlclose(library_);
  }
  OwnWrappers(const OwnWrappers&) = delete;
  OwnWrappers& operator=(const OwnWrappers&) = delete;

  /// MPI_X for the name PMPI_X.
  static void* find(const char* name, const void* with) {
    const auto& own = *static_cast<const OwnWrappers*>(with);
    void* found = own.library_ == nullptr ? nullptr : dlsym(own.library_, name + 1);
    return own.code_.holds(reinterpret_cast<std::uintptr_t>(found)) ? found : nullptr;
  }

 private:
  void* library_ = nullptr;
  LoadedCode code_;
};

}  // namespace

void redirect_fortran_binding() {
  // Linked after MPI the tracer sees nothing, and should not see these calls alone.
  const auto first = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "MPI_Send"));
  if (first == 0 || loaded_code(dlsym(RTLD_DEFAULT, "PMPI_Send")).holds(first)) return;
  for (const LoadedModule& module : loaded_modules()) {
    if (!is_binding(module.soname)) continue;
    const OwnWrappers own;
    redirect_imports(module, "PMPI_", OwnWrappers::find, &own);
  }
}

}  // namespace chameleon::intercept
