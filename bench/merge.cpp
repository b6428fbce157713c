// SPDX-License-Identifier: BSD-3-Clause
// bench/merge: milliseconds of processor time a level of the tree to join the folded traces of
// ranks that behave alike or not: what a rank does at that level, unpacking what it receives and
// joining it (packing what it sends is in the next column). Prints a line a case: ranks, what
// differs, the slowest level (median rank of it), all levels of the critical path together, bytes
// of the largest message and of the whole trace. Best of five.
#include "compress/merge.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "compress/fold.h"
#include "format/codec.h"
#include "format/file.h"
#include "model/end_point.h"
#include "model/trace.h"

namespace {

using namespace chameleon;
using namespace chameleon::compress;
using namespace chameleon::format;

double cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

enum class Differs { kNothing, kOneEvent, kPartner, kManyEvents };

/// A halo exchange and a residual, 200 steps: 11 call sites, as the examples have.
Trace trace_of(std::uint32_t rank, std::uint32_t size, Differs differs) {
  Folder folder;
  const auto self = static_cast<std::int32_t>(rank), all = static_cast<std::int32_t>(size);
  const auto push = [&](std::uint64_t path, std::int64_t count, std::int32_t partner) {
    const std::int64_t values[] = {0, 1, count, 7, pack_rank(partner, self, all), 3, 0};
    folder.push({1, path, 1000 + 10 * path, 300, values});
  };
  for (int step = 0; step < 200; ++step) {
    for (int side = 0; side < 4; ++side) {
      const int away =
          differs == Differs::kPartner ? 1 + static_cast<int>(rank) * side % 5 : 1 + side;
      push(static_cast<std::uint64_t>(side), 1000, (self + away) % all);
      push(static_cast<std::uint64_t>(4 + side), 1000, (self + all - away % all) % all);
    }
    push(8, 8, 0), push(9, 1, 0);
    // Different ranks do something of their own, at different steps.
    if (differs == Differs::kOneEvent && step == 100) push(1000 + rank, 1, 0);
    if (differs == Differs::kManyEvents && step % 10 == 0)
      push(1000 + rank % 8 + static_cast<std::uint64_t>(step), 1, 0);
  }
  Trace trace;
  trace.ranks = RankList::single(rank);
  trace.world_size = size;
  trace.nodes = folder.take();
  trace.calls[1] = {"Send",
                    {{"return", "int", FieldKind::kPlain},
                     {"buf", "buffer", FieldKind::kPlain},
                     {"count", "count", FieldKind::kPlain},
                     {"type", "datatype", FieldKind::kPlain},
                     {"dest", "dest", FieldKind::kEndPoint},
                     {"tag", "tag", FieldKind::kPlain},
                     {"comm", "comm", FieldKind::kPlain}}};
  return trace;
}

struct Figures {
  double slowest_level = 1e30, critical_path = 1e30;
  std::size_t largest_message = 0, bytes = 0;
};

void measure(std::uint32_t size, Differs differs, Figures& best) {
  std::vector<Trace> traces;
  for (std::uint32_t rank = 0; rank < size; ++rank) traces.push_back(trace_of(rank, size, differs));
  double slowest = 0, path = 0;
  for (std::uint32_t step = 1; step < size; step *= 2) {
    std::vector<double> level;
    for (std::uint32_t rank = 0; rank + step < size; rank += 2 * step) {
      const Bytes message = encode_trace(traces[rank + step]);
      best.largest_message = std::max(best.largest_message, message.size());
      const double begin = cpu_ms();
      auto received = decode_trace(message);
      merge(traces[rank], std::move(*received));
      level.push_back(cpu_ms() - begin);
    }
    std::nth_element(level.begin(), level.begin() + static_cast<std::ptrdiff_t>(level.size() / 2),
                     level.end());
    const double median = level[level.size() / 2];
    slowest = std::max(slowest, median);
    path += median;
  }
  canonicalize(traces[0]);
  best.bytes = encode_trace(traces[0]).size();
  best.slowest_level = std::min(best.slowest_level, slowest);
  best.critical_path = std::min(best.critical_path, path);
}

}  // namespace

int main() {
  std::printf("%6s %-28s %14s %14s %14s %12s\n", "ranks", "differs", "ms slowest", "ms in all",
              "largest bytes", "trace bytes");
  const struct {
    Differs differs;
    const char* name;
  } cases[] = {{Differs::kNothing, "nothing"},
               {Differs::kOneEvent, "one event a rank"},
               {Differs::kPartner, "partners of every step"},
               {Differs::kManyEvents, "20 events, eight kinds"}};
  for (const std::uint32_t size : {4U, 16U, 64U, 256U, 1024U})
    for (const auto& [differs, name] : cases) {
      Figures best;
      for (int repeat = 0; repeat < 5; ++repeat) measure(size, differs, best);
      std::printf("%6u %-28s %14.3f %14.3f %14zu %12zu\n", size, name, best.slowest_level,
                  best.critical_path, best.largest_message, best.bytes);
      std::fflush(stdout);
    }
}
