// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A file that would grow beyond the process's limit (RLIMIT_FSIZE) gets the process SIGXFSZ,
/// which ends it. While one of these lives, a write of this thread fails with EFBIG instead.
/// Costs two system calls, four where the signal came.

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cerrno>

#include "base/rooms.h"

namespace chameleon::inline base {

class NoSizeSignal {
 public:
  NoSizeSignal() {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoSizeSignal() {
    const int error = errno;
    sigset_t pending;
    ::sigpending(&pending);
    if (!was_pending_ && ::sigismember(&pending, SIGXFSZ) == 1) {
      const timespec none{};
      ::sigtimedwait(&signal_, nullptr, &none);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  sigset_t signal_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace chameleon::inline base
