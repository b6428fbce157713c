// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The instructions that a thread retires in user mode, counted by the kernel (`perf_event_open`).
/// A reading takes two system calls, some 0.5 us: the program may have closed the descriptor and
/// opened a file under its number, so each reading first asks whether it is still the counter's.

#include <cstdint>
#include <optional>
#include <string>

namespace chameleon::process {

class InstructionCounter {
 public:
  /// An event as the kernel names it; the default is that of this class.
  struct Event {
    std::uint32_t type;
    std::uint64_t number;
    static Event instructions();
  };

  InstructionCounter() = default;
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  ~InstructionCounter() { close(); }

  /// Counts those of the calling thread from now on. Why not; empty: it does.
  std::string open(Event event = Event::instructions());
  bool is_open() const { return file_ >= 0; }
  /// How many so far; of a counter that others shared, an estimate.
  std::optional<std::uint64_t> read();
  void close();

 private:
  bool is_mine() const;

  int file_ = -1;
  std::uint64_t id_ = 0;  ///< the kernel's number of the event
};

}  // namespace chameleon::process
