// SPDX-License-Identifier: BSD-3-Clause
#include "process/fatal_signals.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "process/fault.h"
#include "process/host_ranks.h"
#include "process/process_copy.h"
#include "process/say.h"
#include "process/tracer.h"

namespace chameleon::process {
namespace {

struct Watched {
  int number;
  const char* name;
  bool on = false;
  struct sigaction former {};
};
constinit std::array<Watched, 5> g_watched{{{SIGSEGV, "SIGSEGV"},
                                            {SIGBUS, "SIGBUS"},
                                            {SIGFPE, "SIGFPE"},
                                            {SIGILL, "SIGILL"},
                                            {SIGABRT, "SIGABRT"}}};

pid_t g_crash_owner = 0;
/// The thread whose signal came first, and whether its words are there.
std::atomic<pid_t> g_first{0};
std::atomic<bool> g_done{false};

pid_t this_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

const Watched* watched(int number) {
  for (const Watched& one : g_watched)
    if (one.number == number) return &one;
  return nullptr;
}

/// In a handler: nothing is allocated.
void say_words(int number) {
  const Tracer* const tracer = present_tracer();
  if (tracer == nullptr) return;
  say_plain(
      "%s on rank %d: what each rank did since the last flush is beside the trace; see: chameleon "
      "check %s",
      watched(number)->name, tracer->rank(), tracer->path().c_str());
}

void leave_once(int number) {
  pid_t none = 0;
  if (g_first.compare_exchange_strong(none, this_thread())) {
    const bool first = ask_host_ranks();  // mostly all ranks crash alike
    if (leave_words_in_copy(watched(number)->name, true) && first) say_words(number);
    note_words_left();
    wait_for_host_ranks(kPatienceForOthersMs);
    g_done.store(true);
  } else if (none != this_thread()) {
    // The process is to end by the first of them.
    for (int i = 0; i < 4000 && !g_done; ++i) {
      const timespec time{0, 1'000'000};
      ::nanosleep(&time, nullptr);
    }
  }
}

void on_fatal(int number, siginfo_t* info, void*) {
  const int error = errno;
  if (::getpid() == g_crash_owner) leave_once(number);
  ::sigaction(number, &watched(number)->former, nullptr);
  // One that was sent does not come again by itself, as that of an instruction does.
  if (info->si_code <= 0) ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), this_thread(), number, info);
  errno = error;
}

/// Whether a handler only tells what happened and lets the process end.
bool only_tells(const struct sigaction& action) {
  if ((action.sa_flags & SA_SIGINFO) == 0) {
    if (action.sa_handler == SIG_DFL) return true;
    if (action.sa_handler == SIG_IGN) return false;
  }
  Dl_info module{};
  if (::dladdr(reinterpret_cast<void*>(action.sa_sigaction), &module) == 0) return false;
  const char* const slash = std::strrchr(module.dli_fname, '/');
  const char* const name = slash == nullptr ? module.dli_fname : slash + 1;
  return std::strncmp(name, "libucs.so", 9) == 0 || std::strncmp(name, "libopen-pal.so", 14) == 0;
}

}  // namespace

void watch_fatal_signals() {
  if (g_crash_owner == ::getpid()) return;
  g_crash_owner = ::getpid();
  for (Watched& one : g_watched) {
    if (::sigaction(one.number, nullptr, &one.former) != 0 || !only_tells(one.former)) continue;
    struct sigaction action {};
    action.sa_sigaction = on_fatal;
    action.sa_mask = one.former.sa_mask;
    action.sa_flags = (one.former.sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
    one.on = ::sigaction(one.number, &action, nullptr) == 0;
  }
}

}  // namespace chameleon::process
