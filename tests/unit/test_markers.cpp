// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>

#include "markers/marker.h"

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
