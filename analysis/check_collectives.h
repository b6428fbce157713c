// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The contribution of one rank to a collective, as far as the ranks must agree: the root as a
/// world rank, the op, and the amounts of data. Amounts are either one number that all must give,
/// or a sum of hashes of (from, to, bytes) over what is sent and over what is received, equal at
/// the end exactly if each pair agrees (up to a 64-bit collision): O(1) memory for any number of
/// ranks. `Agreement` holds what the ranks so far agree on, and finds the rank with which another
/// disagrees.

#include <cstdint>
#include <functional>
#include <string>

#include "analysis/check_plan.h"
#include "analysis/partner.h"
#include "analysis/type_elements.h"
#include "analysis/volumes.h"

namespace chameleon::analysis {

struct Contribution {
  std::int64_t root = -1;  ///< world rank; -1: none, or not known (MPI_PROC_NULL)
  bool is_root = false;
  bool takes_part = true;  ///< false: passes MPI_PROC_NULL as the root
  std::int64_t op = -1;    ///< -1: none, or one of the application's
  std::int64_t amount = -1;
  bool hashed = false;  ///< `amount` is a hash of an array
  std::uint64_t sent = 0, received = 0;
  bool pairs_known = true;
  Element sent_of = kMixed, received_of = kMixed;  ///< the datatypes that count on this rank
};

/// `root`: as resolved in `comm`. `size(type)`: bytes of a datatype of the rank, or kUnknownSize;
/// `element(type)`: what it is made of.
Contribution contribution_of(
    const Trace& trace, const CallPlan& plan, const EventView& event, const Partner& root,
    const Communicator& comm, const TypeSizes& size,
    const std::function<Element(std::int64_t)>& element = [](std::int64_t) { return kMixed; });

/// Where someone takes part in a collective.
struct CollectivePlace {
  std::uint32_t stream = 0;
  std::uint64_t event = 0;  ///< number in the stream, from 1
  std::uint16_t call = 0;
};

struct Agreement {
  CollectivePlace first;
  const std::string* call = nullptr;  ///< of the first
  std::int64_t root = -1;             ///< world rank, -1: no rank has given it
  std::int64_t op = -1, amount = -1;
  Element element = kMixed;  ///< of the first that gives one
  CollectivePlace root_told, op_told, amount_told, element_told;
  std::uint64_t sent = 0, received = 0;  ///< sums of hashes of (from, to, bytes)
  bool pairs_known = true;
  std::uint32_t arrived = 0;

  /// Adds a rank with the call of this name (without _c; it must outlive this). Returns its
  /// disagreement in words, or an empty text. `name_of(place)` calls a place by its name.
  std::string add(const CollectivePlace& here, const std::string& name, const Contribution& mine,
                  const std::function<std::string(const CollectivePlace&)>& name_of,
                  const Trace& trace);
  /// Once all have come: whether each receives what another sends it.
  bool pairs_agree() const { return !pairs_known || sent == received; }
};

/// The text for a disagreement.
inline constexpr const char* kPairsDisagree =
    "what some rank sends another in this collective is not what that one receives";

}  // namespace chameleon::analysis
