// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What a rank holds of one thread's events between flushes: the log of the present
/// interval, what a full log was folded into (*open*), and the folded trace of
/// the closed intervals since the last flush (*partial*). Beside them, updated
/// as intervals close whether their events are kept or dropped: the interval's
/// signature, hashes of all that happened since the flush, and how many events.
/// Cost: closing an interval reads its log once, and compares it with the one before: only where
/// that differs it is signed; joining folds it.

#include <exception>
#include <vector>

#include "compress/fold.h"
#include "flush/flush.h"
#include "record/interval_log.h"
#include "record/options.h"
#include "signature/signature.h"

namespace chameleon::record {

class RankTrace {
 public:
  /// `buffer`: bytes of the log.
  RankTrace(const RecordOptions& options, std::uint64_t buffer);
  explicit RankTrace(const RecordOptions& options) : RankTrace(options, options.buffer) {}

  IntervalLog& log() { return log_; }
  /// Makes room in a full log; not between closing an interval and joining or dropping it.
  void spill(double ns_per_tick);

  /// Times are kept no longer, from the present interval on.
  void drop_times() {
    const Change change(broken_);
    open_.keep_times(false);
    partial_.keep_times(false);
  }

  /// Ends the present interval: its signature. `join` or `drop` must follow; what is
  /// appended before that belongs to the next interval. LOOP is in it only if ranks may be
  /// clustered by it (`clusters`): for LOOP the interval is folded.
  SignatureVector close_interval(double ns_per_tick, bool clusters = true);
  /// The closed interval becomes part of *partial*. Nothing happens if none is closed: a thread's
  /// first call may come between.
  void join(double ns_per_tick);
  /// The closed interval is forgotten, if one is.
  void drop();

  /// The nodes of *partial*, which is empty afterwards. History, counts and
  /// hashes start anew.
  std::vector<Node> take();

  /// A signature of all intervals since the last `take`; LOOP is that of *partial*.
  SignatureVector history();
  std::uint64_t events() const { return events_; }  ///< in *partial*
  /// Of the closed interval, before it is joined or dropped.
  std::uint64_t interval_events() const { return interval_events_; }
  std::uint64_t all_events() const { return all_events_; }  ///< of the run
  const StreamHashes& hashes() const { return hashes_; }
  /// Whether the last closed interval / any since `take` created a communicator,
  /// group or topology, which are kept exactly for every rank.
  bool interval_creates() const { return interval_creates_; }
  /// Something failed in the middle of a change: what happened since `take` is lost.
  bool broken() const { return broken_; }
  bool history_creates() const { return history_creates_; }

 private:
  /// Where a call has a value that is part of a signature in use.
  struct SignedPlace {
    std::uint8_t at = 0;
    Parameter parameter{};
    bool end_point = false;
    TypeRange range{};  ///< of kDataOperation
  };
  struct SignedValue {
    Parameter parameter{};
    bool special = false;  ///< a partner that is no rank
    std::int64_t value = 0;
  };
  /// What signatures take from a distinct event of the log's table.
  struct EventUse {
    std::uint64_t symbol = 0;
    std::uint32_t first = 0, end = 0;  ///< of `signed_values_`
    bool creates = false;
    bool counted_only = false;
  };

  /// What an interval's events come to.
  struct Signed {
    IntervalTotals totals;
    StreamHashes hashes{};
    std::uint64_t last_symbol = 0;
    bool creates = false;
  };

  /// While one lives the trace changes; it is broken if that ends by an exception.
  class Change {
   public:
    explicit Change(bool& broken) : broken_(broken) {}
    ~Change() { broken_ = broken_ || std::uncaught_exceptions() > thrown_; }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    bool& broken_;
    int thrown_ = std::uncaught_exceptions();
  };

  bool signs(Parameter parameter) const { return (options_.format & format_bit(parameter)) != 0; }
  void learn();
  void sign();
  void add_times();
  bool repeats() const;
  void sign_interval();
  void sign_times(double ns_per_tick);
  void sign_loops(double ns_per_tick);
  void close_books();
  void fold_log(Folder& folder, double ns_per_tick);

  const RecordOptions& options_;
  std::vector<std::vector<SignedPlace>> signed_;  ///< by call
  IntervalLog log_;
  std::uint32_t generation_ = 0;  ///< of the log's table that the next three are of
  std::vector<EventUse> uses_;
  std::vector<SignedValue> signed_values_;
  std::vector<StreamHashes> stream_hashes_;
  std::vector<std::uint32_t> sequence_;  ///< the events of the interval signed last, as a whole
  std::uint32_t sequence_generation_ = 0;
  Signed signed_before_;
  Folder open_, partial_;
  bool spilled_ = false;      ///< part of the interval is in `open_`
  std::vector<Node> folded_;  ///< that part, once the interval is closed
  std::uint64_t interval_events_ = 0;
  IntervalSignature signature_;
  std::uint64_t compute_ticks_ = 0, communication_ticks_ = 0, timed_ = 0;  ///< of the interval
  IntervalTotals last_, history_;
  StreamHashes hashes_{}, interval_hashes_{};
  std::uint64_t events_ = 0, all_events_ = 0;
  std::uint64_t last_symbol_ = 0;
  bool creates_ = false, interval_creates_ = false, history_creates_ = false;
  bool closed_ = false;  ///< an interval is
  bool broken_ = false;
};

}  // namespace chameleon::record
