// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The entry to tool code. It closes when the process is about to end on SIGTERM: a thread inside
/// finishes its section, and a thread that arrives later stops. It is held for some milliseconds
/// while a copy of the process is made that leaves last words. At the end collective work of the
/// ranks (a vote, the flush that it may decide on, the last merge) completes first, so that the
/// parts that ranks leave begin after the same flush.
///
/// The hot path pays two plain stores and one load for each section. The other side of the
/// handshake is a process-wide barrier (membarrier) at the time of the signal.

#include <atomic>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::record {

/// The collective work in progress: the vote at a marker, then its decision and a flush that this
/// asks for; or the last merge. `kCast`: this rank has cast a deferred vote, whose decision it acts
/// on at its next marker. `kLeaves`: after a last merge that ended early, it writes what is left.
enum class CollectivePhase : std::uint8_t {
  kNothing,
  kCast,
  kVote,
  kDecided,
  kFlush,
  kLastMerge,
  kLeaves
};

/// Whether tool code runs, and whether it may begin. There is one for the process, so that it can
/// be closed in any state of the tracer. One thread writes at a time: programs with several threads
/// in MPI also hold a mutex.
class ToolGate {
 public:
  void enter() {
    busy_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_relaxed)) [[unlikely]]
      stop();
  }
  void leave() { busy_.store(false, std::memory_order_release); }
  /// Whether a thread is inside.
  bool is_busy() const { return busy_.load(std::memory_order_acquire); }
  /// Called inside. While collective work is in progress, its thread may enter a closed gate.
  void set(CollectivePhase what) { phase_.store(what, std::memory_order_release); }
  /// Called inside, in a flush or the last merge: a round begins. Whether the gate closes, so that
  /// it should be the last.
  bool begin_round() {
    stop_if_shut();
    if (phase_.load(std::memory_order_relaxed) != CollectivePhase::kLastMerge)
      set(CollectivePhase::kFlush);
    rounds_.fetch_add(1, std::memory_order_relaxed);
    return closed_.load(std::memory_order_relaxed);
  }
  /// All rounds are over.
  void end_rounds() {
    stop_if_shut();
    if (phase_.load(std::memory_order_relaxed) == CollectivePhase::kFlush)
      set(CollectivePhase::kDecided);
  }
  /// Closes the gate and waits until no thread is inside, for one or two seconds at most. It also
  /// waits for collective work: shortly for a vote, because another rank may arrive late; 0.4 s for
  /// a marker after a deferred vote; a second for a decision; five seconds for a round of a flush
  /// or of the last merge, and ten for all rounds: if a flush is cut, what ranks leave fits
  /// nothing. What is left of a last merge may take a minute to write.
  bool close();
  /// Holds threads that arrive, and waits until none is inside, for a second at most: nobody
  /// changes what the tool knows until `let_go`. False if one stays inside; none is held then. Only
  /// system calls are made: a handler of a signal may do this.
  bool hold();
  void let_go();

 private:
  void stop();
  /// The signal's thread has given up waiting, and takes what it finds.
  void stop_if_shut() {
    if (shut_.load(std::memory_order_relaxed)) [[unlikely]]
      stop();
  }

  std::atomic<bool> busy_{false};
  std::atomic<bool> closed_{false};
  std::atomic<bool> shut_{false};  ///< also to collective work
  std::atomic<bool> ends_{false};  ///< closed for good
  std::atomic<bool> held_{false};
  std::atomic<CollectivePhase> phase_{CollectivePhase::kNothing};
  std::atomic<std::uint32_t> rounds_{0};
};

extern ToolGate g_tool_gate;

/// Call before the first thread may enter.
void prepare_tool_gate();

}  // namespace chameleon::record
