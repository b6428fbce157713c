// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What signatures and hashes take from the distinct events of a log: made out when an event is
/// first met, so that signing an interval reads arrays by the event's number.
/// Cost: memory of the order of the log's table.

#include <cstdint>
#include <vector>

#include "flush/flush.h"
#include "record/folded_paths.h"
#include "record/options.h"
#include "signature/call_parameters.h"

namespace chameleon::record {

class EventUses {
 public:
  /// One value of a distinct event.
  struct Value {
    Parameter parameter{};
    bool end_point = false;  ///< `value` is a partner as recorded
    std::int64_t value = 0;
  };
  struct Use {
    std::uint64_t symbol = 0;
    std::uint32_t first = 0, end = 0;  ///< see `value`
    bool creates = false;
    bool polls = false;         ///< a call that may be unsuccessful
    bool counted_only = false;  ///< an unsuccessful poll
  };

  explicit EventUses(const RecordOptions& options);

  /// Makes out what is new in the table. It must precede asking for an event.
  void learn(const EventTable& table);

  const Use& operator[](std::uint32_t event) const { return uses_[event]; }
  /// What enters the signatures in use, from a `Use`'s `first` to its `end`.
  const Value& value(std::uint32_t at) const { return values_[at]; }
  /// By kind of inexactness; 0: nothing. Only where options ask for hashes.
  const StreamHashes& hashes(std::uint32_t event) const { return hashes_[event]; }

 private:
  void learn(const EventTable& table, const EventTable::Entry& entry);

  FoldedPaths paths_;
  bool hashing_, sequence_;
  std::vector<std::vector<signature::SignedValue>> places_;  ///< by call, of signatures in use
  std::uint32_t generation_ = 0;                             ///< of the table that the rest is of
  std::vector<Use> uses_;
  std::vector<Value> values_;
  std::vector<StreamHashes> hashes_;
};

}  // namespace chameleon::record
