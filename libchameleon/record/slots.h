// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Symbolic ids of objects of one kind: the lowest free number when an object
/// comes to life, free again when it goes, so that ids repeat from iteration to
/// iteration and fold. An MPI may give the same handle to several live objects: MPICH does for
/// sends that complete at once, and counts references of groups, infos and datatypes. They are told
/// apart here. A handle means the oldest of its objects. Of requests the oldest ends first; of
/// other kinds a release is that of the newest, so that the object that others use remains. All
/// operations are O(1) amortised, but for the look-up of an object that a call has claimed, for
/// which all are looked through.
///
/// A handle that no call made is *taken up*: an object that was made unseen, or none at all, on
/// which the call fails. Once a call makes an object with this handle, only that one is meant.
///
/// Where threads call MPI each has Slots of its own, joined in a ring: an object has the lowest
/// free id of the thread that made it (`object_thread`), so that ids repeat however the threads
/// take turns, and any thread finds it: its own objects first, then those of all others by age.
/// Then a look-up of another thread's object is O(threads).

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "mpi/handles.h"

namespace chameleon::record {

/// Kinds of which MPI says what an object is that nobody saw being made (discoveries.h).
constexpr bool is_asked_for(Kind kind) {
  return kind == Kind::kComm || kind == Kind::kDatatype || kind == Kind::kGroup ||
         kind == Kind::kOp || kind == Kind::kWin || kind == Kind::kFile || kind == Kind::kInfo ||
         kind == Kind::kErrhandler;
}

class Slots {
 public:
  /// `kind`'s predefined objects are known from the start.
  explicit Slots(Kind kind, std::uint32_t thread = 0);
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  /// Puts a thread's into the ring that `other` is in.
  void join(Slots& other) {
    sibling_ = std::exchange(other.sibling_, this);
    shared_ = other.shared_;
  }

  /// A new object's id.
  std::int64_t create(std::uint64_t handle);
  /// The id of a handle; one never seen is taken up as a new object.
  std::int64_t find(std::uint64_t handle) {
    return handle == recent_.handle ? recent_.id : find_anew(handle);
  }
  /// Takes the object of this handle that ends next out of look-ups without freeing its
  /// id, so that another object of the same handle is found next.
  std::int64_t claim(std::uint64_t handle) {
    Bucket& chain = bucket(handle);
    if (!oldest_ends_ || chain.head < 0 ||
        objects_[static_cast<std::size_t>(chain.head)].handle != handle)
      return claim_anew(handle);
    const std::int32_t id = chain.head;
    chain.head = objects_[static_cast<std::size_t>(id)].next;
    if (chain.head < 0) chain.tail = -1;
    return id + first_id_;
  }
  /// Whether no object, claimed or not, has this id.
  bool is_free(std::int64_t id) const {
    const Slots* const slots = owns(id) ? this : owner(id);
    if (slots == nullptr) return true;
    const std::uint64_t index = static_cast<std::uint64_t>(id - slots->first_id_);
    return (slots->free_[index / 64] >> (index % 64) & 1) != 0;
  }
  /// Puts a claimed object back in its place among those of its handle: several go back
  /// in the reverse order of their claims.
  void unclaim(std::int64_t id);

  /// A handle that was taken up.
  struct TakenUp {
    std::uint64_t handle = 0;
    std::int64_t id = -1;
  };
  /// Objects that this thread took up since its last `settle`, of kinds that are asked for.
  const std::vector<TakenUp>& taken_up() const { return fresh_; }
  /// How many of all kinds and threads are not settled.
  static std::size_t strangers() { return strangers_; }
  /// The call that named them is over. If it failed they stand for nothing.
  void settle(bool ok);

  /// Frees a claimed object's id; predefined ones stay.
  void free_claimed(std::int64_t id) {
    const auto index = static_cast<std::uint64_t>(id - first_id_);
    if (index >= objects_.size()) return free_elsewhere(id);
    free_[index / 64] |= 1ULL << (index % 64);
    if (index / 64 < free_from_) free_from_ = index / 64;
    --live_;
  }

 private:
  struct Object {
    std::uint64_t handle = 0;
    std::int32_t next = -1;  ///< of the same bucket
    bool taken_up = false;
    std::uint64_t born = 0;  ///< later ones have larger numbers, those of a lone thread 0
  };
  /// Of all threads; kept by the first of the ring.
  struct Shared {
    bool has_taken_up = false;  ///< some object
    std::uint64_t born = 0;
  };

  struct Bucket {
    std::int32_t head = -1;
    std::int32_t tail = -1;
  };

  Bucket& bucket(std::uint64_t handle) { return bucket_of_hash(mix(handle)); }
  Bucket& bucket_of_hash(std::uint64_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }
  /// The id of a predefined object; `kUnknown` of others. A table of open addressing, at
  /// most half full.
  std::int64_t predefined(std::uint64_t handle, std::uint64_t hash) const {
    for (std::size_t at = hash;; ++at) {
      const PredefinedHandle& object = predefined_[at & (predefined_.size() - 1)];
      if (object.name == nullptr || object.handle == handle) return object.id;
    }
  }
  /// Whether an id is of an object here; the place of one that is.
  bool owns(std::int64_t id) const {
    return static_cast<std::uint64_t>(id - first_id_) < objects_.size();
  }
  std::int32_t place(std::int64_t id) const { return static_cast<std::int32_t>(id - first_id_); }
  /// Whose an object of another thread is; null of predefined ones.
  Slots* owner(std::int64_t id) const;
  std::int64_t find_anew(std::uint64_t handle);
  std::int64_t find_linked(std::uint64_t handle) const;
  std::int64_t find_newest(std::uint64_t handle) const;
  std::int64_t claim_anew(std::uint64_t handle);
  void free_elsewhere(std::int64_t id);
  std::int64_t take_up(std::uint64_t handle);
  void drop_taken_up(std::uint64_t handle);
  void drop_taken_up_here(std::uint64_t handle);
  std::int64_t lookup(std::uint64_t handle) const;
  std::int64_t lookup_last(std::uint64_t handle) const;
  std::uint64_t born(std::int64_t id) const {
    return objects_[static_cast<std::size_t>(place(id))].born;
  }
  std::int64_t lookup_claimed(std::uint64_t handle) const;
  void link_first(std::int32_t id);
  void link_last(std::int32_t id, Bucket& chain);
  void unlink(std::int32_t id);
  std::int32_t lowest_free();
  void grow();

  static constexpr std::int64_t kUnknown = INT64_MIN;

  std::vector<PredefinedHandle> predefined_;  ///< free places have no name
  PredefinedHandle recent_;                   ///< the predefined one last asked for
  std::int64_t first_id_;
  Slots* sibling_ = this;  ///< of the next thread
  Shared own_;
  Shared* shared_ = &own_;
  static inline std::size_t strangers_ = 0;
  std::vector<TakenUp> fresh_;
  bool oldest_ends_, keeps_fresh_;
  std::vector<Object> objects_;      ///< by id
  std::vector<Bucket> buckets_;      ///< chains in order of creation
  std::vector<std::uint64_t> free_;  ///< bit per id
  std::size_t free_from_ = 0;        ///< no free id in words before this one
  std::size_t live_ = 0;
};

}  // namespace chameleon::record
