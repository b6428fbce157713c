// SPDX-License-Identifier: BSD-3-Clause
// Loops that poll fold to their text, whatever the polls found; and every rank gets back what it
// did.
#include <cstdlib>
#include <map>

#include "compress/append.h"
#include "compress/merge.h"
#include "format/codec.h"
#include "format/file.h"
#include "property/loop_shapes.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::testing;

namespace {

/// A program that answers questions until it is released: poll, take a question and answer it,
/// say that all are answered, see whether it is released. In each step it does all of it at least
/// once; how often, and in which rounds, is chance. If it is `idle`, steps may have no questions.
class Poller {
 public:
  Poller(std::uint64_t seed, int rank, bool idle = false)
      : random_(seed), rank_(rank), idle_(idle) {}

  Stream run(int steps) {
    for (int step = 0; step < steps; ++step) {
      ends_.push_back(stream_.size());
      add(kCollectiveCall, 1);
      const int questions = idle_ && random_() % 3 == 0 ? 0 : 1 + rank_ % 3;
      int answered = 0;
      bool released = false;
      while (!released) {
        const bool found = answered < questions && random_() % 3 == 0;
        add(kPollCall, 2, found);
        if (found) {
          add(2, 3, static_cast<std::int64_t>(random_() % 4));
          if (rank_ % 2 == 1)
            for (int i = 0; i < 3; ++i) add(1, 8);
          add(2, 4);
          if (++answered == questions) add(3, 5);
        }
        released = answered == questions && random_() % 3 == 0;
        add(kPollCall, 6, released);
      }
      add(2, 7);
    }
    return stream_;
  }

  /// Where the steps begin.
  const std::vector<std::size_t>& ends() const { return ends_; }

 private:
  void add(std::uint16_t call, std::uint64_t path, std::int64_t value = 7) {
    stream_.push_back({call, path, {0, value, rank_}});
  }

  std::mt19937_64 random_;
  int rank_;
  bool idle_;
  Stream stream_;
  std::vector<std::size_t> ends_;
};

/// Rounds of any kind, with parts of them missing, loops in them and ends within them.
Stream any_rounds(std::uint64_t seed, int rank) {
  std::mt19937_64 random(seed);
  Stream stream;
  const auto add = [&](std::uint16_t call, std::uint64_t path) {
    stream.push_back({call, path, {0, static_cast<std::int64_t>(random() % 3), rank}});
  };
  for (int region = 0; region < 12; ++region) {
    for (std::uint64_t i = random() % 3; i > 0; --i) add(1, 100 + random() % 2);
    const bool last_is_poll = random() % 2 == 0;
    for (std::uint64_t round = random() % 9; round > 0; --round) {
      for (std::uint64_t i = 1 + (random() % 4 == 0 ? random() % 3 : 0); i > 0; --i)
        add(kPollCall, 1);
      for (std::uint64_t part = 0; part < 4; ++part) {
        if (random() % 2 == 0) continue;
        for (std::uint64_t i = random() % 4 == 0 ? 1 + random() % 4 : 1; i > 0; --i)
          for (std::uint64_t k = 0; k <= part % 2; ++k) add(2, 10 * part + k + 20);
      }
      if (random() % 8 != 0) add(last_is_poll ? kPollCall : 3, 2);
    }
  }
  return stream;
}

/// In parts that are folded one by one, and appended.
Trace in_parts(const Stream& stream, const std::vector<std::size_t>& ends, std::size_t every,
               int rank, int ranks) {
  Trace online;
  for (std::size_t i = 0; i < ends.size(); i += every) {
    const std::size_t end = i + every < ends.size() ? ends[i + every] : stream.size();
    const Stream part(stream.begin() + static_cast<std::ptrdiff_t>(ends[i]),
                      stream.begin() + static_cast<std::ptrdiff_t>(end));
    compress::append(online, fold_stream(part, rank, ranks));
  }
  return online;
}

void note_marks(const std::vector<Node>& nodes, std::uint32_t around,
                std::map<const Node*, std::uint32_t>& marks) {
  for (const Node& node : nodes) {
    marks[&node] = around | inexact_kinds(node.inexact, 0);
    note_marks(node.body, marks[&node], marks);
  }
}

/// Kinds that are marked at each event of rank 0, at its node or around it.
std::vector<std::uint32_t> marks_of(const Trace& trace) {
  std::map<const Node*, std::uint32_t> marks;
  note_marks(trace.nodes, 0, marks);
  auto view = RankView::make(trace, 0);
  REQUIRE(view);
  std::vector<std::uint32_t> all;
  for (EventView event; view->next(event);) all.push_back(marks[event.node]);
  return all;
}

/// Marks a node at any depth.
void mark_any(std::vector<Node>& nodes, std::mt19937_64& random) {
  Node* node = &nodes[random() % nodes.size()];
  while (node->is_loop() && random() % 3 != 0) node = &node->body[random() % node->body.size()];
  node->inexact.push_back({RankList::single(0), kInexactCount});
}

/// Folds and appends parts of a stream, some of which have a node that is marked. Whether all of
/// the events that were marked still are.
bool keeps_marks(const Stream& stream, std::vector<std::size_t> ends, std::mt19937_64& random) {
  if (stream.empty()) return true;
  Trace online;
  std::vector<std::uint32_t> wanted;
  ends.push_back(stream.size());
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const Stream part(stream.begin() + static_cast<std::ptrdiff_t>(ends[i]),
                      stream.begin() + static_cast<std::ptrdiff_t>(ends[i + 1]));
    if (part.empty()) continue;
    Trace partial = fold_stream(part, 0, 1);
    if (random() % 2 == 0) mark_any(partial.nodes, random);
    const std::vector<std::uint32_t> marks = marks_of(partial);
    wanted.insert(wanted.end(), marks.begin(), marks.end());
    compress::append(online, std::move(partial));
  }
  REQUIRE(same(expand(online, 0), stream));
  const std::vector<std::uint32_t> found = marks_of(online);
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    if ((wanted[i] & ~found[i]) != 0) return false;
  return true;
}

/// The same of a rank's fold, which goes on from what it is given.
bool fold_keeps_marks(const Stream& stream, std::size_t middle, std::mt19937_64& random) {
  Folder whole, part;
  std::vector<std::uint32_t> wanted;
  for (std::size_t at = 0; at < stream.size(); ++at) {
    std::vector<std::int64_t> values = stream[at].values;
    values[2] = pack_rank(static_cast<std::int32_t>(values[2]), 0, 1);
    const Event event{stream[at].call, stream[at].path, 0, 0, values, 0, role_of(stream[at])};
    (at < middle ? part : whole).push(event);
    if (at + 1 != middle) continue;
    Trace trace = fold_stream({}, 0, 1);
    trace.nodes = part.take();
    mark_any(trace.nodes, random);
    wanted = marks_of(trace);
    whole.append(std::move(trace.nodes), middle);
  }
  Trace trace = fold_stream({}, 0, 1);
  trace.nodes = whole.take();
  const std::vector<std::uint32_t> found = marks_of(trace);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if ((wanted[i] & ~found[i]) != 0) return false;
  return true;
}

/// In parts of any length.
std::vector<std::size_t> any_ends(const Stream& stream, std::mt19937_64& random) {
  std::vector<std::size_t> ends{0};
  while (ends.back() + 1 < stream.size())
    ends.push_back(std::min(stream.size() - 1, ends.back() + 1 + random() % 20));
  return ends;
}

}  // namespace

TEST_CASE("what is not exact stays marked when loops are taken apart", "[rounds]") {
  for (std::uint64_t i = 0; i < 400; ++i) {
    const std::uint64_t seed = base_seed() + i;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    Poller poller(seed, static_cast<int>(seed % 4), true);
    const Stream polls = poller.run(20);
    CHECK(keeps_marks(polls, poller.ends(), random));
    CHECK(keeps_marks(polls, any_ends(polls, random), random));
    const Stream rounds = any_rounds(seed, 0);
    CHECK(keeps_marks(rounds, any_ends(rounds, random), random));
    CHECK(fold_keeps_marks(rounds, rounds.size() * (1 + seed % 4) / 5, random));
    CHECK(fold_keeps_marks(polls, polls.size() * (1 + seed % 4) / 5, random));
    ProgramMaker program(seed, 1);
    const Stream stream = program.run(0);
    CHECK(keeps_marks(stream, any_ends(stream, random), random));
  }
}

TEST_CASE("steps that differ in what polls found are one loop", "[rounds]") {
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const int rank = static_cast<int>(seed % 6);
    Poller poller(seed, rank);
    const Stream stream = poller.run(100);
    const Trace trace = fold_stream(stream, rank, 6, static_cast<Feed>(seed % 3));
    INFO("CHAMELEON_TEST_SEED=" << seed << ": " << text_of(trace.nodes));
    REQUIRE(same(expand(trace, rank), stream));
    // Eight calls at most, the loops of steps and of rounds, and loops around what is optional.
    CHECK(count_nodes(trace.nodes) <= 14);
    const Trace parts = in_parts(stream, poller.ends(), 1 + seed % 7, rank, 6);
    REQUIRE(same(expand(parts, rank), stream));
    CHECK(count_nodes(parts.nodes) <= 14);
  }
}

TEST_CASE("rounds that differ from one flush to the next stay in one loop", "[rounds]") {
  constexpr int kRanks = 4;
  // In these the first steps are of one round each, and fold to loops that end within a round.
  std::vector<std::uint64_t> seeds{9'000'039,  12'000'107, 21'000'191,
                                   42'000'211, 45'000'299, 58'000'199};
  for (std::uint64_t i = 0; i < 200; ++i) seeds.push_back(base_seed() + i);
  for (const std::uint64_t seed : seeds) {
    INFO("CHAMELEON_TEST_SEED=" << seed);
    // A flush a step; in some no question came, so that the calls that answer one are not there.
    const int rank = static_cast<int>(seed % kRanks);
    Poller poller(seed, rank, true);
    const Stream stream = poller.run(40);
    const Trace alone = in_parts(stream, poller.ends(), 1, rank, kRanks);
    REQUIRE(same(expand(alone, rank), stream));
    INFO(text_of(alone.nodes));
    CHECK(count_nodes(alone.nodes) <= 24);  // before loops are known steps may fold otherwise
    REQUIRE(same(expand(in_parts(stream, poller.ends(), 3, rank, kRanks), rank), stream));

    // The same of ranks that do alike.
    std::vector<Stream> streams;
    Trace online;
    std::vector<std::size_t> ends;
    for (int other = 0; other < kRanks; ++other) {
      Poller alike(seed, 2, true);
      streams.push_back(alike.run(20));
      ends = alike.ends();
    }
    for (std::size_t part = 0; part < ends.size(); ++part) {
      const std::size_t end = part + 1 < ends.size() ? ends[part + 1] : streams[0].size();
      Trace merged;
      for (int other = 0; other < kRanks; ++other) {
        const Stream& whole = streams[static_cast<std::size_t>(other)];
        Trace one = fold_stream(Stream(whole.begin() + static_cast<std::ptrdiff_t>(ends[part]),
                                       whole.begin() + static_cast<std::ptrdiff_t>(end)),
                                other, kRanks);
        if (other == 0)
          merged = std::move(one);
        else
          compress::merge(merged, std::move(one));
      }
      compress::drop_ranks(merged);
      compress::append(online, *format::decode_trace(format::encode_trace(merged)));
    }
    for (int other = 0; other < kRanks; ++other)
      REQUIRE(same(expand(online, other), streams[static_cast<std::size_t>(other)]));
    CHECK(count_nodes(online.nodes) <= 24);
  }
}

TEST_CASE("rounds of any kind are folded, appended and merged exactly", "[rounds]") {
  constexpr int kRanks = 4;
  const std::uint64_t programs = std::getenv("CHAMELEON_TEST_ALL") != nullptr ? 2000 : 400;
  for (std::uint64_t i = 0; i < programs; ++i) {
    const std::uint64_t seed = base_seed() + i;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    std::vector<Stream> streams;
    std::vector<Trace> traces;
    for (int rank = 0; rank < kRanks; ++rank) {
      streams.push_back(any_rounds(seed + static_cast<std::uint64_t>(rank % 3), rank));
      const Stream& stream = streams.back();
      const std::size_t middle = stream.size() * (seed % 5) / 4;
      Trace trace = in_parts(stream, {0, middle}, 1, rank, kRanks);
      REQUIRE(same(expand(trace, rank), stream));
      REQUIRE(same(expand(fold_stream(stream, rank, kRanks, static_cast<Feed>(seed % 3)), rank),
                   stream));
      traces.push_back(std::move(trace));
    }
    const Trace merged = reduce_virtually(std::move(traces), [](Trace& mine, Trace&& theirs) {
      compress::merge(mine, std::move(theirs));
    });
    const Trace decoded = *format::decode_trace(format::encode_trace(merged));
    for (int rank = 0; rank < kRanks; ++rank)
      REQUIRE(same(expand(decoded, rank), streams[static_cast<std::size_t>(rank)]));
  }
}

TEST_CASE("what a folder appends of rounds goes on", "[rounds]") {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const std::uint64_t seed = base_seed() + i;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    const Stream stream = any_rounds(seed, 0);
    const std::size_t middle = stream.size() * (seed % 5) / 4;
    Folder whole, part;
    for (std::size_t at = 0; at < stream.size(); ++at) {
      std::vector<std::int64_t> values = stream[at].values;
      values[2] = pack_rank(static_cast<std::int32_t>(values[2]), 0, 1);
      const Event event{stream[at].call, stream[at].path, 0, 0, values, 0, role_of(stream[at])};
      (at < middle ? part : whole).push(event);
      if (at + 1 == middle) whole.append(part.take(), middle);
    }
    Trace trace = fold_stream({}, 0, 1);
    trace.nodes = whole.take();
    REQUIRE(same(expand(trace, 0), stream));
  }
}
