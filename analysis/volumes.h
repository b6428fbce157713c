// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The data that a rank sends and receives in a collective: the data movement of MPI 4.0, chapter
/// 6, as the MPI table describes it for each call. The only model of it: `check` compares its
/// amounts for the ranks, and `stats`, `matrix`, the timeline and the exports count it. A rank's
/// own block counts, in place or not, as what it sends and what it receives; a broadcast's root
/// only sends. The arguments of one event, O(1), or O(members) where counts differ between them.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/check_plan.h"
#include "analysis/datatype_size.h"
#include "analysis/partner.h"

namespace chameleon::analysis {

/// Size of a datatype of the rank, or kUnknownSize.
using TypeSizes = std::function<std::int64_t(std::int64_t)>;

/// count x size of each; kUnknownSize if one is negative or not known.
std::int64_t exact_bytes(std::int64_t count, std::int64_t each);

/// kUnknownSize for more than any block or message has: a damaged trace may claim it.
std::int64_t plausible_bytes(std::int64_t bytes);

/// The blocks of one side of a collective: a count and a type, or some for each partner.
class Blocks {
 public:
  /// Fields of the event, -1 for none; `many`, `many_types`: they are arrays.
  Blocks(const Trace& trace, const EventView& event, int count, int type, bool many,
         bool many_types, const TypeSizes& size);

  /// Bytes of the block for or from partner `i`, or kUnknownSize.
  std::int64_t bytes(std::int32_t i) const;
  /// A number that differs for other blocks of `n` partners, or -1.
  std::int64_t hash(std::int32_t n) const;

 private:
  const TypeSizes& size_;
  bool valid_ = false, many_ = false, many_types_ = false;
  std::span<const std::int64_t> counts_, types_;
  std::int64_t count_ = 0, type_size_ = kUnknownSize;
};

/// The part that a rank takes in a rooted collective.
struct RootRole {
  bool takes_part = true;  ///< false: passes MPI_PROC_NULL
  bool is_root = false;
  std::int32_t root = -1;   ///< as others name it in the communicator; -1: none, or not known
  std::int64_t world = -1;  ///< its world rank; -1: none, or not known
};
/// `root`: as resolved in `comm`.
RootRole root_role(const CallPlan& plan, const Partner& root, const Communicator& comm);

/// Bytes, as far as they are known.
struct Volume {
  std::int64_t sent = 0, received = 0;
  bool known = true;  ///< false: lower bounds
};

/// The amounts that a rank exchanges with each partner; empty if they are all the same.
struct VectorBytes {
  std::vector<std::int64_t> sent, received;
};

/// The arguments of one event of a collective; `root` as resolved in `comm`.
class Exchange {
 public:
  Exchange(const Trace& trace, const CallPlan& plan, const EventView& event, const Partner& root,
           const Communicator& comm, const TypeSizes& size);

  const RootRole& role() const { return role_; }
  bool sends() const;  ///< what it gives goes somewhere, be it to itself
  bool receives() const;
  bool sends_in_place() const { return sends_in_place_; }
  const Blocks& sent_blocks() const { return sent_; }
  const Blocks& received_blocks() const { return received_; }
  /// Blocks with what stands elsewhere when a buffer is MPI_IN_PLACE.
  std::int64_t sent_to(std::int32_t i) const;
  std::int64_t received_from(std::int32_t i) const;

  Volume volume() const;
  VectorBytes vectors() const;

 private:
  const CallPlan& plan_;
  const Communicator& comm_;
  RootRole role_;
  bool sends_in_place_ = false, receives_in_place_ = false;
  Blocks sent_, received_;
};

}  // namespace chameleon::analysis
