// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One rank's view of the ranks of a communicator. Every operation is collective and must be
/// called in the same order on all ranks; each has tags of its own, so a late rank cannot mix
/// two of them up. Only point-to-point PMPI, polled: an operation that takes longer than the
/// timeout is given up, `failed()` becomes and stays true, and all later ones give default
/// values at once. Nothing blocks forever. The communicator must be private to this object;
/// its errors are made to return. Not thread-safe.
///
/// A value is one message of the length it has, found by probing; only beyond `piece_bytes` it
/// is sent in pieces (one of full length means more follow).
///
/// A failure of one rank (usually of memory) does not affect others: callbacks, encoding and
/// decoding may throw, and the rank still sends and receives every message of the operation.
/// Without a value it sends an empty message, and the receiver continues without it. Only the
/// rank's own value is lost, or that of the subtree whose values it could not join.
/// `failure()` reports this on that rank only; other ranks notice the missing values. This
/// needs no memory.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/attempt.h"
#include "world/absent.h"
#include "world/clock_sample.h"
#include "world/message_packer.h"
#include "world/small_vote.h"
#include "world/tree.h"
#include "world/waiting.h"
#include "world/world.h"

namespace chameleon::world {

class MpiSubset;

class MpiWorld {
 public:
  /// Some of the ranks as a world of their own (mpi_subset.h).
  using Subset = MpiSubset;

  /// This rank's value, unless making it failed.
  template <class T>
  struct PerRank {
    T value{};
    bool lost = false;
  };

  /// Longer values are sent in pieces of this many bytes. A rank without memory for one receives it
  /// into a scratch buffer, and forwards it from there.
  static constexpr std::size_t kMostPieceBytes = std::size_t{1} << 18;

  /// `packer`: of all worlds of the rank whose messages are compressed; null: they are not.
  /// `account`: adds up the time in which the rank waits; null: it is not needed.
  MpiWorld(MPI_Comm comm, double timeout_seconds, std::size_t piece_bytes = kMostPieceBytes,
           Waiting waiting = Waiting::kYield, std::shared_ptr<MessagePacker> packer = nullptr,
           WaitAccount* account = nullptr);
  MpiWorld(MpiWorld&&) = default;  // no copies

  std::uint32_t size() const { return size_; }
  bool failed() const { return failed_; }
  /// The first failure on this rank, in this world.
  Failure failure() const { return failure_; }
  Traffic traffic() const { return traffic_; }

  /// Takes in and drops what arrived too late for an operation given up. To be called
  /// before MPI_Finalize after a failure or a lost vote: MPI complains of leftovers.
  void drain();

  /// f() on this rank; false if it threw.
  template <class F>
  bool attempt(F f) {
    const Failure failure = chameleon::attempt(f);
    if (failure_ == Failure::kNone) failure_ = failure;
    return failure == Failure::kNone;
  }

  /// f(rank) on every rank.
  template <class F>
  auto generate(F f) {
    PerRank<decltype(f(rank_))> result;
    result.lost = !attempt([&] { result.value = f(rank_); });
    return result;
  }

  /// f(rank, value) on every rank that has one; nothing if f gives nothing.
  template <class T, class F>
  auto map(PerRank<T>& values, F f) {
    using R = decltype(f(rank_, values.value));
    if constexpr (std::is_void_v<R>) {
      values.lost = values.lost || !attempt([&] { f(rank_, values.value); });
    } else {
      PerRank<R> result;
      result.lost = values.lost || !attempt([&] { result.value = f(rank_, values.value); });
      return result;
    }
  }

  /// combine(T& mine, T&& theirs) up the tree; the value at rank 0 only. A rank
  /// sends at most one message; depth ceil(log2 size).
  template <class T, class C>
  std::optional<T> reduce(PerRank<T> values, C combine) {
    begin_operation(tree_depth(size_));
    reduce_positions(rank_, size_, values, combine, true, [](std::uint32_t at) { return at; });
    return at_root(values);
  }

  /// The same over `members` only, ascending and known to all ranks, in the tree
  /// over their positions; the first sends the result to rank 0 unless it is.
  template <class Ranks, class T, class C>
  std::optional<T> reduce(const Ranks& members, PerRank<T> values, C combine) {
    if (members.empty()) {
      begin_operation(0);  // to a rank that takes no part in it too
      return std::nullopt;
    }
    const std::uint32_t first = members.front();
    const auto size = static_cast<std::uint32_t>(members.size());
    begin_operation(tree_depth(size) + (first != 0 ? 1 : 0));
    if (const auto me = place_in(members, rank_))
      reduce_positions(*me, size, values, combine, true,
                       [&](std::uint32_t at) { return members[at]; });
    if (first != 0 && rank_ == first) send_value(0, values);
    if (first != 0 && rank_ == 0) receive_value(first, values);
    return at_root(values);
  }

  /// Several such reductions at once, over disjoint groups known to all ranks: the result stays at
  /// the first rank of each; on others the argument is consumed. A value that arrives may depend on
  /// the value it is joined to: a rank that has none keeps nothing.
  template <class Groups, class T, class C>
  PerRank<T> reduce_groups(const Groups& groups, PerRank<T> values, C combine) {
    std::size_t largest = 1;
    for (const auto& group : groups) largest = std::max(largest, group.size());
    begin_operation(tree_depth(largest));
    for (const auto& group : groups)
      if (const auto me = place_in(group, rank_))
        reduce_positions(*me, static_cast<std::uint32_t>(group.size()), values, combine, false,
                         [&](std::uint32_t at) { return group[at]; });
    return values;
  }

  /// Rank 0's value, down the tree; a default one when there is none, or this rank cannot have it.
  /// Encoded once, passed on as it came, also by ranks that cannot have it.
  template <class T>
  T broadcast(std::optional<T> at_root) {
    begin_operation(tree_depth(size_));
    return broadcast_positions(rank_, size_, std::move(at_root),
                               [](std::uint32_t at) { return at; });
  }

  /// Several broadcasts at once, over disjoint groups known to all ranks: the value of the
  /// first of each on all of the group. Ranks in no group keep theirs. A message less than a
  /// group has ranks; as deep as the largest.
  template <class T>
  PerRank<T> broadcast_groups(const std::vector<std::vector<std::uint32_t>>& groups,
                              PerRank<T> values) {
    std::size_t largest = 1;
    for (const auto& group : groups) largest = std::max(largest, group.size());
    begin_operation(tree_depth(largest));
    for (const auto& group : groups) {
      const auto me = place_in(group, rank_);
      if (!me) continue;
      std::optional<T> at_root;
      if (*me == 0) at_root = std::move(values.value);
      values.value =
          broadcast_positions(*me, static_cast<std::uint32_t>(group.size()), std::move(at_root),
                              [&](std::uint32_t at) { return group[at]; });
    }
    if (failed_) return {};
    return values;
  }

  /// Which ranks are not `ready` for what the others are about to do, on all ranks alike: who
  /// waits for a rank must know that it does not come. `rounds`: what this rank knows.
  /// 2 (size - 1) messages of 20 bytes, no allocation.
  Absent absent(bool ready, Rounds rounds = {});

  /// Values to ranks by a plan that all ranks know: ascending, each pair once, all within the
  /// world. Returns the received values with their senders, in order of `from`; the rank's own
  /// value if the plan has it. One message for each pair of different ranks, and no others: both
  /// ends know the plan. A rank lacks values for which it has no memory.
  template <class T>
  PerRank<std::vector<std::pair<std::uint32_t, T>>> gather(std::span<const Transfer> plan,
                                                           const PerRank<T>& values) {
    Bytes bytes;
    const bool sends = std::any_of(plan.begin(), plan.end(), [&](const Transfer& each) {
      return each.from == rank_ && each.to != rank_;
    });
    if (sends && !values.lost) encode_to(bytes, values.value, kUnpacked);
    PerRank<std::vector<std::pair<std::uint32_t, T>>> incoming;
    const auto keep = [&](std::uint32_t from, T&& value) {
      attempt([&] { incoming.value.emplace_back(from, std::move(value)); });
    };
    Sending sending;
    start_planned(plan, bytes, sending);
    for (const Transfer& each : plan) {
      if (each.to != rank_ || failed_) continue;
      T value{};
      if (each.from != rank_ ? receive_from(each.from, value) : copy_of(values, value))
        keep(each.from, std::move(value));
    }
    if (!finish_planned(sending, bytes)) incoming = {};
    return incoming;
  }

  /// Compares every rank's clock with rank 0's, which a rank learns from its parent in the
  /// tree: it asks `rounds` times what that clock shows and believes the quickest answer
  /// (Cristian, Distributed Computing 3, 1989). Errors add up along ceil(log2 size) levels;
  /// 2 * rounds messages a rank, which `traffic` leaves out. `now(rank, value)` is a rank's clock
  /// in ns. No allocation.
  template <class T, class Now>
  PerRank<ClockSample> sample_clocks(PerRank<T>& values, Now now, unsigned rounds) {
    PerRank<ClockSample> sample;
    sample.value = sample_clock([&] { return now(rank_, values.value); }, rounds);
    sample.lost = failed_;
    return sample;
  }

  /// A vote (`vote` in world.h), in two steps: all ranks' values combined, on all of them: no
  /// allocation, messages of sizeof(T). `sequence` numbers the votes and must be equal on all
  /// ranks. Empty after `timeout` seconds without an answer. `missing` is then a rank that did not
  /// arrive, or whose world has failed, as far as this can be determined: rank 0, which is the
  /// first to give up, names the right one or, on a machine under heavy load, one above it in the
  /// tree. Ranks that cannot be notified give up after about 2.5 times that, and a late rank finds
  /// it out at once. A lost vote does not make the world fail. Nothing else may be done in this
  /// world until the result is collected.
  template <class T, class C>
  void cast(const PerRank<T>& values, C combine, std::uint32_t sequence) {
    begin_vote(vote_tag(sequence), vote_tag(sequence + 1), sizeof(T), combine_messages<T>(combine));
    small_.vote.set(values.value);
    advance(Advance::kAsFarAsItGoes);
  }
  /// Passes on what has come of the vote that was cast, without waiting. Whether there is more to
  /// come. Some 0.2 us.
  bool progress() { return !small_.vote.over && !advance(Advance::kAsFarAsItGoes); }
  /// The result of the vote that was cast. `timeout` begins now.
  template <class T>
  std::optional<T> collect(double timeout, std::uint32_t& missing) {
    if (!collect_vote(timeout, missing)) return std::nullopt;
    T value;
    small_.vote.get(value);
    return value;
  }

  /// After a vote that this rank gave up: it takes part in none from `sequence` on, and ranks that
  /// wait for it in that vote are notified. A rank that comes to the vote given up only now finds
  /// it lost too, unless both happen in the same moment.
  void leave_votes(std::uint32_t sequence);

 private:
  friend class MpiSubset;
  static constexpr int kNoTag = -1;
  static constexpr MessageKind kUnpacked{};
  static constexpr std::size_t kMostChildren = 32;  ///< in the tree
  /// The pieces of one value on their way; the bytes belong to the caller.
  struct Sending {
    std::vector<MPI_Request> requests;
  };
  struct ClockReading {
    std::int64_t root = 0;  ///< rank 0's clock now, ns
    std::int64_t error = 0;
  };
  enum class Advance : std::uint8_t { kAsFarAsItGoes, kToTheEnd };

  /// `now()`: this rank's clock.
  template <class Now>
  ClockSample sample_clock(Now now, unsigned rounds) {
    const Traffic counted = traffic_;
    begin_operation(0);
    const int tag = operation_tag();
    ClockSample best;
    const auto ask = [&](std::uint32_t parent) {
      std::int64_t least = INT64_MAX;
      for (unsigned i = 0; i < rounds && !failed_; ++i) {
        ClockReading theirs;
        const std::int64_t asked = now();
        if (!small_send(parent, 0, tag, deadline_) || !receive_reading(parent, theirs)) return;
        const std::int64_t took = std::max<std::int64_t>(now() - asked, 0);
        if (took >= least) continue;
        least = took;
        best = {asked + took / 2, theirs.root - (asked + took / 2), theirs.error + (took + 1) / 2};
      }
    };
    std::uint32_t children[kMostChildren], count = 0, above = rank_;
    walk_up(
        rank_, size_, [&](std::uint32_t child) { children[count++] = child; },
        [&](std::uint32_t parent) { above = parent; });
    if (above != rank_)
      ask(above);
    else
      best.local = now();
    while (count > 0) {  // those with the most below them first
      const std::uint32_t child = children[--count];
      for (unsigned i = 0; i < rounds && !failed_; ++i) {
        if (small_receive(child, 0, tag, deadline_) < 0) failed_ = true;
        if (failed_) break;
        const ClockReading mine{now() + best.offset, best.error};
        std::memcpy(small_.out.data(), &mine, sizeof mine);
        small_send(child, sizeof mine, tag, deadline_);
      }
    }
    traffic_ = counted;
    return best;
  }

  /// Empty if it cannot be had.
  template <class T>
  void encode_to(Bytes& bytes, const T& value, const MessageKind& kind) {
    attempt([&] {
      ByteWriter writer;
      encode_value(writer, value);
      bytes = packs(kind) ? packer_->pack(kind, writer.bytes()) : writer.take();
    });
  }
  /// False also if this rank itself cannot have the value: its world continues.
  template <class T>
  bool decode_from(Bytes& bytes, T& value, const MessageKind& kind) {
    bool read = false;
    const bool whole = attempt([&] {
      if (packs(kind)) unpack(bytes, kind);
      ByteReader reader(bytes);
      read = decode_value(reader, value);
    });
    if (whole && !read) failed_ = true;
    return read;
  }
  template <class T>
  void send_value(std::uint32_t to, const PerRank<T>& values) {
    if (failed_) return;
    Bytes bytes;
    if (!values.lost) encode_to(bytes, values.value, {message_type<T>(), to});
    send(to, bytes);
  }
  template <class T>
  void receive_value(std::uint32_t from, PerRank<T>& values) {
    Bytes bytes;
    values.lost =
        !receive(from, bytes) || !decode_from(bytes, values.value, {message_type<T>(), from});
  }
  template <class T>
  bool receive_from(std::uint32_t from, T& value) {
    Bytes bytes;
    return receive(from, bytes) && decode_from(bytes, value, kUnpacked);
  }
  /// False if there is no value, or no memory for another.
  template <class T>
  bool copy_of(const PerRank<T>& values, T& copy) {
    return !values.lost && attempt([&] { copy = values.value; });
  }
  template <class T>
  std::optional<T> at_root(PerRank<T>& values) const {
    if (failed_ || rank_ != 0 || values.lost) return std::nullopt;
    return std::move(values.value);
  }
  /// With `adopts`, a rank without a value continues with the first one it receives.
  template <class T, class C, class RankAt>
  void reduce_positions(std::uint32_t at, std::uint32_t size, PerRank<T>& mine, C& combine,
                        bool adopts, RankAt rank_at) {
    walk_up(
        at, size,
        [&](std::uint32_t child) {
          PerRank<T> theirs;
          receive_value(rank_at(child), theirs);
          if (theirs.lost || (mine.lost && !adopts)) return;
          if (mine.lost)
            mine = std::move(theirs);
          else
            mine.lost = !attempt([&] { combine(mine.value, std::move(theirs.value)); });
        },
        [&](std::uint32_t parent) { send_value(rank_at(parent), mine); });
  }

  /// The first one's value on the ranks of a tree over positions; encoded once, passed on as
  /// it came.
  template <class T, class RankAt>
  T broadcast_positions(std::uint32_t at, std::uint32_t size, std::optional<T> at_root,
                        RankAt rank_at) {
    std::array<std::uint32_t, kMostChildren> children;
    std::uint32_t count = 0, parent = at;
    walk_up(
        at, size, [&](std::uint32_t child) { children[count++] = rank_at(child); },
        [&](std::uint32_t above) { parent = above; });
    // The last first, which has most ranks below it.
    std::reverse(children.begin(), children.begin() + count);
    const std::span<const std::uint32_t> to(children.data(), count);
    Bytes bytes;
    T value{};
    const MessageKind kind{message_type<T>(), MessageKind::kEverybody, size != size_};
    if (at == 0) {
      if (at_root) value = std::move(*at_root);
      if (size == 1) return value;
      encode_to(bytes, value, kind);
      send_pieces(to, bytes);
      return failed_ ? T{} : std::move(value);
    }
    if (!pass_on(rank_at(parent), to, bytes) || failed_) return T{};
    return decode_from(bytes, value, kind) ? std::move(value) : T{};
  }

  bool packs(const MessageKind& kind) const { return packer_ && kind.type != nullptr; }
  void unpack(Bytes& bytes, const MessageKind& kind);
  void begin_operation(std::uint32_t depth);
  void send(std::uint32_t to, Bytes& bytes);
  bool receive(std::uint32_t from, Bytes& bytes);
  bool pass_on(std::uint32_t parent, std::span<const std::uint32_t> to, Bytes& bytes);
  void begin_subset_operation(std::uint32_t subset, std::uint32_t operation, std::uint32_t depth);
  void start_planned(std::span<const Transfer> plan, Bytes& mine, Sending& sending);
  bool finish_planned(Sending& sending, Bytes& mine);
  int vote_tag(std::uint32_t sequence) const {
    return static_cast<int>(sequence % static_cast<std::uint32_t>(tags_));
  }
  void begin_vote(int tag, int next_tag, std::size_t size, SmallVote::Combine combine);
  bool advance(Advance how);
  bool collect_children(Advance how);
  bool await_vote(double timeout, std::uint32_t& missing);
  bool collect_vote(double timeout, std::uint32_t& missing);
  bool came(std::uint32_t from) const;
  void collect_from(std::uint32_t child);
  void look_for_leave(std::uint32_t child);
  void learn_result(std::uint32_t parent);
  std::size_t write_vote(SmallVote::Message& message) const;
  void send_vote(const SmallVote::Message& message, std::size_t size, std::uint32_t to,
                 Advance how);
  void finish_vote_sends();
  void tell_lost(int tag);

  bool start(Sending& sending, std::uint32_t to, std::span<const std::uint8_t> bytes, int tag);
  bool finish(Sending& sending);
  bool send_piece(std::span<const std::uint32_t> to, const std::uint8_t* data, int size);
  void send_pieces(std::span<const std::uint32_t> to, Bytes& bytes);
  int await_piece(int from, int tag);
  template <class F>
  bool receive_pieces(std::uint32_t from, Bytes& bytes, F each);
  bool receive_piece(int from, int tag, int size, Bytes& bytes);
  bool receive_to(int from, int tag, int size, std::uint8_t* data);
  bool wait(MPI_Request& request);
  bool receive_reading(std::uint32_t from, ClockReading& reading);
  bool small_send(std::uint32_t to, std::size_t size, int tag, double deadline);
  int small_receive(std::uint32_t from, std::size_t size, int tag, double deadline);
  class Wait;
  int operation_tag() const { return tag_; }

  MPI_Comm comm_;
  struct {
    double timeout;
    Waiting how;
    WaitAccount* account;
  } waits_;
  std::size_t piece_bytes_;
  std::uint32_t rank_ = 0, size_ = 1;
  int tags_ = 10922;             ///< votes use the tags below this, operations as many from
                                 ///< it, those of subsets as many after these
  std::uint32_t operation_ = 0;  ///< how many there were
  std::uint32_t subsets_ = 0;    ///< how many were made
  int tag_ = 0;                  ///< of the present operation
  double deadline_ = 0;          ///< of the present operation, on MPI's clock
  bool failed_ = false;
  Failure failure_ = Failure::kNone;
  Traffic traffic_;
  std::shared_ptr<MessagePacker> packer_;
  struct {
    SmallVote::Message out, in;
    SmallVote vote;
    SmallVote::Message up, down;  ///< of the vote, on their way
    std::array<MPI_Request, kMostChildren + 1> sends;
    std::uint32_t sending = 0;  ///< how many of these
  } small_;
};

}  // namespace chameleon::world
