// SPDX-License-Identifier: BSD-3-Clause
#include "process/stall.h"

#include <signal.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include "process/fault.h"
#include "process/host_ranks.h"
#include "process/process_copy.h"
#include "process/say.h"
#include "process/tracer.h"

namespace chameleon::process {
namespace {

constexpr int kLookMs = 1000;
/// A process that was stopped for so long, by a debugger, made no progress for another reason.
constexpr std::int64_t kStoppedMs = 5000;

std::atomic<bool> g_looking{false};
std::atomic<bool> g_stalled{false};

struct Looks {
  std::uint64_t number = 0;
  std::int64_t at = 0;
  int words = 0;  ///< left since the last progress
};
constinit Looks g_looks;

std::int64_t monotonic_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

void say_stall(const std::string& path, double seconds, bool ends) {
  say("no progress for " + std::to_string(static_cast<long>(seconds)) + " s; who waits for whom: " +
      "chameleon check " + path + (ends ? "; the job ends (CHAMELEON_STALL_ABORT)" : ""));
}

/// Linux 5.12 and later give a copy pages of its own where the process's are pinned for a network
/// card. Before, it is the process that may get another page than the card writes to.
bool keeps_pinned_pages() {
  utsname system{};
  unsigned major = 0, minor = 0;
  if (::uname(&system) != 0 || std::sscanf(system.release, "%u.%u", &major, &minor) != 2)
    return false;
  return major > 5 || (major == 5 && minor >= 12);
}

}  // namespace

int stall_look_ms(const Tracer& tracer) {
  const Settings& settings = tracer.settings();
  const bool looks = settings.stall > 0 && (settings.stall_given || keeps_pinned_pages());
  return looks ? kLookMs : 0;
}

void wait_for_look() {
  while (g_looking.load()) ::usleep(100);
}

bool has_stalled() { return g_stalled.load(); }

void look_for_stall() {
  g_looking.store(true);
  Tracer* const tracer = present_tracer();
  if (tracer == nullptr) return g_looking.store(false);
  const record::Activity seen = activity(tracer->recorder());
  const Settings& settings = tracer->settings();
  const double limit = settings.stall * 1000;
  const bool ends = settings.stall_ends;
  const std::string path = tracer->rank() == 0 ? tracer->path() : "";
  g_looking.store(false);

  const std::int64_t present = monotonic_ms();
  const bool progress = seen.number != g_looks.number || present - g_looks.at > kStoppedMs;
  g_looks.number = seen.number;
  g_looks.at = present;
  const auto quiet = static_cast<double>(note_activity(progress, seen.inside && !progress));
  if (quiet < limit) {
    g_looks.words = 0;
    return;
  }
  if (quiet < limit * (1U << std::min(g_looks.words, 30))) return;
  ++g_looks.words;
  g_stalled.store(true);
  const auto say = [&] {
    if (!path.empty()) say_stall(path, quiet / 1000, ends);
  };
  if (ends) say();  // ranks end each other
  leave_words_in_copy(kNoProgress, false);
  if (!ends) say();
  if (ends) ::kill(::getpid(), SIGTERM);
}

}  // namespace chameleon::process
