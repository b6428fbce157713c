// SPDX-License-Identifier: BSD-3-Clause
// Objects of several threads, and communicators, in the trace and in the records.
#include "unit/verify_records.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::testing;

namespace {

enum : std::uint16_t { kCommSplit = 1, kSend, kIrecv, kWaitall };

/// What one thread posts another completes, and the handle is given out again at once.
struct ThreadedJob : TraceBuilder {
  ThreadedJob() : TraceBuilder(1, 2) {
    call(kIrecv, "Irecv");
    call(kWaitall, "Waitall");
    const std::int64_t second = std::int64_t{1} << kObjectThreadShift;
    const std::int64_t any = pack_special(SpecialRank::kAnySource);
    push(0, kIrecv, {0, 2, kInt, any, 5, 0, 0});
    push(1, kWaitall, {1, array({0}), array({0}), array({kNotRecorded}), array({kNotRecorded})});
    push(1, kIrecv, {0, 2, kInt, any, 6, 0, second});
    push(0, kWaitall,
         {1, array({second}), array({0}), array({kNotRecorded}), array({kNotRecorded})});
  }
};

void write_thread(const Directory& directory, int thread, const std::vector<std::string>& lines) {
  const std::string name = thread == 0 ? "/rank.0.raw" : "/rank.0.1.raw";
  std::ofstream file(directory.path + name);
  file << "# chameleon raw 1\n# rank 0 of 1\n";
  if (thread != 0) file << "# thread " << thread << "\n";
  file << kHead;
  for (const std::string& line : lines) file << line << "\n";
}

const std::vector<std::string> kFirstThread = {
    "@1 Irecv return=0 buf=0 count=2 datatype=200 source=-2 tag=5 comm=100 request=7",
    "@4 Waitall return=0 count=1 array_of_requests=[7] array_of_statuses=[(0,6,8,0)]"};
const std::vector<std::string> kSecondThread = {
    "@2 Waitall return=0 count=1 array_of_requests=[7] array_of_statuses=[(0,5,8,0)]",
    "@3 Irecv return=0 buf=0 count=2 datatype=200 source=-2 tag=6 comm=100 request=7"};

}  // namespace

TEST_CASE("streams of threads are compared in the order in which the rank's calls ended") {
  Directory directory;
  write_thread(directory, 0, kFirstThread);
  write_thread(directory, 1, kSecondThread);
  ThreadedJob job;
  const VerifyReport report = verified(directory, job);
  CHECK(report.matches());
  CHECK(report.raw_events == 4);
  CHECK(report.trace_events == 4);
}

TEST_CASE("a thread's records that the trace lacks, or the other way round, are differences") {
  Directory directory;
  write_thread(directory, 0, kFirstThread);
  auto more = kSecondThread;
  more[1] = "@3 Irecv return=0 buf=0 count=3 datatype=200 source=-2 tag=6 comm=100 request=7";
  write_thread(directory, 1, more);
  ThreadedJob job;
  VerifyReport report = verified(directory, job);
  CHECK_FALSE(report.matches());
  REQUIRE(report.mismatches.size() >= 1);
  CHECK(report.mismatches[0].rank == 0);
  CHECK(report.mismatches[0].thread == 1);
  CHECK(report.mismatches[0].event == 2);

  std::filesystem::remove(directory.path + "/rank.0.1.raw");
  CHECK_FALSE(verify(job.build(), directory.path));
  write_thread(directory, 1, {"Irecv return=0"});
  std::ofstream(directory.path + "/rank.0.1.raw") << "# chameleon raw 1\n# rank 0 of 1\n";
  CHECK_FALSE(verify(job.build(), directory.path));  // of another thread
}

namespace {

/// Both ranks split the world, and then send and receive by wildcard in what they got.
struct SplitJob : TraceBuilder {
  explicit SplitJob(std::vector<std::int64_t> members) : TraceBuilder(2) {
    call(kCommSplit, "Comm_split");
    call(kSend, "Send");
    call(kIrecv, "Irecv");
    call(kWaitall, "Waitall");
    const std::int64_t as_posted = array({kNotRecorded, kNotRecorded});
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const auto self = static_cast<std::uint32_t>(rank);
      push(self, kCommSplit, {0, 0, 0, 2, array(members)});
      push(self, kSend, {0, 2, kInt, pack_rank(rank, 1 - rank, 2), 5, 2});
      const std::int64_t any = pack_special(SpecialRank::kAnySource);
      push(self, kIrecv, {0, 2, kInt, any, 5, 0, 0});
      push(self, kIrecv, {0, 2, kInt, any, 5, 2, 1});
      push(self, kWaitall, {2, array({0, 1}), array({1, 1}), as_posted, as_posted});
    }
  }
};

/// World rank 1 is rank 0 of the new communicator.
void write_split(const Directory& directory) {
  for (int rank = 0; rank < 2; ++rank) {
    const std::string here = std::to_string(rank), there = std::to_string(1 - rank);
    const std::string post = "Irecv return=0 buf=0 count=2 datatype=200 source=-2 tag=5 ";
    directory.write(
        rank, {"Comm_split return=0 comm=100 color=0 key=0 newcomm=101 members=[1,0]",
               "Send return=0 buf=0 count=2 datatype=200 dest=" + here + " tag=5 comm=101",
               post + "comm=100 request=8", post + "comm=101 request=9",
               "Waitall return=0 count=2 array_of_requests=[8,9] array_of_statuses=[(" + there +
                   ",5,8,0),(" + here + ",5,8,0)]"});
  }
}

}  // namespace

TEST_CASE("partners are compared as ranks of the communicator that the trace says") {
  Directory directory;
  write_split(directory);
  SplitJob job({1, 0});
  CHECK(verified(directory, job).matches());
  SplitJob lie({0, 1});
  const VerifyReport report = verified(directory, lie);
  CHECK(column(report, Column::kOther).undeclared() == 2);  // the members
  CHECK(column(report, Column::kDest).undeclared() == 2);
  CHECK(column(report, Column::kSource).undeclared() == 2);  // a list of statuses on each rank
}

TEST_CASE("a null entry of an array may be recorded as a request that has ended") {
  constexpr std::uint16_t kWaitany = 5;
  // What the trace has for the array of the second call, where the first entry is null.
  const auto differences = [&](const std::vector<std::int64_t>& second) {
    TraceBuilder job(1);
    job.call(kIrecv, "Irecv",
             {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag",
              "comm:comm", "request:request"});
    job.call(kWaitany, "Waitany",
             {"count:count", "array_of_requests:request:a", "indx:index", "status.source:source:e",
              "status.tag:tag", "status.bytes:bytes"});
    const std::int64_t none = pack_special(SpecialRank::kNone);
    for (const std::int64_t id : {0, 1}) job.push(0, kIrecv, {0, 2, kInt, 0, 5, 0, id});
    job.push(0, kWaitany, {2, job.array({0, 1}), 0, none, kNotRecorded, kNotRecorded});
    job.push(0, kWaitany, {2, job.array(second), 1, none, kNotRecorded, kNotRecorded});
    Directory directory;
    const std::string post = "Irecv return=0 buf=0 count=2 datatype=200 source=0 tag=5 comm=100 ";
    const std::string wait = "Waitany return=0 count=2 ";
    directory.write(0,
                    {post + "request=7", post + "request=8",
                     wait + "array_of_requests=[7,8] indx=0 status=(0,5,8,0)",
                     wait + "array_of_requests=[300,8] indx=1 status=(0,5,8,0)"},
                    true, 1);
    const Trace trace = job.build();
    const Result<VerifyReport> report = verify(trace, directory.path);
    REQUIRE(report);
    return report->mismatch_count;
  };
  CHECK(differences({0, 1}) == 0);
  CHECK(differences({-1, 1}) == 0);
  CHECK(differences({1, 1}) == 1);  // open
  CHECK(differences({4, 1}) == 1);  // never was
}

TEST_CASE("what a call failed on gives its id to an object that a call makes") {
  constexpr std::uint16_t kFree = 6;
  Directory directory;
  directory.write(0, {"Comm_free return=5 comm=101",
                      "Send return=5 buf=0 count=2 datatype=200 "
                      "dest=1 tag=5 comm=101",
                      "Comm_split return=0 comm=100 color=0 key=0 newcomm=102 members=[0,1]",
                      "Send return=0 buf=0 count=2 datatype=200 dest=1 tag=5 comm=102"});
  directory.write(1, {});
  const auto matches = [&](std::int64_t last) {
    TraceBuilder job(2);
    job.call(kCommSplit, "Comm_split");
    job.call(kSend, "Send");
    job.call(kFree, "Comm_free", {"comm:comm"});
    job.push_failed(0, kFree, 5, {2});
    job.push_failed(0, kSend, 5, {0, 2, kInt, pack_special(SpecialRank::kUndefined), 5, 2});
    job.push(0, kCommSplit, {0, 0, 0, 2, job.array({0, 1})});
    job.push(0, kSend, {0, 2, kInt, pack_rank(1, 0, 2), 5, last});
    return verified(directory, job).matches();
  };
  CHECK(matches(2));
  CHECK_FALSE(matches(3));
}
