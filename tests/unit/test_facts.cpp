// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compress/append.h"
#include "compress/join_tables.h"
#include "format/codec.h"
#include "format/column.h"
#include "format/file.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::format;

namespace {

Trace of_ranks(std::uint32_t ranks) {
  Trace trace;
  trace.world_size = ranks;
  trace.ranks = RankList::range(0, ranks - 1);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) trace.facts[rank];
  return trace;
}

void set(std::string& fact, std::uint64_t value) { fact = "text " + std::to_string(value); }
template <class T>
void set(T& fact, std::uint64_t value) {
  fact = static_cast<T>(value);
}

/// All facts of all ranks, each different.
Trace with_all_facts(std::uint32_t ranks) {
  Trace trace = of_ranks(ranks);
  std::uint64_t value = 1000;
  for (auto& [rank, facts] : trace.facts)
    for_each_rank_fact([&](const Fact&, auto member) { set(facts.*member, value += 7); });
  for_each_run_fact([&](const Fact&, auto member) { set(trace.*member, ++value); });
  for_each_online_fact([&](const Fact&, auto member) { set(trace.online.*member, ++value); });
  return trace;
}

Result<Trace> again(const Trace& trace) { return decode_trace(encode_trace(trace)); }

/// A payload of four ranks with a section of facts that `write` makes.
template <class F>
Result<Trace> with_section(F write) {
  Bytes bytes = encode_trace([] {
    Trace trace = of_ranks(4);
    trace.facts.clear();
    return trace;
  }());
  ByteReader in(bytes);
  ByteWriter out;
  while (!in.at_end()) {
    const std::uint64_t tag = in.varint();
    const auto body = in.raw(in.varint());
    if (tag == 14) continue;
    out.varint(tag);
    out.varint(body.size());
    out.raw(body);
  }
  ByteWriter section;
  write(section);
  out.varint(14);
  out.varint(section.bytes().size());
  out.raw(section.bytes());
  return decode_trace(out.bytes());
}

constexpr std::uint64_t kByName = 0, kPacked = 1, kText = 2;
void describe(ByteWriter& out, std::uint64_t how, const char* name, const char* unit,
              std::uint8_t join) {
  out.varint(kByName + how);
  out.text(name);
  out.text(unit);
  out.u8(join);
}
void constant(ByteWriter& out, std::int64_t value, std::uint64_t count) {
  ValueSequence(value, count).encode(out);
}

/// A trace of a newer version: a number and a text of ranks, and a number of the run.
Trace of_newer_version(const RankList& ranks, std::int64_t base, const std::string& rack,
                       std::uint8_t join = static_cast<std::uint8_t>(Join::kSum)) {
  Trace trace = of_ranks(4);
  trace.facts.clear();
  CarriedFact number{"energy_mj", "mJ", join, false, false, ranks, {}, {}};
  CarriedFact text{"rack", "",    static_cast<std::uint8_t>(Join::kFirst), true, false, ranks,
                   {},     {rack}};
  ranks.for_each([&](std::uint32_t rank) {
    trace.facts[rank];
    number.values.append(base + rank);
    text.values.append(0);
  });
  CarriedFact run{
      "watts", "W", static_cast<std::uint8_t>(Join::kMost), false, true, {}, ValueSequence(base),
      {}};
  trace.carried = {number, text, run};
  return trace;
}

std::vector<std::int64_t> numbers_of(const CarriedFact& fact) {
  std::vector<std::int64_t> numbers;
  for (ValueSequence::Cursor cursor(fact.values); !cursor.done();) numbers.push_back(cursor.next());
  return numbers;
}

std::vector<std::string> texts_of(const CarriedFact& fact) {
  std::vector<std::string> texts;
  for (const std::int64_t place : numbers_of(fact))
    texts.push_back(fact.texts.at(static_cast<std::size_t>(place)));
  return texts;
}

}  // namespace

TEST_CASE("a column keeps its numbers", "[facts]") {
  const auto seed = testing::seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto size = GENERATE(std::size_t{0}, 1, 31, 32, 33, 500);
  const auto width = GENERATE(0, 1, 7, 8, 20, 63, 64);
  const auto unit = GENERATE(0, 1, 9, 40);  // all are multiples of this power of two, and 3
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < size; ++i)
    numbers.push_back(static_cast<std::int64_t>(
        3 + ((width == 0 ? 5 : random() >> (64 - width)) >> unit << unit)));
  if (size > 2 && width == 64) {
    numbers[0] = std::numeric_limits<std::int64_t>::min();
    numbers[1] = std::numeric_limits<std::int64_t>::max();
  }
  const column::Encoded encoded = column::encode(numbers);
  ByteReader in(encoded.bytes);
  std::vector<std::int64_t> read;
  REQUIRE(column::read(in, encoded.packed, size, [&](std::int64_t n) { read.push_back(n); }));
  CHECK(in.at_end());
  CHECK(read == numbers);
}

TEST_CASE("equal numbers of many ranks take a few bytes, near ones the bits they differ in",
          "[facts]") {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> numbers(1024, 1'000'000'000);
  CHECK(column::encode(numbers).bytes.size() < 10);
  for (std::int64_t& number : numbers) number += static_cast<std::int64_t>(random() % 1024);
  const std::size_t near = column::encode(numbers).bytes.size();
  CHECK(near <= 1024 * 10 / 8 + 32 * 4);
  numbers[500] = 1;  // one that is far off costs its block
  CHECK(column::encode(numbers).bytes.size() < near + 100);
  for (std::int64_t& number : numbers) number = number / 64 * 64;  // as rounded ones are
  CHECK(column::encode(numbers).bytes.size() < 1024 * 4 / 8 + 32 * 5 + 100);
}

TEST_CASE("a damaged packed column is refused", "[facts]") {
  ByteWriter wide, cut, wider, unit;
  wide.svarint(0);
  wide.u8(65);
  for (int i = 0; i < 100; ++i) wide.u8(0);
  wider.svarint(0);
  wider.u8(128 + 40);
  wider.u8(25);
  for (int i = 0; i < 100; ++i) wider.u8(0);
  unit.svarint(0);
  unit.u8(128);
  unit.u8(3);
  cut.svarint(0);
  cut.u8(64);
  cut.u8(0);
  for (const Bytes& bytes : {wide.bytes(), cut.bytes(), wider.bytes(), unit.bytes(), Bytes()}) {
    ByteReader in(bytes);
    CHECK_FALSE(column::read(in, true, 4, [](std::int64_t) {}));
    CHECK_FALSE(in.ok());
  }
}

TEST_CASE("every fact is the same after writing and reading", "[facts]") {
  const Trace trace = with_all_facts(50);
  const auto read = again(trace);
  REQUIRE(read);
  CHECK(read->facts == trace.facts);
  for_each_run_fact([&](const Fact& fact, auto member) {
    INFO(fact.name);
    CHECK((*read).*member == trace.*member);
  });
  for_each_online_fact([&](const Fact& fact, auto member) {
    INFO(fact.name);
    CHECK(read->online.*member == trace.online.*member);
  });
}

TEST_CASE("facts that are nowhere take no room", "[facts]") {
  Trace trace = of_ranks(1000);
  const std::size_t none = encode_trace(trace).size();
  for (auto& [rank, facts] : trace.facts) facts.events = 5;
  CHECK(encode_trace(trace).size() <= none + 5);
}

TEST_CASE("facts of a rank in two parts are joined as the table says", "[facts]") {
  RankFacts first, second;
  first.events = second.events = 3;
  first.tool_bytes = 9;
  second.tool_bytes = 7;
  first.host = "here";
  second.host = "there";
  second.processor = 4;
  first.clock_samples = 1;
  first.clock_begin_ns = -5;
  second.clock_samples = 2;
  second.clock_error_ns = 8;
  RankFacts both = first;
  join(both, second);
  CHECK(both.events == 6);
  CHECK(both.tool_bytes == 9);
  CHECK(both.host == "here");
  CHECK(both.processor == 0);
  CHECK(both.clock() == RankClock{2, 0, 0, 8});
  RankFacts unknown;
  join(unknown, second);
  CHECK(unknown == second);
  CHECK(joined<std::string>("a", "b", Join::kLast, {}) == "b");
  CHECK(joined<std::string>("a", "", Join::kLast, {}) == "a");
  CHECK(joined<std::int64_t>(INT64_MAX, 1, Join::kSum, {}) == INT64_MIN);
}

TEST_CASE("what a newer version says is read, joined, and written again", "[facts]") {
  auto trace = again(of_newer_version(RankList::range(0, 2), 10, "A"));
  REQUIRE(trace);
  REQUIRE(trace->carried.size() == 3);
  CHECK(trace->carried[0].name == "energy_mj");
  CHECK(trace->carried[0].unit == "mJ");
  CHECK(trace->carried[2].of_run);

  SECTION("an append adds up what adds up") {
    compress::append(*trace, of_newer_version(RankList::range(1, 3), 100, "B"));
    trace = again(*trace);
    REQUIRE(trace);
    CHECK(numbers_of(trace->carried.at(0)) == std::vector<std::int64_t>{10, 112, 114, 103});
    CHECK(texts_of(trace->carried.at(1)) == std::vector<std::string>{"A", "A", "A", "B"});
    CHECK(numbers_of(trace->carried.at(2)) == std::vector<std::int64_t>{100});
  }
  SECTION("ranks without a value have none") {
    trace->facts[3].events = 1;
    trace = again(*trace);
    REQUIRE(trace);
    CHECK(numbers_of(trace->carried.at(0)) == std::vector<std::int64_t>{10, 11, 12, 0});
    CHECK(texts_of(trace->carried.at(1)) == std::vector<std::string>{"A", "A", "A", ""});
    const Bytes once = encode_trace(*trace);
    CHECK(encode_trace(*again(*trace)) == once);
  }
  SECTION("what goes with the clock is that of the part that compared clocks more often") {
    Trace first = of_newer_version(RankList::single(0), 10, "A", 5);
    Trace second = of_newer_version(RankList::single(0), 20, "B", 5);
    (GENERATE(true, false) ? first : second).facts[0].clock_samples = 3;
    const bool from_first = first.facts[0].clock_samples == 3;
    compress::join_tables(first, second);
    CHECK(numbers_of(first.carried.at(0)) == std::vector<std::int64_t>{from_first ? 10 : 20});
  }
  SECTION("of a way of joining that is not known the first part's hold") {
    Trace first = of_newer_version(RankList::single(0), 10, "A", 77);
    Trace second = of_newer_version(RankList::single(0), 20, "B", 77);
    compress::join_tables(first, second);
    CHECK(numbers_of(first.carried.at(0)) == std::vector<std::int64_t>{10});
    CHECK(again(first)->carried.at(0).join == 77);
  }
}

TEST_CASE("what a rank left when its job was killed holds for its whole run", "[facts]") {
  CarriedFacts carried = of_newer_version(RankList::range(0, 2), 10, "A").carried;
  supersede(carried, of_newer_version(RankList::single(1), 70, "B").carried);
  CHECK(numbers_of(carried.at(0)) == std::vector<std::int64_t>{10, 71, 12});
  CHECK(texts_of(carried.at(1)) == std::vector<std::string>{"A", "B", "A"});
  CHECK(numbers_of(carried.at(2)) == std::vector<std::int64_t>{10});  // of the run
}

TEST_CASE("parts that differ in what a fact of one name is are not of one trace", "[facts]") {
  CarriedFacts number{{"strange", "", 0, false, true, {}, ValueSequence(1), {}}};
  CarriedFacts text{{"strange", "", 0, true, true, {}, ValueSequence(0), {"one"}}};
  CHECK(fits(number, number));
  CHECK_FALSE(fits(number, text));
  join(number, text, {}, {});
  CHECK(number.size() == 1);
  CarriedFacts many;
  for (std::size_t i = 0; i < kMostCarriedFacts; ++i)
    many.push_back({"fact " + std::to_string(i), "", 0, false, true, {}, ValueSequence(1), {}});
  CHECK(fits(many, many));
  CHECK_FALSE(fits(many, number));
  join(many, number, {}, {});
  CHECK(many.size() == kMostCarriedFacts);
}

TEST_CASE("a file may give any fact by its name", "[facts]") {
  const auto trace = with_section([](ByteWriter& out) {
    RankList::range(0, 3).encode(out);
    out.varint(2);
    describe(out, 0, "run_ns", "ns", 0);
    constant(out, 5, 4);
    describe(out, kText, "host", "", 4);
    out.varint(1);
    out.text("node");
    constant(out, 0, 4);
    out.varint(0);
  });
  REQUIRE(trace);
  CHECK(trace->carried.empty());
  CHECK(trace->facts.at(3).run_ns == 5);
  CHECK(trace->facts.at(3).host == "node");
}

TEST_CASE("a section of facts that cannot be is refused", "[facts]") {
  const auto column_of = [](std::uint64_t how, const char* name, std::int64_t value,
                            std::uint64_t count) {
    return [=](ByteWriter& out) {
      RankList::range(0, 3).encode(out);
      out.varint(1);
      describe(out, how, name, "", 0);
      if ((how & kText) != 0) {
        out.varint(1);
        out.text("one");
      }
      constant(out, value, count);
      out.varint(0);
    };
  };
  CHECK(with_section(column_of(0, "strange", 3, 4)));  // what it is like when it is right
  CHECK(with_section(column_of(kText, "strange", 0, 4)));
  CHECK_FALSE(with_section(column_of(0, "strange", 3, 5)));
  CHECK_FALSE(with_section(column_of(kText, "strange", 1, 4)));
  CHECK_FALSE(with_section(column_of(kText, "run_ns", 0, 4)));
  CHECK_FALSE(with_section(column_of(0, "host", 0, 4)));
  CHECK_FALSE(with_section(column_of(0, "clock_begin_ns", std::int64_t{1} << 61, 4)));
  CHECK_FALSE(with_section(column_of(kPacked, "strange", 3, 40)));
  const auto numbered = [](std::uint64_t number) {
    return [=](ByteWriter& out) {
      RankList::range(0, 3).encode(out);
      out.varint(1);
      out.varint(4 * number);
      constant(out, 1, 4);
      out.varint(0);
    };
  };
  CHECK(with_section(numbered(1)));
  CHECK_FALSE(with_section(numbered(17)));        // from here on facts have names only
  CHECK_FALSE(with_section([](ByteWriter& out) {  // twice
    RankList::range(0, 3).encode(out);
    out.varint(2);
    for (int i = 0; i < 2; ++i) {
      describe(out, 0, "strange", "", 0);
      constant(out, 1, 4);
    }
    out.varint(0);
  }));
  CHECK_FALSE(with_section([](ByteWriter& out) { RankList::range(0, 4).encode(out); }));
  const auto of_run = [](std::uint8_t is_text) {
    return [=](ByteWriter& out) {
      RankList().encode(out);
      out.varint(0);
      out.varint(1);
      out.text("strange");
      out.text("");
      out.u8(0);
      out.u8(is_text);
      out.text("x");
    };
  };
  CHECK(with_section(of_run(1)));
  CHECK_FALSE(with_section(of_run(2)));
}

TEST_CASE("1,024 ranks that ran alike take 26 bytes each for all their facts", "[facts]") {
  // Durations as a quiet machine has them: means, and spreads of so many ns.
  std::mt19937_64 random(7);
  const auto near = [&](double mean, double spread) {
    return static_cast<std::int64_t>(std::normal_distribution<double>(mean, spread)(random));
  };
  Trace trace = of_ranks(1024);
  const std::size_t none = format::encode_trace(trace).size();
  for (auto& [rank, facts] : trace.facts) {
    facts.events = 1011;
    facts.run_ns = static_cast<std::uint64_t>(near(3.2e9, 3e4));
    facts.tool_ns = static_cast<std::uint64_t>(near(2e7, 1e5));
    facts.call_ns = static_cast<std::uint64_t>(near(9e8, 1e6));
    facts.tool_at_ns = static_cast<std::uint64_t>(near(1e6, 3e4));
    facts.tool_c_ns = static_cast<std::uint64_t>(near(4e6, 1e5));
    facts.tool_l_ns = static_cast<std::uint64_t>(near(3e6, 5e4));
    facts.tool_f_ns = static_cast<std::uint64_t>(near(9e6, 1e5));
    facts.set_clock(
        {36, near(-5e5, 3e5), near(0, 3e3), static_cast<std::uint64_t>(near(9e3, 6e2))});
    facts.tool_bytes = 4'445'000 + 1024 * (random() % 4);
    facts.processor = rank % 64;
    facts.host = "node" + std::to_string(rank / 64);
  }
  const double each = static_cast<double>(encode_trace(trace).size() - none) / 1024;
  WARN(each << " bytes a rank before compression");
  CHECK(each < 26);
}
