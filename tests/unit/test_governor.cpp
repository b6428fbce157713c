// SPDX-License-Identifier: BSD-3-Clause

#include "online/governor.h"
#include "unit/catch.h"

namespace chameleon {
using namespace online;
namespace {

using Cause = Governor::Cause;
constexpr std::uint64_t kSecond = 1'000'000'000;

TEST_CASE("without a budget nobody is over it") {
  const Governor governor(0, true);
  CHECK(governor.over({kSecond, kSecond, kSecond}) == Cause::kNone);
}

TEST_CASE("over is who spends too much, of late and in all") {
  Governor governor(0.01, true);
  CHECK(governor.over({kSecond / 20, kSecond / 20, 0}) == Cause::kNone);  // too early to tell
  CHECK(governor.over({kSecond, kSecond / 100, 0}) == Cause::kNone);
  CHECK(governor.over({kSecond, kSecond / 99, 0}) == Cause::kEvents);
  CHECK(governor.over({kSecond, kSecond / 300, kSecond / 100}) == Cause::kMarkers);
  CHECK(!governor.step(Cause::kMarkers, {kSecond, 0, kSecond / 10}).empty());
  // The first second stays above; what came after it does not.
  CHECK(governor.over({2 * kSecond, 0, kSecond / 10 + kSecond / 200}) == Cause::kNone);
  CHECK(governor.over({2 * kSecond, 0, kSecond / 10 + kSecond / 50}) == Cause::kMarkers);
  // After a cheap start, what is dear of late is within the budget of the whole.
  CHECK(governor.over({100 * kSecond, 0, kSecond / 10 + kSecond / 50}) == Cause::kNone);
}

TEST_CASE("what was estimated and found to be less is no excess") {
  Governor governor(0.01, true);
  CHECK(!governor.step(Cause::kEvents, {kSecond, kSecond / 10, kSecond / 10}).empty());
  CHECK(governor.over({2 * kSecond, kSecond / 10 - 1, kSecond / 10 - 1}) == Cause::kNone);
}

/// The governor takes the first step for a cause until one of `most` markers is acted on.
void act_less_often(Governor& governor, Cause cause, std::uint64_t most) {
  for (std::uint64_t every = 2; every <= most; every *= 2) {
    CHECK(!governor.step(cause, {}).empty());
    CHECK(governor.every() == every);
    CHECK(!governor.drops_times());
  }
}

TEST_CASE("steps go from what costs little to what loses events, and end") {
  Governor governor(0.01, true);
  act_less_often(governor, Cause::kMarkers, Governor::kMost);
  CHECK(!governor.step(Cause::kEvents, {}).empty());
  CHECK(governor.drops_times());
  CHECK(governor.one_of() == 1);
  for (std::uint64_t one_of = 2; one_of <= Governor::kMost; one_of *= 2) {
    CHECK(governor.step(Cause::kMarkers, {}).find("calls are missing") != std::string::npos);
    CHECK(governor.one_of() == one_of);
  }
  CHECK(governor.step(Cause::kEvents, {}).empty());
  CHECK(governor.step(Cause::kNone, {}).empty());

  Governor full(0.01, false);
  CHECK(full.step(Cause::kEvents, {}, false).find("intervals") != std::string::npos);
  CHECK(!full.drops_times());
  CHECK(full.every() == 1);  // there are no markers
}

TEST_CASE("markers are acted on less often before anything is left out") {
  Governor governor(0.01, true);
  act_less_often(governor, Cause::kEvents, Governor::kFirst);
  CHECK(!governor.step(Cause::kEvents, {}).empty());
  CHECK(governor.every() == Governor::kFirst);
  CHECK(governor.drops_times());
}

TEST_CASE("the start counts, but only what is spent of late is a reason to spend less") {
  const Governor governor(0.01, true);
  CHECK(governor.over({kSecond, 0, 0, kSecond / 2}) == Cause::kNone);
  CHECK(governor.over({kSecond, kSecond / 99, 0, kSecond / 2}) == Cause::kEvents);
  Governor later(0.01, true);
  CHECK(!later.step(Cause::kMarkers, {kSecond, 0, 0, kSecond / 2}).empty());
  CHECK(later.over({2 * kSecond, 0, kSecond / 50, kSecond / 2}) == Cause::kMarkers);
  CHECK(later.over({2 * kSecond, 0, kSecond / 200, kSecond / 2}) == Cause::kNone);
}

TEST_CASE("the usual budget leaves nothing out") {
  Governor governor(0.02, true, false);
  CHECK(governor.over({kSecond, kSecond / 2, 0}) == Cause::kNone);  // fewer markers do not help
  CHECK(governor.over({kSecond, kSecond / 10, kSecond / 20}) == Cause::kMarkers);
  CHECK(governor.over({kSecond, 0, kSecond / 20}) == Cause::kMarkers);
  for (int step = 0; step < 20; ++step) CHECK(governor.step(Cause::kMarkers, {}).empty());
  CHECK(governor.every() == Governor::kMost);
  CHECK(!governor.drops_times());
  CHECK(governor.one_of() == 1);
}

}  // namespace
}  // namespace chameleon
