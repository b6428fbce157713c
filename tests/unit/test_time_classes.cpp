// SPDX-License-Identifier: BSD-3-Clause
// Times of all ranks to classes, in tables, and in the file.
#include <random>

#include "flush/time_classes.h"
#include "format/codec.h"
#include "format/commit.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::flush;
using namespace chameleon::world;
using chameleon::testing::TraceBuilder;

namespace {

constexpr std::uint64_t kPath = 100;

std::uint64_t symbol(std::uint16_t call) { return Node::event_symbol(call, kPath + call); }

/// A rank's steps: Send, Recv, Barrier; `scale` slows its computing before Recv.
StreamAccounts accounts_of(std::uint32_t rank, double scale, int steps = 200) {
  std::mt19937 random(rank);
  AccountBook book;
  const auto add = [&](std::uint16_t call, double compute, double communication) {
    const double noise = 0.95 + 0.1 * static_cast<double>(random() % 1000) / 1000;
    book.add(book.number_of(symbol(call)), static_cast<std::uint64_t>(compute * noise),
             static_cast<std::uint64_t>(communication * noise));
  };
  for (int i = 0; i < steps; ++i) {
    add(1, 20, 300);
    add(2, 50'000 * scale, 8'000);
    add(3, 1'000, 100'000 - 40'000 * scale);
  }
  return {rank, book.accounts()};
}

using AllAccounts = std::vector<std::vector<StreamAccounts>>;

AllAccounts job(std::uint32_t ranks, const std::map<std::uint32_t, double>& slow) {
  AllAccounts all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto found = slow.find(rank);
    all.push_back({accounts_of(rank, found == slow.end() ? 1 : found->second)});
  }
  return all;
}

TimeTable gather(const AllAccounts& all, std::uint32_t most, Traffic* traffic = nullptr) {
  VirtualWorld world(static_cast<std::uint32_t>(all.size()), traffic != nullptr);
  std::optional<TimeTable> table = gather_times(world, all, most);
  REQUIRE(table);
  // What arrives as bytes makes the same classes and sums.
  VirtualWorld sending(world.size(), true, true);
  const std::optional<TimeTable> sent = gather_times(sending, all, most);
  REQUIRE(sent);
  REQUIRE(sent->classes().size() == table->classes().size());
  for (std::size_t i = 0; i < sent->classes().size(); ++i) {
    CHECK(sent->classes()[i].streams == table->classes()[i].streams);
    CHECK(std::abs(sent->classes()[i].spread - table->classes()[i].spread) < 0.02);
  }
  CHECK(sent->sorted() == table->sorted());
  CHECK(sent->total().compute.sum() == table->total().compute.sum());
  CHECK(sent->total().communication.sum() == table->total().communication.sum());
  CHECK(sent->total().compute.count() == table->total().compute.count());
  if (traffic != nullptr) *traffic = world.traffic();
  return std::move(*table);
}

const Histogram& compute_of(const TimeTable& table, std::uint32_t rank, std::uint16_t call,
                            std::uint16_t before) {
  const Durations* const times = table.find({symbol(call), symbol(before)}, table.class_of(rank));
  REQUIRE(times != nullptr);
  return times->compute;
}

std::uint64_t sum_of(const AllAccounts& all) {
  std::uint64_t sum = 0;
  for (const auto& streams : all)
    for (const StreamAccounts& one : streams)
      for (const Account& account : one.accounts)
        sum += account.times.compute.sum() + account.times.communication.sum();
  return sum;
}

std::uint64_t sum_of(const TimeTable& table) {
  std::uint64_t sum = 0;
  for (const auto& [place, times] : table.places())
    for (const ClassTimes& one : times)
      sum += one.times.compute.sum() + one.times.communication.sum();
  return sum;
}

}  // namespace

TEST_CASE("events are entered where they come after what they came after") {
  AccountBook book;
  std::map<Place, std::uint64_t> counts;
  std::mt19937 random(7);
  std::uint64_t before = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t next = 1 + random() % 5;
    book.add(book.number_of(next), 10, 1);
    ++counts[{next, before}];
    before = next;
  }
  REQUIRE(book.accounts().size() == counts.size());
  for (const Account& account : book.accounts()) {
    CHECK(account.times.compute.count() == counts[account.place]);
    CHECK(account.times.communication.sum() == counts[account.place]);
  }
}

TEST_CASE("a rank unlike all others is a class of its own, and sums are exact") {
  const std::uint32_t ranks = GENERATE(2U, 7U, 16U, 64U, 200U);
  const std::uint32_t slow = ranks - 1;
  const AllAccounts all = job(ranks, {{slow, 1.5}});
  const TimeTable table = gather(all, 4);
  CHECK(table.classes().size() <= 4);
  CHECK(table.classes()[table.class_of(slow)].streams == RankList::single(slow));
  CHECK(table.streams() == RankList::range(0, ranks - 1));
  CHECK(sum_of(table) == sum_of(all));
  for (const std::uint32_t rank : {0U, slow}) {
    const StreamAccounts mine = accounts_of(rank, rank == slow ? 1.5 : 1);
    for (const Account& account : mine.accounts)
      if (account.place == Place{symbol(2), symbol(1)})
        CHECK(compute_of(table, rank, 2, 1).mean() ==
              Approx(account.times.compute.mean()).epsilon(0.03));
  }
}

TEST_CASE("waits that differ by far do not hide a rank that computes a little longer") {
  const std::uint32_t ranks = GENERATE(32U, 64U, 200U), slow = 3;
  AllAccounts all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    // Ranks take turns: each waits for those before it, and then for those behind it.
    AccountBook book;
    const auto add = [&](std::uint16_t call, std::uint64_t compute, std::uint64_t communication) {
      book.add(book.number_of(symbol(call)), compute, communication);
    };
    for (std::uint64_t i = 0; i < 100; ++i) {
      add(1, rank == slow ? 4'000'000 : 1'000'000, 10'000);
      add(2, 20'000'000 + 1'000 * (i % 7), rank * 2'000'000);
      add(3, 10'000, (ranks - rank) * 2'000'000);
    }
    all.push_back({{rank, book.accounts()}});
  }
  const TimeTable table = gather(all, 16);
  CHECK(table.classes().size() <= 16);
  CHECK(table.classes()[table.class_of(slow)].streams == RankList::single(slow));
  CHECK(compute_of(table, slow, 1, 3).mean() == Approx(4'000'000));
  CHECK(compute_of(table, ranks - 1, 1, 3).mean() == Approx(1'000'000));
}

TEST_CASE("ranks without a difference are one class") {
  const AllAccounts all = job(64, {});
  const TimeTable table = gather(all, 16);
  CHECK(table.classes().size() == 1);
  CHECK(table.classes().front().spread < 0.03);
  CHECK(table.classes().front().spread > 0);
}

TEST_CASE("the spread of a class is that of its worst member") {
  const AllAccounts all = job(9, {{3, 1.25}, {5, 0.8}});
  const TimeTable table = gather(all, 1);
  REQUIRE(table.classes().size() == 1);
  double worst = 0;
  for (const auto& streams : all)
    for (const Account& account : streams.front().accounts) {
      const Durations* const times = table.find(account.place, 0);
      REQUIRE(times != nullptr);
      for (const auto kind : {&Durations::compute, &Durations::communication}) {
        const double mine = (account.times.*kind).mean();
        if ((account.times.*kind).sum() > 1'000'000)
          worst = std::max(worst, std::abs((*times.*kind).mean() - mine) / mine);
      }
    }
  CHECK(table.classes().front().spread == Approx(worst).epsilon(0.02));
}

TEST_CASE("more ranks take no larger messages") {
  Traffic few, many;
  gather(job(64, {{5, 2}, {9, 0.5}}), 16, &few);
  gather(job(1024, {{5, 2}, {9, 0.5}, {700, 3}}), 16, &many);
  CHECK(many.messages == 5 * 1023);
  CHECK(many.depth == 50);
  CHECK(many.largest < 2 * few.largest);
}

TEST_CASE("where all are one class nobody sends vectors, and sums are exact") {
  const AllAccounts all = job(1024, {{5, 2}, {9, 0.5}});
  Traffic one, several;
  const TimeTable table = gather(all, 1, &one);
  gather(all, 16, &several);
  CHECK(table.classes().size() == 1);
  CHECK(sum_of(table) == sum_of(all));
  CHECK(one.messages == 3 * 1023);
  CHECK(one.bytes < several.bytes);
}

TEST_CASE("where each stream is a class, its times are its own, and no others come to it") {
  const std::uint32_t threads = GENERATE(1U, 2U);
  AllAccounts all;
  for (std::uint32_t stream = 0; stream < 16; ++stream) {
    if (stream % threads == 0) all.emplace_back();
    all.back().push_back(accounts_of(stream, 1 + 0.1 * stream));
  }
  Traffic each, one_less;
  const TimeTable table = gather(all, 16, &each);
  CHECK(gather(all, 15, &one_less).classes().size() == 15);
  REQUIRE(table.classes().size() == 16);
  CHECK(each.messages == one_less.messages);
  CHECK(each.bytes < one_less.bytes);
  for (const auto& streams : all)
    for (const StreamAccounts& own : streams) {
      const std::uint32_t time_class = table.class_of(own.stream);
      CHECK(table.classes()[time_class].streams == RankList::single(own.stream));
      for (const Account& account : own.accounts)
        if (account.place == Place{symbol(2), symbol(1)})
          CHECK(compute_of(table, own.stream, 2, 1).sum() == account.times.compute.sum());
    }
}

TEST_CASE("a further rank takes less than half a byte for its times") {
  const auto bytes = [](std::uint32_t ranks) {
    Trace trace;
    trace.world_size = ranks;
    std::map<std::uint32_t, double> slow;
    for (std::uint32_t rank = 5; rank < ranks; rank += 8) slow[rank] = 1 + 0.1 * (rank % 3);
    trace.times = gather(job(ranks, slow), 16);
    return encode_trace(trace).size();
  };
  CHECK(bytes(1024) < bytes(64) + (1024 - 64) / 2);
}

TEST_CASE("a program's times take at most 1.5 times as much at 1,024 ranks as at 64") {
  constexpr std::uint64_t kPlaces = 118;
  const auto bytes_at = [](std::uint32_t ranks) {
    AllAccounts all;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::mt19937 random(rank);
      AccountBook book;
      // By where they are in a grid, ranks wait longer or shorter; three are slow in two functions.
      const std::uint64_t waits = 1 + rank % 5;
      const bool slow = rank == 5 || rank == 33 || rank == 60;
      for (int step = 0; step < 40; ++step)
        for (std::uint64_t place = 1; place <= kPlaces; ++place) {
          const std::uint64_t compute = 1000 * place * (slow && place > 116 ? 3 : 1);
          const std::uint64_t noise = 97 + random() % 7;  // hundredths
          book.add(book.number_of(place), compute * noise / 100, 500 * place * waits);
        }
      all.push_back({{rank, book.accounts()}});
    }
    Trace trace;
    trace.world_size = ranks;
    trace.timing = "histogram";
    trace.ranks = RankList::range(0, ranks - 1);
    const auto size = [&] {
      return format::commit::frame(format::commit::kWhole, format::encode_trace(trace)).size();
    };
    const std::size_t without = size();
    trace.times = gather(all, 16);
    CHECK(trace.times.classes().size() > 5);
    CHECK(sum_of(trace.times) == sum_of(all));
    return size() - without;
  };
  const std::size_t few = bytes_at(64), many = bytes_at(1024);
  INFO(few << " and " << many << " bytes");
  CHECK(few > 10 * kPlaces);
  CHECK(2 * many <= 3 * few);
}

TEST_CASE("times of a later table hold, and others keep their part") {
  TimeTable table = gather(job(8, {}), 1);
  const double before = compute_of(table, 0, 2, 1).mean();
  table.supersede(TimeTable::of({accounts_of(2, 3)}));
  REQUIRE(table.classes().size() == 2);
  CHECK(table.classes()[0].streams == RankList::range(0, 7).minus(RankList::single(2)));
  CHECK(compute_of(table, 2, 2, 1).mean() == Approx(150'000).epsilon(0.02));
  CHECK(compute_of(table, 0, 2, 1).mean() == Approx(before));
  CHECK(compute_of(table, 0, 2, 1).count() == 7 * 200);
  table.supersede(gather(job(8, {{1, 2}}), 16));
  CHECK(table.classes().size() == 2);
  CHECK(compute_of(table, 1, 2, 1).mean() == Approx(100'000).epsilon(0.02));
}

TEST_CASE("times in a file: sums exact, means within 2 %, shapes within a bin") {
  const std::uint32_t ranks = GENERATE(1U, 5U, 16U);
  TraceBuilder builder(ranks);
  for (std::uint16_t call = 1; call <= 3; ++call)
    builder.call(call, "C" + std::to_string(call), {});
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < 200; ++i)
      for (std::uint16_t call = 1; call <= 3; ++call) builder.push(rank, call, {});
  Trace trace = builder.build();
  trace.times = gather(job(ranks, {{0, 1.5}, {3, 0.7}}), 16);
  const Result<Trace> read = decode_trace(encode_trace(trace));
  REQUIRE(read);
  const TimeTable &wrote = trace.times, &found = read->times;
  REQUIRE(found.classes().size() == wrote.classes().size());
  CHECK(static_cast<double>(sum_of(found)) ==
        Approx(static_cast<double>(sum_of(wrote))).epsilon(0.001));
  CHECK(found.sorted() == wrote.sorted());
  for (const Place& place : wrote.sorted())
    for (std::uint32_t i = 0; i < wrote.classes().size(); ++i) {
      CHECK(found.classes()[i].streams == wrote.classes()[i].streams);
      const Durations* const a = wrote.find(place, i);
      const Durations* const b = found.find(place, i);
      REQUIRE((a == nullptr) == (b == nullptr));
      if (a == nullptr) continue;
      for (const auto kind : {&Durations::compute, &Durations::communication}) {
        const Histogram &mine = a->*kind, &theirs = b->*kind;
        CHECK(theirs.count() == mine.count());
        CHECK(theirs.mean() == Approx(mine.mean()).epsilon(0.02).margin(1));
        CHECK(theirs.min() <= theirs.mean());
        CHECK(theirs.max() >= theirs.mean());
        CHECK(std::abs(Histogram::bin_of(theirs.min()) - Histogram::bin_of(mine.min())) <= 1);
        CHECK(std::abs(Histogram::bin_of(theirs.max()) - Histogram::bin_of(mine.max())) <= 1);
      }
    }
}

TEST_CASE("a distribution with two modes keeps them in a file") {
  AccountBook book;
  for (int i = 0; i < 1000; ++i)
    book.add(book.number_of(symbol(1)), i % 5 == 0 ? 1'000'000 : 1'000, 10);
  TraceBuilder builder(1);
  builder.call(1, "C1", {});
  builder.push(0, 1, {});
  Trace trace = builder.build();
  trace.times = TimeTable::of({{0, book.accounts()}});
  const Result<Trace> read = decode_trace(encode_trace(trace));
  REQUIRE(read);
  const Durations* const times = read->times.find({symbol(1), symbol(1)}, 0);
  REQUIRE(times != nullptr);
  CHECK(times->compute.quantile(0.5) < 2'000);
  CHECK(times->compute.quantile(0.7) < 2'000);
  CHECK(times->compute.quantile(0.9) > 700'000);
}

TEST_CASE("waiting at markers has its place and class, and keeps them in a file") {
  constexpr std::uint32_t kRanks = 6, kSteps = 200;
  const Place before_send{symbol(1), symbol(3)}, before_barrier{symbol(3), symbol(2)};
  AllAccounts all = job(kRanks, {{0, 1.5}});
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
    all[rank][0].waits[before_send] = {rank * std::uint64_t{300'000}, kSteps, kSteps * 500};
    all[rank][0].waits[before_barrier] = {rank * std::uint64_t{100'000}, 50, kSteps * 100};
  }
  TraceBuilder builder(kRanks);
  for (std::uint16_t call = 1; call <= 3; ++call) {
    builder.call(call, "C" + std::to_string(call), {});
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) builder.push(rank, call, {});
  }
  Trace trace = builder.build();
  trace.times = gather(all, 16);
  const std::uint32_t slow = trace.times.class_of(0), fast = trace.times.class_of(1);
  REQUIRE(slow != fast);
  CHECK(trace.times.waits().of_class(slow) == 0);
  CHECK(trace.times.waits().of_class(fast) == 15 * 400'000);
  const Result<Trace> read = decode_trace(encode_trace(trace));
  REQUIRE(read);
  const MarkerWaits& waits = read->times.waits();
  REQUIRE(waits.places().size() == 2);
  for (const auto& [place, ns, markers, ahead] :
       {std::tuple(before_send, 15 * 300'000, 5 * kSteps, 500),
        std::tuple(before_barrier, 15 * 100'000, 5 * 50U, 400)}) {
    const MarkerWaits::At& at = waits.places().at(place);
    CHECK(at.ns.size() == 1);
    CHECK(static_cast<double>(at.ns.at(fast)) == Approx(ns).epsilon(0.01));
    CHECK(at.all.markers == markers);
    CHECK(static_cast<double>(at.all.ahead_ns) / markers == Approx(ahead).epsilon(0.01));
  }
}

TEST_CASE("waiting goes with the streams that a later table has") {
  const Place place{symbol(1), symbol(3)};
  const auto table_of = [&](std::uint64_t ns) {
    AllAccounts all = job(4, {});
    for (auto& streams : all) streams[0].waits[place] = {ns, 1, 0};
    return all;
  };
  TimeTable table = gather(table_of(1'000), 16);
  AllAccounts later = table_of(5'000);
  later.resize(1);
  table.supersede(TimeTable::of(later[0]));
  REQUIRE(table.classes().size() == 2);
  CHECK(table.waits().of_class(table.class_of(0)) == 5'000);
  CHECK(table.waits().of_class(table.class_of(3)) == 3'000);
}

TEST_CASE("the stated spread holds for every rank and place, also where classes have to be few") {
  constexpr std::uint32_t kRanks = 60;
  constexpr int kSteps = 100;
  TraceBuilder builder(kRanks);
  AllAccounts all;
  std::mt19937 random(5);
  for (std::uint16_t call = 1; call <= 1 + kRanks; ++call)
    builder.call(call, "C" + std::to_string(call), {});
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    AccountBook book;
    // Each has a place of its own that takes 1.5 % of its time, and nearly all of the rest alike.
    const auto own = static_cast<std::uint16_t>(2 + rank);
    for (int i = 0; i < kSteps; ++i) {
      builder.push(rank, 1, {});
      book.add(book.number_of(symbol(1)), 1'000'000 + random() % 30'000, 40'000);
      builder.push(rank, own, {});
      book.add(book.number_of(symbol(own)), 1'000, 15'000 + 100 * rank);
      for (const std::uint16_t other :
           {std::uint16_t{2}, static_cast<std::uint16_t>(2 + kRanks / 2)}) {
        builder.push(rank, other, {});
        book.add(book.number_of(symbol(other)), 50 + rank * 400, 7'000);
      }
    }
    all.push_back({{rank, book.accounts()}});
  }
  Trace trace = builder.build();
  trace.times = gather(all, 4);
  const Result<Trace> read = decode_trace(encode_trace(trace));
  REQUIRE(read);
  std::size_t places = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const std::uint32_t mine = read->times.class_of(rank);
    const double stated = read->times.classes()[mine].spread + 0.02;
    double total = 0;
    for (const Account& one : all[rank][0].accounts)
      total += static_cast<double>(one.times.compute.sum() + one.times.communication.sum());
    for (const Account& one : all[rank][0].accounts)
      for (const auto kind : {&Durations::compute, &Durations::communication}) {
        const Histogram& own = one.times.*kind;
        if (static_cast<double>(own.sum()) < 0.01 * total) continue;
        const Durations* const said = read->times.find(one.place, mine);
        REQUIRE(said != nullptr);
        CAPTURE(rank, stated, (said->*kind).mean(), own.mean());
        CHECK(std::abs((said->*kind).mean() - own.mean()) <= stated * 1.02 * own.mean());
        ++places;
      }
  }
  CHECK(places > 3 * kRanks);
}
