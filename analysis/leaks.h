// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Objects of MPI that a rank makes and never frees: communicators, datatypes, groups, operators,
/// windows, files, and persistent requests. Which call makes or frees one stands in the MPI table.
///
/// Memory of the objects alive; an event that makes or frees none costs a look at its call.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/follow.h"
#include "base/hash.h"
#include "model/rank_list.h"

namespace chameleon::analysis {

/// Objects of one kind that one place in the program made.
struct Leak {
  Kind kind = Kind::kComm;
  std::string call;        ///< that made them
  std::uint64_t path = 0;  ///< where
  std::uint64_t count = 0;
  RankList ranks;
};

/// What a rank has made and not freed.
class ObjectLedger {
 public:
  /// Of an event that did what it is for.
  void note(const FollowedEvent& event);
  /// What is left, of this rank.
  void add_to(std::vector<Leak>& leaks, std::uint32_t rank, const Trace& trace) const;

 private:
  struct Made {
    std::uint16_t call;
    std::uint64_t path;
  };
  std::map<std::pair<Kind, std::int64_t>, Made> made_;
};

/// "3 communicators made by Comm_dup are never freed, on ranks 0-3".
std::string leak_text(const Leak& leak);

}  // namespace chameleon::analysis
