// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/fortran_binding.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "runtime/callers.h"

namespace chameleon {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kSlot = R_X86_64_JUMP_SLOT;
constexpr std::uint32_t kData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t kSlot = R_AARCH64_JUMP_SLOT;
constexpr std::uint32_t kData = R_AARCH64_GLOB_DAT;
#else
constexpr std::uint32_t kSlot = 0;  // elsewhere these calls are not seen
constexpr std::uint32_t kData = 0;
#endif

/// What of a loaded library's dynamic section is needed.
struct Imports {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const char* soname = nullptr;
  const ElfW(Rela)* tables[2] = {nullptr, nullptr};  ///< of the PLT; of data
  std::size_t counts[2] = {0, 0};
};

template <class T>
const T* address(ElfW(Addr) base, ElfW(Addr) value) {
  return reinterpret_cast<const T*>(value < base ? base + value : value);
}

Imports read_imports(ElfW(Addr) base, const ElfW(Dyn)* entry) {
  Imports found;
  std::size_t soname = 0;
  for (; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_SYMTAB: found.symbols = address<ElfW(Sym)>(base, entry->d_un.d_ptr); break;
      case DT_STRTAB: found.names = address<char>(base, entry->d_un.d_ptr); break;
      case DT_SONAME: soname = entry->d_un.d_val; break;
      case DT_JMPREL: found.tables[0] = address<ElfW(Rela)>(base, entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: found.counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      case DT_RELA: found.tables[1] = address<ElfW(Rela)>(base, entry->d_un.d_ptr); break;
      case DT_RELASZ: found.counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      default: break;
    }
  if (found.names != nullptr && soname != 0) found.soname = found.names + soname;
  return found;
}

bool is_binding(const char* soname) {
  for (const char* prefix : {"libmpichfort.so", "libmpifort.so"})
    if (soname != nullptr && std::strncmp(soname, prefix, std::strlen(prefix)) == 0) return true;
  return false;
}

/// Where our own wrapper begins, not another tool's of the same name; null if we have none.
class OwnWrappers {
 public:
  OwnWrappers() {
    Dl_info self{};
    const auto here = reinterpret_cast<void*>(&redirect_fortran_binding);
    if (dladdr(here, &self) == 0) return;
    code_ = loaded_code(here);
    library_ = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  ~OwnWrappers() {
    if (library_ != nullptr) dlclose(library_);
  }
  OwnWrappers(const OwnWrappers&) = delete;
  OwnWrappers& operator=(const OwnWrappers&) = delete;

  void* find(const char* name) const {
    void* found = library_ == nullptr ? nullptr : dlsym(library_, name);
    return code_.holds(reinterpret_cast<std::uintptr_t>(found)) ? found : nullptr;
  }

 private:
  void* library_ = nullptr;
  LoadedCode code_;
};

/// Slots may lie in pages that the loader made read-only after it had filled them.
class WritableSlot {
 public:
  WritableSlot(const dl_phdr_info& module, void* slot) {
    const auto at = reinterpret_cast<ElfW(Addr)>(slot);
    for (int i = 0; i < module.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = module.dlpi_phdr[i];
      const ElfW(Addr) begin = module.dlpi_addr + part.p_vaddr;
      if (part.p_type != PT_GNU_RELRO || at < begin || at >= begin + part.p_memsz) continue;
      size_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
      page_ = reinterpret_cast<void*>(at & ~static_cast<ElfW(Addr)>(size_ - 1));
      writable_ = ::mprotect(page_, size_, PROT_READ | PROT_WRITE) == 0;
    }
  }
  ~WritableSlot() {
    if (page_ != nullptr && writable_) ::mprotect(page_, size_, PROT_READ);
  }
  WritableSlot(const WritableSlot&) = delete;
  WritableSlot& operator=(const WritableSlot&) = delete;
  explicit operator bool() const { return writable_; }

 private:
  void* page_ = nullptr;
  std::size_t size_ = 0;
  bool writable_ = true;
};

void redirect(const dl_phdr_info& module, const Imports& imports) {
  const OwnWrappers own;  // looks names up: not inside dl_iterate_phdr, which holds a lock
  for (int table = 0; table < 2; ++table) {
    if (imports.tables[table] == nullptr) continue;
    for (std::size_t i = 0; i < imports.counts[table]; ++i) {
      const ElfW(Rela)& one = imports.tables[table][i];
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(one.r_info));
      if (type != kSlot && type != kData) continue;
      const char* name = imports.names + imports.symbols[ELF64_R_SYM(one.r_info)].st_name;
      if (std::strncmp(name, "PMPI_", 5) != 0) continue;
      void* wrapper = own.find(name + 1);
      if (wrapper == nullptr) continue;
      auto** slot = reinterpret_cast<void**>(module.dlpi_addr + one.r_offset);
      if (*slot == wrapper) continue;
      if (const WritableSlot writable(module, slot); writable)
        __atomic_store_n(slot, wrapper, __ATOMIC_RELEASE);
    }
  }
}

/// The Fortran libraries loaded: one, hardly ever two.
struct Bindings {
  dl_phdr_info modules[4];
  Imports imports[4];
  int count = 0;
};

int visit(dl_phdr_info* module, std::size_t, void* data) {
  auto& found = *static_cast<Bindings*>(data);
  for (int i = 0; i < module->dlpi_phnum && found.count < 4; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    if (part.p_type != PT_DYNAMIC) continue;
    const Imports imports = read_imports(
        module->dlpi_addr, reinterpret_cast<const ElfW(Dyn)*>(module->dlpi_addr + part.p_vaddr));
    if (imports.symbols == nullptr || !is_binding(imports.soname)) continue;
    found.modules[found.count] = *module;
    found.imports[found.count++] = imports;
  }
  return 0;
}

/// mpi_init_f08_ is one of these calls: too late in MPI_Init.
[[gnu::constructor]] void redirect_at_load() { redirect_fortran_binding(); }

}  // namespace

void redirect_fortran_binding() {
  if constexpr (kSlot == 0) return;
  // Linked after MPI the tracer sees nothing, and should not see these calls alone.
  const auto first = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "MPI_Send"));
  if (first == 0 || loaded_code(dlsym(RTLD_DEFAULT, "PMPI_Send")).holds(first)) return;
  Bindings found;
  dl_iterate_phdr(visit, &found);
  for (int i = 0; i < found.count; ++i) redirect(found.modules[i], found.imports[i]);
}

}  // namespace chameleon
