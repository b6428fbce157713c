// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the fuzzers share: an input that crashes, hangs or breaks a promise is kept in the working
/// folder. For one thread.

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace chameleon::fuzz {

constexpr long kHang = 20;  ///< seconds of this process for one input; other work does not count

struct Guard {
  const char* program = "";
  const char* kept_as = "";             ///< the file's name
  void (*write)(std::FILE*) = nullptr;  ///< the present input
};
inline Guard g_guard;

/// One line on stderr; also inside a signal handler.
inline void tell(const char* text, const char* end = "\n") {
  for (const char* part : {g_guard.program, ": ", text, end})
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) return;
}

inline void keep_input() {
  if (std::FILE* file = std::fopen(g_guard.kept_as, "wb")) {
    g_guard.write(file);
    std::fclose(file);
  }
  tell("the input is in ./", g_guard.kept_as);
  if (::write(STDERR_FILENO, "\n", 1) < 0) return;
}

inline void on_alarm(int) {
  tell("an input takes too long");
  keep_input();
  _exit(3);
}

/// Ends the fuzzer: the input was not treated as it must be. `kind` says what it is.
[[noreturn]] inline void broken(const char* what, const char* kind = "input") {
  std::fprintf(stderr, "%s: %s (%s)\n", g_guard.program, what, kind);
  keep_input();
  std::exit(1);
}

/// From here on this process may run for so long; 0: for ever.
inline void watch(long seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

inline void start(const Guard& guard) {
  g_guard = guard;
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_input);
  std::signal(SIGVTALRM, on_alarm);
}

}  // namespace chameleon::fuzz
