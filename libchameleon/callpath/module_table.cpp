// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/module_table.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string_view>

#include "base/attempt.h"
#include "callpath/python_runtime.h"

namespace chameleon::callpath {
namespace {

/// `_start` is a few instructions at the executable's entry point.
constexpr std::uintptr_t kStartCodeBytes = 0x40;

struct Counters {
  unsigned long long adds = 0;
  unsigned long long subs = 0;
};

Counters loader_counters() {
  Counters counters;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<Counters*>(out) = {info->dlpi_adds, info->dlpi_subs};
        return 1;  // every object carries the same counters
      },
      &counters);
  return counters;
}

/// The GNU build-id among the notes of one mapped segment, or nothing.
std::span<const std::uint8_t> find_build_id(const std::uint8_t* notes, std::size_t size,
                                            std::size_t alignment) {
  const auto padded = [&](std::size_t n) { return (n + alignment - 1) / alignment * alignment; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof header);
    const std::size_t description = padded(sizeof header + header.n_namesz);
    if (description > size || header.n_descsz > size - description) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes + sizeof header, "GNU", 4) == 0)
      return {notes + description, header.n_descsz};
    const std::size_t next = padded(description + header.n_descsz);
    if (next >= size) return {};
    notes += next;
    size -= next;
  }
  return {};
}

std::span<const std::uint8_t> build_id_of(const dl_phdr_info& info) {
  const std::span headers(info.dlpi_phdr, info.dlpi_phnum);
  for (const auto& note : headers) {
    if (note.p_type != PT_NOTE) continue;
    // Only what a PT_LOAD maps can be read.
    const bool mapped = std::any_of(headers.begin(), headers.end(), [&](const auto& load) {
      return load.p_type == PT_LOAD && load.p_vaddr <= note.p_vaddr &&
             note.p_vaddr + note.p_memsz <= load.p_vaddr + load.p_memsz;
    });
    if (!mapped) continue;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(info.dlpi_addr + note.p_vaddr);
    const auto id = find_build_id(bytes, note.p_memsz, note.p_align == 8 ? 8 : 4);
    if (!id.empty()) return id;
  }
  return {};
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

ModuleTable::Dependencies dependencies_of(std::uintptr_t base, std::uintptr_t dynamic) {
  ModuleTable::Dependencies result;
  if (dynamic == 0) return result;
  const auto* const section = reinterpret_cast<const ElfW(Dyn)*>(dynamic);
  const char* strings = nullptr;
  for (const auto* d = section; d->d_tag != DT_NULL; ++d) {
    // The C library writes the address there; others leave the offset from the base.
    if (d->d_tag == DT_STRTAB)
      strings = reinterpret_cast<const char*>(d->d_un.d_ptr < base ? d->d_un.d_ptr + base
                                                                   : d->d_un.d_ptr);
    if (d->d_tag == DT_FLAGS_1 && (d->d_un.d_val & DF_1_NODELETE) != 0)
      result.never_unloaded = true;
  }
  if (strings == nullptr) return result;
  for (const auto* d = section; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_SONAME) result.name = strings + d->d_un.d_val;
    if (d->d_tag == DT_NEEDED) result.needed.emplace_back(strings + d->d_un.d_val);
  }
  return result;
}

/// What calls `main`; under SimGrid, where a rank is a coroutine, the simulator.
bool names_runtime(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.starts_with("libc.so") || name.starts_with("libc-2.") ||
         name.starts_with("ld-linux") || name.starts_with("ld-2.") || name.starts_with("ld64.so") ||
         name.starts_with("libpthread") || name.starts_with("libsimgrid.so");
}

/// The loader's name for a file is as it was asked for: make it absolute, so
/// that the file is found from another folder.
void make_absolute(std::string& name) {
  char resolved[PATH_MAX];
  if (realpath(name.empty() ? "/proc/self/exe" : name.c_str(), resolved) != nullptr)
    name = resolved;
}

}  // namespace

bool ModuleTable::current() const {
  const Counters now = loader_counters();
  return now.adds == adds_ && now.subs == subs_;
}

void ModuleTable::clear() noexcept {
  entries_.clear();
  ranges_.clear();
  adds_ = subs_ = 0;
}

/// Takes one object of the loader's list into the snapshot.
void ModuleTable::add(const dl_phdr_info& info, std::vector<Dependencies>& links) {
  const auto index = static_cast<std::uint32_t>(entries_.size());
  Entry& entry = entries_.emplace_back();
  entry.base = info.dlpi_addr;
  entry.module.path = info.dlpi_name != nullptr ? info.dlpi_name : "";
  const auto build_id = build_id_of(info);
  if (!build_id.empty()) {
    entry.id = module_id_of_build_id(build_id);
    entry.module.build_id_hex = to_hex(build_id);
  }
  std::uintptr_t dynamic = 0;
  for (const auto& header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (header.p_type == PT_DYNAMIC) dynamic = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME)
      entry.eh_frame_hdr = {reinterpret_cast<const std::uint8_t*>(info.dlpi_addr + header.p_vaddr),
                            header.p_memsz};
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    ranges_.push_back({begin, begin + header.p_memsz, index});
  }
  links.push_back(dependencies_of(info.dlpi_addr, dynamic));
  adds_ = info.dlpi_adds;
  subs_ = info.dlpi_subs;
}

void ModuleTable::refresh() {
  clear();
  struct Listing {
    ModuleTable& table;
    std::vector<Dependencies> links;
    bool failed = false;
  } listing{*this, {}};
  // Names are resolved below: no system calls under the loader's lock. Nor may anything be thrown
  // through the loader.
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& all = *static_cast<Listing*>(out);
        all.failed = attempt([&] { all.table.add(*info, all.links); }) != Failure::kNone;
        return all.failed ? 1 : 0;
      },
      &listing);
  if (listing.failed) {
    clear();
    throw std::bad_alloc();
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (Entry& entry : entries_) {
    entry.is_runtime = names_runtime(entry.module.path);
    if (!entry.module.path.starts_with('/')) make_absolute(entry.module.path);
  }
  mark_permanent(listing.links);
  const PythonRuntime* const python = PythonRuntime::present();
  if (python == nullptr) return;
  if (Entry* interpreter = find(python->eval_begin + 1)) interpreter->is_python = true;
  // Where the interpreter is a library, `python3` only calls it; another program is itself.
  if (!entries_.empty() && base_name(entries_[0].module.path).starts_with("python"))
    entries_[0].is_python = true;
}

/// Follows DT_NEEDED from the executable and from this very code. The loader takes the first
/// object of a name, so what comes later under the same name is not the one that is needed.
void ModuleTable::mark_permanent(const std::vector<Dependencies>& links) {
  std::map<std::string_view, std::size_t> by_name;
  std::vector<std::size_t> open;
  const auto mark = [&](std::size_t i) {
    if (!entries_[i].is_permanent) open.push_back(i);
    entries_[i].is_permanent = true;
  };
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!links[i].name.empty()) by_name.try_emplace(links[i].name, i);
    by_name.try_emplace(base_name(entries_[i].module.path), i);
    if (links[i].never_unloaded) mark(i);
  }
  if (!entries_.empty()) mark(0);  // the loader lists the executable first
  if (const Entry* own = find(reinterpret_cast<std::uintptr_t>(&loader_counters) + 1))
    mark(static_cast<std::size_t>(own - entries_.data()));
  while (!open.empty()) {
    const std::size_t from = open.back();
    open.pop_back();
    for (const std::string& name : links[from].needed)
      if (const auto found = by_name.find(name); found != by_name.end()) mark(found->second);
  }
}

ModuleTable::Entry* ModuleTable::find(std::uintptr_t address) {
  // A return address may be one past a call that ends its segment.
  const std::uintptr_t call = address - 1;
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), call,
                                [](std::uintptr_t a, const Range& r) { return a < r.begin; });
  if (range == ranges_.begin() || call >= (--range)->end) return nullptr;
  return &entries_[range->entry];
}

const ModuleTable::Entry* ModuleTable::find_by_id(std::uint64_t id) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [id](const Entry& entry) { return entry.id == id && id != 0; });
  return found == entries_.end() ? nullptr : &*found;
}

std::uint64_t ModuleTable::identify(Entry& entry) {
  if (!entry.is_resolved) make_absolute(entry.module.path);
  entry.is_resolved = true;
  if (entry.id == 0) entry.id = module_id_of_file(entry.module.path);
  return entry.id;
}

bool ModuleTable::is_outside_main(std::uintptr_t address) {
  const std::uintptr_t start = getauxval(AT_ENTRY);
  if (address >= start && address < start + kStartCodeBytes) return true;
  const Entry* entry = find(address);
  return entry != nullptr && entry->is_runtime;
}

}  // namespace chameleon::callpath
