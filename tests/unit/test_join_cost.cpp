// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>

#include "format/codec.h"
#include "format/commit.h"
#include "format/file.h"
#include "temporary_file.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::format;
using namespace chameleon::testing;
using namespace std::chrono_literals;

namespace {

Bytes file_of(const Trace& whole, const Trace& delta, std::uint64_t repeats) {
  Bytes file = commit::header();
  const auto add = [&](const Bytes& bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
  add(commit::frame(commit::kWhole, encode_trace(whole)));
  add(commit::frame(commit::kDelta, encode_trace(delta)));
  if (repeats != 0) add(commit::repeat_frame(repeats));
  return file;
}

/// The ranks 0 and 3 of each eight: few bytes, and half a million runs.
Trace of_pairs_of_ranks() {
  Trace trace;
  trace.world_size = 1U << 22;
  auto ranks = RankList::parse("0-3:3+8*524288");
  REQUIRE(ranks);
  REQUIRE(ranks->runs().size() == 1U << 19);
  trace.ranks = std::move(*ranks);
  return trace;
}

/// One call, of whose parameters each rank has a value of its own; of the last one so many times:
/// of very many no two can become one.
Trace of_groups(std::uint32_t ranks, std::size_t params, std::uint64_t times_of_last = 1) {
  constexpr std::uint16_t kCall = 7;
  Trace trace;
  trace.world_size = ranks;
  trace.ranks = RankList::range(0, ranks - 1);
  trace.calls[kCall].name = "Many";
  Node node;
  node.call = kCall;
  node.path = 1;
  node.shape = Shape::of(node.symbol());
  for (std::size_t i = 0; i < params; ++i) {
    trace.calls[kCall].fields.push_back({"f" + std::to_string(i), "int", FieldKind::kPlain});
    std::vector<ParamGroup> groups;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      groups.push_back({RankList::single(rank), EndPointForm::kBoth,
                        ValueSequence(rank ^ 5U, i + 1 < params ? 1 : times_of_last)});
    node.params.emplace_back().set_groups(std::move(groups));
  }
  trace.nodes.push_back(std::move(node));
  return trace;
}

constexpr std::uint64_t kMostValues = std::uint64_t{1} << 48;

}  // namespace

TEST_CASE("few bytes cannot keep a reader busy", "[file]") {
  const Trace trace = of_pairs_of_ranks();
  const Bytes once = file_of(trace, trace, 0), often = file_of(trace, trace, 4000);
  REQUIRE(often.size() < 300);
  CHECK(parse_trace(once, "once"));
  const auto start = std::chrono::steady_clock::now();
  const auto read = parse_trace(often, "often");
  CHECK_FALSE(read);
  if (!read) CHECK(read.error().message.find("too long to join") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("a writer begins anew before its deltas take too long to join", "[file]") {
  const TemporaryFile file;
  Trace online = of_pairs_of_ranks();
  auto writer = TraceWriter::create(file.path, online);
  REQUIRE(writer);
  std::uint64_t least = writer->bytes();
  for (int i = 0; i < 40; ++i) {
    const Trace partial = of_pairs_of_ranks();
    REQUIRE(writer->append(partial, online));
    least = std::min(least, writer->bytes());
  }
  CHECK(writer->bytes() < least + 40 * commit::kFrameSize);
  CHECK(read_trace(file.path));
}

TEST_CASE("groups of values take time when a delta is repeated", "[file]") {
  const Trace trace = of_groups(254, 15, kMostValues);
  const Bytes file = file_of(trace, trace, 4000);
  REQUIRE(file.size() < 2000);
  const auto start = std::chrono::steady_clock::now();
  const auto read = parse_trace(file, "groups");
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("too long to join") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("so do those that are compared with many before", "[file]") {
  const Trace trace = of_groups(254, 15, kMostValues);
  const Bytes file = file_of(trace, trace, 1500);
  const auto start = std::chrono::steady_clock::now();
  const auto read = parse_trace(file, "groups");
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("too long to join") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - start < 10s);
}

TEST_CASE("repeats take memory where they do not fold", "[file]") {
  const Trace trace = of_groups(254, 15, kMostValues);
  const Bytes file = file_of(trace, trace, 500);
  const auto read = parse_trace(file, "groups", nullptr, 32U << 20);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("too large") != std::string::npos);
}

TEST_CASE("repeats that fold take no memory, and what is packed was paid for", "[file]") {
  const Trace trace = of_groups(1024, 4);
  const Bytes file = file_of(trace, trace, 400);
  const auto read = parse_trace(file, "groups", nullptr, 16U << 20);
  REQUIRE(read);
  REQUIRE(read->nodes.size() == 1);
  CHECK(read->event_count() == 1024 * 402);
}

TEST_CASE("a writer begins anew before repeats of groups take too long to join", "[file]") {
  const TemporaryFile file;
  const Trace partial = of_groups(254, 30);
  auto writer = TraceWriter::create(file.path, partial);
  REQUIRE(writer);
  for (int i = 0; i < 1200; ++i) REQUIRE(writer->append(partial, partial));
  CHECK(read_trace(file.path));
}
