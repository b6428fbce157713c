// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the online trace asks of a rank, and of whoever keeps the trace. The traced process gives
/// both (process/traced_rank.h, process/trace_file.h); a test gives as many ranks as it likes.

#include <cstdint>
#include <string>

#include "base/attempt.h"
#include "flush/flush.h"
#include "flush/rank_reports.h"
#include "online/clock_fit.h"
#include "online/governor.h"
#include "online/marker_log.h"
#include "online/options.h"
#include "signature/signature.h"
#include "statemachine/state_machine.h"

namespace chameleon::online {

/// An interval that a marker ended.
struct ClosedInterval {
  SignatureVector signature;
  std::size_t threads = 1;    ///< of the rank, with streams
  bool creates = false;       ///< communicators, groups or topologies
  bool left_out = false;      ///< it was not recorded, for the budget
  std::uint64_t site_ns = 0;  ///< at the call sites that effort windows are of
};

/// All that happened since the rank's last share.
struct History {
  SignatureVector signature;
  bool alone = true;  ///< it may be represented by another rank's
};

/// What a rank's tracing may cost, and what is done about it.
class Budget {
 public:
  Budget() = default;
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
  virtual ~Budget() = default;

  virtual const Governor& governor() const = 0;
  virtual Governor::Spent spent() = 0;
  /// Takes the step that all ranks take.
  virtual void govern(Governor::Cause cause, const Governor::Spent& now) = 0;
  /// Calls of the interval that begins are left out, or not.
  virtual void leave_out(bool interval) = 0;
};

/// Methods that give something may throw where that cannot be had; the others do not: what fails
/// in them is the rank's `failure`.
class Rank {
 public:
  Rank() = default;
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  virtual ~Rank() = default;

  // -- intervals
  /// The rank is in MPI_Finalize: no marker comes any more.
  virtual bool ends() const = 0;
  /// Ends the present interval; `join` or `drop` must follow. `elects`: leads may be elected by its
  /// signature, which then has all that is costly to find.
  virtual ClosedInterval close_interval(bool elects) = 0;
  /// The closed interval belongs to what is flushed next, or is forgotten.
  virtual void join() = 0;
  virtual void drop() = 0;
  virtual History history() = 0;
  virtual MarkerLog& marker_log() = 0;

  // -- flushes
  /// What the rank brings to a flush; it has nothing left afterwards. Throws if something was lost.
  virtual Share take_share(bool keeps) = 0;
  /// Adds what comparing shares does not need.
  virtual void complete_share(Share& share) = 0;
  /// A trace without events that says what the rank knows of itself.
  virtual Trace own_facts(bool lost_flush) = 0;

  // -- time
  virtual std::uint64_t elapsed_ns() = 0;
  virtual std::int64_t clock_ns() = 0;
  virtual void compared(const ClockSample& sample) = 0;
  virtual Budget& budget() = 0;
  /// Allocated by the tool in the rank's process, now.
  virtual std::uint64_t memory_bytes() const = 0;

  /// Some rank failed: no message refers to an earlier one any more.
  virtual void forget_messages() {}
  /// All events are merged; what comes now is small.
  virtual void merged() = 0;

  // -- what goes wrong
  virtual bool failed() const = 0;
  virtual void note_failure(Failure failure) = 0;
  /// One line on stderr, by printf's rules, up to 500 characters, without an allocation.
  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...);

 private:
  virtual void say_line(const char* line) = 0;
};

/// An interval as its rank has it, before it is joined to the trace or dropped.
struct SeenInterval {
  std::uint32_t rank = 0;
  std::uint64_t marker = 0;          ///< that ends it, as it is counted where all are counted
  State state = State::kAllTracing;  ///< that the marker before led to
  const ClosedInterval& closed;
  const IntervalTimes& times;
};

/// Sees every interval of every rank, whether or not the trace keeps it. What it throws is the
/// rank's failure.
class IntervalObserver {
 public:
  IntervalObserver() = default;
  IntervalObserver(const IntervalObserver&) = delete;
  IntervalObserver& operator=(const IntervalObserver&) = delete;
  virtual ~IntervalObserver() = default;

  virtual void interval(const SeenInterval& seen) = 0;
};

/// Who keeps the job's trace: rank 0.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output() = default;

  /// The job's trace before any event.
  virtual Trace empty_trace() const = 0;
  /// Prepares to write what came next, before it is joined to the trace.
  virtual void stage(const Trace& partial) = 0;
  /// Writes it. `online` is all that there is since `let_go`, after append(online, partial), which
  /// compared so many groups.
  virtual void write(const Trace& online, std::uint64_t compared) = 0;
  /// Everything so far stays in the file and nowhere else, unless that cannot be: false.
  virtual bool let_go(const Trace& online) = 0;
  /// `whole` is without the facts of ranks.
  virtual void write_last(const Trace& whole, const PackedFacts& of_ranks) = 0;
  /// The same after `let_go`, as `stage` and `write`; `of_ranks` are the facts of the whole. Where
  /// parts had facts, `partial` has what they lack; else neither trace has any.
  virtual void write_last_part(const Trace& partial, const Trace& online,
                               const PackedFacts& of_ranks) = 0;
  /// Puts aside what `write_last_words` writes, which declares something for these ranks.
  virtual void keep_last_words(const RankList& ranks) = 0;
  /// Where `write_last` cannot be: what the file lacks is declared in it. No allocation.
  virtual void write_last_words() noexcept = 0;
};

}  // namespace chameleon::online
