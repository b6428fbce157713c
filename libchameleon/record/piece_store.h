// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Where a rank puts what it has folded when that takes much memory: pieces that a flush reads
/// again. The traced process gives it (process/rank_pieces.h). Pieces are of one stream each, and
/// of a stream in order. None of its methods throws.

#include <cstdint>
#include <vector>

#include "model/node.h"

namespace chameleon::record {

/// Which interval a piece is of. Of a stream, earlier ones are put first.
enum class PieceOf : std::uint8_t {
  kJoined,  ///< those that the next flush takes
  kClosed,  ///< the one that a marker has ended, about which nothing is decided yet
  kOpen,    ///< the present one
};

class PieceStore {
 public:
  PieceStore() = default;
  PieceStore(const PieceStore&) = delete;
  PieceStore& operator=(const PieceStore&) = delete;
  virtual ~PieceStore() = default;

  /// Whether what is folded takes so much memory that it is to be put. A few ns.
  virtual bool wants() = 0;
  /// Stores as many of the first nodes as it can and removes them from `nodes`; true if all were
  /// stored.
  virtual bool put(std::uint32_t thread, std::vector<Node>& nodes, PieceOf of) = 0;

  /// The present interval ends.
  virtual void close() = 0;
  /// The one that was closed is kept, or forgotten.
  virtual void join() = 0;
  virtual void drop() = 0;
};

}  // namespace chameleon::record
