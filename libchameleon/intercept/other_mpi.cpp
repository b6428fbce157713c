// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/other_mpi.h"

#include <dlfcn.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/own_descriptor.h"
#include "base/standard_error.h"
#include "intercept/exported_names.h"
#include "intercept/fortran_binding.h"
#include "intercept/import_slots.h"
#include "intercept/unwinder_imports.h"
#include "process/fault.h"
#include "process/say.h"
#include "process/unwinder_hook.h"
#include "record/aside.h"

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
  return begins(soname, "libmpi.so.") || begins(soname, "libmpich.so.") ||
         begins(soname, "libmpi_abi.so.");
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

/// The path of the library beside this one that is for the MPI of this soname, or nothing.
std::string runtime_for(std::string_view mpi) {
  const std::string_view name = begins(mpi, "libmpi.so.40")     ? "libchameleon-openmpi.so"
                                : begins(mpi, "libmpi.so.12")   ? "libchameleon-mpich-abi.so"
                                : begins(mpi, "libmpi_abi.so.") ? "libchameleon-abi.so"
                                                                : "";
  Dl_info self{};
  if (name.empty() || dladdr(reinterpret_cast<const void*>(&begins), &self) == 0) return {};
  const std::string own = self.dli_fname;
  const std::size_t slash = own.rfind('/') + 1;
  if (!begins(std::string_view(own).substr(slash), "libchameleon.so")) return {};
  const std::string path = own.substr(0, slash) + std::string(name);
  return ::access(path.c_str(), R_OK) == 0 ? path : std::string();
}

/// LD_PRELOAD as it was when the program began: it may have been set since, for its children.
std::string preload_at_start() {
  constexpr std::string_view kName = "LD_PRELOAD=";
  std::ifstream file("/proc/self/environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');)
    if (begins(entry, kName)) return entry.substr(kName.size());
  return {};
}

/// LD_PRELOAD with `libraries` in the place of libchameleon.so. Empty if that is not in it, for a
/// program with other rights than its user, and under Valgrind, which a new program would leave.
std::string preload_with(const std::string& libraries) {
  if (::secure_getenv("LD_PRELOAD") == nullptr) return {};
  const std::string before = preload_at_start();
  std::string_view rest = before;
  if (rest.find("/vgpreload_") != std::string_view::npos) return {};
  std::string after;
  bool found = false;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(": "), rest.size());
    const std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (one.empty()) continue;
    const bool ours = begins(one.substr(one.rfind('/') + 1), "libchameleon.so");
    if (!after.empty()) after += ':';
    after += ours ? std::string_view(libraries) : one;
    found = found || ours;
  }
  return found ? after : std::string();
}

/// Whether the tracer was preloaded: it then comes before the MPI. A program that has already begun
/// may load it later, as what a library is linked with.
bool is_preloaded(const std::vector<LoadedModule>& modules, std::string_view mpi) {
  for (const LoadedModule& module : modules)
    if (is_ours(module) || module.soname == mpi) return is_ours(module);
  return false;
}

/// Whether the library has what the tracer cannot do without: else it would not even start.
bool is_whole(void* library, std::string_view mpi) {
  const bool open_mpi = begins(mpi, "libmpi.so.40");
  return dlsym(library, "PMPI_Neighbor_alltoallw") != nullptr &&
         (!open_mpi || dlsym(library, "ompi_mpi_comm_world") != nullptr);
}

/// The path of the running program. Empty without /proc, or if another file has that path by now,
/// or in this mount namespace.
std::string own_program() {
  constexpr const char* kLink = "/proc/self/exe";
  char path[PATH_MAX] = "";
  const ssize_t size = ::readlink(kLink, path, sizeof path - 1);
  struct stat running {};
  struct stat there {};
  if (size <= 0 || size == sizeof path - 1) return {};
  if (::stat(kLink, &running) != 0 || ::stat(path, &there) != 0) return {};
  return running.st_dev == there.st_dev && running.st_ino == there.st_ino ? path : std::string();
}

/// Starts the program again with the library for its MPI preloaded; comes back if that is not
/// possible. The MPI's own path is preloaded too: the program may find it in a way of its own.
void start_again(const std::vector<LoadedModule>& modules, std::string_view mpi, void* library,
                 char** arguments, char** environment) {
  std::string libraries = runtime_for(mpi);
  const char* enabled = std::getenv("CHAMELEON_ENABLE");
  if (libraries.empty() || (enabled != nullptr && std::strcmp(enabled, "0") == 0)) return;
  if (!is_preloaded(modules, mpi) || !is_whole(library, mpi)) return;
  for (const LoadedModule& module : modules)
    if (module.soname == mpi && module.info.dlpi_name[0] == '/' &&
        std::strpbrk(module.info.dlpi_name, ": ") == nullptr)
      libraries += std::string(":") + module.info.dlpi_name;
  const std::string preload = preload_with(libraries);
  const std::string program = own_program();
  if (preload.empty() || program.empty()) return;
  // The loader as a program: what it loads is among arguments that it has changed.
  if (begins(std::string_view(program).substr(program.rfind('/') + 1), "ld-")) return;
  std::string setting = "LD_PRELOAD=" + preload;
  std::vector<char*> variables;
  for (; *environment != nullptr; ++environment)
    variables.push_back(begins(*environment, "LD_PRELOAD=") ? setting.data() : *environment);
  variables.push_back(nullptr);
  ::execve(program.c_str(), arguments, variables.data());
}

/// With the arguments and the environment: at the begin of a program.
void give_back(char** arguments, char** environment) {
  const std::vector<LoadedModule> modules = loaded_modules();
  const std::string_view own = own_mpi(modules);
  const std::string_view other = find_other(modules, own);
  if (other.empty()) return;
  void* library = dlopen(std::string(other).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  if (arguments != nullptr) start_again(modules, other, library, arguments, environment);
  for (const LoadedModule& module : modules) {
    if (is_ours(module) || module.soname == own) continue;
    redirect_imports(module, "MPI_", look_up, library);
    redirect_imports(module, "PMPI_", look_up, library);
  }
  g_other = library;
  go_elsewhere(library);
  if (speaks_for_job())
    say("the program runs untraced: its MPI is " + std::string(other) +
        ", the preloaded tracer's " + std::string(own) +
        " (chameleon doctor names the one to preload)");
}

/// MPI_Init was called: by a constructor of a library that came before those of this one, if
/// `at_load` is still to come.
constinit bool g_is_asked = false;

/// mpi_init_f08_ is a call that would escape: MPI_Init is too late for it. The only constructor in
/// this library, which must do without: MPI may begin before it, and end after destructors.
[[gnu::constructor]] void at_load(int, char** arguments, char** environment) {
  remember_standard_error();
  make_room_for_own_descriptors();
  if (g_is_asked) return;
  guarded([&] {
    aside([&] {
      give_back(arguments, environment);
      if (g_other != nullptr) return;
      redirect_fortran_binding();
      lead_names_here(own_mpi(loaded_modules()));
    });
  });
}

}  // namespace

void* in_other_mpi(const char* function) {
  g_is_asked = true;
  make_room_for_own_descriptors();
  g_ready_unwinder = ready_unwinder;
  if (g_other == nullptr) guarded([] { aside([] { give_back(nullptr, nullptr); }); });
  return g_other == nullptr ? nullptr : dlsym(g_other, function);
}

}  // namespace chameleon::intercept
