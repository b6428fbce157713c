// SPDX-License-Identifier: BSD-3-Clause
#include "process/termination.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/float_environment.h"
#include "process/host_ranks.h"
#include "record/tool_gate.h"

namespace chameleon::process {
namespace {

constexpr std::size_t kStack = 4U << 20;  // deep loops are written recursively

constexpr int kSignals[] = {SIGTERM, SIGINT};

std::atomic<int> g_signal{0};  ///< that came first
pid_t g_owner = 0;
constinit Watch g_watch{};

void end_process(int number) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(number, &action, nullptr);
  ::kill(::getpid(), number);
}

/// The kernel's timer sends the signal, so that all ranks of a node get it at once however long
/// each would wait for a processor: the first to end lets the launcher kill the others, and SIGKILL
/// would be what they ended by.
void end_process_at(std::int64_t unix_ns, int number) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = number;
  timer_t timer;
  itimerspec when{};
  when.it_value = {unix_ns / 1'000'000'000, unix_ns % 1'000'000'000};
  if (unix_ns <= 0 || ::timer_create(CLOCK_REALTIME, &event, &timer) != 0 ||
      ::timer_settime(timer, TIMER_ABSTIME, &when, nullptr) != 0)
    end_process(number);
}

void on_signal(int number) {
  const int error = errno;
  if (::getpid() != g_owner) {  // a child made by fork has no watcher
    end_process(number);
  } else {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
    int none = 0;
    g_signal.compare_exchange_strong(none, number);
    wake_host_ranks();
  }
  errno = error;
}

/// Another rank asks. If the launcher ends all, this rank's own signal is on its way.
void answer_asked() {
  constexpr int kOwn = 20;  // ms
  for (int i = 0; i < kOwn && g_signal == 0; ++i) sleep_until_woken(host_ranks_word(), 1);
  if (g_signal == 0) g_watch.answer();
}

void* wait_for_signals(void*) {
  const UsualFloats floats;  // those of the thread that began tracing were inherited
  bool answered = false;
  for (;;) {
    const std::uint32_t word = host_ranks_word();
    if (const int number = g_signal; number != 0) {
      end_process_at(g_watch.leave(number == SIGINT ? "SIGINT" : "SIGTERM"), number);
      return nullptr;
    }
    if (is_asked_by_host_rank() && !answered) {
      answered = true;
      answer_asked();
    } else {
      sleep_until_woken(word, g_watch.look_ms);
      if (g_watch.look_ms != 0 && host_ranks_word() == word) g_watch.look();
    }
  }
}

bool is_default(int number) {
  struct sigaction present {};
  return ::sigaction(number, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) == 0 &&
         present.sa_handler == SIG_DFL;
}

}  // namespace

void watch_termination(const Watch& watch) {
  if (g_owner == ::getpid()) return;
  prepare_tool_gate();
  g_watch = watch;
  g_owner = ::getpid();

  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread;
  const bool started = ::pthread_create(&thread, &attributes, wait_for_signals, nullptr) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) return;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : kSignals)
    if (is_default(number)) ::sigaction(number, &action, nullptr);
}

}  // namespace chameleon::process
