// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The MPI objects that a rank's calls refer to: their symbolic ids, what their calls need to know
/// of them, and arrays by content hash. Followed in every state, also while nothing is recorded,
/// so that ids are right whenever recording goes on. O(1) a look-up; what was looked up last is
/// kept at hand.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "record/request_arrays.h"
#include "record/streams.h"

namespace chameleon::record {

class Objects {
 public:
  explicit Objects(Streams& streams) : streams_(streams) {}

  /// Those of the present thread.
  Slots& slots(Kind kind) { return streams_.present().slots[static_cast<std::size_t>(kind)]; }

  const CommShape& comm_shape(MPI_Comm comm);
  void forget_comm(MPI_Comm comm);
  void learn_comm(MPI_Comm comm, const CommShape& shape);

  /// Of a communicator that a call was made on and that is there still.
  std::optional<CommShape> comm_shape_of(std::int64_t id);

  RequestFacts& request(std::int64_t id) {
    std::vector<RequestFacts>& own = streams_.first().requests;
    if (static_cast<std::uint64_t>(id) < own.size()) return own[static_cast<std::size_t>(id)];
    return request_anew(id);
  }

  RequestArrays& request_arrays() { return request_arrays_; }

  std::int64_t type_bytes(MPI_Datatype type);
  void forget_type() { cached_type_ = MPI_DATATYPE_NULL; }

  /// Handles may stand for other objects from now on, which keys of events do not tell.
  void change() { ++changes_; }
  std::uint64_t changes() const { return changes_; }

  /// The id of an array, which belongs to the present interval. Those seen lately cost a hash.
  std::uint64_t intern(std::span<const std::int64_t> array) {
    const std::uint64_t id = array_id(array);
    std::uint64_t& recent = recent_arrays_[id % kRecent];
    if (recent != id || id == 0) keep_array(recent = id, array);
    return id;
  }
  /// The elements of an array that the present interval has; none if it has no such array.
  std::span<const std::int64_t> array(std::int64_t id) const;
  /// One of any interval since the last flush, or null.
  const std::vector<std::int64_t>* find_array(std::uint64_t id) const;
  /// How many there are: of the present interval, and of those before the one that was closed.
  struct ArrayCounts {
    std::size_t present = 0, before = 0;
  };
  ArrayCounts array_counts() const { return {arrays_.size(), closed_arrays_.size()}; }
  /// Of those of the present interval, these are needed.
  void keep_arrays(const std::set<std::uint64_t>& ids);
  /// Arrays up to here belong to the interval that was closed; if there are other threads, and they
  /// may be in the midst of an interval, to the next one too.
  void seal_arrays(bool others);
  /// Those of the closed interval are needed by the next flush.
  void close_arrays() { closed_arrays_.merge(sealed_arrays_); }
  /// Of those before the present interval and one that was closed, these are needed.
  void keep_closed_arrays(const std::set<std::uint64_t>& ids);
  /// Those needed; what is not taken is forgotten.
  std::map<std::uint64_t, std::vector<std::int64_t>> take_arrays(bool keeps);

 private:
  friend void hide(Objects& objects, const CallInfo& call);
  friend bool hides(const Objects& objects, CallId call);
  static constexpr std::size_t kRecent = 64;

  RequestFacts& request_anew(std::int64_t id);
  void keep_array(std::uint64_t id, std::span<const std::int64_t> array);

  Streams& streams_;
  std::unordered_map<std::uint64_t, CommShape> comms_;
  std::uint64_t cached_comm_ = 0;
  const CommShape* cached_shape_ = nullptr;
  CommShape no_comm_;
  MPI_Datatype cached_type_ = MPI_DATATYPE_NULL;
  std::int64_t cached_bytes_ = 0;
  /// Of the present interval, of one that was closed, and of those before it.
  std::map<std::uint64_t, std::vector<std::int64_t>> arrays_, sealed_arrays_, closed_arrays_;
  std::array<std::uint64_t, kRecent> recent_arrays_{};  ///< of `arrays_`, by id
  RequestArrays request_arrays_;
  std::uint64_t changes_ = 0;
  std::array<bool, kCallIdEnd> hidden_{};  ///< by call
};

/// What this call makes is not followed, since it is not recorded: it is asked for when it is used.
inline void hide(Objects& objects, const CallInfo& call) { objects.hidden_[call.id] = true; }
inline bool hides(const Objects& objects, CallId call) {
  return objects.hidden_[static_cast<std::size_t>(call)];
}

}  // namespace chameleon::record
