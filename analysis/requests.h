// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One rank's open requests with the facts of their posting, by symbolic id. A request that has
/// ended leaves its id at once, but can be read until the next event. O(1) each; memory of the
/// requests open at once.

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/check_plan.h"
#include "analysis/datatype_size.h"
#include "analysis/partner.h"

namespace chameleon::analysis {

struct Posting {
  enum class Kind : std::uint8_t {
    kOther,  ///< of no message or collective: a file's, a one-sided call's
    kSend,
    kReceive,
    kCollective,
  };
  Kind kind = Kind::kOther;
  bool persistent = false;
  bool active = false;                       ///< false: persistent, and not started
  bool any_source = false, any_tag = false;  ///< of receives
  std::uint16_t call = 0;
  std::int64_t id = -1;
  std::uint32_t stream = 0;  ///< that made or last started it
  std::uint64_t event = 0;   ///< in which it did, number in the stream from 1
  /// Among the open requests of the rank, from 0: as small as can be, given out again at the end.
  std::uint32_t index = 0;
  std::shared_ptr<Communicator> comm;  ///< null: none, or not known
  Partner partner;                     ///< of messages: destination, or source as posted
  std::int64_t tag = 0;
  std::int64_t bytes = kUnknownSize;  ///< of messages: what is sent, or room for what is received
};

class Requests {
 public:
  /// Null if no request with this id is open.
  Posting* find(std::int64_t id) {
    const std::int32_t index = at(id);
    return index == kNone ? nullptr : &postings_[static_cast<std::size_t>(index)];
  }
  /// A new one under an id that stands for nothing. Its communicator may be that of an ended one.
  Posting& make(std::int64_t id);
  /// The id of an open request stands for nothing from here on.
  void end(std::int64_t id, const Posting& posting);
  /// The ended ones cannot be read any more.
  void forget_ended();
  /// All that are open are persistent and not started. O(requests).
  bool none_active() const;

 private:
  static constexpr std::int32_t kNone = -1;
  /// Ids up to here are looked up in an array: they are the lowest free numbers.
  static constexpr std::int64_t kDense = 1 << 16;

  std::int32_t at(std::int64_t id) const {
    if (id < 0 || id >= kDense) return at_other(id);
    return static_cast<std::size_t>(id) < dense_.size() ? dense_[static_cast<std::size_t>(id)]
                                                        : kNone;
  }
  std::int32_t at_other(std::int64_t id) const;

  std::deque<Posting> postings_;  ///< by index
  std::vector<std::uint32_t> free_, ended_;
  std::vector<std::int32_t> dense_;  ///< by id
  std::unordered_map<std::int64_t, std::int32_t> others_;
};

}  // namespace chameleon::analysis
