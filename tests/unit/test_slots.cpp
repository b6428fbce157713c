// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <random>
#include <set>

#include "model/trace.h"
#include "record/request_arrays.h"
#include "record/slots.h"
#include "unit/catch.h"

namespace chameleon {
using namespace mpi;
using namespace record;
namespace {

/// The id of the object of this handle that goes.
std::int64_t release(Slots& slots, std::uint64_t handle) {
  const std::int64_t id = slots.claim(handle);
  slots.free_claimed(id);
  return id;
}

TEST_CASE("predefined objects are known and stay") {
  Slots comms(Kind::kComm);
  CHECK(comms.find(handle_bits(MPI_COMM_WORLD)) == 0);
  CHECK(comms.find(handle_bits(MPI_COMM_SELF)) == 1);
  CHECK(comms.find(handle_bits(MPI_COMM_NULL)) == -1);
  CHECK(release(comms, handle_bits(MPI_COMM_WORLD)) == 0);
  CHECK(comms.find(handle_bits(MPI_COMM_WORLD)) == 0);
  CHECK(comms.create(900) == 2);

  Slots types(Kind::kDatatype);
  CHECK(types.find(handle_bits(MPI_DATATYPE_NULL)) == -1);
  CHECK(types.find(handle_bits(MPI_INT)) <= -2);
  CHECK(types.find(handle_bits(MPI_INT)) != types.find(handle_bits(MPI_DOUBLE)));
  CHECK(types.create(900) == 0);
}

TEST_CASE("a new object gets the lowest free id") {
  Slots requests(Kind::kRequest);
  for (std::int64_t id = 0; id < 200; ++id)
    REQUIRE(requests.create(1000 + static_cast<std::uint64_t>(id)) == id);
  for (const std::int64_t id : {150, 7, 64, 0})
    CHECK(release(requests, 1000 + static_cast<std::uint64_t>(id)) == id);
  for (const std::int64_t id : {0, 7, 64, 150, 200})
    CHECK(requests.create(5000 + static_cast<std::uint64_t>(id)) == id);
  CHECK(requests.find(5064) == 64);
  CHECK(requests.find(1063) == 63);
}

TEST_CASE("a handle never seen is a new object") {
  Slots requests(Kind::kRequest);
  CHECK(requests.find(77) == 0);
  CHECK(requests.find(77) == 0);
  CHECK(release(requests, 78) == 1);
  CHECK(requests.create(79) == 1);
}

TEST_CASE("an object that is made is meant, and not what its handle stood for before") {
  constexpr std::int64_t kSecond = std::int64_t{1} << kObjectThreadShift;
  Slots first(Kind::kComm), second(Kind::kComm, 1);
  second.join(first);
  // A call fails on it: it may be no communicator.
  CHECK(first.find(77) == 2);
  CHECK(first.find(78) == 3);
  first.unclaim(first.claim(78));
  CHECK(first.create(77) == 2);
  CHECK(first.find(77) == 2);
  CHECK(second.create(78) == kSecond + 2);
  CHECK(first.find(78) == kSecond + 2);
  CHECK(first.is_free(3));
  // Those that calls made stay.
  CHECK(first.create(77) == 3);
  CHECK(first.find(77) == 2);
}

TEST_CASE("objects of one handle are told apart") {
  Slots requests(Kind::kRequest);
  CHECK(requests.create(5) == 0);
  CHECK(requests.create(5) == 1);
  const std::int64_t first = requests.claim(5);
  const std::int64_t second = requests.claim(5);
  CHECK(std::set{first, second} == std::set<std::int64_t>{0, 1});
  requests.unclaim(second);
  requests.free_claimed(first);
  CHECK(requests.find(5) == second);
  CHECK(requests.create(6) == first);
  CHECK(release(requests, 5) == second);
}

TEST_CASE("each thread gives ids of its own and finds the others' objects") {
  constexpr std::int64_t kSecond = std::int64_t{1} << kObjectThreadShift;
  Slots first(Kind::kRequest), second(Kind::kRequest, 1), third(Kind::kRequest, 2);
  second.join(first);
  third.join(first);
  CHECK(first.create(5) == 0);
  CHECK(second.create(5) == kSecond);
  CHECK(object_thread(second.create(6)) == 1);
  CHECK(third.find(6) == kSecond + 1);  // another thread's
  CHECK(first.find(5) == 0);            // one's own first
  CHECK(second.find(5) == kSecond);
  CHECK(third.claim(6) == kSecond + 1);
  third.unclaim(kSecond + 1);
  CHECK(release(first, 6) == kSecond + 1);
  CHECK(second.create(7) == kSecond + 1);  // free again for its maker
  CHECK(first.create(8) == 1);
  CHECK(first.claim(5) == 0);
  CHECK(first.find(5) == kSecond);
  CHECK(release(first, kSecond * 9) == 2);  // never seen: taken up, and free again
  CHECK(first.create(9) == 2);

  Slots comms(Kind::kComm, 1);
  CHECK(comms.find(handle_bits(MPI_COMM_WORLD)) == 0);
  CHECK(comms.create(77) == kSecond + 2);
}

TEST_CASE("references with one handle: the oldest is meant, the newest goes") {
  Slots groups(Kind::kGroup);
  for (std::int64_t id = 0; id < 3; ++id) CHECK(groups.create(5) == id);
  CHECK(groups.find(5) == 0);
  const std::int64_t claimed = groups.claim(5);
  CHECK(claimed == 2);
  groups.unclaim(claimed);  // the call failed
  CHECK(release(groups, 5) == 2);
  CHECK(release(groups, 5) == 1);
  CHECK(groups.find(5) == 0);
  CHECK(groups.create(5) == 1);
  CHECK(release(groups, 5) == 1);
  CHECK(release(groups, 5) == 0);
}

TEST_CASE("a thread that has none of a handle's objects means the oldest of others") {
  constexpr std::int64_t kThread = std::int64_t{1} << kObjectThreadShift;
  const auto place = GENERATE(0, 1, 2);  // of the maker in the ring
  INFO(place);
  Slots main(Kind::kGroup), one(Kind::kGroup, 1), two(Kind::kGroup, 2);
  one.join(main);
  two.join(main);
  Slots* const maker[] = {&main, &one, &two};
  Slots& first = *maker[place];
  Slots& second = *maker[(place + 1) % 3];
  Slots& third = *maker[(place + 2) % 3];
  const std::int64_t oldest = first.create(5), newest = second.create(5);
  CHECK(object_thread(oldest) == static_cast<std::uint32_t>(place));
  CHECK(newest == (place + 1) % 3 * kThread);
  CHECK(third.find(5) == oldest);
  CHECK(second.find(5) == newest);  // one's own
  CHECK(third.claim(5) == newest);
  third.unclaim(newest);
  CHECK(release(third, 5) == newest);
  CHECK(second.find(5) == oldest);
  CHECK(release(second, 5) == oldest);
}

TEST_CASE("a handle that a failed call named stands for nothing afterwards") {
  Slots types(Kind::kDatatype);
  CHECK(types.find(77) == 0);
  REQUIRE(types.taken_up().size() == 1);
  CHECK(types.taken_up()[0].handle == 77);
  types.settle(false);
  CHECK(types.taken_up().empty());
  CHECK(types.is_free(0));
  CHECK(types.find(78) == 0);
  types.settle(true);
  CHECK(types.find(78) == 0);
  CHECK(types.taken_up().empty());
  CHECK(release(types, 79) == 1);  // freed by the call that named it
  types.settle(true);
  CHECK(types.create(80) == 1);
}

TEST_CASE("claiming in order and putting back in reverse changes nothing") {
  Slots requests(Kind::kRequest);
  for (int i = 0; i < 5; ++i) requests.create(5);
  std::vector<std::int64_t> before, after;
  for (int i = 0; i < 5; ++i) before.push_back(requests.claim(5));
  for (int i = 4; i >= 0; --i) requests.unclaim(before[static_cast<std::size_t>(i)]);
  for (int i = 0; i < 5; ++i) after.push_back(requests.claim(5));
  CHECK(before == after);
}

TEST_CASE("what a call has claimed is still the object that other threads name") {
  Slots first(Kind::kRequest), second(Kind::kRequest, 1);
  second.join(first);
  const std::int64_t id = first.create(70);
  REQUIRE(first.claim(70) == id);
  CHECK(first.find(70) == id);
  CHECK(second.find(70) == id);
  // The handle may be given out again meanwhile.
  const std::int64_t next = second.create(70);
  CHECK(first.find(70) == next);
  first.free_claimed(id);
  CHECK(release(second, 70) == next);
  CHECK(first.find(70) == id);  // new, with the lowest id
}

TEST_CASE("requests that are completed one by one have one array") {
  Slots requests(Kind::kRequest);
  RequestArrays arrays;
  using Ids = std::vector<std::int64_t>;
  const auto recorded = [&](const Ids& ids) {
    const auto named = arrays.named(ids, requests);
    return Ids(named.begin(), named.end());
  };
  for (int step = 0; step < 3; ++step) {
    for (std::uint64_t handle = 10; handle < 14; ++handle) requests.create(handle);
    Ids ids{0, 1, 2, 3};
    CHECK(recorded({-1, 3}) == Ids{-1, 3});  // an entry that was never a request
    for (const std::size_t place :
         step % 2 == 0 ? std::vector{2, 0, 1, 3} : std::vector{1, 3, 2, 0}) {
      CHECK(recorded(ids) == Ids{0, 1, 2, 3});
      CHECK_FALSE(requests.is_free(ids[place]));
      CHECK(release(requests, 10 + static_cast<std::uint64_t>(ids[place])) == ids[place]);
      CHECK(requests.is_free(ids[place]));
      ids[place] = -1;
    }
    CHECK(recorded(ids) == Ids{0, 1, 2, 3});  // all are null
  }
  // An id that another request has says nothing of the one before.
  for (std::uint64_t handle = 10; handle < 14; ++handle) requests.create(handle);
  CHECK(recorded({0, 1, 2}) == Ids{0, 1, 2});
  release(requests, 11);
  CHECK(recorded({0, -1, 2}) == Ids{0, 1, 2});
  requests.create(11);
  CHECK(recorded({0, -1, 2}) == Ids{0, -1, 2});
}

TEST_CASE("any order of life and death agrees with a simple model") {
  const auto seed = GENERATE(take(20, random(0, 1 << 30)));
  INFO("seed " << seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  Slots slots(Kind::kRequest);
  std::map<std::uint64_t, std::set<std::int64_t>> live;  // by handle
  std::set<std::int64_t> used;
  for (int step = 0; step < 5000; ++step) {
    const std::uint64_t handle = 1 + random() % 300;
    std::set<std::int64_t>& mine = live[handle];
    if (random() % 5 < (step < 2500 ? 3U : 2U)) {
      std::int64_t lowest = 0;
      while (used.count(lowest) != 0) ++lowest;
      REQUIRE(slots.create(handle) == lowest);
      mine.insert(lowest);
      used.insert(lowest);
    } else if (!mine.empty()) {
      const std::int64_t id = slots.find(handle);
      REQUIRE(mine.count(id) == 1);
      REQUIRE(release(slots, handle) == id);
      mine.erase(id);
      used.erase(id);
    }
  }
}

}  // namespace
}  // namespace chameleon
