// SPDX-License-Identifier: BSD-3-Clause
/// Accounts of pairs made from a stream's events: whose receives complete, of which size, and when.

#include <map>
#include <vector>

#include "model/end_point.h"
#include "model/trace.h"
#include "mpi/error_class.h"
#include "record/pair_log.h"
#include "unit/catch.h"

namespace chameleon {
using namespace mpi;
using namespace record;
namespace {

constexpr std::uint32_t kRank = 5, kRanks = 8;

std::int64_t partner(std::int32_t rank, std::int32_t self = kRank, std::int32_t size = kRanks) {
  return pack_rank(rank, self, size);
}
constexpr std::int64_t kAnySource = pack_special(SpecialRank::kAnySource);
constexpr std::int64_t kNone = pack_special(SpecialRank::kNone);

/// Events of a stream, each new one learned when it comes, as the recorder does it.
struct Stream {
  using Values = std::map<std::string, std::int64_t>;

  explicit Stream(std::uint32_t thread = 0) { log.start(kRank, kRanks, thread); }

  std::int64_t array(std::vector<std::int64_t> elements) {
    const auto id = static_cast<std::int64_t>(array_id(elements));
    arrays[id] = std::move(elements);
    return id;
  }
  /// `values` by the names of parameters; of a status NAME.source and so on. Others are 0, and
  /// those of statuses tell nothing.
  void event(CallId call, std::uint64_t ticks, const Values& values, std::int64_t bytes = 0,
             std::int64_t elements = 1) {
    const CallDescription fields = describe_call(*find_call(call));
    std::vector<std::int64_t> row;
    const std::int64_t nothing = array({});
    for (const Field& field : fields.fields) {
      const auto given = values.find(field.name);
      const bool status = field.name.find('.') != std::string::npos;
      std::int64_t value = field.stored == FieldKind::kArray ? nothing : status ? kNotRecorded : 0;
      if (status && field.kind == "source" && field.stored != FieldKind::kArray) value = kNone;
      row.push_back(given == values.end() ? value : given->second);
    }
    const auto [known, fresh] =
        numbers.try_emplace({call, row}, static_cast<std::uint32_t>(numbers.size()));
    if (log.wants(generation, known->second))
      log.learn(generation, known->second, static_cast<std::uint16_t>(call), row, {elements, bytes},
                [&](std::int64_t id) -> std::span<const std::int64_t> { return arrays[id]; });
    log.begin(generation);
    log.add(known->second, ticks);
  }
  void post(std::int64_t request, std::int64_t source, std::int64_t bytes, std::int64_t comm = 0) {
    event(CallId::kIrecv, 1, {{"source", source}, {"request", request}, {"comm", comm}}, bytes);
  }
  PairAccounts accounts() const {
    PairAccounts accounts;
    log.report(kRank, 2.0, accounts);  // 2 ns a tick
    return accounts;
  }

  PairLog log;
  std::uint32_t generation = 1;
  std::map<std::int64_t, std::vector<std::int64_t>> arrays;
  std::map<std::pair<CallId, std::vector<std::int64_t>>, std::uint32_t> numbers;
};

PairAccount account(std::uint32_t source, std::uint8_t size, std::uint64_t messages,
                    std::uint64_t ns, std::uint64_t longest, std::uint64_t event) {
  return {kRank, source, size, messages, ns, longest, event};
}

}  // namespace

TEST_CASE("a blocking receive counts for its sender, by size") {
  Stream stream;
  stream.event(CallId::kRecv, 100, {{"source", partner(2)}}, 8);
  stream.event(CallId::kSend, 1000, {{"dest", partner(2)}});
  stream.event(CallId::kRecv, 300, {{"source", partner(2)}}, 8);
  stream.event(CallId::kRecv, 50, {{"source", partner(2)}, {"status.bytes", 0}}, 8);
  stream.event(CallId::kRecv, 7, {{"source", pack_special(SpecialRank::kProcNull)}});
  stream.event(CallId::kRecv, 20, {{"source", kAnySource}, {"status.source", partner(7)}}, 9);
  stream.event(CallId::kSendrecv, 40, {{"dest", partner(1)}, {"source", partner(3)}}, 1);
  CHECK(stream.accounts().all() ==
        std::vector{account(2, 0, 1, 100, 100, 4), account(2, 4, 2, 800, 600, 3),
                    account(3, 1, 1, 80, 80, 7), account(7, 4, 1, 40, 40, 6)});
  CHECK(stream.accounts().others() == PairAccounts::Others());
}

TEST_CASE("what failed or was cancelled does not count") {
  Stream stream;
  stream.event(CallId::kRecv, 10,
               {{"return", error_of_name("MPI_ERR_RANK")}, {"source", partner(2)}});
  stream.post(0, partner(2), 8);
  stream.event(CallId::kCancel, 1, {{"request", 0}});
  stream.event(CallId::kWait, 10, {{"request", 0}});
  stream.post(0, partner(2), 8);
  stream.event(CallId::kTest, 10, {{"request", 0}, {"flag", 0}});
  CHECK(stream.accounts().empty());
  stream.event(CallId::kTest, 10, {{"request", 0}, {"flag", 1}});
  CHECK(stream.accounts().all() == std::vector{account(2, 4, 1, 20, 20, 7)});
}

TEST_CASE("a call divides its time among the receives that it completes") {
  Stream stream;
  stream.post(0, partner(4), 8);
  stream.post(1, partner(6), 8);
  stream.event(CallId::kIsend, 1, {{"dest", partner(4)}, {"request", 2}});
  stream.post(3, kAnySource, 8);
  stream.event(
      CallId::kWaitall, 100,
      {{"array_of_requests", stream.array({0, 1, 2, 3, -1})},
       {"array_of_statuses.source",
        stream.array({packed_relative(kNone), packed_relative(kNone), packed_relative(kNone),
                      packed_relative(partner(1)), packed_relative(kNone)})},
       {"array_of_statuses.bytes",
        stream.array({kNotRecorded, 100, kNotRecorded, kNotRecorded, kNotRecorded})}});
  CHECK(stream.accounts().all() == std::vector{account(1, 4, 1, 66, 66, 5),
                                               account(4, 4, 1, 68, 68, 5),
                                               account(6, 7, 1, 66, 66, 5)});
  // Requests are gone: the same call again completes nothing.
  stream.event(CallId::kWaitall, 100, {{"array_of_requests", stream.array({0, 1, 2, 3, -1})}});
  CHECK(stream.accounts().all().size() == 3);
}

TEST_CASE("some of several requests") {
  Stream stream;
  for (std::int64_t i = 0; i < 4; ++i) stream.post(i, partner(static_cast<std::int32_t>(i)), 1);
  const std::int64_t all = stream.array({0, 1, 2, 3});
  stream.event(CallId::kWaitany, 10, {{"array_of_requests", all}, {"indx", 2}});
  stream.event(CallId::kWaitsome, 20,
               {{"array_of_requests", all}, {"array_of_indices", stream.array({3, 0})}});
  CHECK(stream.accounts().all() == std::vector{account(0, 1, 1, 20, 20, 6),
                                               account(2, 1, 1, 20, 20, 5),
                                               account(3, 1, 1, 20, 20, 6)});
}

TEST_CASE("persistent receives count each time they are started") {
  Stream stream;
  stream.event(CallId::kRecvInit, 1, {{"source", partner(0)}, {"request", 0}}, 16);
  stream.event(CallId::kWait, 10, {{"request", 0}});
  for (int i = 0; i < 3; ++i) {
    stream.event(CallId::kStart, 1, {{"request", 0}});
    stream.event(CallId::kWait, 10, {{"request", 0}});
  }
  CHECK(stream.accounts().all() == std::vector{account(0, 5, 3, 60, 20, 4)});
}

TEST_CASE(
    "senders are ranks of the world, whatever the communicator, also when its id comes again") {
  Stream stream;
  const auto make = [&](std::vector<std::int64_t> members) {
    stream.event(CallId::kCommSplit, 1, {{"newcomm", 2}, {"members", stream.array(members)}});
  };
  make({5, 3, 1});
  stream.event(CallId::kRecv, 10, {{"source", partner(1, 0, 3)}, {"comm", 2}}, 1);
  stream.post(0, kAnySource, 1, 2);
  make({7, 6, 5});  // the receive keeps the communicator that it was posted on
  stream.event(CallId::kWait, 10, {{"request", 0}, {"status.source", partner(2, 0, 3)}});
  stream.event(CallId::kRecv, 10, {{"source", partner(1, 0, 3)}, {"comm", 2}}, 1);
  make({5, 4, -1, 0, 2});  // between two groups
  stream.event(CallId::kRecv, 10, {{"source", partner(1, 0, 2)}, {"comm", 2}}, 1);
  stream.event(CallId::kRecv, 10, {{"source", 0}, {"comm", 1}}, 1);  // from itself
  CHECK(stream.accounts().all() ==
        std::vector{account(1, 1, 1, 20, 20, 5), account(2, 1, 1, 20, 20, 8),
                    account(3, 1, 1, 20, 20, 2), account(5, 1, 1, 20, 20, 9),
                    account(6, 1, 1, 20, 20, 6)});
}

TEST_CASE("a matched receive is from whom its probe found") {
  Stream stream;
  stream.event(CallId::kMprobe, 90,
               {{"source", kAnySource}, {"message", 0}, {"status.source", partner(3)}});
  stream.event(CallId::kMrecv, 10, {{"message", 0}}, 2);
  stream.event(CallId::kMprobe, 90, {{"source", partner(2)}, {"message", 0}});
  stream.event(CallId::kImrecv, 10, {{"message", 0}, {"request", 4}}, 2);
  stream.event(CallId::kWait, 5, {{"request", 4}});
  CHECK(stream.accounts().all() ==
        std::vector{account(2, 2, 1, 10, 10, 5), account(3, 2, 1, 20, 20, 2)});
}

TEST_CASE("sizes are those of datatypes when they are used, also when their ids come again") {
  Stream stream;
  for (const std::int64_t bytes : {8, 100}) {
    stream.event(CallId::kTypeContiguous, 1, {{"count", bytes / 8}, {"newtype", 0}}, bytes, 0);
    stream.event(CallId::kRecv, 10, {{"source", partner(1)}, {"datatype", 0}}, bytes, 2);
  }
  CHECK(stream.accounts().all() ==
        std::vector{account(1, 5, 1, 20, 20, 2), account(1, 8, 1, 20, 20, 4)});
}

TEST_CASE("what another thread made is not known") {
  Stream stream(1);
  constexpr std::int64_t kSecond = std::int64_t{1} << kObjectThreadShift;
  stream.event(CallId::kWait, 10, {{"request", 3}});
  CHECK(stream.accounts().empty());
  stream.event(CallId::kRecv, 10, {{"source", partner(1)}, {"comm", 2}}, 1);
  CHECK(stream.accounts().others() == PairAccounts::Others{1, 20});
  stream.post(kSecond, partner(1), 1);
  stream.event(CallId::kWait, 10, {{"request", kSecond}});
  CHECK(stream.accounts().all() == std::vector{account(1, 1, 1, 20, 20, 4)});
}

TEST_CASE("senders beyond the most that are told apart are others") {
  PairLog log;
  constexpr std::int32_t kMany = PairTallies::kMostSources + 10;
  log.start(0, kMany + 1, 0);
  for (std::int32_t i = 0; i < kMany; ++i) {
    const std::vector<std::int64_t> values = {
        0, 0, 1, -3, pack_rank(i + 1, 0, kMany + 1), 0, 0, kNone, kNotRecorded, kNotRecorded};
    log.learn(1, static_cast<std::uint32_t>(i), static_cast<std::uint16_t>(CallId::kRecv), values,
              {1, 4}, [](std::int64_t) { return std::span<const std::int64_t>(); });
    log.add(static_cast<std::uint32_t>(i), 1);
  }
  PairAccounts accounts;
  log.report(0, 1.0, accounts);
  CHECK(accounts.all().size() == PairTallies::kMostSources);
  CHECK(accounts.others() == PairAccounts::Others{10, 10});
}

TEST_CASE("nothing is counted before it starts, nor after it stops") {
  PairLog log;
  CHECK(!log.wants(1, 0));
  log.start(0, 2, 0);
  CHECK(log.wants(1, 0));
  log.stop();
  CHECK(!log.wants(1, 0));
  PairAccounts accounts;
  PairLog().report(0, 1.0, accounts);
  CHECK(accounts.empty());
}

}  // namespace chameleon
