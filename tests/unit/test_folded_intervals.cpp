// SPDX-License-Identifier: BSD-3-Clause
// When a stream's folded trace goes to a store.

#include "mpi/event_layout.h"
#include "record/rank_trace.h"
#include "unit/catch.h"

namespace chameleon {
using namespace mpi;
using namespace record;
namespace {

void record_at(RankTrace& trace, std::uint64_t path) {
  const std::int64_t comm = 0;
  const auto call = static_cast<std::uint16_t>(CallId::kBarrier);
  trace.log().append(trace.log().find(call, path, &comm, 1), 1, 1);
}

/// A store that is asked, and takes nothing.
class AskedStore final : public PieceStore {
 public:
  bool wants() override {
    ++asked;
    return false;
  }
  bool put(std::uint32_t, std::vector<Node>&, PieceOf) override { return false; }
  void close() override {}
  void join() override {}
  void drop() override {}

  int asked = 0;
};

TEST_CASE("memory is looked at between loops, too") {
  RecordOptions options;
  RankTrace trace(options);
  AskedStore store;
  trace.folded().store_in(store, 0);
  constexpr std::uint64_t kRounds = 64, kRepeated = 63;
  record_at(trace, 1);
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    record_at(trace, 100 + round);
    for (std::uint64_t i = 0; i < kRepeated; ++i) record_at(trace, 1);
  }
  trace.close_interval(1);
  trace.join(1);
  // The rounds' first events, and one or two before what is repeated.
  CHECK(store.asked >= 2);
  CHECK(store.asked <= 4);
}

}  // namespace
}  // namespace chameleon
