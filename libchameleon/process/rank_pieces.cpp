// SPDX-License-Identifier: BSD-3-Clause
#include "process/rank_pieces.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/attempt.h"
#include "base/memory.h"
#include "compress/distribution.h"
#include "compress/pieces.h"
#include "process/say.h"

namespace chameleon::process {
namespace {

/// Bytes that are folded before anything is stored, and of a piece, at least.
constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
constexpr std::uint64_t kLeastPiece = std::uint64_t{256} << 10;
/// Parts of CHAMELEON_MEMORY: what may be folded before it is stored, the pieces of all ranks, and
/// from where on as little as can be is kept.
constexpr std::uint64_t kFoldedPart = 4, kPiecesPart = 4, kTightParts = 4;
/// Bytes of values in a piece when the rank has as many as it may.
constexpr std::size_t kFewValues = std::size_t{64} << 10;

/// What a flush takes. They are read one at a time; what was read is given back.
class TakenPieces final : public StoredPieces {
 public:
  TakenPieces(std::shared_ptr<PieceFile> file, std::vector<PieceFile::Extent> pieces)
      : file_(std::move(file)), pieces_(std::move(pieces)) {}
  ~TakenPieces() override {
    next_ = pieces_.size();
    give_back();
  }

  bool more() const override { return next_ < pieces_.size(); }
  Trace next() override {
    Result<Trace> piece = file_->read(pieces_[next_++]);
    give_back();
    if (!piece) throw std::runtime_error(piece.error().message);
    return std::move(*piece);
  }
  Bytes next_delta() override {
    if (!more()) return {};
    Result<Bytes> piece = file_->read_delta(pieces_[next_++]);
    give_back();
    return piece ? std::move(*piece) : Bytes();
  }

 private:
  void give_back() {
    for (; released_ < next_; ++released_) file_->release(pieces_[released_]);
  }

  std::shared_ptr<PieceFile> file_;
  std::vector<PieceFile::Extent> pieces_;
  std::size_t next_ = 0, released_ = 0;
};

std::string file_name(const Settings& settings, const std::string& output, int rank) {
  const std::string end = ".rank" + std::to_string(rank) + ".spill";
  if (settings.spill.empty()) return output + end;
  return settings.spill + "/" + output.substr(output.rfind('/') + 1) + end;
}

}  // namespace

RankPieces::RankPieces(Recorder& recorder, RankBudget& budget, const Settings& settings,
                       const std::string& output, int rank, int size)
    : recorder_(recorder),
      budget_(budget),
      settings_(settings),
      path_(file_name(settings, output, rank)),
      rank_(rank),
      piece_bytes_(
          std::max(kLeastPiece, settings.memory / kPiecesPart / static_cast<unsigned>(size))),
      on_(settings.spills) {
  // A place that no rank can write is told by one, at once.
  if (on_ && rank == 0)
    if (const auto file = PieceFile::create(path_); !file) give_up(file.error().message);
  if (on_) recorder.streams().store_in(*this);
}

bool RankPieces::wants() {
  if (!on_) return false;
  const std::uint64_t now = memory_use().now;
  if (emptied_ == 0 || now < emptied_) emptied_ = now;
  const bool tight = now > settings_.memory / kTightParts * (kTightParts - 1);
  return now > emptied_ + (tight ? kLeast : std::max(kLeast, settings_.memory / kFoldedPart));
}

bool RankPieces::put(std::uint32_t thread, std::vector<Node>& nodes, PieceOf of) {
  std::size_t done = 0;
  attempt([&] {
    if (!open()) return;
    for (std::size_t count = 1; count > 0 && done < nodes.size(); done += count)
      count = put_first(thread, std::span(nodes).subspan(done), of);
  });
  nodes.erase(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(done));
  if (!nodes.empty()) {
    emptied_ = memory_use().now;  // not again before there is more
    return false;
  }
  nodes = std::vector<Node>();
  emptied_ = memory_use().now;
  return true;
}

bool RankPieces::open() {
  if (!on_ || file_ != nullptr) return on_;
  Result<std::unique_ptr<PieceFile>> file = PieceFile::create(path_);
  if (!file) return give_up(file.error().message, rank_ == 0), false;
  file_ = std::move(*file);
  return true;
}

/// How many of the first nodes became a piece; those are used up then.
std::size_t RankPieces::put_first(std::uint32_t thread, std::span<Node> nodes, PieceOf of) {
  const std::size_t count = count_within(nodes, piece_bytes_);
  Trace piece = piece_schema(recorder_, thread);
  pieces_.reserve(pieces_.size() + 1);
  piece.nodes.reserve(count);
  for (Node& node : nodes.first(count)) piece.nodes.push_back(std::move(node));
  bool written = false;
  attempt([&] { written = write(piece, of); });
  if (written) return count;
  std::move(piece.nodes.begin(), piece.nodes.end(), nodes.begin());
  return 0;
}

bool RankPieces::write(Trace& piece, PieceOf of) {
  add_arrays(recorder_, piece);
  limit(piece);
  const std::uint64_t values = value_bytes(piece);
  const std::uint64_t memory = compress::memory_bytes(piece.nodes);
  Share share;
  share.trace = std::move(piece);
  const Failure failure = attempt([&] { complete_share(share); });
  piece = std::move(share.trace);
  if (failure != Failure::kNone) return false;
  const Result<PieceFile::Extent> where = file_->append(piece);
  if (!where) return give_up(where.error().message), false;
  pieces_.push_back({*where, of, memory, values});
  memory_ += memory;
  values_ += values;
  return true;
}

/// Values of what no flush takes are bounded as those in memory are.
void RankPieces::limit(Trace& piece) {
  if (values_ + value_bytes(piece) <= budget_.most_values()) return;
  if (limit_values(piece, kFewValues) > 0) budget_.say_values();
}

void RankPieces::give_up(const std::string& reason, bool says) {
  on_ = false;
  budget_.note_unstored(says ? "" : reason);
  if (!says) return;
  say("rank " + std::to_string(rank_) + ": " + reason +
      ": what takes much memory stays there (see CHAMELEON_SPILL)");
}

void RankPieces::become(PieceOf from, PieceOf to) {
  for (Piece& piece : pieces_)
    if (piece.of == from) piece.of = to;
}

/// It is no longer stored here.
void RankPieces::forget(const Piece& piece) {
  memory_ -= piece.memory;
  values_ -= piece.values;
}

void RankPieces::drop() {
  std::erase_if(pieces_, [&](const Piece& piece) {
    if (piece.of != PieceOf::kClosed) return false;
    forget(piece);
    file_->release(piece.where);
    return true;
  });
}

void RankPieces::take(Share& share) {
  if (settings_.spills) share.most_bytes = piece_bytes_;
  std::vector<PieceFile::Extent> taken;
  for (const Piece& piece : pieces_)
    if (piece.of == PieceOf::kJoined) taken.push_back(piece.where);
  if (taken.empty()) return;
  auto stored = std::make_unique<TakenPieces>(file_, std::move(taken));
  std::erase_if(pieces_, [&](const Piece& piece) {
    if (piece.of != PieceOf::kJoined) return false;
    forget(piece);
    return true;
  });
  if (share.keeps) share.stored = std::move(stored);
}

}  // namespace chameleon::process
