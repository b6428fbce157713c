// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which functions the libraries of this process import, and where each looks for them: the slots
/// of its tables that the loader fills; and which it exports. For the cases in which calls have to
/// go elsewhere than the loader thinks: mpi_f08 (fortran_binding.h), programs of another MPI
/// (other_mpi.h), and lookups in the MPI library itself (exported_names.h).

#include <link.h>

#include <string_view>
#include <vector>

#include "base/rooms.h"

namespace chameleon::intercept {

/// A loaded library, or the program, whose name is then empty.
struct LoadedModule {
  dl_phdr_info info{};
  std::string_view soname;
  std::vector<std::string_view> needed;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * tables[2] = {nullptr, nullptr};  ///< of functions; of data
  std::size_t counts[2] = {0, 0};
  const std::uint32_t* hash = nullptr;  ///< DT_GNU_HASH

  bool needs(std::string_view prefix) const {
    for (const std::string_view one : needed)
      if (one.substr(0, prefix.size()) == prefix) return true;
    return false;
  }
};

/// All that are loaded now. Empty on processors whose tables are not known here.
std::vector<LoadedModule> loaded_modules();

/// Gives every slot for an imported function whose name begins with `prefix` the address that
/// `address_of(name)` gives, unless that is null. Reading and writing are single steps, so that
/// other threads may call meanwhile.
void redirect_imports(const LoadedModule& module, std::string_view prefix,
                      void* (*address_of)(const char* name, const void* with), const void* with);

/// The same for functions that the module exports: whoever looks up a name in it from now on finds
/// that address. The code stays as it is, and so does what was looked up before.
void redirect_exports(const LoadedModule& module, std::string_view prefix,
                      void* (*address_of)(const char* name, const void* with), const void* with);

}  // namespace chameleon::intercept
