// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/own_wrappers.h"

#include <dlfcn.h>

#include <cstdint>

namespace chameleon::intercept {

OwnWrappers::OwnWrappers() {
  const auto here = reinterpret_cast<void*>(&OwnWrappers::find);
  Dl_info self{};
  if (dladdr(here, &self) == 0) return;
  code_ = loaded_code(here);
  library_ = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

OwnWrappers::~OwnWrappers() {
  if (library_ != nullptr) dlclose(library_);
}

bool OwnWrappers::come_first() {
  const auto first = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "MPI_Send"));
  return first != 0 && !loaded_code(dlsym(RTLD_DEFAULT, "PMPI_Send")).holds(first);
}

void* OwnWrappers::find(const char* name, const void* with) {
  const auto& own = *static_cast<const OwnWrappers*>(with);
  void* found = own.library_ == nullptr ? nullptr : dlsym(own.library_, name);
  return own.code_.holds(reinterpret_cast<std::uintptr_t>(found)) ? found : nullptr;
}

}  // namespace chameleon::intercept
