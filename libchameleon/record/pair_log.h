// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The pair accounts of a stream (model/pair_accounts.h), made from its log: requests, matched
/// messages and communicators are followed through the events in the order in which they came.
/// Receives that another thread posted are not counted; those on a communicator that another thread
/// made have an unknown sender.
///
/// Cost: 3 ns for each event, 4 for a blocking receive, 30 for one with a request.

#include <cstdint>
#include <span>
#include <vector>

#include "record/pair_tallies.h"
#include "record/receive_effects.h"

namespace chameleon::record {

class PairLog {
 public:
  /// Before that, and after `stop`, nothing is counted.
  void start(std::uint32_t rank, std::uint32_t size, std::uint32_t thread);
  void stop() { counts_ = false; }
  bool counts() const { return counts_; }

  /// Whether the event of this number must be learned before it is added.
  bool wants(std::uint32_t generation, std::uint32_t number) const {
    return counts_ && !effects_.knows(generation, number);
  }
  /// See ReceiveEffects::learn.
  void learn(std::uint32_t generation, std::uint32_t number, std::uint16_t call,
             std::span<const std::int64_t> values, const ReceiveRoom& room,
             const ReceiveEffects::Arrays& arrays);
  bool crowded() const { return effects_.crowded(); }

  /// Numbers of events are of this generation from now on.
  void begin(std::uint32_t generation) { effects_.begin(generation); }
  /// The stream's next event and the time in its call.
  [[gnu::always_inline]] void add(std::uint32_t number, std::uint64_t ticks) {
    ++events_;
    const ReceiveEffect* const effect = effects_.find(number);
    if (effect == nullptr) return;
    if (effect->step == ReceiveUse::Step::kReceive && effect->tally != kNoTally)
      tallies_.add(effect->tally, ticks, events_);
    else
      act(*effect, ticks);
  }

  /// Adds what was counted.
  void report(std::uint32_t stream, double ns_per_tick, PairAccounts& accounts) const {
    tallies_.report(stream, ns_per_tick, accounts);
  }

 private:
  // Communicators beside those of `effects_`.
  static constexpr std::int32_t kWorld = -1, kSelf = -2, kUnknownComm = -3;
  static constexpr std::uint32_t kNoTally = UINT32_MAX;
  static constexpr std::int64_t kMostObjects = std::int64_t{1} << 24;

  /// A rank of a communicator, or none (kFromAny, ...).
  struct Partner {
    std::int32_t comm = kUnknownComm, rank = kFromUnknown;
  };
  struct Request {
    Partner source;
    std::uint32_t tally = kNoTally;  ///< if it is always the same
    std::uint8_t size = 0;
    bool receives = false, persistent = false, active = false, cancelled = false;
  };

  void act(const ReceiveEffect& effect, std::uint64_t ticks);
  void share(std::uint64_t ticks);
  void receive(const ReceiveEffect& effect);
  std::uint32_t tally(Partner source, std::uint8_t size);
  void post(const ReceiveEffect& effect);
  void complete(const EffectRequest& completed);
  void probe(const ReceiveEffect& effect);
  void make_comm(const ReceiveEffect& effect);
  void make_type(const ReceiveEffect& effect);

  /// Whether this thread made the object.
  bool own(std::int64_t id) const {
    return id >= 0 && id >> 32 == thread_ && place(id) < static_cast<std::size_t>(kMostObjects);
  }
  static std::size_t place(std::int64_t id) { return static_cast<std::uint32_t>(id); }
  Request* request(std::int64_t id);
  Partner message(std::int64_t id) const;
  Partner posted(const ReceiveEffect& effect) const;
  std::uint8_t size(const ReceiveEffect& effect) const;
  std::uint8_t posted_size(const ReceiveEffect& effect) const;
  Partner told(Partner source, std::int32_t distance) const;
  std::uint32_t world_rank(Partner partner) const;

  bool counts_ = false;
  std::uint32_t rank_ = 0, world_size_ = 1;
  std::int64_t thread_ = 0;
  std::uint64_t events_ = 0;
  ReceiveEffects effects_;
  std::vector<Request> requests_;        ///< by id, as the next three
  std::vector<Partner> messages_;        ///< of matched probes
  std::vector<std::int32_t> comms_;      ///< places of their members
  std::vector<std::int64_t> types_;      ///< their bytes
  std::vector<std::uint32_t> received_;  ///< tallies of what the present event receives
  PairTallies tallies_;
};

}  // namespace chameleon::record
