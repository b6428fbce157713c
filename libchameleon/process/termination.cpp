// SPDX-License-Identifier: BSD-3-Clause
#include "process/termination.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/float_environment.h"
#include "record/tool_gate.h"

namespace chameleon::process {
namespace {

constexpr std::size_t kStack = 4U << 20;  // deep loops are written recursively

sem_t g_asked;
pid_t g_owner = 0;
std::int64_t (*g_leave)() = nullptr;

void end_process() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGTERM, &action, nullptr);
  ::kill(::getpid(), SIGTERM);
}

/// The kernel's timer sends the signal, so that all ranks of a node get it at once however long
/// each would wait for a processor: the first to end lets the launcher kill the others, and SIGKILL
/// would be what they ended by.
void end_process_at(std::int64_t unix_ns) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGTERM;
  timer_t timer;
  itimerspec when{};
  when.it_value = {unix_ns / 1'000'000'000, unix_ns % 1'000'000'000};
  if (unix_ns <= 0 || ::timer_create(CLOCK_REALTIME, &event, &timer) != 0 ||
      ::timer_settime(timer, TIMER_ABSTIME, &when, nullptr) != 0)
    end_process();
}

void on_signal(int) {
  const int error = errno;
  if (::getpid() != g_owner) {  // a child made by fork has no watcher
    end_process();
  } else {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGTERM, &action, nullptr);
    ::sem_post(&g_asked);
  }
  errno = error;
}

void* watch(void*) {
  const UsualFloats floats;  // those of the thread that began tracing were inherited
  while (::sem_wait(&g_asked) != 0 && errno == EINTR) {
  }
  end_process_at(g_leave());
  return nullptr;
}

}  // namespace

void watch_termination(std::int64_t (*leave)()) {
  struct sigaction present {};
  if (g_owner == ::getpid() || ::sigaction(SIGTERM, nullptr, &present) != 0) return;
  if ((present.sa_flags & SA_SIGINFO) != 0 || present.sa_handler != SIG_DFL) return;
  if (::sem_init(&g_asked, 0, 0) != 0) return;
  prepare_tool_gate();
  g_leave = leave;
  g_owner = ::getpid();

  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread;
  const bool started = ::pthread_create(&thread, &attributes, watch, nullptr) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) return;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace chameleon::process
