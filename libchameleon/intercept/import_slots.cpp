// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/import_slots.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/attempt.h"

namespace chameleon::intercept {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kSlot = R_X86_64_JUMP_SLOT;
constexpr std::uint32_t kData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t kSlot = R_AARCH64_JUMP_SLOT;
constexpr std::uint32_t kData = R_AARCH64_GLOB_DAT;
#else
constexpr std::uint32_t kSlot = 0;
constexpr std::uint32_t kData = 0;
#endif

/// What is not relocated in memory is relative to the module (the kernel's vDSO).
template <class T>
const T* address(ElfW(Addr) base, ElfW(Addr) value) {
  return reinterpret_cast<const T*>(value < base ? base + value : value);
}

void read_dynamic(LoadedModule& module, const ElfW(Dyn) * entry) {
  const ElfW(Addr) base = module.info.dlpi_addr;
  std::size_t soname = 0;
  std::vector<std::size_t> needed;
  for (; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_SYMTAB: module.symbols = address<ElfW(Sym)>(base, entry->d_un.d_ptr); break;
      case DT_STRTAB: module.names = address<char>(base, entry->d_un.d_ptr); break;
      case DT_SONAME: soname = entry->d_un.d_val; break;
      case DT_NEEDED: needed.push_back(entry->d_un.d_val); break;
      case DT_JMPREL: module.tables[0] = address<ElfW(Rela)>(base, entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: module.counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      case DT_RELA: module.tables[1] = address<ElfW(Rela)>(base, entry->d_un.d_ptr); break;
      case DT_GNU_HASH: module.hash = address<std::uint32_t>(base, entry->d_un.d_ptr); break;
      case DT_RELASZ: module.counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      default: break;
    }
  if (module.names == nullptr) return;
  if (soname != 0) module.soname = module.names + soname;
  for (const std::size_t at : needed) module.needed.emplace_back(module.names + at);
}

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

/// The segment that a table lies in, writable for a while.
class WritableTable {
 public:
  WritableTable(const dl_phdr_info& module, const void* table, std::size_t bytes) {
    const auto begin = reinterpret_cast<ElfW(Addr)>(table);
    const auto page = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
    for (int i = 0; i < module.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = module.dlpi_phdr[i];
      const ElfW(Addr) from = module.dlpi_addr + part.p_vaddr;
      if (part.p_type != PT_LOAD || begin < from || begin + bytes > from + part.p_memsz) continue;
      for (const auto& [flag, right] :
           {std::pair{PF_R, PROT_READ}, {PF_W, PROT_WRITE}, {PF_X, PROT_EXEC}})
        if ((part.p_flags & static_cast<ElfW(Word)>(flag)) != 0) rights_ |= right;
      pages_ = reinterpret_cast<void*>(begin & ~(page - 1));
      size_ = begin + bytes - (begin & ~(page - 1));
      writable_ = ::mprotect(pages_, size_, rights_ | PROT_WRITE) == 0;
    }
  }
  ~WritableTable() {
    if (writable_) ::mprotect(pages_, size_, rights_);
  }
  WritableTable(const WritableTable&) = delete;
  WritableTable& operator=(const WritableTable&) = delete;
  explicit operator bool() const { return writable_; }

 private:
  void* pages_ = nullptr;
  std::size_t size_ = 0;
  int rights_ = 0;
  bool writable_ = false;
};

/// The number of symbols, which only the hash table tells: the last chain ends with the last one.
std::size_t symbol_count(const std::uint32_t* hash) {
  const std::uint32_t buckets = hash[0], first = hash[1], words = hash[2];
  const std::uint32_t* const bucket = hash + 4 + words * (sizeof(ElfW(Addr)) / 4);
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

struct Listing {
  std::vector<LoadedModule> modules;
  bool failed = false;
};

/// Nothing may be thrown through the loader.
int add(dl_phdr_info* info, std::size_t, void* data) {
  Listing& all = *static_cast<Listing*>(data);
  all.failed = attempt([&] {
                 LoadedModule& module = all.modules.emplace_back();
                 module.info = *info;
                 for (int i = 0; i < info->dlpi_phnum; ++i)
                   if (const ElfW(Phdr)& part = info->dlpi_phdr[i]; part.p_type == PT_DYNAMIC)
                     read_dynamic(module, reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr +
                                                                             part.p_vaddr));
               }) != Failure::kNone;
  return all.failed ? 1 : 0;
}

}  // namespace

std::vector<LoadedModule> loaded_modules() {
  Listing all;
  if constexpr (kSlot != 0) dl_iterate_phdr(add, &all);
  if (all.failed) throw std::bad_alloc();
  return std::move(all.modules);
}

void redirect_imports(const LoadedModule& module, std::string_view prefix,
                      void* (*address_of)(const char* name, const void* with), const void* with) {
  if (module.symbols == nullptr || module.names == nullptr) return;
  for (int table = 0; table < 2; ++table) {
    if (module.tables[table] == nullptr) continue;
    for (std::size_t i = 0; i < module.counts[table]; ++i) {
      const ElfW(Rela)& one = module.tables[table][i];
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(one.r_info));
      if (type != kSlot && type != kData) continue;
      const char* name = module.names + module.symbols[ELF64_R_SYM(one.r_info)].st_name;
      if (std::strncmp(name, prefix.data(), prefix.size()) != 0) continue;
      void* wanted = address_of(name, with);
      auto** slot = reinterpret_cast<void**>(module.info.dlpi_addr + one.r_offset);
      if (wanted == nullptr || __atomic_load_n(slot, __ATOMIC_ACQUIRE) == wanted) continue;
      if (const WritableSlot writable(module.info, slot); writable)
        __atomic_store_n(slot, wanted, __ATOMIC_RELEASE);
    }
  }
}

void redirect_exports(const LoadedModule& module, std::string_view prefix,
                      void* (*address_of)(const char* name, const void* with), const void* with) {
  if (module.symbols == nullptr || module.names == nullptr || module.hash == nullptr) return;
  const std::size_t count = symbol_count(module.hash);
  const WritableTable writable(module.info, module.symbols, count * sizeof(ElfW(Sym)));
  if (!writable) return;
  auto* const symbols = const_cast<ElfW(Sym)*>(module.symbols);
  for (std::size_t i = 0; i < count; ++i) {
    ElfW(Sym)& symbol = symbols[i];
    const char* name = module.names + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
        std::strncmp(name, prefix.data(), prefix.size()) != 0)
      continue;
    // Relative to where the module is loaded; the sum wraps around.
    if (void* wanted = address_of(name, with); wanted != nullptr)
      __atomic_store_n(&symbol.st_value,
                       reinterpret_cast<ElfW(Addr)>(wanted) - module.info.dlpi_addr,
                       __ATOMIC_RELEASE);
  }
}

}  // namespace chameleon::intercept
