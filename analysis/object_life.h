// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The order in which the threads of a rank used shared objects: an object is used after
/// it was made, and a request's id is reused after the request was completed or freed (ids
/// are the lowest free numbers of the thread that made the object). A thread's requests
/// that others complete therefore follow from the thread alone: those whose id it reuses
/// without having completed them, and those left at its end. For communicators, datatypes,
/// windows and files the last one made with an id counts, freed or not: the trace does not
/// have when other threads stop to use one. An event's uses are found in O(fields and
/// requests), whether it may run in O(uses); memory of the objects alive and of what is
/// handed over.

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "analysis/check_plan.h"
#include "base/result.h"
#include "model/view.h"

namespace chameleon::analysis {

/// The effects of each call, by id.
std::vector<CallPlan> plan_calls(const Trace& trace);

/// Objects that an event makes, needs of other threads, and ends; as keys of kind and id.
struct ObjectUse {
  std::vector<std::uint64_t> makes, needs, ends;
  std::vector<std::uint64_t> sees;  ///< needs, but leaves to be completed by any thread
  bool persistent = false;          ///< completing what it makes does not end it
  bool handed = false;              ///< the request it makes is for another thread to complete
  bool frees = false;               ///< it ends persistent requests, too
};

/// Whether a key is of a communicator, window or file.
bool orders_calls(std::uint64_t key);

/// Finds uses: the fields of each call that name objects.
class ObjectRoles {
 public:
  /// Both must outlive this.
  ObjectRoles(const Trace& trace, const std::vector<CallPlan>& plans);
  /// Nothing for events that are not of a call of the trace.
  void find(const EventView& event, std::uint32_t stream, ObjectUse& use) const;

 private:
  struct Roles {
    std::vector<int> comms, types;  ///< used
    int new_type = -1;
  };
  /// Neither null nor predefined, nor of a thread that the trace does not have.
  bool is_object(std::int64_t id) const { return id >= 0 && object_thread(id) < trace_->threads; }
  void find_requests(const EventView& event, const CallPlan& plan, std::uint32_t thread,
                     ObjectUse& use) const;

  const Trace* trace_;
  const std::vector<CallPlan>* plans_;
  std::vector<Roles> roles_;  ///< by call
};

/// The events of a stream, by number from 1, that make requests for other threads.
class HandOvers {
 public:
  /// Reads the stream once. Error: the trace is damaged.
  static Result<HandOvers> find(const Trace& trace, const ObjectRoles& roles, std::uint32_t stream);
  /// Asked for in ascending order.
  bool contains(std::uint64_t number) {
    while (at_ < events_.size() && events_[at_] < number) ++at_;
    return at_ < events_.size() && events_[at_] == number;
  }

 private:
  std::vector<std::uint64_t> events_;  ///< ascending
  std::size_t at_ = 0;
};

/// The objects of a rank that were made, and requests and matched messages not ended yet.
class ObjectLife {
 public:
  ObjectLife();
  /// Whether the objects that an event needs exist, and the ids it reuses are free.
  bool may_go(const ObjectUse& use) const;
  /// The event happens. Whether that changes what others may do.
  bool pass(const ObjectUse& use);

 private:
  bool ready(std::uint64_t key) const;

  std::unordered_set<std::uint64_t> alive_, persistent_, handed_;
};

}  // namespace chameleon::analysis
