// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One stream's raw records and its events of the trace, in step. Where they differ, the fewest
/// events are taken for missing or additional after which both sides are at the same call; where
/// the trace declares that events differ, anchors say where both are at the same event again.
/// O(events); memory of what is read ahead, at most 64 events a side.

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "analysis/verify_anchors.h"
#include "analysis/verify_events.h"
#include "analysis/verify_seen.h"

namespace chameleon::analysis {

class Lockstep {
 public:
  /// `model` is of the rank, and of all of its streams.
  Lockstep(const Trace& trace, std::uint32_t stream, RawReader reader, SeenStream seen,
           RawModel& model, std::vector<Anchor> anchors, VerifyReport& report)
      : complete_(trace.complete),
        reader_(std::move(reader)),
        stream_(std::move(seen)),
        anchors_(std::move(anchors)),
        comparison_(trace, model, stream, report),
        report_(report) {}

  /// The position of the current record among those of the rank; the last of all at the end.
  Result<std::uint64_t> turn();
  /// Compares the current pair; false at the end.
  Result<bool> step();

  /// Unsuccessful polls in the records that are no events.
  std::uint64_t polls() const { return reader_.polls(); }
  /// Kinds in which declared differences were found.
  std::uint32_t found() const { return comparison_.found(); }
  const DeclaredKinds& declared() const { return stream_.declared(); }

 private:
  /// The event of the trace before the current one.
  struct Passed {
    std::uint32_t kinds = 0;
    const CallDescription* poll = nullptr;  ///< its call, if it is a declared poll
  };

  Comparison::Place place() const;
  /// The next anchor; null if there is none.
  const Anchor* anchor() const { return passed_ < anchors_.size() ? &anchors_[passed_] : nullptr; }
  bool early() const;
  bool late() const;
  void pass_anchors();
  bool in_step(std::size_t raw, std::size_t seen) const;

  Status fill(std::size_t wanted);
  bool polls_on();
  Status resynchronize();
  bool meet(std::size_t raw, std::size_t seen) const;
  void pass_one_side();

  void drop_raw(std::size_t count);
  void drop_seen(std::size_t count);
  void skip_raw();
  void skip_seen();
  void pop_raw();
  void pop_seen();

  bool complete_;
  RawReader reader_;
  SeenStream stream_;
  std::vector<Anchor> anchors_;
  std::size_t passed_ = 0;  ///< of these
  Comparison comparison_;
  VerifyReport& report_;
  std::deque<RawEvent> raw_;
  std::deque<SeenEvent> seen_;
  bool raw_ended_ = false, seen_ended_ = false;
  std::uint64_t raw_number_ = 1, seen_number_ = 1;
  std::int64_t declared_shift_ = 0;  ///< raw events missing less additional ones, as declared
  Passed last_;
};

}  // namespace chameleon::analysis
