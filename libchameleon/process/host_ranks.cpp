// SPDX-License-Identifier: BSD-3-Clause
#include "process/host_ranks.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>

namespace chameleon::process {
namespace {

struct Page {
  std::atomic<std::uint32_t> word{0};  ///< a futex: changes when the watchers are to look
  std::atomic<std::uint32_t> asked{0};
  std::atomic<std::uint32_t> ranks{0};  ///< that have the page
  std::atomic<std::uint32_t> left{0};   ///< that have left their words
  std::atomic<std::int64_t> end_at{0};  ///< when all are to end
  /// When a rank last made progress, and when one was last seen inside of a call for long; ms.
  std::atomic<std::int64_t> progressed{0}, inside{0};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Of a rank that is alone.
constinit Page g_alone;
constinit std::atomic<Page*> g_page{&g_alone};
constinit std::atomic<bool> g_has_left{false};
/// This process ends: its own watcher need not answer.
constinit std::atomic<bool> g_asks{false};
constinit char g_name[64] = "";

constexpr std::int64_t kMs = 1'000'000;

std::int64_t unix_now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// One of this user's alone, of whichever rank comes first.
Page* map_page(const char* name) {
  const int file = ::open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* page = MAP_FAILED;
  struct stat status {};
  // What is not there is a signal where it is touched.
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
      ::posix_fallocate(file, 0, sizeof(Page)) == 0)
    page = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return page == MAP_FAILED ? nullptr : static_cast<Page*>(page);
}

Page& page() { return *g_page.load(std::memory_order_acquire); }

}  // namespace

void join_host_ranks(std::uint64_t job) {
  std::snprintf(g_name, sizeof g_name, "/dev/shm/chameleon-%016llx",
                static_cast<unsigned long long>(job));
  Page* const found = map_page(g_name);
  if (found == nullptr) return;
  found->ranks.fetch_add(1);
  g_page.store(found, std::memory_order_release);
}

void close_host_ranks() {
  if (&page() != &g_alone) ::unlink(g_name);
}

std::uint32_t host_ranks_word() { return page().word.load(); }

void sleep_until_woken(std::uint32_t word, int ms) {
  const timespec time{ms / 1000, ms % 1000 * kMs};
  ::syscall(SYS_futex, &page().word, FUTEX_WAIT, word, ms == 0 ? nullptr : &time, nullptr, 0);
}

void wake_host_ranks() {
  page().word.fetch_add(1);
  ::syscall(SYS_futex, &page().word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool ask_host_ranks() {
  g_asks.store(true);
  const bool first = page().asked.exchange(1) == 0;
  wake_host_ranks();
  return first;
}

bool is_asked_by_host_rank() { return !g_asks.load() && page().asked.load() != 0; }

std::int64_t note_activity(bool progress, bool inside) {
  constexpr std::int64_t kRecent = 5000;
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t present = time.tv_sec * 1000 + time.tv_nsec / kMs;
  if (progress || page().progressed.load() == 0) page().progressed.store(present);
  if (inside) page().inside.store(present);
  return present - page().inside.load() > kRecent ? 0 : present - page().progressed.load();
}

void note_words_left() {
  constexpr std::int64_t kSoon = 100 * kMs;
  if (g_has_left.exchange(true)) return;
  const std::uint32_t ranks = page().ranks.load();
  if (page().left.fetch_add(1) + 1 < ranks) return;
  page().end_at.store(unix_now() + (ranks > 1 ? kSoon : 0));
  wake_host_ranks();
}

std::int64_t wait_for_host_ranks(int ms) {
  constexpr int kForUnknown = 500;
  const bool alone = &page() == &g_alone;
  const std::int64_t until = unix_now() + (alone ? std::min(ms, kForUnknown) : ms) * kMs;
  for (;;) {
    const std::uint32_t word = host_ranks_word();
    const std::int64_t end_at = page().end_at.load(), present = unix_now();
    if (end_at != 0 && !alone) return end_at > present ? end_at : 0;
    if (present >= until) return 0;
    sleep_until_woken(word, static_cast<int>((until - present) / kMs) + 1);
  }
}

}  // namespace chameleon::process
