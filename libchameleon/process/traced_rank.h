// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The rank of this process, as the online trace sees it: its recorder under the recorder's lock,
/// and its clock. Here is the fault boundary of markers: what fails becomes the process's fault
/// (fault.h).

#include <memory>

#include "base/memory.h"
#include "online/rank.h"
#include "process/rank_markers.h"
#include "process/rank_pieces.h"
#include "world/message_packer.h"

namespace chameleon::process {

class TracedRank final : public Rank {
 public:
  TracedRank(Recorder& recorder, RankReport& report, RankBudget& budget, RankPieces& pieces)
      : recorder_(recorder),
        report_(report),
        budget_(budget),
        pieces_(pieces),
        markers_(recorder, report, budget) {}

  bool ends() const override { return recorder_.times().ended() != 0; }
  ClosedInterval close_interval(bool elects) override;
  void join() override;
  void drop() override;
  History history() override;
  RankMarkers& marker_log() override { return markers_; }
  Share take_share(bool keeps) override;
  void complete_share(Share& share) override { record::complete_share(share); }
  Trace own_facts(bool lost_flush) override;
  std::uint64_t elapsed_ns() override { return recorder_.times().elapsed_ns(); }
  std::int64_t clock_ns() override;
  void compared(const ClockSample& sample) override;
  Budget& budget() override { return budget_; }
  std::uint64_t memory_bytes() const override { return memory_use().now + pieces_.memory_bytes(); }
  void forget_messages() override { packer_->forget(); }
  void merged() override;
  bool failed() const override;
  void note_failure(Failure failure) override;

  /// The state of the worlds in which the rank communicates.
  const std::shared_ptr<MessagePacker>& packer() const { return packer_; }
  /// MPI_Finalize begins.
  void end() {
    recorder_.times().end();
    markers_.energy().enter();
  }

 private:
  void say_line(const char* line) override;

  Recorder& recorder_;
  RankReport& report_;
  RankBudget& budget_;
  RankPieces& pieces_;
  RankMarkers markers_;
  ClockFit clock_fit_;
  std::shared_ptr<MessagePacker> packer_ = std::make_shared<MessagePacker>();
  double scale_ = 0;  ///< ns a tick, in the present comparison of clocks
};

}  // namespace chameleon::process
