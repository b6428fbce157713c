// SPDX-License-Identifier: BSD-3-Clause
// Values that become distributions: what of them stays true, and what the trace declares.
#include <algorithm>
#include <random>

#include "compress/distribution.h"
#include "model/view.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::compress;
using chameleon::testing::TraceBuilder;

namespace {

std::vector<std::int64_t> all_of(const ValueSequence& sequence) {
  std::vector<std::int64_t> values;
  for (ValueSequence::Cursor cursor(sequence); !cursor.done();) values.push_back(cursor.next());
  return values;
}

ValueSequence sequence_of(const std::vector<std::int64_t>& values) {
  ValueSequence sequence;
  for (const std::int64_t value : values) sequence.append(value);
  return sequence;
}

/// Values of a field, by event of a rank.
std::vector<std::int64_t> field_of(const Trace& trace, std::uint32_t rank, std::size_t field) {
  Result<RankView> view = RankView::make(trace, rank);
  REQUIRE(view);
  std::vector<std::int64_t> values;
  for (EventView event; view->next(event);) values.push_back(event.values[field]);
  return values;
}

}  // namespace

TEST_CASE("a distribution has as many values in order, and about the same share below each") {
  const auto seed = GENERATE(take(20, random(0, 1 << 30)));
  INFO("seed " << seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<std::int64_t> values(5000);
  std::lognormal_distribution<> lengths(8, 1.5);
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(lengths(random));
  const ValueSequence made = distribution(sequence_of(values));
  const std::vector<std::int64_t> found = all_of(made);
  std::sort(values.begin(), values.end());
  REQUIRE(found.size() == values.size());
  CHECK(std::is_sorted(found.begin(), found.end()));
  CHECK(found.front() == values.front());
  CHECK(found.back() == values.back());
  CHECK(made.term_count() <= 4 * kMostRanges);
  CHECK(distribution(made).term_count() <= 4 * kMostRanges);
  const std::int64_t span = values.back() - values.front();
  for (const std::size_t at : {500U, 2500U, 4500U})
    CHECK(std::abs(found[at] - values[at]) < span / 8);
}

TEST_CASE("what is no amount but a name stays what it is in a distribution") {
  std::vector<std::int64_t> values;
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i)
    values.push_back(i % 5 == 0   ? -1
                     : i % 7 == 0 ? INT32_MIN
                                  : static_cast<int>(random() % 100000));
  const std::vector<std::int64_t> found = all_of(distribution(sequence_of(values)));
  for (const std::int64_t name : {std::int64_t{-1}, std::int64_t{INT32_MIN}})
    CHECK(std::count(found.begin(), found.end(), name) ==
          std::count(values.begin(), values.end(), name));
  CHECK(std::all_of(found.begin(), found.end(),
                    [](std::int64_t one) { return one >= -1 || one == INT32_MIN; }));
}

TEST_CASE("values beyond the limit become distributions, of which the nodes say whose they are") {
  TraceBuilder job(4);
  job.call(1, "Send", {"count:count", "dest:dest:e", "tag:tag", "comm:comm"});
  std::mt19937 random(2);
  for (int step = 0; step < 3000; ++step)
    for (std::uint32_t rank = 0; rank < 4; ++rank)
      job.push(rank, 1, {rank >= 2 ? static_cast<int>(random() % 1000000) : 8, step % 3, 7, 0});
  Trace trace = job.build();
  const Trace before = trace;

  CHECK(limit_values(trace, 1 << 20) == 0);
  CHECK(field_of(trace, 2, 1) == field_of(before, 2, 1));
  CHECK(limit_values(trace, 64 << 10) == 1);
  CHECK(limit_values(trace, 64 << 10) == 0);  // now it is small

  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    std::vector<std::int64_t> counts = field_of(before, rank, 1);
    if (rank >= 2) {
      CHECK(field_of(trace, rank, 1) != counts);
      std::sort(counts.begin(), counts.end());
      CHECK(field_of(trace, rank, 1).back() == counts.back());
    } else {
      CHECK(field_of(trace, rank, 1) == counts);
    }
    CHECK(field_of(trace, rank, 1).size() == counts.size());
    for (const std::size_t exact : {2U, 3U, 4U})
      CHECK(field_of(trace, rank, exact) == field_of(before, rank, exact));
  }
  RankList declared;
  std::uint32_t kinds = 0;
  const auto collect = [&](const auto& self, const std::vector<Node>& nodes) -> void {
    for (const Node& node : nodes) {
      for (const Inexact& one : node.inexact) {
        declared.merge(one.ranks);
        kinds |= one.kinds;
      }
      self(self, node.body);
    }
  };
  collect(collect, trace.nodes);
  CHECK(declared.to_string() == "2-3");
  CHECK(kinds == kInexactCount);
}
