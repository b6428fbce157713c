// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What turns the calls of a process into events: which calls are recorded, under which call path,
/// into which stream; and what a rank brings to a flush. Programs that may call MPI from several
/// threads (above MPI_THREAD_FUNNELED) serialize on a lock outside the MPI calls; under it one
/// stream is the present one, that of the thread that holds it. docs/design/threads.md
///
/// Cost of a call whose event was there before: two time stamps, the call path, 16 bytes.

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "callpath/engine.h"
#include "flush/flush.h"
#include "record/discoveries.h"
#include "record/objects.h"
#include "record/rank_rules.h"
#include "record/time_account.h"
#include "record/tool_gate.h"

namespace chameleon::record {

class Recorder;

/// Above 0 inside a traced call: calls that MPI makes of itself pass through. Above 1 inside one
/// that a callback of the program makes.
extern CHAMELEON_PER_THREAD int t_depth CHAMELEON_FAST_TLS;

/// While one lives, a thread is in tool code and may change the recorder, which is given where
/// there are several threads.
class ToolSection {
 public:
  explicit ToolSection(Recorder* threaded);
  /// To record: the thread's stream is the present one. It may throw.
  ToolSection(Recorder* threaded, bool records);
  ~ToolSection();
  ToolSection(const ToolSection&) = delete;
  ToolSection& operator=(const ToolSection&) = delete;

 private:
  Recorder* threaded_;
};

/// Why calls are not recorded.
enum class Pause : std::uint8_t {
  kProgram = 1,   ///< MPI_Pcontrol(0)
  kInterval = 2,  ///< left out, for the budget
  kMemory = 4,    ///< CHAMELEON_MEMORY is used up
  kFault = 8,     ///< something failed: for good
};

class Recorder {
 public:
  /// Is called when a full log has been folded: whether values became distributions. Gives how many
  /// bytes values of the interval may take when one is folded next, before more of them do; 0: any.
  using Spilled = std::function<std::size_t(bool limited)>;
  Recorder(const RecordOptions& options, int rank, int size, Spilled spilled);

  // -- parts
  Objects& objects() { return objects_; }
  Streams& streams() { return streams_; }
  TimeAccount& times() { return times_; }

  // -- threads
  ToolSection lock() { return ToolSection(threaded_ ? this : nullptr); }
  /// The same for recording: the thread's stream is the present one.
  ToolSection enter() { return ToolSection(threaded_ ? this : nullptr, true); }
  /// With the gate closed: waits, a second at most, until no thread is inside.
  bool close();
  /// There may be several threads. Called by the one that called MPI_Init.
  void set_threaded();
  bool threaded() const { return threaded_; }

  // -- events, under `enter`
  bool records(CallId call) const {
    return (pauses_.load(std::memory_order_relaxed) & stops_[static_cast<std::size_t>(call)]) == 0;
  }
  /// Signature of the stack from the frame that returns to `site` on; from the present frame, or
  /// from one that still exists, whose registers are given.
  std::uint64_t path(void* site, const Registers* from = nullptr) {
    return from == nullptr ? engine_.capture(site) : engine_.capture(site, *from);
  }
  /// Appends an event that was there before with the same key, or gives false.
  template <class Record>
  [[gnu::always_inline]] bool append_again(Stream& stream, CallId call, std::uint64_t path,
                                           std::uint64_t compute, std::uint64_t communication,
                                           const Record& event) {
    IntervalLog& log = stream.trace.log();
    const auto has_key = [&](const std::int64_t* key) __attribute__((always_inline)) {
      return event.has_key(key, objects_.changes());
    };
    const std::uint32_t number = log.expect(static_cast<std::uint16_t>(call), path, has_key);
    if (number == EventTable::kNone) return false;
    log.append(number, compute, communication);
    if (log.full()) [[unlikely]]
      spill();
    return true;
  }
  template <class Record>
  void append(Stream& stream, CallId call, std::uint64_t path, std::uint64_t compute,
              std::uint64_t communication, const Record& event) {
    seen_[static_cast<std::size_t>(call)] = true;
    IntervalLog& log = stream.trace.log();
    const auto& values = event.values();
    const std::uint32_t number =
        log.find(static_cast<std::uint16_t>(call), path, values.data(), values.size());
    if constexpr (Record::kKeyed) {
      if (values[0] == MPI_SUCCESS) {
        const auto key = event.key(objects_.changes());
        log.learn_key(number, {key.data(), key.size()});
      }
    }
    log.append(number, compute, communication);
    if (stream.trace.book().pairs().wants(log.table().generation(), number)) [[unlikely]]
      learn_receives(stream, number, event.room());
    if (log.full()) [[unlikely]]
      spill();
  }
  /// Whether there are raw records; a stream's file may be missing all the same.
  bool writes_raw() const { return !options_.raw.empty(); }
  /// A number for the next line of raw records, where there are threads; else 0.
  std::uint64_t next_raw_line() { return threaded_ ? ++raw_lines_ : 0; }

  // -- what is not recorded
  void pause(Pause why, bool paused);
  bool pauses(Pause why) const {
    return (pauses_.load(std::memory_order_relaxed) & static_cast<unsigned>(why)) != 0;
  }
  /// A call came while recording was paused.
  void count_paused() { ++paused_calls_; }
  /// Calls not recorded because recording was paused on purpose; nothing if it never was.
  std::optional<std::uint64_t> paused_calls() const;

  /// Before the first call: what recording one takes beside what its stamps see (the way into a
  /// wrapper and out of it, readings of the clock), found by `record()`, which records the same
  /// call each time. Nothing of that is kept. Costs some 100 us.
  template <class Record>
  void measure_unseen(CallId call, Record record);

  // -- flushes
  /// What this rank brings to a flush; its partial trace is empty afterwards. What is stored of it
  /// is the store's to give.
  Share take_share(bool keeps);

 private:
  friend class ToolSection;
  friend Trace piece_schema(Recorder& recorder, std::uint32_t thread);
  friend void reopen(Recorder& recorder);
  friend void end_interval(Recorder& recorder, bool keeps);
  friend void append_discoveries(Recorder& recorder, Stream& stream, std::uint64_t path, bool ok);

  void spill();
  void fold_full_log();
  void forget_arrays();
  void forget_closed_arrays();
  void learn_receives(Stream& stream, std::uint32_t number, const ReceiveRoom& room);
  std::optional<ValueBound> value_bound();

  const RecordOptions& options_;
  static constexpr unsigned kAlways = 128;        ///< beside the bits of Pause
  std::array<std::uint8_t, kCallIdEnd> stops_{};  ///< the pauses for which a call is not recorded
  std::array<bool, kCallIdEnd> seen_{};
  std::atomic<unsigned> pauses_{kAlways};
  bool was_paused_ = false;
  bool threaded_ = false;
  callpath::Engine engine_;
  RankRules rules_;
  Streams streams_;
  Objects objects_{streams_};
  TimeAccount times_;
  struct Spills {
    Spilled done;
    std::uint32_t rank, size;
    std::size_t most_values = 0;  ///< bytes, of the next
    /// How many arrays there are when those not needed are looked for: of the present interval, and
    /// of those before it.
    std::size_t arrays = 0, closed_arrays = 0;
  } spills_;
  std::uint64_t paused_calls_ = 0;
  std::uint64_t raw_lines_ = 0;
  std::mutex mutex_;
};

/// What `close` did is undone.
inline void reopen(Recorder& recorder) {
  if (recorder.threaded_) recorder.mutex_.unlock();
}

/// Where the call is noted that this thread is about to make, from a frame at `sp`: nowhere before
/// its first one, and inside another one.
[[gnu::always_inline]] inline PendingCall* pending_call(Recorder& recorder, std::uintptr_t sp) {
  Stream* const own = recorder.threaded() ? Streams::own() : &recorder.streams().first();
  if (own == nullptr || (t_depth > 1 && !own->pending.is_left(sp))) [[unlikely]]
    return nullptr;
  return &own->pending;
}
/// The thread goes on in a frame at `sp`: forgets its call if the program left that by longjmp.
inline void forget_left_call(Recorder& recorder, std::uintptr_t sp) {
  Stream* const own = recorder.threaded() ? Streams::own() : &recorder.streams().first();
  if (own != nullptr && own->pending.is_left(sp)) own->pending.forget();
}
/// Calls in progress become events, of which the trace says that they are pending. With the gate
/// closed, or by the thread that ends the process.
void leave_pending(Recorder& recorder);
/// What a rank does, as another thread sees it while it goes on: a number that changes with each
/// call, and whether a thread is inside of one.
struct Activity {
  std::uint64_t number = 0;
  bool inside = false;
};
Activity activity(Recorder& recorder);
/// The call in which this thread is, if any, fails for good, with this code of MPI.
inline bool fail_pending(Recorder& recorder, int code) {
  Stream* const own = recorder.threaded() ? Streams::own() : &recorder.streams().first();
  if (own == nullptr || !own->pending) return false;
  own->pending.fail(code);
  return true;
}

/// Whether a communicator has all ranks. Not under the lock.
inline bool is_of_all(Recorder& recorder, MPI_Comm comm) {
  const auto held = recorder.lock();
  return recorder.objects().comm_shape(comm).all;
}

/// After a call, `ok` if it took place: appends events of objects that it named and that nobody saw
/// being made, before its own.
void append_discoveries(Recorder& recorder, Stream& stream, std::uint64_t path, bool ok);
inline void discover(Recorder& recorder, Stream& stream, std::uint64_t path, bool ok) {
  if (has_strangers()) [[unlikely]]
    append_discoveries(recorder, stream, path, ok);
}

/// The interval ends, until it is known whether it is kept; gives its signature, which is for
/// electing leads if it `elects`. Under the lock.
SignatureVector close_interval(Recorder& recorder, bool elects);
/// The interval that was closed, if one was, is kept or forgotten. Under the lock.
void end_interval(Recorder& recorder, bool keeps);

/// A trace of one of the rank's streams without events, for a piece; `add_arrays` adds those that
/// its nodes refer to.
Trace piece_schema(Recorder& recorder, std::uint32_t thread);
void add_arrays(Recorder& recorder, Trace& piece);

/// Adds to a share that is sent what comparing shares does not need: call paths, modules,
/// predefined objects.
void complete_share(Share& share);

/// The calls as a trace describes them, where `seen` says so.
void describe_calls(Trace& trace, const std::array<bool, kCallIdEnd>& seen,
                    const RecordOptions& options);

inline ToolSection::ToolSection(Recorder* threaded) : threaded_(threaded) {
  g_tool_gate.enter();
  if (threaded_ != nullptr) threaded_->mutex_.lock();
}

inline ToolSection::ToolSection(Recorder* threaded, bool records) : ToolSection(threaded) {
  if (records && threaded_ != nullptr) threaded_->streams_.enter();
}

inline ToolSection::~ToolSection() {
  if (threaded_ != nullptr) threaded_->mutex_.unlock();
  g_tool_gate.leave();
}

template <class Record>
void Recorder::measure_unseen(CallId call, Record record) {
  if constexpr (kSimulated) return;
  const Clock& clock = times_.clock();
  const std::uint64_t begin = clock.now();
  const auto id = static_cast<std::size_t>(call);
  const auto scratch = std::make_unique<Stream>(options_, 64U << 10, 0);  // large
  streams_.set_present(*scratch);
  const unsigned pauses = pauses_.fetch_and(static_cast<unsigned>(Pause::kFault));
  const bool threaded = std::exchange(threaded_, false), seen = seen_[id];
  const std::uint8_t stops = std::exchange(stops_[id], std::uint8_t{kAlways - 1});
  std::uint64_t least = UINT64_MAX;
  for (int batch = 0; batch < 8; ++batch) {
    const std::uint64_t first = clock.now(), told = scratch->tool_ticks;
    for (std::int64_t i = 0; i < TimeAccount::kRehearsed; ++i) record();
    const std::uint64_t all = time_between(first, clock.now());
    if (all >= least) continue;
    least = all;
    times_.set_unseen(static_cast<std::int64_t>(all - (scratch->tool_ticks - told)));
  }
  seen_[id] = seen;
  stops_[id] = stops;
  threaded_ = threaded;
  pauses_.fetch_or(pauses);
  streams_.set_present(streams_.first());
  times_.spent_before(begin);
  streams_.first().last_exit = clock.now();
}

}  // namespace chameleon::record
