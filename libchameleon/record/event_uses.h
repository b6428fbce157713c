// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What signatures and hashes take from the distinct events of a log: made out when an event is
/// first met, so that signing an interval reads arrays by the event's number.
/// Cost: memory of the order of the log's table.

#include <cstdint>
#include <vector>

#include "flush/flush.h"
#include "record/event_table.h"
#include "record/options.h"
#include "signature/signature.h"

namespace chameleon::record {

class EventUses {
 public:
  struct SignedValue {
    Parameter parameter{};
    bool special = false;  ///< a partner that is no rank
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
  const SignedValue& value(std::uint32_t at) const { return values_[at]; }
  /// By kind of inexactness; 0: nothing. Only where options ask for hashes.
  const StreamHashes& hashes(std::uint32_t event) const { return hashes_[event]; }

 private:
  /// Where a call has a value that is part of a signature in use.
  struct SignedPlace {
    std::uint8_t at = 0;
    Parameter parameter{};
    bool end_point = false;
    TypeRange range{};  ///< of kDataOperation
  };

  void learn(const EventTable& table, const EventTable::Entry& entry);

  bool hashing_;
  std::vector<std::vector<SignedPlace>> places_;  ///< by call
  std::uint32_t generation_ = 0;                  ///< of the table that the rest is of
  std::vector<Use> uses_;
  std::vector<SignedValue> values_;
  std::vector<StreamHashes> hashes_;
};

}  // namespace chameleon::record
