// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The streams of a rank: what each of its threads did, in the thread's order. The first is of
/// the thread that called MPI_Init, and the only one of most programs; others are made at the
/// first recorded call of a thread. A thread that ends leaves its stream to the next that comes
/// (thread_number.h). At markers and flushes the streams are treated alike and make up the rank:
/// its signature is over all of them, its trace is their traces merged as those of ranks are.
///
/// Not synchronised: programs with threads hold the tracer's lock. Cost of a further stream: some
/// 100 KiB and a 32nd part of CHAMELEON_BUFFER; to one-threaded programs nothing.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time_between.h"
#include "model/trace.h"
#include "record/arguments.h"
#include "record/options.h"
#include "record/pending_call.h"
#include "record/rank_trace.h"
#include "record/slots.h"

namespace chameleon::record {

inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kOther) + 1;

/// What the completion of a request must know of its posting.
struct RequestFacts {
  bool receives = false;
  bool any_source = false;
  bool any_tag = false;
  bool persistent = false;
  bool active = false;
  bool cancelled = false;
  CommShape comm;
  std::int64_t bytes = 0;  ///< posted
};

/// What recording took after a call, of a kind. It is measured at the first calls, of which the
/// shortest counts, and then at every 16th: an interrupt in a sample is that call's, hardly the
/// next ones'.
struct Epilogue {
  static constexpr unsigned kFirst = 4, kEvery = 16;

  /// Whether to measure this call.
  bool due() {
    if (left == 0) return true;
    --left;
    return false;
  }
  void learn(std::uint64_t spent) {
    std::uint64_t most = ticks == 0 || samples == 0 ? 1U << 20 : 2 * std::uint64_t{ticks};
    if (samples < kFirst) {
      if (samples++ != 0) most = ticks;
    } else {
      left = kEvery - 1;
    }
    ticks = static_cast<std::uint32_t>(std::min(spent, most));
  }

  std::uint32_t ticks = 0;
  std::uint16_t left = 0;     ///< calls until one is measured
  std::uint16_t samples = 0;  ///< of the first
};

struct Stream {
  Stream(const RecordOptions& options, std::uint64_t buffer, std::uint32_t number);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Computation between the last call and one's `entry`.
  std::uint64_t computed_until(std::uint64_t entry) const { return time_between(last_exit, entry); }

  const std::uint32_t thread;
  RankTrace trace;
  std::array<Slots, kKinds> slots;
  std::vector<RequestFacts> requests;  ///< by id, less the thread
  std::array<Epilogue, kCallIdEnd> epilogues{};
  bool unusual = false;  ///< the present call's recording took long
  /// What the tool does beside recording after an unusual call; true if also after the next one.
  bool (*beside)() = nullptr;
  std::uint64_t last_exit = 0;
  std::uint64_t assumed_ticks = 0;     ///< of what recording the last call took, not measured
  std::uint64_t tool_ticks = 0;        ///< but for markers
  std::uint64_t call_ticks = 0;        ///< in MPI
  std::uint64_t collective_ticks = 0;  ///< of these, in collective calls
  std::uint64_t effort_ticks = 0;      ///< of these, in the calls that effort windows are of
  std::FILE* raw = nullptr;
  PendingCall pending;
};

class Streams {
 public:
  /// No rank has more: calls of further threads are in the last stream.
  static constexpr std::uint32_t kMostThreads = 1024;

  /// `rules`: the user's, or null; they must outlive it.
  Streams(const RecordOptions& options, int rank, int size, const RankRules* rules = nullptr);

  Stream& first() { return first_; }
  const Stream& first() const { return first_; }
  /// The stream of thread `number`, made with those before it if it is new.
  Stream& of(std::uint32_t number);
  /// The stream of an object's maker, or null.
  Stream* maker(std::int64_t id);
  std::size_t count() const { return 1 + others_.size(); }
  /// The stream of the thread that records at present.
  Stream& present() { return *present_; }
  void set_present(Stream& stream) { present_ = &stream; }
  /// The calling thread's stream becomes the present one, made if it is new. It may throw.
  void enter();
  /// Tracing began at this tick of the clock.
  void begin(std::uint64_t tick) { first_.last_exit = begun_ = tick; }
  /// The calling thread's stream, or null before its first recorded call.
  static Stream* own();
  /// There were threads without a stream of their own.
  bool crowded() const { return crowded_; }

  /// Calls f(stream) for each, by thread.
  template <class F>
  void for_each(F f) {
    f(first_);
    for (const auto& other : others_) f(*other);
  }

  /// What takes much memory goes there from now on, unless signatures are of the folded trace.
  void store_in(PieceStore& store);

  // All of the rank, as RankTrace does it for one.
  void drop_times();
  SignatureVector close_interval(double ns_per_tick, bool clusters = true);
  /// The closed interval is kept, or forgotten; whether one was closed.
  bool end_interval(double ns_per_tick, bool keeps);
  /// The times of each, over the run.
  std::vector<StreamAccounts> accounts();
  SignatureVector history();
  /// Whether the trace of any stream says so.
  bool any(bool (RankTrace::*says)() const);
  /// What the streams hold, merged; its facts are how many events, where there are several.
  /// They are empty afterwards. `schema`: a trace with the calls described.
  Trace take(const Trace& schema);

 private:
  friend void read_arrays(Streams& streams, EventUses::Arrays arrays);
  std::uint32_t most() const;
  void prepare(Stream& stream) const;
  void open_raw(Stream& stream) const;

  const RecordOptions& options_;
  std::uint32_t rank_, size_;
  const RankRules* rules_;
  EventUses::Arrays arrays_;
  PieceStore* store_ = nullptr;
  Stream first_;
  Stream* present_ = &first_;
  std::uint64_t begun_ = 0;  ///< tick
  std::vector<std::unique_ptr<Stream>> others_;
  bool keeps_times_ = true;
  bool crowded_ = false;
};

/// Where the elements of arrays are that events name.
inline void read_arrays(Streams& streams, EventUses::Arrays arrays) {
  streams.arrays_ = std::move(arrays);
  streams.for_each([&](Stream& stream) { stream.trace.signer().read(streams.arrays_); });
}

/// The stream of the thread that comes to a marker; the first where it has none.
inline Stream& marking_stream(Streams& streams, bool threaded) {
  Stream* const own = threaded ? Streams::own() : nullptr;
  return own != nullptr ? *own : streams.first();
}

}  // namespace chameleon::record
