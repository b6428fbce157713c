// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The pieces of this rank's trace that are in a file, for lack of memory. The folded trace is
/// written when it takes a quarter of CHAMELEON_MEMORY, and 1 MiB at least. Where the rank uses
/// more than three quarters of CHAMELEON_MEMORY, 1 MiB is enough. Pieces are so large that rank 0
/// can hold one of each rank. A flush reads them again; before that, those of an interval that is
/// dropped are forgotten. Either gives their room in the file back. If the file cannot be written,
/// one line says so, and the trace stays in memory; rank 0 tries that at the start, so that other
/// ranks need not say it.
///
/// Cost: nothing before the first piece but for a comparison at every 64th event that is folded.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "flush/plan.h"
#include "format/piece_file.h"
#include "process/rank_budget.h"
#include "record/piece_store.h"
#include "record/recorder.h"

namespace chameleon::process {

class RankPieces final : public PieceStore {
 public:
  /// `output`: the trace file, beside which the file is unless the settings name a folder.
  RankPieces(Recorder& recorder, RankBudget& budget, const Settings& settings,
             const std::string& output, int rank, int size);

  bool wants() override;
  bool put(std::uint32_t thread, std::vector<Node>& nodes, PieceOf of) override;
  void close() override { become(PieceOf::kOpen, PieceOf::kClosed); }
  void join() override { become(PieceOf::kClosed, PieceOf::kJoined); }
  void drop() override;

  /// Adds to a share what was stored of it, and says how it is to be cut. Forgets the pieces of
  /// joined intervals; if the share does not keep its events, they are lost on purpose.
  void take(Share& share);
  /// In a copy of the process that only reads: the file is the process's.
  void leave_file_alone() {
    on_ = false;
    if (file_ != nullptr) file_->keep_all();
  }
  /// That what is stored took before it was. Any thread may ask.
  std::uint64_t memory_bytes() const { return memory_.load(std::memory_order_relaxed); }

 private:
  struct Piece {
    PieceFile::Extent where;
    PieceOf of;
    std::uint64_t memory;
    std::uint64_t values;
  };

  void become(PieceOf from, PieceOf to);
  bool open();
  std::size_t put_first(std::uint32_t thread, std::span<Node> nodes, PieceOf of);
  bool write(Trace& piece, PieceOf of);
  void limit(Trace& piece);
  void forget(const Piece& piece);
  void give_up(const std::string& reason, bool says = true);

  Recorder& recorder_;
  RankBudget& budget_;
  const Settings& settings_;
  std::string path_;
  int rank_;
  std::size_t piece_bytes_;
  bool on_;                    ///< the file can be written, as far as is known
  std::uint64_t emptied_ = 0;  ///< bytes of memory, after pieces were put, at least
  std::uint64_t values_ = 0;   ///< bytes of values in the pieces
  std::atomic<std::uint64_t> memory_{0};
  std::shared_ptr<PieceFile> file_;
  std::vector<Piece> pieces_;
};

}  // namespace chameleon::process
