// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Collects the times of all streams into one table at rank 0. Streams are grouped by their vectors
/// of times over places, one grouping for all places. Candidates go up the tree, at most `most` on
/// an edge, chosen by K-Farthest: a stream unlike all others is among them. The candidates are
/// broadcast, each stream joins the nearest, and the times of a class are summed over all its
/// streams. So sums over streams are exact, and a class has the largest deviation of its streams.
///
/// Two streams are as far apart as their times are, as vectors (Euclidean distance): compute times
/// and times in calls are weighted so that both kinds have the same spread over the streams.
/// Otherwise the waits that one slow rank causes would hide its computing. A spread below
/// `kStandsOut` of the longest time of a stream counts as that, and no class is made for less than
/// `kAlike` of it, without weights.
///
/// Cost: 5 (P - 1) messages, O(log P) deep: two small ones to determine which ranks take part, then
/// of `most` vectors without places that take less than `kLeastShare` of a stream's time, twice,
/// and of `most` x places accounts. A node compares 2 `most` vectors. If all streams are one class,
/// no vectors are needed: 3 (P - 1) messages. If each stream is one, only their names come down.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/time_table.h"
#include "world/absent.h"
#include "world/world.h"

namespace chameleon::flush {

/// The least share of a stream's time for a place that is part of its vector.
inline constexpr double kLeastShare = 0.001;
/// Share of the longest time of a stream: closer streams need no class of their own.
inline constexpr double kAlike = 0.005;
/// Share of the longest time of a stream: the least spread of a kind of times, for its weight.
inline constexpr double kStandsOut = 0.02;
/// The least share of a stream's time for a place that counts in the spread of a class.
inline constexpr double kMatters = 0.01;
/// How far sums of times may be off elsewhere: what takes a hundredth there must matter here.
inline constexpr double kOff = 0.05;
/// The least share of a class's time for a place at which classes are separate.
inline constexpr double kTellsClasses = 0.001;

/// A stream's times from afar.
struct TimeVector {
  struct Part {
    std::uint32_t place = 0;  ///< half of its hash: should two have one, no sum is affected
    double compute_ns = 0, communication_ns = 0;
  };
  std::uint32_t stream = 0;
  double total_ns = 0;
  std::vector<Part> parts;  ///< by place
};
TimeVector vector_of(const Accounts& accounts);

/// Vectors on their way: many have the same places, which are sent once.
struct TimeVectors {
  std::vector<TimeVector> all;
  std::uint64_t streams = 0;  ///< of which these are chosen

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, TimeVectors& value);

  /// If every stream stands for a class, no rank needs the times of others.
  void leave_names_if_complete();
};

/// How far streams are from each other, of such as these. O(vectors x places) to make, O(places) to
/// use.
class TimeDistance {
 public:
  explicit TimeDistance(const std::vector<TimeVector>& vectors);
  double operator()(const TimeVector& a, const TimeVector& b) const;
  /// Two that are nearer are alike.
  double alike() const { return kAlike * longest_ns_; }

 private:
  double longest_ns_ = 0;
  double compute_weight_ = 1, communication_weight_ = 1;
};

/// Leaves at most `most`, in the order they have.
void select_vectors(std::vector<TimeVector>& vectors, std::uint32_t most);
/// The same of both.
void join_vectors(TimeVectors& mine, TimeVectors&& theirs, std::uint32_t most);

/// The times of classes at a place, on the way up.
struct ClassSum {
  Durations times;
  /// Means of the streams to which the place matters; none: the least is above the most.
  double least_compute = 1, most_compute = 0, least_communication = 1, most_communication = 0;
};
class ClassSums {
 public:
  /// Those of some streams. A stream that stands for a class is in it, any other in the nearest.
  static ClassSums of(const std::vector<StreamAccounts>& streams,
                      const std::vector<TimeVector>& classes);
  void join(ClassSums&& other);
  /// Where these are a rank's: the class of its first stream.
  std::uint32_t first_class() const;
  /// Classes in order of their first streams; places that take hardly any time for all of them.
  TimeTable table() &&;

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, ClassSums& value);

 private:
  void add(const StreamAccounts& stream, std::uint32_t time_class);
  static void join(ClassSum& mine, const ClassSum& theirs);

  std::vector<RankList> streams_;  ///< by class
  std::map<Place, std::map<std::uint32_t, ClassSum>> places_;
  MarkerWaits waits_;
};

/// The vectors of a rank's streams that may stand for classes; none if there is one class only.
TimeVectors candidates_of(const std::vector<StreamAccounts>& streams, std::uint32_t most);

/// Those of all members that stand for classes, on all ranks.
template <class World>
std::vector<TimeVector> agreed_classes(World& world, const std::vector<std::uint32_t>& members,
                                       typename World::template PerRank<TimeVectors> vectors,
                                       std::uint32_t most) {
  auto sent = world.map(vectors, [](std::uint32_t, TimeVectors& mine) { return std::move(mine); });
  auto all = world.reduce(members, std::move(sent), [&](TimeVectors& mine, TimeVectors&& theirs) {
    join_vectors(mine, std::move(theirs), most);
  });
  if (all) all->leave_names_if_complete();
  return world.broadcast(std::move(all)).all;
}

/// The table at rank 0, and nothing elsewhere; nothing either if rank 0 or more than a few ranks
/// cannot take part. `ready`: this rank can. A rank that cannot, for lack of memory, sends nothing
/// and forwards nothing, since MPI itself may need memory for it: the table is without it.
/// `learn(rank, class)` gets the number, among the classes that all ranks know, of the class that a
/// rank's first stream is in. Collective.
template <class World, class Learn>
std::optional<TimeTable> gather_times(
    World& world, typename World::template PerRank<std::vector<StreamAccounts>> accounts,
    std::uint32_t most, bool ready, Learn learn) {
  auto vectors = world.map(accounts, [&](std::uint32_t, std::vector<StreamAccounts>& mine) {
    return candidates_of(mine, most);
  });
  bool prepared = false;
  world.map(vectors, [&](std::uint32_t, TimeVectors&) { prepared = true; });
  std::vector<std::uint32_t> members;
  std::vector<TimeVector> classes;
  const bool room = world.attempt([&] {
    classes.resize(1);
    members.reserve(world.size());
    for (std::uint32_t rank = 0; rank < world.size(); ++rank) members.push_back(rank);
  });
  const Absent absent = world.absent(ready && prepared && room);
  if (!absent.all_named() || absent.names(0) || world.failed()) return std::nullopt;
  std::erase_if(members, [&](std::uint32_t rank) { return absent.names(rank); });
  if (most > 1) classes = agreed_classes(world, members, std::move(vectors), most);
  auto sums = world.map(accounts, [&](std::uint32_t, std::vector<StreamAccounts>& mine) {
    return ClassSums::of(mine, classes);
  });
  world.map(sums,
            [&](std::uint32_t rank, const ClassSums& mine) { learn(rank, mine.first_class()); });
  auto whole = world.reduce(members, std::move(sums), [](ClassSums& mine, ClassSums&& theirs) {
    mine.join(std::move(theirs));
  });
  if (!whole) return std::nullopt;
  std::optional<TimeTable> table;
  world.attempt([&] { table = std::move(*whole).table(); });
  return table;
}

/// The overload for those who need not learn.
template <class World>
std::optional<TimeTable> gather_times(
    World& world, typename World::template PerRank<std::vector<StreamAccounts>> accounts,
    std::uint32_t most, bool ready = true) {
  return gather_times(world, std::move(accounts), most, ready, [](std::uint32_t, std::uint32_t) {});
}

}  // namespace chameleon::flush
