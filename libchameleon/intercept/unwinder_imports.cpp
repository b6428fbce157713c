// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/unwinder_imports.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/own_descriptor.h"
#include "intercept/import_slots.h"

namespace chameleon::intercept {
namespace {

constexpr const char* kUnwinder = "libunwind.so.8";

struct End {
  int number = -1;
  DescriptorIdentity identity;
};
constinit std::array<End, 2> g_ends;  ///< to read from, to write to

/// Whether a descriptor is, or was, an end of the pipe that is something else by now.
bool is_lost(int descriptor) {
  for (const End& end : g_ends)
    if (end.number == descriptor && descriptor >= 0) return !end.identity.holds(descriptor);
  return false;
}

int make_pipe(int* ends, int flags) {
  if (::pipe2(ends, flags) != 0) return -1;
  for (std::size_t i = 0; i < g_ends.size(); ++i) {
    ends[i] = moved_away(ends[i]);
    g_ends[i] = {ends[i], DescriptorIdentity(ends[i])};
  }
  return 0;
}

ssize_t write_to_pipe(int descriptor, const void* data, std::size_t size) {
  if (!is_lost(descriptor)) return ::write(descriptor, data, size);
  std::array<char, 64> copy;
  if (size > copy.size()) return errno = EBADF, -1;
  const iovec here{copy.data(), size}, there{const_cast<void*>(data), size};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
}

ssize_t read_from_pipe(int descriptor, void* data, std::size_t size) {
  if (!is_lost(descriptor)) return ::read(descriptor, data, size);
  errno = EAGAIN;
  return -1;
}

int close_pipe(int descriptor) { return is_lost(descriptor) ? 0 : ::close(descriptor); }

void* replacement(const char* name, const void* /*with*/) {
  const std::string_view function = name;
  if (function == "pipe2") return reinterpret_cast<void*>(&make_pipe);
  if (function == "write") return reinterpret_cast<void*>(&write_to_pipe);
  if (function == "read") return reinterpret_cast<void*>(&read_from_pipe);
  if (function == "close") return reinterpret_cast<void*>(&close_pipe);
  return nullptr;
}

}  // namespace

void ready_unwinder() {
  // As for call paths: privately, and for good.
  if (dlopen(kUnwinder, RTLD_NOW | RTLD_LOCAL) == nullptr) return;
  for (const LoadedModule& module : loaded_modules())
    if (module.soname == kUnwinder)
      for (const std::string_view function : {"pipe2", "write", "read", "close"})
        redirect_imports(module, function, replacement, nullptr);
}

}  // namespace chameleon::intercept
