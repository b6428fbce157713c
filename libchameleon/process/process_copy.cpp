// SPDX-License-Identifier: BSD-3-Clause
#include "process/process_copy.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/memory.h"
#include "format/commit.h"
#include "process/fault.h"
#include "process/tracer.h"
#include "record/aside.h"
#include "record/tool_gate.h"

namespace chameleon::process {
namespace {

constexpr unsigned kMostSeconds = 5;
constexpr int kForCopyMs = 2000;  ///< ms

void make_harmless() {
  sigset_t signals;
  ::sigfillset(&signals);
  ::sigdelset(&signals, SIGALRM);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::alarm(kMostSeconds);
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (int number = 0; nowhere >= 0 && number <= STDERR_FILENO; ++number) ::dup2(nowhere, number);
}

[[noreturn]] void leave_words(const char* why, bool last) {
  make_harmless();
  take_memory_from_kernel();
  format::commit::never_compress();
  bool left = false;
  if (Tracer* const tracer = present_tracer())
    record::on_own_stack([&] { left = tracer->leave_copy(why, last); });
  ::syscall(SYS_exit_group, left ? 0 : 1);
  __builtin_unreachable();
}

/// Waits for the copy, which no wait() of the program sees.
bool is_done(pid_t copy) {
  for (int i = 0; i < kForCopyMs; ++i) {
    int status = 0;
    const pid_t ended = ::waitpid(copy, &status, WNOHANG | __WCLONE);
    if (ended == copy) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0 && errno != EINTR) return false;
    const timespec time{0, 1'000'000};
    ::nanosleep(&time, nullptr);
  }
  return false;
}

}  // namespace

bool leave_words_in_copy(const char* why, bool last) {
  if (!g_tool_gate.hold()) return false;
  Tracer* const tracer = present_tracer();
  if (tracer == nullptr || !tracer->recorder().close()) {
    g_tool_gate.let_go();
    return false;
  }
  const auto copy =
      static_cast<pid_t>(::syscall(SYS_clone, 0UL, nullptr, nullptr, nullptr, nullptr));
  if (copy == 0) leave_words(why, last);
  reopen(tracer->recorder());
  g_tool_gate.let_go();
  return copy > 0 && is_done(copy);
}

}  // namespace chameleon::process
