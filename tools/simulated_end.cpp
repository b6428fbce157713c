// SPDX-License-Identifier: BSD-3-Clause
#include "simulated_end.h"

#include <malloc.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "compress/merge.h"
#include "flush/rank_reports.h"
#include "flush/time_classes.h"
#include "format/codec.h"
#include "format/commit.h"
#include "model/account_book.h"

namespace chameleon::tools {
namespace {

using world::VirtualWorld;

/// Allocated by this process now.
std::uint64_t allocated() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

/// ns within half a percent, another for each rank and `what`.
std::uint64_t varied(std::uint64_t ns, std::uint32_t rank, std::uint64_t what) {
  const std::uint64_t range = ns / 100;
  return ns - range / 2 + (range == 0 ? 0 : combine(mix(rank), what) % range);
}

class End {
 public:
  using Visit = std::function<void(const RecordedEvents&)>;
  using Events = std::function<void(std::uint32_t, const Visit&)>;

  End(VirtualWorld& world, world::Allocations& allocations, Trace& online, const Events& events)
      : world_(world),
        allocations_(allocations),
        online_(online),
        events_(events),
        before_(allocated()) {}

  /// As gather_times does it, but that a rank's accounts are made when they are joined.
  void gather_times() {
    constexpr std::uint32_t kMost = 16;  // CHAMELEON_TIME_CLASSES
    auto vectors = world_.reduce_made(
        [&](std::uint32_t rank) { return flush::candidates_of(accounts_of(rank), kMost); },
        [](TimeVectors& mine, TimeVectors&& theirs) {
          flush::join_vectors(mine, std::move(theirs), kMost);
        });
    if (vectors) vectors->leave_names_if_complete();
    const std::vector<TimeVector> classes = world_.broadcast(std::move(vectors)).all;
    classes_.resize(world_.size());
    auto sums = world_.reduce_made(
        [&](std::uint32_t rank) {
          auto mine = flush::ClassSums::of(accounts_of(rank), classes);
          classes_[rank] = static_cast<std::uint8_t>(mine.first_class());
          return mine;
        },
        [](flush::ClassSums& mine, flush::ClassSums&& theirs) { mine.join(std::move(theirs)); });
    world_.attempt([&] { online_.times = std::move(*sums).table(); });
  }

  /// As gather_reports does it, group by group.
  void gather_facts(SimulatedEnd& end) {
    const std::uint32_t size = world_.size();
    constexpr auto kGroup = static_cast<std::uint32_t>(PackedFacts::kMostExact);
    const bool large = size > kGroup;
    std::vector<RankReports> groups;
    double slowest = 0;
    for (std::uint32_t first = 0; first < size; first += kGroup) {
      VirtualWorld group(std::min(kGroup, size - first), true, true);
      auto reports = group.reduce_made(
          [&](std::uint32_t at) {
            return RankReports(said_by(first + at), large, classes_[first + at]);
          },
          flush::join_reports);
      add(end.facts, group.traffic());
      slowest = std::max(slowest, group.critical_seconds());
      if (first > 0) {
        ByteWriter writer;
        reports->encode(writer);
        end.facts.count(writer.bytes().size());
      }
      groups.push_back(std::move(*reports));
    }
    end.facts.depth = world::tree_depth(std::min(size, kGroup)) + (large ? 1 : 0);
    const double begin = world::thread_seconds();
    RankReports all;
    measure([&] { all = flush::joined(std::move(groups)); });
    facts_ = std::move(all.facts);
    online_.totals = large ? all.totals.means() : std::move(all.rest.totals);
    online_.declarations = std::move(all.rest.declarations);
    end.facts_seconds = slowest + (world::thread_seconds() - begin);
  }

  /// Rank 0's last commit.
  void write(SimulatedEnd& end) {
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                       &ZSTD_freeCCtx);
    Bytes plain, file;
    measure([&] { plain = format::encode_trace(online_, facts_); });
    measure([&] {
      namespace commit = format::commit;
      file = commit::frame(commit::kWhole, plain, commit::kSmall, context.get());
    });
    end.file_bytes = file.size();
    end.rank_0_bytes = most_ - std::min(most_, before_);
  }

 private:
  static void add(world::Traffic& sum, const world::Traffic& more) {
    sum.messages += more.messages;
    sum.bytes += more.bytes;
    sum.largest = std::max(sum.largest, more.largest);
  }

  std::vector<StreamAccounts> accounts_of(std::uint32_t rank) const {
    AccountBook book;
    events_(rank, [&](const RecordedEvents& part) {
      for (const RecordedEvents::Kept& one : part.events) {
        const std::uint64_t symbol = Node::event_symbol(one.call, one.path);
        book.add(book.number_of(symbol), varied(one.compute, rank, symbol),
                 varied(one.communication, rank, symbol + 1));
      }
    });
    std::vector<StreamAccounts> mine(1);
    mine.front().stream = rank;
    mine.front().accounts = book.accounts();
    return mine;
  }

  Trace said_by(std::uint32_t rank) const {
    std::uint64_t compute = 0, calls = 0, count = 0;
    events_(rank, [&](const RecordedEvents& part) {
      count += part.events.size();
      for (const RecordedEvents::Kept& one : part.events) {
        compute += one.compute;
        calls += one.communication;
      }
    });
    constexpr std::uint32_t kNode = 64;
    constexpr std::uint64_t kMs = 1'000'000;
    Trace own;
    own.world_size = world_.size();
    own.complete = true;
    own.ranks = RankList::single(rank);
    RankFacts& facts = own.facts[rank];
    facts.events = count;
    facts.host = "node" + std::to_string(rank / kNode);
    facts.processor = rank % kNode;
    const auto ns = [&](std::uint64_t mean, std::uint64_t what) {
      return varied(mean, rank, what);
    };
    facts.run_ns = ns(compute + calls, 1);
    facts.call_ns = ns(calls, 2);
    facts.tool_at_ns = ns(kMs, 3);
    facts.tool_c_ns = ns(2 * kMs, 4);
    facts.tool_l_ns = ns(kMs, 5);
    facts.tool_f_ns = ns(20 * kMs, 6);
    facts.idle_at_ns = ns(kMs / 2, 7);
    facts.idle_c_ns = ns(kMs, 8);
    facts.idle_l_ns = ns(kMs / 2, 9);
    facts.idle_f_ns = ns(10 * kMs, 10);
    facts.tool_ns = ns(24 * kMs, 11);
    facts.waiting_ns = ns(5 * kMs, 12);
    facts.startup_ns = ns(50 * kMs, 13);
    facts.tool_bytes = ns(4 << 20, 14) & ~std::uint64_t{63};
    facts.clock_samples = 20;
    facts.clock_begin_ns =
        static_cast<std::int64_t>(varied(100 * kMs, rank / kNode, 15) + ns(100'000, 16));
    facts.clock_drift_ppb =
        static_cast<std::int64_t>(varied(10'000, rank / kNode, 17) + ns(1'000, 18));
    facts.clock_error_ns = ns(20'000, 19);
    SpentTimes spent{ns(compute, 20), ns(calls / 2, 21), ns(calls / 2, 22), ns(5 * kMs, 23),
                     ns(24 * kMs, 24)};
    own.totals.add(own.ranks, {{0, spent}, {PhaseTotals::kNoPhase, {ns(kMs, 25), 0, 0, 0, 0}}});
    return own;
  }

  /// Notes the most memory while `f` does what rank 0 does: of `new` at any time, and afterwards
  /// all of it, with what compression holds.
  template <class F>
  void measure(F f) {
    const std::uint64_t before = allocated();
    allocations_.begin();
    const std::int64_t at = allocations_.now();
    f();
    const auto more = static_cast<std::uint64_t>(allocations_.most() - at);
    most_ = std::max({most_, before + more, allocated()});
  }

  VirtualWorld& world_;
  world::Allocations& allocations_;
  Trace& online_;
  const Events& events_;
  const std::uint64_t before_;
  std::uint64_t most_ = 0;
  std::vector<std::uint8_t> classes_;
  PackedFacts facts_;
};

}  // namespace

SimulatedEnd simulate_end(VirtualWorld& world, world::Allocations& allocations, Trace online,
                          const std::function<void(std::uint32_t, const End::Visit&)>& events) {
  SimulatedEnd cost;
  End end(world, allocations, online, events);
  end.gather_times();
  cost.times = world.traffic();
  cost.times_seconds = world.critical_seconds();
  world.reset_traffic();
  end.gather_facts(cost);
  end.write(cost);
  return cost;
}

}  // namespace chameleon::tools
