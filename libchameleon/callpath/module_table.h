// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which executable or library an address of this process lies in, and that
/// file's identity on every rank. A snapshot of what the dynamic loader has
/// mapped, taken by `refresh()`; `current()` tells, in some 20 ns, whether the
/// loader has loaded or unloaded anything since. One table per thread: no
/// locks of its own.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/call_path.h"

struct dl_phdr_info;  // of <link.h>

namespace chameleon::callpath {

class ModuleTable {
 public:
  /// A mapped file. `id` is 0 until asked for, see `identify`.
  struct Entry {
    std::uintptr_t base = 0;  ///< what offsets count from (`dlpi_addr`)
    std::uint64_t id = 0;
    bool is_runtime = false;   ///< the C library or the loader: what calls `main`
    bool is_resolved = false;  ///< `module.path` is without symbolic links, see `identify`
    bool is_python = false;    ///< the interpreter, and the program that is nothing but one
    /// Never unloaded: the executable, this library, and all that these need, directly or not.
    bool is_permanent = false;
    std::span<const std::uint8_t> eh_frame_hdr;  ///< index of its unwind tables; may be empty
    Module module;
  };

  /// A module's own name and those of the modules it needs, from its dynamic section.
  struct Dependencies {
    std::string name;
    std::vector<std::string> needed;
    bool never_unloaded = false;
  };

  /// Whether the snapshot is still what the loader has mapped.
  bool current() const;

  /// Takes a new snapshot; without memory for it there is none, which is not current.
  void refresh();
  /// Forgets the snapshot.
  void clear() noexcept;

  /// The module `address` lies in, or null. Valid until `refresh()`.
  Entry* find(std::uintptr_t address);

  /// The module of an id that was asked for, or null. Valid until `refresh()`.
  const Entry* find_by_id(std::uint64_t id) const;

  /// The id of a module; reads the whole file, once, if it has no build-id.
  static std::uint64_t identify(Entry& entry);

  /// Whether `address` is in what starts and ends the program around `main`.
  bool is_outside_main(std::uintptr_t address);

 private:
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
    std::uint32_t entry;
  };

  void add(const dl_phdr_info& info, std::vector<Dependencies>& links);
  void mark_permanent(const std::vector<Dependencies>& links);

  std::vector<Entry> entries_;
  std::vector<Range> ranges_;  ///< sorted by begin, disjoint
  unsigned long long adds_ = 0;
  unsigned long long subs_ = 0;
};

}  // namespace chameleon::callpath
