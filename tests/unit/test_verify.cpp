// SPDX-License-Identifier: BSD-3-Clause
#include "unit/verify_records.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::testing;

namespace {

enum : std::uint16_t { kInit = 1, kSend, kRecv, kIsend, kIrecv, kWaitall, kFinalize };

/// Rank 0 sends two messages of two ints, rank 1 receives one of them by wildcard.
struct Job : TraceBuilder {
  Job() : TraceBuilder(2) {
    call(kInit, "Init", {});
    call(kSend, "Send");
    call(kIsend, "Isend");
    call(kIrecv, "Irecv");
    call(kWaitall, "Waitall");
    call(kFinalize, "Finalize", {});
    for (std::uint32_t rank = 0; rank < 2; ++rank) push(rank, kInit, {});
    const std::int64_t empty = array({});
    push(0, kIsend, {0, 2, kInt, pack_rank(1, 0, 2), 5, 0, 0});
    push(0, kIsend, {0, 2, kInt, pack_rank(1, 0, 2), 5, 0, 1});
    push(0, kWaitall, {2, array({0, 1}), empty, empty, empty});
    push(1, kIrecv, {0, 2, kInt, pack_special(SpecialRank::kAnySource), 5, 0, 0});
    push(1, kIrecv, {0, 4, kInt, pack_rank(0, 1, 2), -1, 0, 1});
    const std::int64_t none = kFirstSpecialRelative + static_cast<int>(SpecialRank::kNone);
    push(1, kWaitall,
         {2, array({0, 1}), array({relative_rank(0, 1, 2), none}), array({kNotRecorded, 5}),
          array({kNotRecorded, 8})});
    for (std::uint32_t rank = 0; rank < 2; ++rank) push(rank, kFinalize, {});
  }
};

/// Both isends have one handle, as MPICH does for those that complete at once.
const std::vector<std::string> kSender = {
    "Init return=0", "Isend return=0 buf=0 count=2 datatype=200 dest=1 tag=5 comm=100 request=7",
    "Isend return=0 buf=0 count=2 datatype=200 dest=1 tag=5 comm=100 request=7",
    "Waitall return=0 count=2 array_of_requests=[7,7] "
    "array_of_statuses=[(0,0,0,0),(0,0,0,0)]",
    "Finalize return=0"};
const std::vector<std::string> kReceiver = {
    "Init return=0", "Irecv return=0 buf=0 count=2 datatype=200 source=-2 tag=5 comm=100 request=8",
    "Irecv return=0 buf=0 count=4 datatype=200 source=0 tag=-1 comm=100 request=9",
    "Waitall return=0 count=2 array_of_requests=[8,9] "
    "array_of_statuses=[(0,5,8,0),(0,5,8,0)]",
    "Finalize return=0"};

}  // namespace

TEST_CASE("a true trace matches in every column") {
  Directory directory;
  directory.write(0, kSender);
  directory.write(1, kReceiver);
  Job job;
  const VerifyReport report = verified(directory, job);
  CHECK(report.matches());
  CHECK(report.raw_events == 10);
  CHECK(report.trace_events == 10);
  for (const auto& share : report.columns) CHECK(share.matched == share.total);
  CHECK(column(report, Column::kEvents).total == 10);
  CHECK(column(report, Column::kDest).total == 2);
  CHECK(column(report, Column::kRequest).total == 6);
}

TEST_CASE("each kind of lie is found in its column") {
  struct Lie {
    int line;
    const char* from;
    const char* to;
    Column column;
    const char* parameter;
  };
  const auto lie =
      GENERATE(Lie{1, "count=2", "count=3", Column::kCount, "count"},
               Lie{1, "source=-2", "source=0", Column::kSource, "source"},
               Lie{2, "source=0", "source=1", Column::kSource, "source"},
               Lie{2, "tag=-1", "tag=5", Column::kTag, "tag"},
               Lie{1, "comm=100", "comm=99", Column::kComm, "comm"},
               Lie{1, "datatype=200", "datatype=201", Column::kDatatype, "datatype"},
               Lie{1, "buf=0", "buf=2", Column::kOther, "buf"},
               Lie{3, "[8,9]", "[9,8]", Column::kRequest, "array_of_requests"},
               Lie{3, "[(0,5,8,0)", "[(1,5,8,0)", Column::kSource, "array_of_statuses.source"},
               Lie{3, "[(0,5,8,0)", "[(0,6,8,0)", Column::kTag, "array_of_statuses.tag"},
               Lie{3, "[(0,5,8,0)", "[(0,5,4,0)", Column::kCount, "array_of_statuses.bytes"},
               Lie{3, "(0,5,8,0)]", "(0,5,4,0)]", Column::kCount, "array_of_statuses.bytes"});
  Directory directory;
  directory.write(0, kSender);
  std::vector<std::string> lines = kReceiver;
  std::string& line = lines[static_cast<std::size_t>(lie.line)];
  line.replace(line.find(lie.from), std::string(lie.from).size(), lie.to);
  directory.write(1, lines);
  Job job;
  const VerifyReport report = verified(directory, job);
  REQUIRE_FALSE(report.matches());
  bool found = false;
  for (const auto& mismatch : report.mismatches)
    found = found || (mismatch.parameter == lie.parameter && mismatch.rank == 1 &&
                      mismatch.event == static_cast<std::uint64_t>(lie.line) + 1);
  CHECK(found);
  CHECK(column(report, lie.column).matched < column(report, lie.column).total);
  CHECK_FALSE(report.declared());
}

TEST_CASE("a missing event counts against every column it has parameters in") {
  Directory directory;
  directory.write(0, kSender);
  std::vector<std::string> lines = kReceiver;
  lines.insert(lines.begin() + 1, "Send return=0 buf=0 count=1 datatype=200 dest=0 tag=1 comm=100");
  directory.write(1, lines);
  Job job;
  const VerifyReport report = verified(directory, job);
  CHECK(report.missing_events == 1);
  CHECK(report.extra_events == 0);
  CHECK(report.mismatch_count == 1);
  CHECK(column(report, Column::kEvents).total == 11);
  CHECK(column(report, Column::kEvents).matched == 10);
  CHECK(column(report, Column::kDest).total == 3);
  CHECK(column(report, Column::kDest).matched == 2);
  CHECK(column(report, Column::kLoop).matched == 6);  // those before it, and all of rank 0
}

TEST_CASE("an event that did not happen is found") {
  Directory directory;
  directory.write(0, kSender);
  std::vector<std::string> lines = kReceiver;
  lines.erase(lines.begin() + 2);
  directory.write(1, lines);
  Job job;
  const VerifyReport report = verified(directory, job);
  CHECK(report.extra_events == 1);
  CHECK_FALSE(report.matches());
}

TEST_CASE("loss on declared ranks is told apart") {
  Directory directory;
  directory.write(0, kSender);
  std::vector<std::string> lines = kReceiver;
  lines.pop_back();
  directory.write(1, lines);
  Job job;
  Trace trace = job.build();
  trace.declarations.push_back({"ranks not traced", RankList::single(1)});
  const Result<VerifyReport> report = verify(trace, directory.path);
  REQUIRE(report);
  CHECK_FALSE(report->matches());
  CHECK(report->declared());
  CHECK(report->mismatches.empty());
  REQUIRE(report->declared_mismatches.size() == 1);
  CHECK(report->declared_mismatches[0].rank == 1);
}

namespace {

void declare(std::vector<Node>& nodes, std::uint16_t call, const RankList& ranks,
             std::uint32_t kinds) {
  for (Node& node : nodes) {
    if (!node.is_loop() && node.call == call) node.inexact.push_back({ranks, kinds});
    declare(node.body, call, ranks, kinds);
  }
}

VerifyReport verified(const Directory& directory, const Trace& trace) {
  Result<VerifyReport> report = verify(trace, directory.path);
  if (!report) FAIL(report.error().message);
  return *report;
}

std::vector<std::string> changed(std::vector<std::string> lines, std::size_t line,
                                 const std::string& from, const std::string& to) {
  lines[line].replace(lines[line].find(from), from.size(), to);
  return lines;
}

}  // namespace

TEST_CASE("a difference is declared only by its kind, its rank and its node") {
  Directory directory;
  directory.write(0, kSender);
  directory.write(1, changed(kReceiver, 1, "count=2", "count=1"));
  Job job;
  Trace trace = job.build();
  const RankList one = RankList::single(1);
  struct Case {
    std::uint16_t call;
    std::uint32_t rank, kinds;
    bool declared;
  };
  // The receive posted with another count also tells of other bytes in its status.
  const auto now =
      GENERATE(Case{kIrecv, 1, kInexactCount, true}, Case{kIrecv, 1, kInexactAll, true},
               Case{kIrecv, 1, kInexactTag | kInexactSource, false},
               Case{kIrecv, 0, kInexactCount, false}, Case{kIsend, 1, kInexactCount, false});
  declare(trace.nodes, now.call, RankList::single(now.rank), now.kinds);
  declare(trace.nodes, kWaitall, one, kInexactCount);
  const VerifyReport report = verified(directory, trace);
  CHECK_FALSE(report.matches());
  CHECK(report.declared() == now.declared);
  const VerifyReport::Share& counts = column(report, Column::kCount);
  CHECK((counts.undeclared() == 0) == now.declared);
  CHECK(counts.declared + counts.undeclared() == counts.total - counts.matched);
}

TEST_CASE("kinds without a difference are declared too widely") {
  Directory directory;
  directory.write(0, kSender);
  directory.write(1, changed(kReceiver, 2, "source=0", "source=1"));
  Job job;
  Trace trace = job.build();
  declare(trace.nodes, kIrecv, RankList::single(1), kInexactSource | kInexactTag);
  declare(trace.nodes, kWaitall, RankList::single(1), kInexactSource);
  const VerifyReport report = verified(directory, trace);
  CHECK(report.declared());
  REQUIRE(report.too_wide.size() == 1);
  CHECK(report.too_wide[0].kind == kInexactTag);
  CHECK(report.too_wide[0].ranks == RankList::single(1));
}

TEST_CASE("unsuccessful polls are compared by number, but for ranks whose own words are lost") {
  const bool lost = GENERATE(false, true);
  const std::uint64_t counted = GENERATE(1, 2);
  TraceBuilder job(1);
  job.call(50, "Send", {});
  job.push(0, 50, {});
  Directory directory;
  directory.write(0, {"Test return=0 flag=0", "Test return=0 flag=0", "Send return=0"}, true, 1);
  Trace made = job.build();
  made.facts[0].polls = counted;
  made.recorded_polls = "successful";
  if (lost) made.declarations.push_back({"words were lost", RankList::single(0)});
  const VerifyReport report = verified(directory, made);
  CHECK(report.polls == 2);
  CHECK(report.declared() == (lost || counted == 2));
}

TEST_CASE("where events are declared to differ, what follows must still match") {
  Directory directory;
  directory.write(0, kSender);
  std::vector<std::string> lines = kReceiver;
  const int extra = GENERATE(0, 1, 5, 300);
  const bool wrong_after = GENERATE(false, true);
  for (int i = 0; i < extra; ++i) lines.insert(lines.begin() + 1, "Barrier return=0 comm=100");
  if (wrong_after) lines.insert(lines.end() - 1, "Barrier return=0 comm=100");
  directory.write(1, lines);
  Job job;
  Trace trace = job.build();
  declare(trace.nodes, kIrecv, RankList::single(1), kInexactEvents);
  const VerifyReport report = verified(directory, trace);
  INFO(extra);
  if (!wrong_after) {
    CHECK(report.declared());
    CHECK(report.matches() == (extra == 0));
    CHECK(report.missing_events == static_cast<std::uint64_t>(extra));
  } else {
    CHECK_FALSE(report.declared());
  }
}

TEST_CASE("events missing where they are declared are not looked for behind it") {
  // What is declared has ids of its own: it does not fold with what is exact.
  constexpr std::uint16_t kProbe = 50, kPack = 51, kBarrier = 52, kExact = 10;
  const auto pack = GENERATE(std::size_t{1}, std::size_t{3}, std::size_t{80});  // of the records
  const bool wrong_after = GENERATE(false, true);
  TraceBuilder job(1);
  for (const auto& [id, name] :
       {std::pair(kProbe, "Probe"), std::pair(kPack, "Pack"), std::pair(kBarrier, "Barrier")}) {
    job.call(id, name, {});
    job.call(id + kExact, name, {});
  }
  std::vector<std::string> lines;
  for (std::size_t part = 0; part < 3; ++part) {
    for (std::size_t i = 0; i < (part == 0 ? pack : 1); ++i)
      lines.insert(lines.end(), {"Probe return=0", "Pack return=0"});
    lines.insert(lines.end(), {"Probe return=0", "Barrier return=0"});
    for (const std::uint16_t id : {kProbe, kPack, kProbe, kBarrier})
      job.push(0, part == 0 ? id : static_cast<std::uint16_t>(id + kExact), {});
  }
  if (wrong_after) lines.erase(lines.end() - 2);
  Directory directory;
  directory.write(0, lines, true, 1);
  Trace trace = job.build();
  REQUIRE(trace.nodes.size() == 5);
  for (std::size_t i = 0; i < 4; ++i)
    trace.nodes[i].inexact = {{RankList::single(0), kInexactEvents}};
  const VerifyReport report = verified(directory, trace);
  INFO(pack);
  CHECK(report.declared() == !wrong_after);
  if (!wrong_after) CHECK(report.missing_events == 2 * (pack - 1));
}

TEST_CASE("what is exact between declared events is found by markers") {
  constexpr std::uint16_t kProbe = 50, kPack = 51, kEnd = 52, kExact = 10;
  const bool wrong = GENERATE(false, true);
  TraceBuilder job(1);
  for (const auto& [id, name] :
       {std::pair(kProbe, "Probe"), std::pair(kPack, "Pack"), std::pair(kEnd, "Barrier")}) {
    job.call(id, name, {});
    job.call(id + kExact, name, {});
  }
  std::vector<std::string> lines;
  const auto record = [&](int pairs) {
    for (int i = 0; i < pairs; ++i) lines.insert(lines.end(), {"Probe return=0", "Pack return=0"});
    lines.insert(lines.end(), {"Probe return=0", "Barrier return=0", "# marker 1"});
  };
  const auto trace = [&](int pairs, std::uint16_t plus) {
    for (int i = 0; i < 2 * pairs; ++i)
      job.push(0, static_cast<std::uint16_t>((i % 2 == 0 ? kProbe : kPack) + plus), {});
    job.push(0, static_cast<std::uint16_t>(kProbe + plus), {});
    job.push(0, static_cast<std::uint16_t>(kEnd + plus), {});
  };
  // Before it a lead's steps stand for the rank's, behind it a call that is declared.
  for (const int pairs : {2, 5, 26, 2, 5, 5}) record(pairs);
  for (const int pairs : {1, 2, 1}) trace(pairs, 0);
  for (const int pairs : {2, wrong ? 4 : 5, 5}) trace(pairs, kExact);
  lines.insert(lines.end(), {"Pack return=0"});
  job.push(0, kPack, {});
  Directory directory;
  directory.write(0, lines, true, 1);
  Trace made = job.build();
  const auto declare_all = [](auto& self, std::vector<Node>& nodes) -> void {
    for (Node& node : nodes) {
      if (node.body.empty() && node.call < kProbe + kExact)
        node.inexact = {{RankList::single(0), kInexactEvents}};
      self(self, node.body);
    }
  };
  declare_all(declare_all, made.nodes);
  const VerifyReport report = verified(directory, made);
  CHECK(report.declared() == !wrong);
}

TEST_CASE("exact events that others were folded with need not begin at a marker") {
  constexpr std::uint16_t kSend = 50, kAllreduce = 51;
  TraceBuilder job(1);
  job.call(kSend, "Send", {});
  job.call(kAllreduce, "Allreduce", {});
  std::vector<std::string> lines;
  for (const char c : std::string("sa||s|a|s||sa||s|a|s|||sasassasas")) {
    lines.push_back(c == '|' ? "# marker 1" : c == 's' ? "Send return=0" : "Allreduce return=0");
    if (c != '|') job.push(0, c == 's' ? kSend : kAllreduce, {});
  }
  Directory directory;
  directory.write(0, lines, true, 1);
  Trace made = job.build();
  const auto declare = [](auto& self, std::vector<Node>& nodes) -> void {
    for (Node& node : nodes) {
      if (node.call == kAllreduce) node.inexact = {{RankList::single(0), kInexactEvents}};
      self(self, node.body);
    }
  };
  declare(declare, made.nodes);
  CHECK(verified(directory, made).matches());
}

TEST_CASE("wrong events of an exact rank are found beside declared ones") {
  Directory directory;
  std::vector<std::string> lines = kSender;
  lines.erase(lines.begin() + 1);
  directory.write(0, lines);
  directory.write(1, kReceiver);
  Job job;
  Trace trace = job.build();
  declare(trace.nodes, kInit, RankList::single(1), kInexactAll);
  declare(trace.nodes, kIrecv, RankList::single(1), kInexactAll);
  const VerifyReport report = verified(directory, trace);
  CHECK_FALSE(report.declared());
  REQUIRE_FALSE(report.mismatches.empty());
  CHECK(report.mismatches[0].rank == 0);
}

TEST_CASE("an incomplete trace is compared as far as both sides reach") {
  Directory directory;
  Job job;
  job.complete = false;
  SECTION("the records go on") {
    std::vector<std::string> lines = kReceiver;
    for (int i = 0; i < 3; ++i) lines.emplace_back("Barrier return=0 comm=100");
    directory.write(0, kSender);
    directory.write(1, lines);
    const VerifyReport report = verified(directory, job);
    CHECK(report.matches());
    CHECK(report.after_flush == 3);
  }
  SECTION("the records are cut") {
    std::vector<std::string> lines = kReceiver;
    lines.pop_back();
    lines.back().resize(lines.back().size() - 9);
    directory.write(0, kSender);
    directory.write(1, lines, false);
    const VerifyReport report = verified(directory, job);
    CHECK(report.matches());
    CHECK(report.unrecorded == 2);
  }
  SECTION("the records are cut in a call path") {
    std::vector<std::string> lines = kReceiver;
    lines.insert(lines.begin() + 1, "# spent 10 20 1");  // of a path that has more digits
    lines.resize(2);
    directory.write(0, kSender);
    directory.write(1, lines, false);
    const VerifyReport report = verified(directory, job);
    CHECK(report.matches());
    CHECK(report.unrecorded == 4);
  }
  SECTION("the prefix differs") {
    directory.write(0, kSender);
    directory.write(1, changed(kReceiver, 1, "tag=5", "tag=6"));
    CHECK_FALSE(verified(directory, job).declared());
  }
}

TEST_CASE("records that cannot be read are one error") {
  Directory directory;
  directory.write(0, kSender);
  Job job;
  const Trace trace = job.build();
  SECTION("missing") {
    const auto report = verify(trace, directory.path);
    REQUIRE_FALSE(report);
    CHECK(report.error().message.find("rank.1.raw") != std::string::npos);
  }
  SECTION("malformed") {
    const std::string bad = GENERATE("Send return=0 count=", "Send return=0 count", "Send x=[1,",
                                     "Send x=(1,2)", "Send x=1y", "Send =1");
    std::vector<std::string> lines = kReceiver;
    lines.insert(lines.begin() + 1, bad);
    directory.write(1, lines);
    const auto report = verify(trace, directory.path);
    REQUIRE_FALSE(report);
    CHECK(report.error().kind == ErrorKind::kCorrupt);
    CHECK(report.error().message.find("line 12") != std::string::npos);
  }
  SECTION("of another rank") {
    std::filesystem::copy_file(directory.path + "/rank.0.raw", directory.path + "/rank.1.raw");
    CHECK_FALSE(verify(trace, directory.path));
  }
}
