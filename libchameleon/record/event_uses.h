// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What signatures and hashes take from the distinct events of a log: made out when an event is
/// first met, so that signing an interval reads arrays by the event's number.
/// Cost: memory of the order of the log's table.

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "flush/flush.h"
#include "record/folded_paths.h"
#include "record/options.h"
#include "record/rank_rules.h"
#include "signature/call_parameters.h"
#include "signature/call_sites.h"

namespace chameleon::record {

class EventUses {
 public:
  /// One value of a distinct event.
  struct Value {
    Parameter parameter{};
    bool end_point = false;  ///< `value` is a partner as recorded
    bool ruled = false;      ///< `value` is the number of the rule that gives it
    std::int64_t value = 0;
  };
  struct Use {
    std::uint64_t symbol = 0;
    std::uint32_t first = 0, end = 0;  ///< see `value`
    bool creates = false;
    bool polls = false;         ///< a call that may be unsuccessful
    bool counted_only = false;  ///< an unsuccessful poll
    bool left_out = false;      ///< one that is no event of the trace
  };

  /// The elements of an array of the present interval, by its id.
  using Arrays = std::function<std::span<const std::int64_t>(std::int64_t id)>;

  explicit EventUses(const RecordOptions& options);

  /// Without, what only arrays tell is not known.
  void read(Arrays arrays) { arrays_ = std::move(arrays); }

  /// Values that these give are signed as theirs.
  void follow(const RankRules& rules) { rules_ = &rules; }
  /// Values of distinct events for which there are rules, and which of them a rule gives. An event
  /// counts again if the table has forgotten it.
  struct RuleCounts {
    std::uint64_t values = 0, matched = 0;
  };
  const RuleCounts& rule_counts() const { return rule_counts_; }
  /// Of the calls that have rules.
  const signature::CallSites& sites() const { return sites_; }

  /// Makes out what is new in the table. It must precede asking for an event.
  void learn(const EventTable& table);

  const Use& operator[](std::uint32_t event) const { return uses_[event]; }
  /// Whether some event of the table is left out.
  bool leaves_out() const { return leaves_out_; }
  /// What enters the signatures in use, from a `Use`'s `first` to its `end`.
  const Value& value(std::uint32_t at) const { return values_[at]; }
  /// By kind of inexactness; 0: nothing. Only where options ask for hashes.
  const StreamHashes& hashes(std::uint32_t event) const { return hashes_[event]; }

 private:
  void learn(const EventTable& table, const EventTable::Entry& entry);
  void find_ruled(const EventTable::Entry& entry, std::span<const std::int64_t> values);
  std::uint32_t rule_of(std::uint8_t at) const;
  bool is_vain(std::uint16_t call, int flag, std::span<const std::int64_t> values) const;

  /// A value of the event that is being made out, and the rule that gives it.
  struct Ruled {
    std::uint8_t at = 0;
    std::uint32_t rule = 0;
  };

  FoldedPaths paths_;
  const RankRules* rules_ = nullptr;
  Arrays arrays_;
  std::vector<Ruled> ruled_;
  RuleCounts rule_counts_;
  signature::CallSites sites_;
  struct Wanted {
    bool hashes, sequence, all_events;
  } wanted_;
  bool leaves_out_ = false;
  std::vector<std::vector<signature::SignedValue>> places_;  ///< by call, of signatures in use
  std::uint32_t generation_ = 0;                             ///< of the table that the rest is of
  std::vector<Use> uses_;
  std::vector<Value> values_;
  std::vector<StreamHashes> hashes_;
};

}  // namespace chameleon::record
