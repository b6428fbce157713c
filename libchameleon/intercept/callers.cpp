// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/callers.h"

#include <dlfcn.h>
#include <link.h>

#include <string>

#include "mpi/call_table.h"

namespace chameleon::intercept {

LoadedCode g_mpi_code{0, UINTPTR_MAX};

namespace {

/// Not a std::string: MPI_Init may be called before the constructors of this library are.
char g_other_tool[512] = "";

struct Search {
  std::uintptr_t address = 0;
  LoadedCode found{0, 0};
};

int find_code(dl_phdr_info* module, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    const std::uintptr_t begin = module->dlpi_addr + part.p_vaddr;
    const LoadedCode code{begin, begin + part.p_memsz};
    if (part.p_type != PT_LOAD || !code.holds(search.address)) continue;
    search.found = code;
    search.found.program = module->dlpi_name == nullptr || *module->dlpi_name == 0;
    return 1;
  }
  return 0;
}

/// A sentence on MPI functions of our own that somebody else's stand before.
std::string find_other_tool(const LoadedCode& mpi) {
  const LoadedCode own = loaded_code(reinterpret_cast<const void*>(&look_around));
  const char* first = nullptr;
  void* address = nullptr;
  int count = 0;
  for (const CallInfo& call : all_calls()) {
    void* here = dlsym(RTLD_DEFAULT, call.name);
    const auto at = reinterpret_cast<std::uintptr_t>(here);
    if (here == nullptr || own.holds(at) || mpi.holds(at) || count++ > 0) continue;
    first = call.name;
    address = here;
  }
  Dl_info where{};
  if (count == 0 || dladdr(address, &where) == 0) return {};
  const std::string owner = where.dli_fname;
  return first + (count > 1 ? " and " + std::to_string(count - 1) + " more" : std::string()) +
         " in " + owner.substr(owner.rfind('/') + 1) +
         " came before the tracer's: calls that it does not pass on as MPI_* are not recorded";
}

}  // namespace

LoadedCode loaded_code(const void* address) {
  Search search{reinterpret_cast<std::uintptr_t>(address)};
  if (address != nullptr) dl_iterate_phdr(find_code, &search);
  return search.found;
}

void look_around() {
  // By name: the address of PMPI_Init may be that of a stub.
  const LoadedCode mpi = loaded_code(dlsym(RTLD_DEFAULT, "PMPI_Init"));
  const std::string found = find_other_tool(mpi);
  g_other_tool[found.copy(g_other_tool, sizeof g_other_tool - 1)] = 0;
  if (mpi.end != 0 && !mpi.program && found.empty()) g_mpi_code = mpi;
}

std::string_view other_tool() { return g_other_tool; }

}  // namespace chameleon::intercept
