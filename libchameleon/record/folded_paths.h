// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The call paths by which the events of a log are folded, signed and timed: their own, or with
/// CHAMELEON_FRAMES the relaxed ones that stand for them. Relaxed ones are looked up once for each
/// distinct event; where all frames are matched nothing is kept.

#include <cstdint>
#include <vector>

#include "callpath/engine.h"
#include "model/node.h"
#include "record/event_table.h"
#include "record/options.h"

namespace chameleon::record {

class FoldedPaths {
 public:
  explicit FoldedPaths(const RecordOptions& options) : relaxed_(!options.frames.all()) {}

  /// Whether an event's own path is not that by which it is folded.
  bool relaxed() const { return relaxed_; }
  std::uint64_t of(const EventTable::Entry& entry) const {
    return relaxed_ ? callpath::Engine::relaxed(entry.path) : entry.path;
  }
  std::uint64_t symbol(const EventTable::Entry& entry) const {
    return Node::event_symbol(entry.call, of(entry));
  }

  /// Makes out what is new in the table. It must precede asking for an event by its number.
  void learn(const EventTable& table) {
    if (!relaxed_) return;
    if (generation_ != table.generation()) paths_.clear();
    generation_ = table.generation();
    while (paths_.size() < table.size())
      paths_.push_back(of(table[static_cast<std::uint32_t>(paths_.size())]));
  }
  std::uint64_t of(const EventTable& table, std::uint32_t event) const {
    return relaxed_ ? paths_[event] : table[event].path;
  }

 private:
  bool relaxed_;
  std::vector<std::uint64_t> paths_;  ///< by event
  std::uint32_t generation_ = 0;      ///< of the table that these are of
};

}  // namespace chameleon::record
