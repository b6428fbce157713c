// SPDX-License-Identifier: BSD-3-Clause
#include "record/folded_intervals.h"

#include <utility>

namespace chameleon::record {

void FoldedIntervals::put_all(Folder& folder, PieceOf of) {
  if (&folder != &partial && !put(partial, PieceOf::kJoined)) return;
  if (of == PieceOf::kOpen && !closed.empty() && !store_->put(thread_, closed, PieceOf::kClosed))
    return;
  put(folder, of);
}

bool FoldedIntervals::put(Folder& folder, PieceOf of) {
  const std::uint64_t events = folder.event_count();
  std::vector<Node> nodes = folder.take();
  if (nodes.empty() || store_->put(thread_, nodes, of)) return true;
  folder.append(std::move(nodes), events);
  return false;
}

}  // namespace chameleon::record
