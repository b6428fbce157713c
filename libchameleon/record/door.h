// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The way into tool code, which closes when the process is about to end on SIGTERM: a thread that
/// is inside finishes what it does, and one that comes later stops. What all ranks do together, a
/// vote and the flush it may decide on, goes on to its end, so that what the ranks leave begins
/// after the same flush; the last merge too.
///
/// The hot path pays two plain stores and a load a section: the other side of the
/// handshake is a process-wide barrier (membarrier) at the time of the signal.

#include <atomic>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::record {

/// What the ranks do together: at a marker vote and then what was decided; at the end merge all.
/// `kCast`: this rank goes on, and what its vote decides is done at its next marker.
enum class Together : std::uint8_t { kNothing, kCast, kVote, kDecided, kLastMerge };

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
  /// Begun inside; while it lasts its thread comes in at a closed door.
  void set(Together what) { together_.store(what, std::memory_order_release); }
  /// Lets nobody in any more and waits, a second or two at most, until nobody is inside. It waits
  /// for a vote too, shortly, because another rank may be long in coming, a second for the marker
  /// that follows a vote that was cast and for what was decided, and five for the last merge.
  bool close();

 private:
  void stop();

  std::atomic<bool> busy_{false};
  std::atomic<bool> closed_{false};
  std::atomic<bool> shut_{false};  ///< to what is done together too
  std::atomic<Together> together_{Together::kNothing};
};

extern Door g_door;

/// To be called before the first thread may be inside.
void prepare_door();

}  // namespace chameleon::record
