// SPDX-License-Identifier: BSD-3-Clause

#include "analysis/operations.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::compress;
using chameleon::testing::TraceBuilder;

TEST_CASE("requests of any id are told apart, those of threads and of damaged traces too") {
  enum : std::uint16_t { kIrecv = 1, kWait };
  constexpr std::int64_t kInt = -3, kFirst = std::int64_t{1} << kObjectThreadShift;
  TraceBuilder job(1, 2);
  job.call(kIrecv, "Irecv");
  job.call(kWait, "Wait");
  const std::int64_t self = pack_rank(0, 0, 1);
  const std::int64_t ids[] = {kFirst, kFirst + 1, INT64_MAX};
  for (int i = 0; i < 3; ++i) job.push(0, kIrecv, {0, i + 1, kInt, self, 10 + i, 0, ids[i]});
  for (int i = 0; i < 3; ++i) job.push(0, kWait, {ids[i], kNotRecorded, kNotRecorded, 4 * (i + 1)});

  const Trace trace = job.build();
  const TracePlan plan = plan_trace(trace);
  Result<RankOperations> rank = RankOperations::make(trace, plan, 0);
  REQUIRE(rank);
  std::vector<std::int64_t> received;
  while (rank->next())
    for (const Operation& operation : rank->operations())
      if (operation.kind == Operation::Kind::kReceive) received.push_back(operation.channel.tag);
  CHECK(received == std::vector<std::int64_t>{10, 11, 12});
}
