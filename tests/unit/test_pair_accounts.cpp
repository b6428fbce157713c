// SPDX-License-Identifier: BSD-3-Clause
/// Accounts of pairs: which are kept, and what the file has of them.

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "format/pair_accounts_codec.h"
#include "model/pair_accounts.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::format;

namespace {

auto order_of(const PairAccount& one) { return std::tuple(one.stream, one.source, one.size); }

/// Of so many receivers, each from so many senders in three sizes.
PairAccounts some(std::mt19937_64& random, std::uint32_t first, std::uint32_t streams,
                  std::uint32_t sources, std::uint32_t world_size) {
  PairAccounts accounts;
  for (std::uint32_t stream = first; stream < first + streams; ++stream)
    for (std::uint32_t i = 1; i <= sources; ++i)
      for (const std::uint8_t size : {std::uint8_t{0}, std::uint8_t{4}, std::uint8_t{40}}) {
        PairAccount one{stream, (stream + i) % world_size, size, 1 + random() % 1000, 0, 0, 0};
        one.longest_ns = random() % 1'000'000'000;
        one.ns = one.longest_ns + random() % 1'000'000'000;
        one.longest_event = 1 + random() % 1'000'000;
        accounts.add(one);
      }
  accounts.settle();
  return accounts;
}

PairAccounts::Others sums_of(const PairAccounts& accounts) {
  PairAccounts::Others sums = accounts.others();
  for (const PairAccount& one : accounts.all()) {
    sums.messages += one.messages;
    sums.ns += one.ns;
  }
  return sums;
}

Bytes encoded(const PairAccounts& accounts, std::uint32_t world_size) {
  ByteWriter out;
  write_pair_accounts(out, accounts, world_size);
  return out.take();
}

bool decodes(std::span<const std::uint8_t> bytes, std::uint32_t world_size,
             PairAccounts& accounts) {
  ByteReader in(bytes);
  read_pair_accounts(in, world_size, accounts);
  return in.ok();
}

bool near(std::uint64_t a, std::uint64_t b) { return (a > b ? a - b : b - a) <= b / 2048; }

}  // namespace

TEST_CASE("pair accounts are in the file, their times within 1/2048") {
  std::mt19937_64 random(7);
  const std::uint32_t ranks = GENERATE(1, 2, 9, 64);
  PairAccounts accounts = some(random, 0, ranks, std::min<std::uint32_t>(ranks, 5), ranks);
  accounts.add(PairAccounts::Others{3, 1'000'000'007});
  PairAccounts read;
  REQUIRE(decodes(encoded(accounts, ranks), ranks, read));
  CHECK(read.others() == accounts.others());
  REQUIRE(read.all().size() == accounts.all().size());
  for (std::size_t i = 0; i < read.all().size(); ++i) {
    const PairAccount &said = read.all()[i], &wanted = accounts.all()[i];
    CHECK(order_of(said) == order_of(wanted));
    CHECK(said.messages == wanted.messages);
    CHECK(said.longest_event == wanted.longest_event);
    CHECK(near(said.ns, wanted.ns));
    CHECK(near(said.longest_ns, wanted.longest_ns));
  }
}

TEST_CASE("ranks that receive alike cost little") {
  PairAccounts accounts;
  constexpr std::uint32_t kRanks = 1024;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    for (const std::uint32_t distance : {1U, kRanks - 1})
      accounts.add({rank, (rank + distance) % kRanks, 11, 100, 5000, 50, 7});
  accounts.settle();
  CHECK(encoded(accounts, kRanks).size() < 700);
}

TEST_CASE("damaged pair accounts are refused, or are in order") {
  std::mt19937_64 random(8);
  const Bytes good = encoded(some(random, 0, 6, 3, 6), 6);
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes = good;
    for (std::size_t k = 0; k <= random() % 3; ++k)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    PairAccounts read;
    if (!decodes(bytes, 6, read)) continue;
    CHECK(read.all().size() <= PairAccounts::kMost);
    for (std::size_t k = 0; k < read.all().size(); ++k) {
      const PairAccount& one = read.all()[k];
      if (k > 0 && order_of(read.all()[k - 1]) >= order_of(one)) FAIL("out of order");
      if (one.source >= 6 || one.longest_ns > one.ns || one.messages == 0) FAIL("impossible");
    }
  }
}

TEST_CASE("a commit with two tables of pair accounts is refused, and one of another job") {
  std::mt19937_64 random(9);
  const Bytes good = encoded(some(random, 0, 6, 5, 6), 6);
  PairAccounts read, none;
  REQUIRE(decodes(good, 6, read));
  CHECK(!decodes(good, 6, read));
  CHECK(!decodes(good, 0, none));
  CHECK(!decodes(good, 3, none));
}

TEST_CASE("the pairs that waited longest are kept whole, whoever is joined first") {
  std::mt19937_64 random(10);
  constexpr std::uint32_t kStreams = 200, kParts = 8, kRanks = kStreams * kParts;
  std::vector<PairAccounts> parts;
  for (std::uint32_t i = 0; i < kParts; ++i)
    parts.push_back(some(random, i * kStreams, kStreams, 4, kRanks));
  PairAccounts forwards, pairs;
  PairAccounts::Others all;
  for (const PairAccounts& part : parts) {
    forwards.merge(part);
    all.messages += sums_of(part).messages;
    all.ns += sums_of(part).ns;
  }
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    PairAccounts two = parts[i + 1];
    two.merge(parts[i]);
    pairs.merge(two);
  }
  CHECK(forwards == pairs);
  CHECK(sums_of(forwards) == all);
  CHECK(forwards.all().size() <= PairAccounts::kMost);
  CHECK(forwards.all().size() > PairAccounts::kMost - 3);
  CHECK(forwards.others().messages > 0);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<int, std::uint64_t>> kept, made;
  const auto count = [](const PairAccounts& accounts, auto& into) {
    for (const PairAccount& one : accounts.all()) {
      auto& [number, ns] = into[{one.stream, one.source}];
      ++number;
      ns += one.ns;
    }
  };
  count(forwards, kept);
  for (const PairAccounts& part : parts) count(part, made);
  std::uint64_t least = UINT64_MAX, most = 0;
  for (const auto& [pair, sums] : made) {
    const auto found = kept.find(pair);
    if (found == kept.end()) {
      most = std::max(most, sums.second);
      continue;
    }
    CHECK(found->second == sums);
    least = std::min(least, sums.second);
  }
  CHECK(least >= most);
}

TEST_CASE("of a stream in both tables the later accounts hold") {
  std::mt19937_64 random(11);
  PairAccounts before = some(random, 0, 4, 2, 8);
  const PairAccounts later = some(random, 2, 4, 3, 8);
  PairAccounts wanted = later;
  wanted.merge(some(random, 0, 0, 0, 8));
  for (const PairAccount& one : before.all())
    if (one.stream < 2) wanted.add(one);
  wanted.settle();
  before.merge(later);
  CHECK(before == wanted);
}
