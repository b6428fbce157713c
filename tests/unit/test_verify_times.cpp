// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/verify_times.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::analysis;

namespace {

constexpr std::uint16_t kSend = 7, kRecv = 9;
constexpr std::uint64_t kPath = 0xabc;

/// Two ranks of one class: sends of 1000 and 2000 ns, receives of 5000.
Trace trace_of(double spread) {
  Trace trace;
  trace.world_size = 2;
  trace.complete = true;
  trace.calls[kSend].name = "Send";
  trace.calls[kRecv].name = "Recv";
  const std::uint64_t send = Node::event_symbol(kSend, kPath);
  const std::uint64_t receive = Node::event_symbol(kRecv, kPath);
  const std::uint32_t all = trace.times.add_class({RankList::range(0, 1), spread});
  Durations sends, receives;
  for (const std::uint64_t ns : {1000, 2000}) {
    sends.compute.add(ns);
    sends.communication.add(100);
    receives.compute.add(50);
    receives.communication.add(5000);
  }
  trace.times.add({send, 0}, all, sends);
  trace.times.add({receive, send}, all, receives);
  return trace;
}

/// Records of two ranks, in a folder of their own.
class Records {
 public:
  explicit Records(std::uint64_t receive_ns = 5000) {
    std::string name = std::filesystem::temp_directory_path() / "chameleon_verify_times.XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    for (int rank = 0; rank < 2; ++rank)
      std::ofstream(folder_ / ("rank." + std::to_string(rank) + ".raw"))
          << "# chameleon raw 1\nSend return=0\n# spent " << 1000 * (rank + 1)
          << " 100 0000000000000abc\n@2 Recv return=0\n# spent 50 " << receive_ns
          << " 0000000000000abc\n";
  }
  ~Records() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("times within what their class states match") {
  const Records records;
  const Result<TimesCheck> check = verify_times(trace_of(0.5), records.path());
  REQUIRE(check);
  REQUIRE(check->done);
  CHECK(check->matches());
  CHECK(check->compute.total == 2);  // of receives it is less than a hundredth
  CHECK(check->compute.largest == Approx(0.5));
  CHECK(check->compute.all == Approx(0));  // the sum over both ranks is exact
  CHECK(check->communication.total == 4);
}

TEST_CASE(
    "a time further off than stated is a mismatch, unless the trace declares something of its "
    "rank") {
  const Records records;
  Trace trace = trace_of(0.3);
  const Result<TimesCheck> check = verify_times(trace, records.path());
  REQUIRE(check);
  CHECK_FALSE(check->matches());
  CHECK_FALSE(check->declared());
  CHECK(check->compute.undeclared() == 1);
  CHECK(check->communication.undeclared() == 0);
  REQUIRE(check->worst.size() == 1);
  CHECK(check->worst[0].rank == 0);
  CHECK(check->worst[0].call == "Send");
  trace.declarations.push_back({"something of another rank", RankList::single(1)});
  CHECK_FALSE(verify_times(trace, records.path())->declared());
  trace.declarations.push_back({"something", RankList::single(0)});
  const Result<TimesCheck> declared = verify_times(trace, records.path());
  REQUIRE(declared);
  CHECK_FALSE(declared->matches());
  CHECK(declared->declared());
}

TEST_CASE("a place without times in the trace is as wrong as can be") {
  const Records records(9000);
  const Result<TimesCheck> check = verify_times(trace_of(0.3), records.path());
  REQUIRE(check);
  CHECK(check->communication.undeclared() == 2);
  CHECK(check->communication.all == Approx(8000.0 / 18200));
  Trace other = trace_of(0.5);
  other.calls.erase(kRecv);  // nothing is known of receives
  const Result<TimesCheck> unknown = verify_times(other, records.path());
  REQUIRE(unknown);
  CHECK(unknown->communication.largest == 1);
}

TEST_CASE("a rank that fails may take times of others with it") {
  const Records records;
  for (const char* what : {kNoMemoryDeclaration, kFailedDeclaration, kLostFlushDeclaration,
                           kLostWordsDeclaration, kPausedDeclaration}) {
    Trace trace = trace_of(0.3);
    trace.declarations.push_back({what, RankList::single(1)});
    CHECK(verify_times(trace, records.path())->declared() == (what != kPausedDeclaration));
  }
}

TEST_CASE("what has no times, or is not complete, is not compared") {
  const Records records;
  Trace trace = trace_of(0.5);
  trace.complete = false;
  CHECK_FALSE(verify_times(trace, records.path())->done);
  trace.complete = true;
  trace.times = TimeTable();
  CHECK_FALSE(verify_times(trace, records.path())->done);
}
