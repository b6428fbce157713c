// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/ending_imports.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "intercept/import_slots.h"
#include "process/ending.h"

namespace chameleon::intercept {
namespace {

/// MPICH's codes tell more than a class, which is below; what is less was given to MPI_Abort.
int error_of_status(long status) { return status > 0x7f ? static_cast<int>(status) : 0; }

bool is_socket(int descriptor) {
  const int error = errno;
  struct stat status {};
  const bool is = ::fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
  errno = error;
  return is;
}

/// "cmd=abort exitcode=N", or with a length of six characters before it.
ssize_t write_or_abort(int descriptor, const void* data, std::size_t size) {
  constexpr std::string_view kAbort = "cmd=abort", kCode = "exitcode=";
  constexpr std::size_t kLength = 6, kMost = 4096;
  const std::string_view text(static_cast<const char*>(data), size);
  if (size >= kAbort.size() && size < kMost &&
      (text.starts_with(kAbort) || text.substr(kLength).starts_with(kAbort)) &&
      is_socket(descriptor)) {
    const std::size_t code = text.find(kCode);
    long status = 0;
    if (code != text.npos)
      for (const char digit : text.substr(code + kCode.size())) {
        if (digit < '0' || digit > '9' || status > 0x7fffffff) break;
        status = 10 * status + (digit - '0');
      }
    process::leave_in_mpi(error_of_status(status));
  }
  return ::write(descriptor, data, size);
}

using AbortOfPmi = int (*)(int, const char*);
using AbortOfPmix = int (*)(int, const char*, void*, std::size_t);
constinit AbortOfPmi g_pmi = nullptr, g_pmi2 = nullptr;
constinit AbortOfPmix g_pmix = nullptr;

int abort_of_pmi(int status, const char* message) {
  process::leave_in_mpi(error_of_status(status));
  return g_pmi(status, message);
}
int abort_of_pmi2(int all, const char* message) {
  process::leave_in_mpi(0);
  return g_pmi2(all, message);
}
int abort_of_pmix(int status, const char* message, void* processes, std::size_t count) {
  process::leave_in_mpi(status);  // Open MPI's codes are its classes
  return g_pmix(status, message, processes, count);
}

[[noreturn]] void exit_at_once(int status) {
  process::leave_at_exit(status);
  ::_exit(status);
}

void* of_mpi(const char* name, const void*) {
  return std::string_view(name) == "write" ? reinterpret_cast<void*>(&write_or_abort) : nullptr;
}

void* of_managers(const char* name, const void*) {
  const std::string_view function = name;
  if (function == "PMI_Abort" && g_pmi != nullptr) return reinterpret_cast<void*>(&abort_of_pmi);
  if (function == "PMI2_Abort" && g_pmi2 != nullptr) return reinterpret_cast<void*>(&abort_of_pmi2);
  if (function == "PMIx_Abort" && g_pmix != nullptr) return reinterpret_cast<void*>(&abort_of_pmix);
  return nullptr;
}

void* of_all(const char* name, const void*) {
  const std::string_view function = name;
  return function == "_exit" || function == "_Exit" ? reinterpret_cast<void*>(&exit_at_once)
                                                    : nullptr;
}

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  if (void* const found = ::dlsym(library, name); found != nullptr && function == nullptr)
    function = reinterpret_cast<Function>(found);
}

void look_up_managers(const LoadedModule& module) {
  if (!module.soname.starts_with("libpmi")) return;
  void* const library = ::dlopen(module.info.dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  look_up(library, "PMI_Abort", g_pmi);
  look_up(library, "PMI2_Abort", g_pmi2);
  look_up(library, "PMIx_Abort", g_pmix);
  ::dlclose(library);  // MPI has it
}

/// Whether the module is the tracer's, or the system's own.
bool is_left_alone(std::string_view soname) {
  for (const std::string_view name : {"libchameleon", "libc.so.", "ld-linux", "libpthread.so."})
    if (soname.starts_with(name)) return true;
  return false;
}

}  // namespace

void redirect_endings() {
  const std::vector<LoadedModule> modules = loaded_modules();
  for (const LoadedModule& module : modules) look_up_managers(module);
  for (const LoadedModule& module : modules) {
    if (is_left_alone(module.soname)) continue;
    redirect_imports(module, "PMI", of_managers, nullptr);
    redirect_imports(module, "_", of_all, nullptr);
    if (module.soname.starts_with("libmpi.so.") || module.soname.starts_with("libmpich.so.") ||
        module.soname.starts_with("libmpi_abi.so."))
      redirect_imports(module, "write", of_mpi, nullptr);
  }
}

}  // namespace chameleon::intercept
