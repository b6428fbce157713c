// SPDX-License-Identifier: BSD-3-Clause
// Markers that are found: ranks that call the same collectives from places of their own agree on
// the loop that these are in.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "markers/marker_search.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::markers;
using State = MarkerSearch::State;

namespace {

/// Ranks that see the same collectives. A comparison is heard at the next one at which ranks may
/// compare, as in a job.
class Searchers {
 public:
  explicit Searchers(std::size_t ranks, Markers wanted = Markers::kAuto)
      : ranks_(ranks, MarkerSearch(wanted)) {}

  /// `place(rank)`: where each calls it. Whether it is a marker, on all ranks alike.
  template <class Place>
  bool see(std::uint64_t kind, Place place, bool synchronizes = true) {
    std::vector<bool> markers, may, due;
    elapsed_ns += step_ns;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const Collective one{static_cast<std::uint16_t>(kind), mix(kind), mix(place(rank)),
                           synchronizes};
      markers.push_back(ranks_[rank].see(one));
      may.push_back(ranks_[rank].may_compare());
      due.push_back(ranks_[rank].due());
    }
    CHECK(markers == std::vector<bool>(ranks_.size(), markers.front()));
    CHECK(may == std::vector<bool>(ranks_.size(), may.front()));
    CHECK(due == std::vector<bool>(ranks_.size(), due.front()));
    if (may.front() && open_) {
      std::vector<bool> heard;
      for (MarkerSearch& rank : ranks_) heard.push_back(rank.hear(answered ? open_ : std::nullopt));
      CHECK(heard == std::vector<bool>(ranks_.size(), heard.front()));
      open_.reset();
    } else if (due.front()) {
      ++comparisons;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        const LoopProposal mine =
            ranks_[rank].propose(elapsed_ns, rank == marking, elapsed_ns > 60'000'000'000);
        if (rank == 0)
          open_ = mine;
        else
          combine(*open_, mine);
      }
    }
    return markers.front();
  }
  /// A collective for each letter: its kind, and, for capitals, the rank's own place. The markers.
  std::string run(const std::string& letters) {
    std::string markers;
    for (const char letter : letters)
      if (see(static_cast<std::uint64_t>(letter), [&](std::size_t rank) {
            return static_cast<std::uint64_t>(letter) + (letter < 'a' ? 1000 * rank : 0);
          }))
        markers += letter;
    return markers;
  }
  const MarkerSearch& operator[](std::size_t rank) const { return ranks_[rank]; }
  const MarkerSearch& first() const { return ranks_.front(); }

  std::uint64_t elapsed_ns = 0, step_ns = 1000;
  std::size_t marking = SIZE_MAX;  ///< rank whose program sets markers
  bool answered = true;
  int comparisons = 0;

 private:
  std::vector<MarkerSearch> ranks_;
  std::optional<LoopProposal> open_;
};

std::string repeated(const std::string& part, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += part;
  return all;
}

Repetition repetition_of(const std::string& forwards) {
  const std::string backwards(forwards.rbegin(), forwards.rend());
  return repetition(std::span<const char>(backwards));
}

}  // namespace

TEST_CASE("what repeats at the end has its shortest period", "[markers]") {
  const auto is = [](const std::string& text, unsigned period, unsigned length) {
    const Repetition found = repetition_of(text);
    CHECK(unsigned{found.period} == period);
    CHECK(unsigned{found.length} == length);
  };
  is("", 0, 0);
  is("a", 0, 0);
  is("ab", 0, 0);
  is("aa", 1, 2);
  is("aaaa", 1, 4);
  is("abab", 2, 4);
  is("xyabababab", 2, 8);
  is("aabaabaab", 3, 9);
  is("aabaabaa", 3, 8);
  is("bbbbbbbaaa", 1, 3);
}

TEST_CASE("a time step with one collective is found after seven of them", "[markers]") {
  Searchers job(3);
  CHECK(job.run("aaaaaaaa").empty());
  CHECK(job.first().state() == State::kFound);
  CHECK(job.first().found_at() == 8);
  CHECK(job.run(repeated("a", 30)) == repeated("a", 30));
}

TEST_CASE("each rank may call from places of its own", "[markers]") {
  Searchers job(4);
  job.run(repeated("AbC", 3));
  CHECK(job.run(repeated("AbC", 20)).size() >= 17);
  // One of the three kinds, once a step.
  const std::string markers = job.run(repeated("AbC", 10));
  CHECK(markers == repeated(markers.substr(0, 1), 10));
}

TEST_CASE("places that take turns make a step of several collectives", "[markers]") {
  Searchers job(6);
  // All the same kind: in pairs on even ranks, in threes on odd ones.
  int markers = 0;
  for (int i = 0; i < 120; ++i)
    markers += job.see(7, [&](std::size_t rank) { return i % (rank % 2 == 0 ? 2 : 3); }) ? 1 : 0;
  CHECK(job.first().state() == State::kFound);
  CHECK(job.first().period() == 6);
  CHECK(markers >= 10);
}

TEST_CASE("the outer loop is chosen once it has repeated", "[markers]") {
  Searchers job(2);
  const std::string step = repeated("a", 10) + "b";
  job.run(repeated(step, 6));
  CHECK(job.run(repeated(step, 20)) == repeated("b", 20));
  CHECK(job.first().found_at() <= 64);
}

TEST_CASE("inner loops may be of any length", "[markers]") {
  Searchers job(3);
  std::mt19937_64 random(5);
  const auto steps = [&](int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += "d" + repeated("c", static_cast<int>(random() % 9));
    return all;
  };
  job.run("xyz" + steps(12));
  CHECK(job.run(steps(30)) == repeated("d", 30));
}

TEST_CASE("start-up and an output now and then do not hide the step", "[markers]") {
  Searchers job(3);
  job.run("mnopqmmmmm" + repeated("ab", 15));
  CHECK(job.first().state() == State::kFound);
  std::string markers;
  for (int i = 0; i < 10; ++i) markers += job.run(repeated("ab", 7) + "uv");
  CHECK(markers.size() >= 10);
  CHECK(job.first().state() == State::kFound);
}

TEST_CASE("a loop that takes too long is not chosen where there is a shorter one", "[markers]") {
  Searchers job(2);
  job.step_ns = 200'000'000;
  const std::string step = repeated("a", 9) + "b";
  job.run(repeated(step, 7));
  CHECK(job.run(step) == repeated("a", 9));
}

TEST_CASE("when a loop is over the search begins anew", "[markers]") {
  Searchers job(2);
  job.run(repeated("a", 60));
  CHECK(job.first().state() == State::kFound);
  CHECK(job.run(repeated("b", 25)).empty());
  CHECK(job.run(repeated("b", 25)).size() > 15);
  job.run(repeated("cde", 30));
  CHECK(job.run(repeated("cde", 10)).size() == 10);
}

TEST_CASE("a comparison across the end of a loop decides nothing", "[markers]") {
  // The comparison is of the loop of a's; when it is heard kinds have other numbers.
  for (int ends = 8; ends < 80; ++ends) {
    Searchers job(2);
    for (int i = 0; i < ends; ++i) job.run("a");
    for (int i = 0; i < 200; ++i)
      job.see(
          100 + static_cast<std::uint64_t>(i % 5), [](std::size_t) { return 0; }, i % 40 == 39);
    CHECK(job.first().state() == State::kFound);
    CHECK(job.first().call() >= 100);
  }
}

TEST_CASE("where nothing repeats every collective is a marker, until something does", "[markers]") {
  Searchers job(3);
  std::uint64_t place = 0;
  for (int i = 0; i < 100; ++i) job.see(1, [&](std::size_t) { return ++place; });
  CHECK(job.first().state() == State::kByTime);
  CHECK(job.see(2, [](std::size_t) { return 0; }));
  job.run(repeated("ab", 100));
  CHECK(job.first().state() == State::kFound);
}

TEST_CASE("collectives that do not synchronize are compared at if there are no others",
          "[markers]") {
  Searchers job(2);
  for (int i = 0; i < 200; ++i)
    job.see(
        1, [](std::size_t) { return 0; }, false);
  CHECK(job.first().state() == State::kFound);
  Searchers mixed(2);
  for (int i = 0; i < 31; ++i) {
    mixed.see(
        1, [](std::size_t) { return 0; }, i % 5 == 4);
    CHECK(mixed.first().may_compare() == (i % 5 == 4));
  }
}

TEST_CASE("a program's own markers end the search", "[markers]") {
  Searchers job(4);
  job.marking = 2;
  job.run(repeated("a", 20));
  CHECK(job.first().state() == State::kMarked);
  CHECK(job.first().is_over());
  CHECK(job.run(repeated("a", 20)).empty());
  CHECK(job.comparisons == 1);
}

TEST_CASE("ranks that do not see the same stop to search", "[markers]") {
  MarkerSearch one(Markers::kAuto), other(Markers::kAuto);
  for (std::uint64_t i = 0; i < 8; ++i) {
    one.see({1, 1, 1, true});
    other.see({1, i == 3 ? 2U : 1U, 1, true});
  }
  LoopProposal all = one.propose(0, false, false);
  combine(all, other.propose(0, false, false));
  CHECK_FALSE(all.alike);
  CHECK(one.hear(all));
  CHECK(one.state() == State::kUnlike);
  CHECK_FALSE(one.see({1, 1, 1, true}));
}

TEST_CASE("a comparison that is not answered ends the search", "[markers]") {
  Searchers job(2);
  job.answered = false;
  job.run(repeated("a", 20));
  CHECK(job.first().state() == State::kUnanswered);
  CHECK(job.run(repeated("a", 20)).empty());
}

TEST_CASE("without being asked the search begins after a minute without markers", "[markers]") {
  Searchers job(2, Markers::kProgram);
  job.step_ns = 500'000'000;
  CHECK(job.run(repeated("a", 119)).empty());
  CHECK(job.first().state() == State::kWaits);
  CHECK(job.comparisons <= 7);
  CHECK(job.run(repeated("a", 100)).size() > 50);
  Searchers marked(2, Markers::kProgram);
  marked.marking = 0;
  marked.run(repeated("a", 300));
  CHECK(marked.comparisons == 1);
}

TEST_CASE("ranks agree in random programs", "[markers][property]") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 40)));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  Searchers job(1 + below(5));
  for (int phase = 0; phase < 6; ++phase) {
    const auto steps = below(60);
    const auto kinds = 1 + below(20), inner = below(12);
    const bool varies = below(2) == 0, synchronizes = below(3) != 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
      for (std::uint64_t i = 0; i < (varies ? below(inner + 1) : inner); ++i)
        job.see(
            50 + i % kinds, [&](std::size_t rank) { return i * (rank + 1) % 3; }, synchronizes);
      job.see(
          90 + static_cast<std::uint64_t>(phase), [](std::size_t) { return 1; }, synchronizes);
    }
  }
  CHECK_FALSE(job.first().state() == State::kUnlike);
}
