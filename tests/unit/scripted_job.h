// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A job of virtual ranks that follow a script: what the program of each calls, how long it took,
/// and when it fails or ends. The world, the way of a marker and the merge are the real ones.

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "compress/pieces.h"
#include "format/codec.h"
#include "online/online.h"
#include "property/streams.h"
#include "world/virtual_world.h"

namespace chameleon::testing {

using namespace chameleon::cluster;
using namespace chameleon::compress;
using namespace chameleon::flush;
using namespace chameleon::online;
using namespace chameleon::signature;
using namespace chameleon::statemachine;
using namespace chameleon::world;

class NoBudget final : public Budget {
 public:
  const Governor& governor() const override { return governor_; }
  Governor::Spent spent() override { return {}; }
  void govern(Governor::Cause, const Governor::Spent&) override {}
  void leave_out(bool) override {}

 private:
  Governor governor_{0, true};
};

class ScriptedLog final : public MarkerLog {
 public:
  void reached(Stage, std::uint64_t) override {}
  bool begin_round() override { return rounds == 0 || --rounds == 0; }
  void end_rounds() override {}
  IntervalTimes interval_times() override {
    return {computed, called, std::exchange(voted, std::uint64_t{0})};
  }
  StepTimes step_times() override {
    const auto since = [](std::uint64_t& before, std::uint64_t now) {
      const std::uint64_t last = std::exchange(before, now);
      return now < last ? now : now - last;
    };
    return {since(computed_before, computed), since(called_before, called)};
  }
  void waited_beyond(std::uint64_t least) override { beyond.push_back(least); }
  void led_to(State state) override { led.push_back(state); }
  void belongs_to(std::uint32_t phase) override { phases.push_back(phase); }
  bool waits_often() const override { return often; }
  void note_change() override { ++changes; }
  void note_election(const ClusterOptions&, const SignatureVector&) override { ++elections; }
  void note_efforts(const EffortOptions&, std::uint64_t, const RankEfforts& efforts) override {
    noted += efforts.size();
  }
  bool marks_from_second_thread() const override { return false; }

  std::uint64_t computed = 0, called = 0, voted = 0;     ///< in the next interval
  std::uint64_t computed_before = 0, called_before = 0;  ///< at the last marker
  std::vector<std::uint64_t> beyond;
  std::vector<std::uint32_t> phases;
  std::vector<State> led;  ///< to which the first decisions of markers led
  bool often = false;      ///< it waits for votes
  unsigned rounds = ~0U;   ///< that begin before its process is about to end, with the last of them
  int changes = 0, elections = 0;
  std::size_t noted = 0;  ///< steps of effort windows
};

/// A rank whose program appends records to `open`.
class ScriptedRank final : public Rank {
 public:
  ScriptedRank(int rank, int size) : rank_(rank), size_(size) {}

  void call(std::uint64_t path) { open_.push_back({1, path, {0, 8, (rank_ + 1) % size_}}); }
  /// What `checked` compares of what is shared next.
  void differ_by(std::uint64_t hash) { hashes_[1] = hash; }
  const Stream& whole() const { return whole_; }
  std::size_t dropped() const { return dropped_; }
  void fail() { failure_ = Failure::kMemory; }
  /// MPI_Finalize begins.
  void end() { ends_ = true; }

  bool ends() const override { return ends_; }
  ClosedInterval close_interval(bool) override {
    closed_ = std::exchange(open_, {});
    whole_.insert(whole_.end(), closed_.begin(), closed_.end());
    IntervalSignature signature;
    for (const Record& record : closed_) signature.call(record.path);
    ClosedInterval interval;
    interval.signature = signature.take();
    last_ = interval.signature;
    return interval;
  }
  void join() override {
    chain();
    partial_.insert(partial_.end(), closed_.begin(), closed_.end());
    closed_.clear();
  }
  void drop() override {
    chain();
    dropped_ += closed_.size();
    closed_.clear();
  }
  History history() override {
    SignatureVector all = last_;
    all.call_path = history_;
    return {all, true};
  }
  ScriptedLog& marker_log() override { return log_; }
  const ScriptedLog& scripted_log() const { return log_; }
  void wait_often() { log_.often = true; }
  Share take_share(bool keeps) override {
    compute(flush_seconds_);
    Share share;
    share.keeps = keeps;
    share.events = partial_.size();
    share.hashes = std::exchange(hashes_, {});
    history_ = 0;
    share.trace = fold_stream(std::exchange(partial_, {}), rank_, size_);
    if (!keeps) share.trace = Trace();
    share.most_bytes = cut_;
    if (stores_ && keeps) store(share);
    return share;
  }
  /// Shares are brought in pieces of so many bytes; `stores`: the first of them from a file.
  void cut(std::size_t bytes, bool stores) {
    cut_ = bytes;
    stores_ = stores;
  }
  void complete_share(Share&) override {}
  Trace own_facts(bool) override {
    Trace trace;
    trace.world_size = static_cast<std::uint32_t>(size_);
    trace.ranks = RankList::single(static_cast<std::uint32_t>(rank_));
    trace.facts[static_cast<std::uint32_t>(rank_)].events = whole_.size();
    return trace;
  }
  std::uint64_t elapsed_ns() override { return elapsed_ns_; }
  std::uint64_t memory_bytes() const override { return 1000 + bytes_; }
  void hold(std::uint64_t bytes) { bytes_ += bytes; }
  /// So many seconds in each flush.
  void take_long(std::uint64_t seconds) { flush_seconds_ = seconds; }
  void compute(std::uint64_t seconds) { elapsed_ns_ += seconds * 1'000'000'000; }
  std::int64_t clock_ns() override { return 0; }
  void compared(const ClockSample&) override { ++comparisons_; }
  Budget& budget() override { return budget_; }
  void merged() override {}
  bool failed() const override { return failure_ != Failure::kNone; }
  void note_failure(Failure failure) override {
    if (failure != Failure::kNone) failure_ = failure;
  }

  std::string said;
  int comparisons() const { return comparisons_; }

 private:
  /// The pieces of a file.
  class Pieces final : public StoredPieces {
   public:
    bool more() const override { return next_ < all.size(); }
    Trace next() override { return std::move(all[next_++]); }
    Bytes next_delta() override { return {}; }

    std::vector<Trace> all;

   private:
    std::size_t next_ = 0;
  };
  void store(Share& share) const {
    auto pieces = std::make_unique<Pieces>();
    while (share.trace.nodes.size() > 10)
      pieces->all.push_back(take_first(share.trace, 1 + share.trace.nodes.size() / 7));
    share.stored = std::move(pieces);
  }

  /// The closed interval is one more since the last share.
  void chain() { history_ = chameleon::combine(history_, last_.call_path); }
  void say_line(const char* line) override { said += std::string(line) + "\n"; }

  int rank_, size_;
  Stream open_, closed_, partial_, whole_;
  SignatureVector last_;
  std::uint64_t history_ = 0;  ///< of the Call-Paths of intervals since the last share
  NoBudget budget_;
  Failure failure_ = Failure::kNone;
  bool ends_ = false;
  std::uint64_t elapsed_ns_ = 0, bytes_ = 0, flush_seconds_ = 0;
  std::size_t dropped_ = 0;
  StreamHashes hashes_{};
  std::size_t cut_ = 0;
  bool stores_ = false;
  ScriptedLog log_;
  int comparisons_ = 0;
};

class KeptTrace final : public Output {
 public:
  explicit KeptTrace(int size) : size_(size) {}
  Trace empty_trace() const override {
    Trace trace;
    trace.world_size = static_cast<std::uint32_t>(size_);
    return trace;
  }
  void stage(const Trace& partial) override { parts.push_back(partial); }
  void write(const Trace& online, std::uint64_t) override { trace = online, ++writes; }
  bool let_go(const Trace&) override { return lets_go; }
  void write_last(const Trace& whole, const PackedFacts& of_ranks) override {
    trace = whole;
    trace.facts = format::decode_trace(format::encode_trace(whole, of_ranks))->facts;
  }
  void write_last_part(const Trace& partial, const Trace&, const PackedFacts& of_ranks) override {
    parts.push_back(partial);
    facts = of_ranks;
  }
  void keep_last_words(const RankList&) override {}
  void write_last_words() noexcept override { last_words = true; }

  Trace trace;
  std::vector<Trace> parts;  ///< as a file has them
  PackedFacts facts;         ///< of the whole, where it was let go
  bool lets_go = true;
  int writes = 0;
  bool last_words = false;

 private:
  int size_;
};

/// One in which a rank does not come to a vote: it is lost on all of them.
class LosingWorld : public VirtualWorld {
 public:
  LosingWorld(std::uint32_t size, std::uint32_t lost) : VirtualWorld(size), lost_(lost) {}

  template <class T, class C>
  void cast(const PerRank<T>& values, C combine, std::uint32_t sequence) {
    sequence_ = sequence;
    VirtualWorld::cast(values, combine, sequence);
  }
  template <class T>
  std::optional<T> collect(double timeout, std::uint32_t& missing) {
    if (timeout < kForever && sequence_ == lost_) return std::nullopt;
    return VirtualWorld::collect<T>(timeout, missing);
  }

 private:
  std::uint32_t lost_, sequence_ = 0;
};

/// A job of virtual ranks.
template <class World>
struct JobIn {
  explicit JobIn(int size, Fidelity fidelity = Fidelity::kExact, std::uint64_t flush_every = 100)
      : JobIn(World(static_cast<std::uint32_t>(size)), fidelity, flush_every) {}

  JobIn(const World& world, Fidelity fidelity, std::uint64_t flush_every = 100,
        const ClusterOptions& clusters = {}, const EffortOptions& effort = {},
        std::uint64_t call_frequency = 1)
      : output(static_cast<int>(world.size())) {
    const auto size = static_cast<int>(world.size());
    options.cluster = clusters;
    options.effort = effort;
    options.fidelity = fidelity;
    options.flush_every = flush_every;
    options.call_frequency = call_frequency;
    std::vector<Rank*> pointers;
    for (int rank = 0; rank < size; ++rank) {
      ranks.push_back(std::make_unique<ScriptedRank>(rank, size));
      pointers.push_back(ranks.back().get());
    }
    online = std::make_unique<Online<World>>(options, world, world, pointers, &output);
  }

  /// All ranks do the same, and then have a marker.
  State step(std::initializer_list<std::uint64_t> paths) {
    mark(paths);
    return online->state();
  }
  /// Whether the marker was acted on.
  bool mark(std::initializer_list<std::uint64_t> paths) {
    for (const auto& rank : ranks)
      for (const std::uint64_t path : paths) rank->call(path);
    return online->mark();
  }
  void end() {
    for (const auto& rank : ranks) rank->end();
    online->meet();
    online->finish();
  }

  OnlineOptions options;
  KeptTrace output;
  std::vector<std::unique_ptr<ScriptedRank>> ranks;
  std::unique_ptr<Online<World>> online;
};
using Job = JobIn<VirtualWorld>;

/// Of a rank of a complete trace: what is not exact is declared.
inline bool same_or_declared(const Trace& trace, int rank, const Stream& whole) {
  RankList declared;
  for (const Node& node : trace.nodes)
    for (const Inexact& one : node.inexact) declared.merge(one.ranks);
  for (const Declaration& one : trace.declarations) declared.merge(one.ranks);
  return declared.contains(static_cast<std::uint32_t>(rank)) || same(expand(trace, rank), whole);
}

}  // namespace chameleon::testing

// Compiled once, in scripted_job.cpp: every test of jobs uses all of it.
extern template class chameleon::online::Online<chameleon::world::VirtualWorld>;
extern template class chameleon::online::Online<chameleon::testing::LosingWorld>;
extern template class chameleon::testing::JobIn<chameleon::world::VirtualWorld>;
