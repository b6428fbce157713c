// SPDX-License-Identifier: BSD-3-Clause
#include "replay/guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace chameleon::replay {
namespace {

constexpr char kMark = 0x5a;

struct Named {
  std::uint32_t rank = 0;
  std::uint64_t number = 0;
  const char* call = "";
};
Named g_named;

/// A page for the mark, the pages of the memory, and the one that nobody can touch.
std::uint64_t mapped(std::uint64_t bytes, std::uint64_t page) {
  return page + (bytes + page - 1) / page * page + page;
}

void say(const char* what) {
  char line[256];
  const int length =
      std::snprintf(line, sizeof line, "replay: rank %u, event %llu, %s: %s\n", g_named.rank,
                    static_cast<unsigned long long>(g_named.number), g_named.call, what);
  // The call's name is the trace's: of any length, and of any bytes.
  const auto size = std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof line - 1);
  for (std::size_t i = 0; i < size; ++i)
    if (line[i] != '\n' || i + 1 < size) line[i] = line[i] < ' ' || line[i] > '~' ? ' ' : line[i];
  const ssize_t written = write(STDERR_FILENO, line, size);
  (void)written;  // nobody is left to be told
}

void on_fault(int) {
  say("uses memory beyond its buffer");
  _exit(1);
}

}  // namespace

char* take_guarded(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (bytes > (std::uint64_t{1} << 46)) return nullptr;
  const std::uint64_t all = mapped(bytes, page);
  void* const map = mmap(nullptr, all, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(map);
  if (mprotect(begin + all - page, page, PROT_NONE) != 0) {
    munmap(map, all);
    return nullptr;
  }
  char* const data = begin + all - page - bytes;
  std::memset(begin, kMark, static_cast<std::size_t>(data - begin));
  return data;
}

void give_back_guarded(char* data, std::uint64_t bytes, bool checked) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  char* const begin = data + bytes + page - mapped(bytes, page);
  const char* const written = std::find_if(begin, data, [](char one) { return one != kMark; });
  if (checked && written != data) {
    char what[96];
    std::snprintf(what, sizeof what, "writes memory %lld bytes before its buffer of %llu",
                  static_cast<long long>(data - written), static_cast<unsigned long long>(bytes));
    say(what);
    _exit(1);
  }
  munmap(begin, mapped(bytes, page));
}

void tell_faults(std::uint32_t rank) {
  g_named.rank = rank;
  std::signal(SIGSEGV, on_fault);
  std::signal(SIGBUS, on_fault);
}

void name_event(std::uint64_t number, const char* call) {
  g_named.number = number;
  g_named.call = call;
}

}  // namespace chameleon::replay
