// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <random>
#include <tuple>

#include "record/event_table.h"
#include "record/interval_log.h"
#include "unit/catch.h"

namespace chameleon {
using namespace record;
namespace {

TEST_CASE("events have one number each, whatever came before them") {
  std::mt19937_64 random(1);
  EventTable table;
  std::map<std::tuple<std::uint16_t, std::uint64_t, std::vector<std::int64_t>>, std::uint32_t>
      known;
  for (int i = 0; i < 20000; ++i) {
    if (i % 7000 == 6999) {
      table.clear();
      known.clear();
    }
    const auto call = static_cast<std::uint16_t>(random() % 3);
    const std::uint64_t path = random() % 5;
    std::vector<std::int64_t> values(call * 2 + path % 2);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random() % 4) - 1;
    const std::uint32_t number = table.find(call, path, values.data(), values.size());
    const auto [place, is_new] = known.try_emplace({call, path, values}, number);
    REQUIRE(place->second == number);
    REQUIRE(known.size() == table.size());
    REQUIRE((!is_new || number + 1 == table.size()));
    const EventTable::Entry& entry = table[number];
    REQUIRE(entry.call == call);
    REQUIRE(entry.path == path);
    REQUIRE(std::ranges::equal(table.values(entry), values));
  }
  CHECK(table.generation() == 3);
}

TEST_CASE("an event with a key is known by it, where it is to be expected") {
  constexpr std::uint16_t kCall = 3;
  const auto with_key = [](EventTable& table, std::uint64_t path, std::int64_t value) {
    return table.expect(kCall, path, [=](const std::int64_t* key) { return *key == 10 * value; });
  };
  const auto seen = [](EventTable& table, std::uint64_t path, std::int64_t value) {
    const std::uint32_t number = table.find(kCall, path, &value, 1);
    const std::int64_t key[] = {10 * value};
    table.learn_key(number, key);
    return number;
  };
  EventTable table;
  CHECK(with_key(table, 7, 1) == EventTable::kNone);
  const std::uint32_t first = seen(table, 7, 1);
  CHECK(with_key(table, 7, 1) == EventTable::kNone);  // it came only once
  seen(table, 7, 1);
  CHECK(with_key(table, 7, 1) == first);
  CHECK(with_key(table, 7, 2) == EventTable::kNone);
  CHECK(with_key(table, 8, 1) == EventTable::kNone);
  // By what followed, and by its path where something else followed.
  std::uint32_t second = 0;
  for (int i = 0; i < 3; ++i) second = seen(table, 9, 2);
  CHECK(with_key(table, 7, 1) == first);
  CHECK(with_key(table, 9, 2) == second);
  CHECK(with_key(table, 9, 2) == second);
  CHECK(with_key(table, 7, 1) == first);
  // A key may change, and goes with its event.
  const std::int64_t other[] = {20};
  table.learn_key(first, other);
  CHECK(with_key(table, 7, 1) == EventTable::kNone);
  CHECK(with_key(table, 7, 2) == first);
  table.clear();
  CHECK(with_key(table, 7, 2) == EventTable::kNone);
}

TEST_CASE("a log's times hold a day, and longer ones end there") {
  const std::uint64_t most = (std::uint64_t{1} << 48) - 1;
  for (const std::uint64_t time : {std::uint64_t{0}, std::uint64_t{5}, most >> 20, most}) {
    const IntervalLog::Record record(7, time, most - time);
    CHECK(record.event() == 7);
    CHECK(record.compute() == time);
    CHECK(record.communication() == most - time);
  }
  CHECK(IntervalLog::Record(1, UINT64_MAX, 3).compute() == most);
  CHECK(IntervalLog::Record(1, UINT64_MAX, 3).communication() == 3);
  CHECK(IntervalLog::Record(1, 3, most + 1).communication() == most);
}

TEST_CASE("events that never repeat fill a log by their table") {
  IntervalLog log(64 << 10);
  std::int64_t value = 0;
  while (!log.full()) log.append(log.find(1, 2, &++value, 1), 3, 4);
  CHECK(value < 2048);
  log.clear();
  CHECK(!log.full());
  CHECK(log.table().size() == 0);
  // Those that do, by their number.
  value = 0;
  std::size_t events = 0;
  for (; !log.full(); ++events) log.append(log.find(1, 2, &value, 1), 3, 4);
  CHECK(events == 2048);
  log.clear();
  CHECK(log.table().size() == 1);
}

}  // namespace
}  // namespace chameleon
