// SPDX-License-Identifier: BSD-3-Clause

#include "markers/marker.h"
#include "markers/pace.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::markers;

TEST_CASE("chameleon_marker() is a boundary and no event", "[markers]") {
  const MarkerSource markers;
  CHECK(markers.source(MarkerCall::pcontrol(CHAMELEON_MARKER)) == Marker{.is_event = false});
}

TEST_CASE("other levels of MPI_Pcontrol are no markers", "[markers]") {
  const MarkerSource markers;
  const int level = GENERATE(0, 1, 2, -1, CHAMELEON_MARKER - 1, CHAMELEON_MARKER + 1,
                             -CHAMELEON_MARKER, CHAMELEON_MARKER | 1 << 24);
  CHECK_FALSE(markers.source(MarkerCall::pcontrol(level)));
}

TEST_CASE("a barrier is a marker on the named communicator only, and stays an event", "[markers]") {
  const MarkerSource markers;
  CHECK(markers.source(MarkerCall::barrier(true)) == Marker{.is_event = true});
  CHECK_FALSE(markers.source(MarkerCall::barrier(false)));
  // What is the other form's business does not make a call a marker.
  CHECK_FALSE(markers.source({MarkerCall::Kind::kBarrier, CHAMELEON_MARKER, false}));
  CHECK_FALSE(markers.source({MarkerCall::Kind::kPcontrol, 1, true}));
}

TEST_CASE("the name of a marker communicator is compared whole", "[markers]") {
  CHECK(names_marker_comm("chameleon.marker"));
  const char* name =
      GENERATE("", "chameleon", "chameleon.marker ", " chameleon.marker", "chameleon.markers",
               "Chameleon.marker", "chameleon.marker2", "chameleon_marker", "MPI_COMM_WORLD");
  CHECK_FALSE(names_marker_comm(name));
}

TEST_CASE("every n-th marker is acted on", "[markers]") {
  const std::uint64_t every = GENERATE(1, 2, 3, 7, 100);
  MarkerFrequency frequency(every);
  for (std::uint64_t marker = 1; marker <= 350; ++marker) {
    CHECK(frequency.act() == (marker % every == 0));
    CHECK(frequency.seen() == marker);
    CHECK(frequency.acted() == marker / every);
  }
}

TEST_CASE("a frequency of 0 acts on every marker", "[markers]") {
  MarkerFrequency frequency(0);
  CHECK(frequency.act());
  CHECK(frequency.act());
  CHECK(frequency.acted() == 2);
}

TEST_CASE("the frequency of Table 5.2 gives its number of calls", "[markers]") {
  struct Row {
    std::uint64_t iterations, frequency, calls;
  };
  const Row row = GENERATE(Row{250, 25, 10}, Row{300, 20, 15}, Row{500, 20, 25}, Row{20, 1, 20},
                           Row{288, 32, 9}, Row{144, 16, 9}, Row{72, 8, 9});
  MarkerFrequency frequency(row.frequency);
  for (std::uint64_t i = 0; i < row.iterations; ++i) frequency.act();
  CHECK(frequency.acted() == row.calls);
}

namespace {
/// A source of another kind: every barrier.
struct EveryBarrier {
  std::optional<Marker> source(const MarkerCall& call) const {
    if (call.kind != MarkerCall::Kind::kBarrier) return std::nullopt;
    return Marker{.is_event = true};
  }
};
}  // namespace
static_assert(FindsMarkers<EveryBarrier>);

namespace {

constexpr std::uint64_t kUs = 1000, kMs = 1000 * kUs;

/// Markers of steps that take `step_ns` each, up to the next that is acted on; what they took.
std::uint64_t interval(Pace& pace, std::uint64_t step_ns) {
  std::uint64_t took = 0;
  do took += step_ns;
  while (!pace.act());
  return took;
}

/// After a vote about an interval that had as many markers as are acted on now.
bool adjust(Pace& pace, std::uint64_t ns, std::uint64_t factor) {
  return pace.adjust(ns, pace.every(), factor);
}

/// Votes until the pace stays.
int votes_to_settle(Pace& pace, std::uint64_t step_ns) {
  int votes = 1;
  while (adjust(pace, interval(pace, step_ns), 1)) ++votes;
  return votes;
}

}  // namespace

TEST_CASE("a number of markers stays, but for the factor", "[markers]") {
  Pace pace(25);
  for (const std::uint64_t factor : {1U, 1U, 2U, 2U, 64U}) {
    const bool changes = pace.every() != 25 * factor;
    interval(pace, 1);
    CHECK(adjust(pace, 1, factor) == changes);
    CHECK(pace.every() == 25 * factor);
  }
}

TEST_CASE("by itself an interval lasts a tenth of a second, and less than eight", "[markers]") {
  const std::uint64_t step = GENERATE(2 * kUs, 3 * kUs, 50 * kUs, kMs, 7 * kMs, 99 * kMs, 100 * kMs,
                                      399 * kMs, 5000 * kMs);
  Pace pace(Pace::kAuto);
  CHECK(pace.every() == 1);
  CHECK_FALSE(adjust(pace, interval(pace, step), 1));  // the start-up is in it
  CHECK(votes_to_settle(pace, step) <= 7);
  const std::uint64_t took = interval(pace, step);
  CHECK(took >= Pace::kLeastNs);
  CHECK((took < Pace::kTooLong * Pace::kLeastNs || pace.every() == 1));
  CHECK_FALSE(adjust(pace, took, 1));
}

TEST_CASE("a pace follows steps that become longer or shorter, without hurry", "[markers]") {
  Pace pace(Pace::kAuto);
  adjust(pace, kMs, 1);
  CHECK(adjust(pace, interval(pace, kMs), 1));
  CHECK(pace.every() == Pace::kFastest);
  votes_to_settle(pace, kMs);
  CHECK(pace.every() == 128);
  // A little longer changes nothing; a long step is made up for at once.
  CHECK_FALSE(adjust(pace, interval(pace, 3 * kMs), 1));
  CHECK(adjust(pace, interval(pace, 1000 * kMs), 1));
  CHECK(pace.every() == 1);
  CHECK(votes_to_settle(pace, 20 * kMs) == 2);
  CHECK(pace.every() == 8);
  // Nothing between markers is still no end of votes.
  for (int i = 0; i < 20; ++i) adjust(pace, 0, 1);
  CHECK(pace.every() == Pace::kMost);
  CHECK_FALSE(adjust(pace, interval(pace, 0), 1));
}

TEST_CASE("votes that are heard late do not let the pace overshoot", "[markers]") {
  // What is heard is about an interval that began before the last changes.
  const std::size_t behind = GENERATE(1U, 2U, 3U);
  Pace pace(Pace::kAuto);
  std::vector<std::uint64_t> markers;
  for (std::size_t vote = 0; vote < 20; ++vote) {
    markers.push_back(pace.every());
    interval(pace, 3 * kMs);
    if (vote < behind) continue;
    const std::uint64_t heard = markers[vote - behind];
    pace.adjust(heard * 3 * kMs, heard, 1);
  }
  CHECK(pace.every() == 64);
  CHECK(*std::max_element(markers.begin(), markers.end()) == 64);
}

TEST_CASE("the budget's factor comes on top of what a pace finds", "[markers]") {
  Pace pace(Pace::kAuto);
  adjust(pace, kMs, 1);
  votes_to_settle(pace, kMs);
  CHECK(adjust(pace, interval(pace, kMs), 4));
  CHECK(pace.every() == 512);
  CHECK_FALSE(adjust(pace, interval(pace, kMs), 4));  // half a second, as it is to be
  CHECK(adjust(pace, interval(pace, 10 * kMs), 4));
  CHECK(pace.every() == 4 * 32);
  CHECK(adjust(pace, interval(pace, 10 * kMs), 8));
  CHECK(pace.every() == 8 * 32);
}
