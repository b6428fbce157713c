// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What happens on SIGTERM: a batch system is about to end the job. If the
/// application left the signal at its default, a thread of the tool's own, which
/// sleeps until then, leaves this rank's partial trace beside the file and
/// raises the signal again; a second one ends the process at once. Threads that
/// are in tool code finish it first, and stop at the door afterwards.
///
/// The hot path pays two plain stores and a load a section: the other side of the
/// handshake is a process-wide barrier (membarrier) at the time of the signal.

#include <atomic>

namespace chameleon {

/// Whether tool code runs, and whether it may begin; one for the process, so that
/// it can be closed whatever becomes of the tracer. One writer thread: programs
/// with several threads in MPI hold a mutex besides.
class Door {
 public:
  void enter() {
    busy_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_relaxed)) [[unlikely]]
      stop();
  }
  void leave() { busy_.store(false, std::memory_order_release); }
  /// Lets nobody in any more and waits, a second at most, until nobody is inside.
  bool close();

 private:
  void stop();

  std::atomic<bool> busy_{false};
  std::atomic<bool> closed_{false};
};

extern Door g_door;

/// Watches for SIGTERM, unless the application does. `leave` is called at most
/// once, on another thread; it is to be quick.
void watch_termination(void (*leave)());

}  // namespace chameleon
