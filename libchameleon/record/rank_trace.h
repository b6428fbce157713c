// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What a rank holds of one thread's events between flushes: the log of the present
/// interval, what a full log was folded into (*open*), and the folded trace of
/// the closed intervals since the last flush (*partial*). What takes much memory of these goes to a
/// store, the oldest first. Beside them, updated
/// as intervals close whether their events are kept or dropped: the interval's
/// signature, hashes of all that happened since the flush, how many events, and their times.
/// Unsuccessful polls are counted, and no events (unless all are asked for): their times are those
/// of the event that follows. Cost: closing an interval reads its log once, and compares it with
/// the one before: only where that differs it is signed; joining folds it.

#include <exception>
#include <vector>

#include "compress/fold.h"
#include "model/trace.h"
#include "record/folded_intervals.h"
#include "record/interval_log.h"
#include "record/interval_signer.h"
#include "record/options.h"
#include "record/stream_book.h"

namespace chameleon::record {

/// What the intervals since the last flush come to, joined or dropped.
struct SignedHistory {
  IntervalTotals totals;
  StreamHashes hashes{};
  bool creates = false;
  std::uint64_t events = 0;  ///< of those that were joined

  void append(const SignedInterval& interval);
};

/// How many bytes values of parameters may take in *open*, of a stream whose calls and number the
/// schema has.
struct ValueBound {
  Trace schema;
  std::size_t most = 0;
};

class RankTrace {
 public:
  /// `buffer`: bytes of the log.
  RankTrace(const RecordOptions& options, std::uint64_t buffer);
  explicit RankTrace(const RecordOptions& options) : RankTrace(options, options.buffer) {}

  /// How intervals are signed: to be told before the first call.
  IntervalSigner& signer() { return signer_; }
  IntervalLog& log() { return log_; }
  /// Makes room in a full log. With a bound, what exceeds it becomes distributions
  /// (compress/distribution.h): whether anything did.
  bool spill(double ns_per_tick, const ValueBound* bound = nullptr);

  /// Times are kept no longer, from the present interval on.
  void drop_times() { book_.stop(); }

  /// Ends the present interval: its signature. `join` or `drop` must follow before the next is
  /// closed; what is appended before that belongs to the next interval. LOOP is in it only if ranks
  /// may be clustered by it (`clusters`): for LOOP the interval is folded.
  SignatureVector close_interval(double ns_per_tick, bool clusters = true);
  /// The closed interval becomes part of *partial*. Nothing happens if none is closed, and it says
  /// so: a thread's first call may come between.
  bool join(double ns_per_tick);
  /// The closed interval is forgotten, if one is, but for its times.
  bool drop(double ns_per_tick);

  /// The nodes of *partial*, which is empty afterwards. History, counts and
  /// hashes start anew.
  std::vector<Node> take();

  /// A signature of all intervals since the last `take`; LOOP is that of *partial*.
  SignatureVector history();
  std::uint64_t events() const { return history_.events; }  ///< in *partial*
  /// The interval closed last.
  const SignedInterval& interval() const { return interval_; }
  std::uint64_t all_events() const { return all_events_; }  ///< of the run
  std::uint64_t polls() const { return polls_.count; }      ///< of the run, that are no events
  const StreamHashes& hashes() const { return history_.hashes; }
  /// Whether the last closed interval / any since `take` created a communicator,
  /// group or topology, which are kept exactly for every rank.
  bool interval_creates() const { return interval_.creates; }
  bool history_creates() const { return history_.creates; }
  /// Times of the run so far: of what was joined, dropped or spilled.
  StreamBook& book() { return book_; }
  const StreamBook& book() const { return book_; }
  FoldedIntervals& folded() { return folded_; }
  /// Something failed in the middle of a change: what happened since `take` is lost.
  bool broken() const { return broken_; }

 private:
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

  void fold_open(double ns_per_tick);
  void fold_closed(double ns_per_tick);
  bool limit_open(const ValueBound& bound);
  void sign_loops(double ns_per_tick);
  void close_books();
  void fold_log(Folder& folder, double ns_per_tick, PieceOf of);

  const RecordOptions& options_;
  IntervalLog log_;
  FoldedPaths paths_;
  IntervalSigner signer_;
  SignedInterval interval_;  ///< closed last
  SignedHistory history_;
  std::uint64_t all_events_ = 0;
  IntervalLog::TakenOut polls_;  ///< with times that belong to the next event
  StreamBook book_;
  FoldedIntervals folded_;
  std::size_t pushed_ = 0;  ///< events that were folded one at a time
  bool spilled_ = false;    ///< part of the present interval is folded
  bool closed_ = false;     ///< an interval is
  bool broken_ = false;
};

}  // namespace chameleon::record
