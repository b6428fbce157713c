// SPDX-License-Identifier: BSD-3-Clause
// Rules: what they say, what they give, and what ranks that follow them are to clustering.

#include "cluster/by_signatures.h"
#include "signature/call_rules.h"
#include "signature/call_sites.h"
#include "unit/catch.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::signature;

namespace {

std::optional<std::int64_t> value_of(const std::string& expression, const RuleCaller& caller) {
  const Result<Rules> rules = Rules::parse("Send.dest = " + expression);
  REQUIRE(rules);
  return rules->value(0, caller);
}

std::string error_of(const std::string& text) {
  const Result<Rules> rules = Rules::parse(text);
  return rules ? "" : rules.error().message;
}

}  // namespace

TEST_CASE("rules compute as C does, in 64 bits that wrap") {
  const RuleCaller caller{6, 16, 3, 100};
  const auto [expression, expected] = GENERATE(table<const char*, std::int64_t>({
      {"me", 6},
      {"np - me - 1", 9},
      {"2 + 3 * 4", 14},
      {"(2 + 3) * 4", 20},
      {"20 - 5 - 3", 12},
      {"-7 / 2", -3},
      {"-7 % 4", -3},
      {"1 << 4 | 1", 17},
      {"me ^ 1", 7},
      {"me & 3 ^ 1", 3},
      {"~0", -1},
      {"!me + !0", 1},
      {"me < np == 1", 1},
      {"me <= 6 && me >= 6 && me > 5 && me != 7", 1},
      {"0 && 1 / 0 || 2", 1},
      {"me % 2 == 0 ? me + 1 : me - 1", 7},
      {"0 ? 1 / 0 : 0 ? 2 : 3", 3},
      {"min(me, 4) + max(me, 4)", 10},
      {"isqrt(np)", 4},
      {"isqrt(9223372036854775807)", 3037000499},
      {"isqrt(np - 1)", 3},
      {"tag * 1000 + count", 3100},
      {"9223372036854775807 + 1", INT64_MIN},
      {"-8 >> 1", -4},
      {"me % isqrt(np) * isqrt(np) + me / isqrt(np)", 9},
  }));
  INFO(expression);
  CHECK(value_of(expression, caller) == expected);
}

TEST_CASE("places that a function is called from are numbered as they come") {
  CallSites sites;
  CHECK(sites.number(1, 500) == 0);
  CHECK(sites.number(1, 400) == 1);
  CHECK(sites.number(2, 400) == 0);
  CHECK(sites.number(1, 500) == 0);
  CHECK(sites.find(1, 400) == 1);
  CHECK_FALSE(sites.find(2, 500));
  CHECK_FALSE(value_of("site", {6, 16, 3, 100}));
  CHECK(value_of("site == 1 ? me / 4 : me % 4", {6, 16, {}, {}, 1}) == 1);
  CHECK(value_of("site == 1 ? me / 4 : me % 4", {6, 16, {}, {}, 0}) == 2);
}

TEST_CASE("what has no result gives nothing") {
  const std::string expression =
      GENERATE("1 / 0", "me % (np - 16)", "isqrt(-1)", "1 << 64", "1 >> -1", "tag", "count + 1",
               "(-9223372036854775807 - 1) / -1", "1 / 0 ? 1 : 2", "1 ? 1 / 0 : 2", "1 && tag");
  INFO(expression);
  CHECK_FALSE(value_of(expression, {6, 16, std::nullopt, std::nullopt}));
}

TEST_CASE("a text has definitions, conditions and comments") {
  const Result<Rules> rules = Rules::parse(
      "# the transposed place\n"
      "let r = isqrt(np)  # rows; and columns\n"
      "\n"
      "let t = me % r * r + me / r; MPI_Send.dest where tag == 3 = t\n"
      "Recv.source = t");
  REQUIRE(rules);
  REQUIRE(rules->list().size() == 2);
  CHECK(rules->list()[0].call == "Send");
  CHECK(rules->list()[0].field == "dest");
  CHECK(rules->list()[1].line == 5);
  CHECK(rules->value(0, {1, 16, 3, {}}) == 4);
  CHECK(rules->applies(0, {1, 16, 3, {}}));
  CHECK_FALSE(rules->value(0, {1, 16, 4, {}}));
  CHECK_FALSE(rules->applies(0, {1, 16, 4, {}}));
  CHECK_FALSE(rules->applies(0, {1, 16, {}, {}}));
  CHECK(rules->value(1, {1, 16, {}, {}}) == 4);
  CHECK(check_rules(*rules));
}

TEST_CASE("errors name the line and what is wrong with it") {
  using testing::contains;
  CHECK_THAT(error_of("\nSend.dest = me +"), contains("line 2: a number or a name is expected"));
  CHECK_THAT(error_of("Send = 1"), contains("'.' and the name of a parameter of Send"));
  CHECK_THAT(error_of("Send.dest me"), contains("'=' is expected, not 'me'"));
  CHECK_THAT(error_of("Send.dest = you"), contains("'you' is not defined"));
  CHECK_THAT(error_of("Send.dest = (me"), contains("')' is expected, not the end"));
  CHECK_THAT(error_of("Send.dest = me ? 1"), contains("':' is expected"));
  CHECK_THAT(error_of("Send.dest = me 1"), contains("an operator or the end of the line"));
  CHECK_THAT(error_of("Send.dest = 99999999999999999999"), contains("too large"));
  CHECK_THAT(error_of("let me = 1"), contains("has a meaning already"));
  CHECK_THAT(error_of("let isqrt = 1"), contains("has a meaning already"));
  CHECK_THAT(error_of("Send.dest = min(1)"), contains("',' is expected"));
  CHECK_THAT(error_of(std::string("# \0", 3)), contains("zero byte"));
  CHECK_THAT(error_of("Send.dest = " + std::string(100, '(')), contains("nests too deeply"));
  CHECK_THAT(error_of("Send.dest = " + std::string(100, '-') + "1"), contains("too deeply"));
  CHECK_THAT(error_of(std::string(Rules::kMostText + 1, ' ')), contains("64 KiB"));
  std::string many, sum = "Send.dest = 1";
  for (int i = 0; i < 257; ++i) many += "Send.dest = me\n";
  for (int i = 0; i < 4096; ++i) sum += "+1";
  CHECK_THAT(error_of(many), contains("more than 256 rules"));
  CHECK_THAT(error_of(sum), contains("more than 4096 operations"));
}

TEST_CASE("definitions that double each other are evaluated once each") {
  std::string text = "let a0 = me\n";
  for (int i = 1; i < 60; ++i)
    text += "let a" + std::to_string(i) + " = a" + std::to_string(i - 1) + " + a" +
            std::to_string(i - 1) + "\n";
  const Result<Rules> rules = Rules::parse(text + "Send.dest = a59");
  REQUIRE(rules);
  CHECK(rules->value(0, {1, 2, {}, {}}) == std::int64_t{1} << 59);
}

TEST_CASE("rules are of calls and parameters that there are") {
  const auto unknown = [](const std::string& text) {
    const Status known = check_rules(*Rules::parse(text));
    return known ? "" : known.error().message;
  };
  CHECK(unknown("Sendd.dest = 1") == "line 1: there is no call MPI_Sendd");
  CHECK(unknown("Barrier.dest = 1") ==
        "line 1: Barrier has no parameter 'dest' that rules can give: it has none");
  CHECK(unknown("Send.datatype = 1") ==
        "line 1: Send has no parameter 'datatype' that rules can give: there are count, dest, tag");
  CHECK(unknown("Comm_split.color = me; Comm_split.key = 0; Sendrecv.recvcount = 1").empty());
}

TEST_CASE("ranks whose partners follow a rule have as many leads as what is left of them differs") {
  const std::uint32_t side = GENERATE(4, 8, 16, 32);
  const Result<Rules> rules = Rules::parse(
      "let r = isqrt(np)\nSend.dest = me % r * r + me / r\nRecv.source = me % r * r + me / r");
  REQUIRE(rules);
  const bool right = GENERATE(true, false);
  const CallRules calls(*rules);
  const auto send = static_cast<std::uint16_t>(CallId::kSend);
  const auto destination = calls.of(send).front().value;
  const auto of = [&](std::uint32_t rank) {
    IntervalSignature signature;
    const auto partner = [&](std::int64_t other, bool ruled) {
      const std::int64_t np = side * side;
      const std::uint32_t rule = calls.matching(send, destination.at, other, {rank, np, {}, {}});
      CHECK((rule != 0) == ruled);
      signature.call(ruled || !right ? 2 : 1);
      if (rule != 0)
        signature.add_ruled(Parameter::kDestination, rule);
      else
        signature.add_end_point(Parameter::kDestination, pack_rank(static_cast<std::int32_t>(other),
                                                                   static_cast<std::int32_t>(rank),
                                                                   static_cast<std::int32_t>(np)));
    };
    // A butterfly over the row, which stays off the diagonal, and the transposed place or the one
    // before it.
    const std::uint32_t row = rank / side, column = rank % side;
    for (std::uint32_t bit = 1; bit < side; bit *= 2) partner(row * side + (column ^ bit), false);
    const std::uint32_t transposed = column * side + row;
    partner(right ? transposed : (transposed + side * side - 1) % (side * side), right);
    return signature.take();
  };
  world::VirtualWorld world(side * side);
  const auto found =
      cluster::cluster(world, world.generate(of), cluster::find_preset("dynamic")->options);
  CHECK(found.size() == (right ? side : side * side));
}
