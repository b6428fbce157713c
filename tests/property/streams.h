// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Event streams for property tests: programs of nested loops with conditions
/// on rank and iteration, run on every rank; and plain noise.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "compress/fold.h"
#include "model/trace.h"
#include "model/view.h"
#include "world/tree.h"

namespace chameleon::testing {
using namespace compress;
using namespace world;

/// Reduces one value a rank to rank 0's, in the order a job of that size would.
/// `combine(mine, theirs)` takes the child's value into the parent's.
template <class T, class Combine>
T reduce_virtually(std::vector<T> values, Combine combine) {
  const auto size = static_cast<std::uint32_t>(values.size());
  for (std::uint32_t step = 1; step < size; step *= 2)
    for (std::uint32_t rank = 0; rank + step < size; rank += 2 * step)
      combine(values[rank], std::move(values[rank + step]));
  return std::move(values.front());
}

/// CHAMELEON_TEST_SEED, or chance; tests print it when they fail.
inline std::uint64_t base_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("CHAMELEON_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }();
  return seed;
}

struct Record {
  std::uint16_t call;
  std::uint64_t path;
  std::vector<std::int64_t> values;  ///< [return, plain, end-point as a rank]
  bool operator==(const Record&) const = default;
};
using Stream = std::vector<Record>;

/// A call that may be unsuccessful; programs and noise make others.
inline constexpr std::uint16_t kPollCall = 4;
/// One that waits for other ranks.
inline constexpr std::uint16_t kCollectiveCall = 5;

inline CallRole role_of(const Record& record) {
  return record.call == kPollCall         ? CallRole::kPoll
         : record.call == kCollectiveCall ? CallRole::kCollective
                                          : CallRole::kOther;
}

/// Not an expression for Catch to print: streams are long.
inline bool same(const Stream& a, const Stream& b) { return a == b; }

class ProgramMaker {
 public:
  ProgramMaker(std::uint64_t seed, int ranks) : random_(seed), ranks_(ranks) { make(root_, 0); }

  Stream run(int rank) {
    Stream stream;
    run(root_, rank, 0, stream);
    return stream;
  }

 private:
  struct Statement {
    bool loop = false;
    int site = 0;
    int iterations = 0, vary = 0;    ///< iterations + (outer iteration % vary)
    int divisor = 1, remainder = 0;  ///< executed where rank % divisor == remainder
    int value_form = 0, partner_form = 0;
    std::vector<Statement> body;
  };

  int pick(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }

  void make(std::vector<Statement>& body, int depth) {
    const int statements = 1 + pick(5);
    for (int i = 0; i < statements; ++i) {
      Statement s;
      s.loop = depth < 3 && pick(3) == 0;
      s.site = pick(12);
      s.iterations = pick(6);
      s.vary = pick(3) == 0 ? 1 + pick(4) : 1;
      if (pick(4) == 0) {
        s.divisor = 1 + pick(4);
        s.remainder = pick(s.divisor);
      }
      s.value_form = pick(6);
      s.partner_form = pick(4);
      if (s.loop) make(s.body, depth + 1);
      body.push_back(std::move(s));
    }
  }

  void run(const std::vector<Statement>& body, int rank, int iteration, Stream& stream) {
    for (const Statement& s : body) {
      if (rank % s.divisor != s.remainder) continue;
      if (!s.loop) {
        stream.push_back(event(s, rank, iteration));
        continue;
      }
      const int count = s.iterations + iteration % s.vary;
      for (int i = 0; i < count; ++i) run(s.body, rank, i, stream);
    }
  }

  Record event(const Statement& s, int rank, int iteration) const {
    std::int64_t value = 7;
    if (s.value_form == 1) value = iteration;
    if (s.value_form == 2) value = rank;
    if (s.value_form == 3) value = iteration * rank % 5;
    if (s.value_form == 4) value = iteration == 0 ? 1 : 2;
    int partner = 0;
    if (s.partner_form == 1) partner = (rank + 1) % ranks_;
    if (s.partner_form == 2) partner = (rank + iteration) % ranks_;
    if (s.partner_form == 3) partner = rank ^ 1;
    if (partner >= ranks_) partner = rank;
    return {static_cast<std::uint16_t>(1 + s.site % 3),
            static_cast<std::uint64_t>(s.site),
            {0, value, partner}};
  }

  std::mt19937_64 random_;
  int ranks_;
  std::vector<Statement> root_;
};

inline Stream noise(std::uint64_t seed, int length, int sites) {
  std::mt19937_64 random(seed);
  Stream stream;
  for (int i = 0; i < length; ++i) {
    const auto site = random() % static_cast<std::uint64_t>(sites);
    stream.push_back({1, site, {0, static_cast<std::int64_t>(random() % 3), 0}});
  }
  return stream;
}

/// How events come to the folder: with what tells it that it has seen an event before, for
/// some or for all of them, and as whole iterations where it can take them.
enum class Feed { kSomeKnown, kKnown, kAhead };

/// What the folder's rank did next, as a trace of its own.
inline Trace fold_on(Folder& folder, const Stream& stream, int rank, int size, Feed feed) {
  std::map<std::tuple<std::uint16_t, std::uint64_t, std::vector<std::int64_t>>, std::uint64_t>
      known;
  std::vector<std::vector<std::int64_t>> values;
  std::vector<std::uint64_t> identities;
  for (const Record& record : stream) {
    values.push_back(record.values);
    values.back()[2] = pack_rank(static_cast<std::int32_t>(record.values[2]), rank, size);
    const std::uint64_t identity =
        known.try_emplace({record.call, record.path, values.back()}, known.size() + 1)
            .first->second;
    identities.push_back(feed == Feed::kSomeKnown && identity % 5 == 0 ? 0 : identity);
  }
  const auto time = [](std::size_t i) {
    return std::pair<std::uint64_t, std::uint64_t>(100 + i % 977, 50 + i % 31);
  };
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t repeated =
        feed != Feed::kAhead
            ? 0
            : folder.repeat(
                  stream.size() - at, [&](std::size_t i) { return identities[at + i]; },
                  [&](std::size_t i) {
                    return Node::event_symbol(stream[at + i].call, stream[at + i].path);
                  },
                  [&](std::size_t i) { return time(at + i); });
    at += repeated;
    if (repeated != 0) continue;
    const auto [compute, communication] = time(at);
    folder.push({stream[at].call, stream[at].path, compute, communication, values[at],
                 identities[at], role_of(stream[at])});
    ++at;
  }
  Trace trace;
  trace.ranks = RankList::single(static_cast<std::uint32_t>(rank));
  trace.world_size = static_cast<std::uint32_t>(size);
  trace.nodes = folder.take();
  for (std::uint16_t call = 1; call <= kCollectiveCall; ++call)
    trace.calls[call] = {"Call" + std::to_string(call),
                         {{"return", "int", FieldKind::kPlain},
                          {"count", call == kPollCall ? "flag" : "count", FieldKind::kPlain},
                          {"dest", "dest", FieldKind::kEndPoint}}};
  return trace;
}

inline Trace fold_stream(const Stream& stream, int rank, int size, Feed feed) {
  Folder folder;
  return fold_on(folder, stream, rank, size, feed);
}

inline Trace fold_stream(const Stream& stream, int rank, int size) {
  return fold_stream(stream, rank, size, static_cast<Feed>(rank % 3));
}

/// The same of a thread of a rank: numbers of streams go on behind those of the ranks.
inline Trace fold_thread(const Stream& stream, int rank, int thread, int size, int threads) {
  Trace trace = fold_stream(stream, rank, size);
  trace.threads = static_cast<std::uint32_t>(threads);
  trace.ranks = RankList::single(
      trace.stream_of(static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(thread)));
  return trace;
}

/// A stream's events read back; a `Record` with call 0 stands for a failure.
inline Stream expand(const Trace& trace, int rank) {
  Stream stream;
  auto view = RankView::make(trace, static_cast<std::uint32_t>(rank));
  if (!view) return {{0, 0, {}}};
  EventView event;
  while (view->next(event)) {
    Record record{event.node->call, event.node->path, event.values};
    const auto self = static_cast<std::int32_t>(trace.rank_of(static_cast<std::uint32_t>(rank)));
    record.values[2] = event.end_point(2).rank(self, static_cast<std::int32_t>(trace.world_size));
    stream.push_back(std::move(record));
  }
  return stream;
}

inline std::size_t count_nodes(const std::vector<Node>& nodes) {
  std::size_t count = nodes.size();
  for (const Node& node : nodes) count += count_nodes(node.body);
  return count;
}

}  // namespace chameleon::testing
