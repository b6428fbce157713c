// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One rank's communicators, followed through its events: the current meaning of a
/// symbolic id. Each has a *context*, computed from its parent's, its members and how
/// many of the same members came before it on that parent, so that all members compute
/// the same without communication (those that a group made by the tag too); of an
/// intercommunicator both sides do, and `Intercomm_create`, whose two sides have
/// different parents, counts by members alone. Members are views of the trace's arrays,
/// never copies: the trace must outlive this. Communicators of all threads of a rank
/// are followed together. O(members) for the first communicator of some members, O(1)
/// for the next, O(1) to look up; memory of those alive, and of those that requests
/// hold.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace.h"
#include "model/view.h"

namespace chameleon::analysis {

/// The elements of an array value; none for a key the trace does not hold.
std::span<const std::int64_t> array_of(const Trace& trace, std::int64_t value);

/// Place of the field of this name in a call's values, or -1.
int field_index(const CallDescription& call, std::string_view name);

/// Where tables keep an object: by id, which with several threads a rank has its maker above the
/// number; -1 for null, predefined objects and threads that the trace does not have.
inline std::int64_t place_of_object(std::int64_t id, std::uint32_t threads) {
  if (id < 0 || threads <= 1) return id;
  const std::uint32_t thread = object_thread(id);
  if (thread >= threads) return -1;
  return (id & ((std::int64_t{1} << kObjectThreadShift) - 1)) * threads + thread;
}

/// Instead of a world rank: a process outside of the trace (MPI_Comm_spawn).
inline constexpr std::int64_t kOutside = -2;

/// A group of world ranks: consecutive, or listed in an array of the trace.
struct WorldRanks {
  std::span<const std::int64_t> listed;
  std::int64_t first = 0;  ///< when nothing is listed
  std::int32_t count = 0;

  std::int64_t operator[](std::int32_t i) const {
    return listed.empty() ? first + i : listed[static_cast<std::size_t>(i)];
  }
  std::int32_t find(std::int64_t world_rank) const;
};

struct Communicator {
  std::uint64_t context = 0;  ///< equal on all members, distinct for each communicator
  std::uint64_t family = 0;   ///< of its parent and members: within it by the order of making
  std::int32_t self = -1;     ///< the caller's rank in its local group
  bool is_inter = false;
  WorldRanks local;
  WorldRanks remote;              ///< of an intercommunicator
  std::uint64_t collectives = 0;  ///< for users who number the calls on it

  std::int32_t size() const { return local.count; }
  std::int32_t remote_size() const { return remote.count; }
  /// The members to which ranks in calls refer: the remote group, if any.
  const WorldRanks& peers() const { return is_inter ? remote : local; }
};

class Communicators {
 public:
  /// `threads`: of the trace, of which ids tell the maker.
  Communicators(std::uint32_t world_rank, std::uint32_t world_size, std::uint32_t threads = 1);
  Communicators(Communicators&&) = default;  // not copied: `last_` points into `made_`

  /// Whether events of this call create or free communicators.
  static bool changed_by(const CallDescription& call);
  /// Follows one event; nothing but calls that `changed_by` names has an effect.
  /// A created communicator is known afterwards (also of `Comm_idup`, at once).
  void apply(const Trace& trace, const CallDescription& call, const EventView& event);

  /// The ranks of a window or file that nobody saw being made, as an array lists them; null if this
  /// one is not among them. `kind` tells windows from files.
  std::shared_ptr<Communicator> known(const Trace& trace, std::int64_t array, std::uint64_t kind);

  /// The id stands for nothing from here on. With several threads it is not known which of them
  /// still use a communicator: it stays until its id is used again.
  void release(std::int64_t id) {
    if (threads_ > 1) return;
    last_ = nullptr;
    made_.erase(id);
  }

  /// The communicator of this id; null for MPI_COMM_NULL and ids not alive.
  const std::shared_ptr<Communicator>& find(std::int64_t id) const {
    static const std::shared_ptr<Communicator> kNone;
    if (id == 0) return world_;
    if (id == 1) return self_;
    if (last_ != nullptr && id == last_id_) return *last_;
    const auto found = made_.find(id);
    if (found == made_.end()) return kNone;
    last_id_ = id;
    last_ = &found->second;
    return *last_;
  }

 private:
  struct Members {
    bool is_inter = false;
    std::int32_t self = -1;
    WorldRanks local, remote;
    std::uint64_t identity = 0;  ///< the same on both sides
  };
  const Members& members(const Trace& trace, std::int64_t array);

  std::uint32_t rank_, threads_;
  std::shared_ptr<Communicator> world_, self_;
  std::unordered_map<std::int64_t, std::shared_ptr<Communicator>> made_;  ///< alive, by id
  mutable std::int64_t last_id_ = 0;                                      ///< looked up last
  mutable const std::shared_ptr<Communicator>* last_ = nullptr;  ///< of this id; null: none
  std::unordered_map<std::uint64_t, Members> known_;
  std::unordered_map<std::uint64_t, std::uint64_t> created_;  ///< by family
};

}  // namespace chameleon::analysis
