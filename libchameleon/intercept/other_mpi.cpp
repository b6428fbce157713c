// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/other_mpi.h"

#include <dlfcn.h>

#include <string>

#include "intercept/fortran_binding.h"
#include "intercept/import_slots.h"
#include "process/fault.h"
#include "process/say.h"

namespace chameleon::intercept {
namespace {

bool begins(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// Every runtime of the tracer: libchameleon.so, libchameleon-openmpi.so, ...
bool is_ours(const LoadedModule& module) {
  return begins(module.soname, "libchameleon.so") || begins(module.soname, "libchameleon-");
}

bool is_mpi(std::string_view soname) {
  return begins(soname, "libmpi.so.") || begins(soname, "libmpich.so.");
}

/// The MPI library that the tracer is linked with.
std::string_view own_mpi(const std::vector<LoadedModule>& modules) {
  for (const LoadedModule& module : modules)
    if (is_ours(module))
      for (const std::string_view needed : module.needed)
        if (is_mpi(needed)) return needed;
  return {};
}

/// Another one that is loaded; none if something besides the tracer is linked with ours.
std::string_view find_other(const std::vector<LoadedModule>& modules, std::string_view own) {
  std::string_view other;
  for (const LoadedModule& module : modules) {
    if (own.empty() || (!is_ours(module) && module.needs(own))) return {};
    if (is_mpi(module.soname) && module.soname != own) other = module.soname;
  }
  return other;
}

void* g_other = nullptr;

void* look_up(const char* name, const void* library) {
  return dlsym(const_cast<void*>(library), name);
}

void give_back() {
  const std::vector<LoadedModule> modules = loaded_modules();
  const std::string_view own = own_mpi(modules);
  const std::string_view other = find_other(modules, own);
  if (other.empty()) return;
  void* library = dlopen(std::string(other).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  for (const LoadedModule& module : modules) {
    if (is_ours(module) || module.soname == own) continue;
    redirect_imports(module, "MPI_", look_up, library);
    redirect_imports(module, "PMPI_", look_up, library);
  }
  g_other = library;
  if (speaks_for_job())
    say("the program runs untraced: its MPI is " + std::string(other) +
        ", the preloaded tracer's " + std::string(own) +
        " (chameleon doctor names the one to preload)");
}

/// mpi_init_f08_ is a call that would escape: MPI_Init is too late for it.
[[gnu::constructor]] void at_load() {
  guarded([] {
    give_back();
    if (g_other == nullptr) redirect_fortran_binding();
  });
}

}  // namespace

void* in_other_mpi(const char* function) {
  if (g_other == nullptr) guarded(give_back);
  return g_other == nullptr ? nullptr : dlsym(g_other, function);
}

}  // namespace chameleon::intercept
