// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "format/codec.h"
#include "format/commit.h"
#include "format/file.h"
#include "temporary_file.h"

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
