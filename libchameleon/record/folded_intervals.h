// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The folded trace of one stream, in the order of its intervals: those joined since the last
/// flush, one that a marker closed and about which nothing is decided, and the present one. Where
/// they take much memory they go to a store, the oldest first; what is here comes behind that.

#include <cstdint>
#include <vector>

#include "compress/fold.h"
#include "record/piece_store.h"

namespace chameleon::record {

class FoldedIntervals {
 public:
  Folder partial{false};     ///< joined
  std::vector<Node> closed;  ///< as far as it is no longer in the log
  Folder open{false};        ///< as far as it did not fit into the log

  /// What takes much memory goes there from now on, as of stream `thread`.
  void store_in(PieceStore& store, std::uint32_t thread) {
    store_ = &store;
    thread_ = thread;
  }

  /// For one of the folders while it grows: to the store with it, if that is needed.
  void make_room(Folder& folder, PieceOf of) {
    if (store_ != nullptr && store_->wants()) put_all(folder, of);
  }

 private:
  void put_all(Folder& folder, PieceOf of);
  bool put(Folder& folder, PieceOf of);

  PieceStore* store_ = nullptr;
  std::uint32_t thread_ = 0;
};

}  // namespace chameleon::record
