// SPDX-License-Identifier: BSD-3-Clause
// Calls that a program makes in any order are one loop, and every rank gets its order back.
#include <algorithm>
#include <cstdlib>

#include "compress/append.h"
#include "compress/call_sets.h"
#include "compress/merge.h"
#include "format/codec.h"
#include "format/file.h"
#include "property/loop_shapes.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::testing;

namespace {

/// A program that does something else for each message, in the order in which messages come:
/// receives, then for each message a wait and one of `kinds` answers, and a sum. In some steps
/// messages are missing if it is `sparse`, but not all. The markers are before the sum if they are
/// `within`.
class Dispatcher {
 public:
  struct Options {
    int kinds = 3;
    bool sparse = false, within = false;
  };

  Dispatcher(std::uint64_t seed, int rank, Options options)
      : random_(seed), rank_(rank), options_(options) {}

  Stream run(int steps) {
    for (int step = 0; step < steps; ++step) {
      if (!options_.within) ends_.push_back(stream_.size());
      add(1, 1);
      std::vector<int> messages;
      for (int kind = 0; kind < options_.kinds; ++kind)
        if (!options_.sparse || random_() % 4 != 0) messages.push_back(kind);
      if (messages.empty()) messages.push_back(0);
      std::shuffle(messages.begin(), messages.end(), random_);
      for (const int kind : messages) {
        add(2, 2, kind);
        add(3, 10 + static_cast<std::uint64_t>(kind));
        if (kind == 0)
          for (int i = 0; i < 3; ++i) add(3, 30);
      }
      if (options_.within) ends_.push_back(stream_.size());
      add(kCollectiveCall, 3);
    }
    if (options_.within) ends_.insert(ends_.begin(), 0);
    return stream_;
  }

  /// Where parts may begin.
  const std::vector<std::size_t>& ends() const { return ends_; }

 private:
  void add(std::uint16_t call, std::uint64_t path, std::int64_t value = 7) {
    stream_.push_back({call, path, {0, value, rank_}});
  }

  std::mt19937_64 random_;
  int rank_;
  Options options_;
  Stream stream_;
  std::vector<std::size_t> ends_;
};

/// The nodes of the text: the step, the receives, the loop of the set, two for each of its calls
/// (the wait, the answers, and the one that is made three times), and the collective.
std::size_t text(const Dispatcher::Options& options) {
  return 4 + 2 * (static_cast<std::size_t>(options.kinds) + 2);
}

/// In parts that the rank's folder folds one after the other.
std::vector<Trace> parts_of(const Stream& stream, const std::vector<std::size_t>& ends,
                            std::size_t every, int rank, int ranks) {
  std::vector<Trace> parts;
  Folder folder(false);
  for (std::size_t i = 0; i < ends.size(); i += every) {
    const std::size_t end = i + every < ends.size() ? ends[i + every] : stream.size();
    const Stream part(stream.begin() + static_cast<std::ptrdiff_t>(ends[i]),
                      stream.begin() + static_cast<std::ptrdiff_t>(end));
    parts.push_back(fold_on(folder, part, rank, ranks, static_cast<Feed>(rank % 3)));
  }
  return parts;
}

Trace joined(std::vector<Trace> parts) {
  Trace online;
  for (Trace& part : parts) compress::append(online, std::move(part));
  return online;
}

}  // namespace

TEST_CASE("steps that differ in the order of their calls are one loop", "[call sets]") {
  for (std::uint64_t i = 0; i < 400; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const Dispatcher::Options options{2 + static_cast<int>(seed % 7), seed % 2 == 0};
    const int rank = static_cast<int>(seed / 2 % 6);
    Dispatcher program(seed, rank, options);
    const Stream stream = program.run(120);
    Folder folder(false);
    const Trace trace = fold_on(folder, stream, rank, 6, static_cast<Feed>(seed % 3));
    INFO("CHAMELEON_TEST_SEED=" << seed << ": " << text_of(trace.nodes));
    REQUIRE(same(expand(trace, rank), stream));
    CHECK(count_nodes(trace.nodes) <= text(options));
  }
}

TEST_CASE("a set of calls is one loop over all flushes", "[call sets]") {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const Dispatcher::Options options{2 + static_cast<int>(seed % 5), false, seed % 2 == 0};
    const int rank = static_cast<int>(seed / 2 % 6);
    INFO("CHAMELEON_TEST_SEED=" << seed);
    std::vector<std::size_t> nodes;
    for (const int steps : {60, 240}) {
      Dispatcher program(seed, rank, options);
      const Stream stream = program.run(steps);
      const Trace online = joined(parts_of(stream, program.ends(), 20, rank, 6));
      REQUIRE(same(expand(online, rank), stream));
      nodes.push_back(count_nodes(online.nodes));
      INFO(text_of(online.nodes));
    }
    CHECK(nodes[1] == nodes[0]);
  }
}

TEST_CASE("ranks with other orders of the same calls have one node each", "[call sets]") {
  constexpr int kRanks = 6;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const Dispatcher::Options options{2 + static_cast<int>(seed % 5)};
    INFO("CHAMELEON_TEST_SEED=" << seed);
    std::vector<Stream> streams;
    std::vector<std::vector<Trace>> parts;
    for (int rank = 0; rank < kRanks; ++rank) {
      Dispatcher program(seed * kRanks + static_cast<std::uint64_t>(rank), rank, options);
      streams.push_back(program.run(90));
      parts.push_back(parts_of(streams.back(), program.ends(), 30, rank, kRanks));
    }
    std::vector<Trace> flushes;
    for (std::size_t part = 0; part < parts[0].size(); ++part) {
      std::vector<Trace> traces;
      for (std::vector<Trace>& one : parts) traces.push_back(std::move(one[part]));
      Trace merged = reduce_virtually(std::move(traces), [](Trace& mine, Trace&& theirs) {
        compress::merge(mine, std::move(theirs));
      });
      compress::drop_ranks(merged);
      flushes.push_back(*format::decode_trace(format::encode_trace(merged)));
    }
    const Trace online = joined(std::move(flushes));
    INFO(text_of(online.nodes));
    for (int rank = 0; rank < kRanks; ++rank)
      REQUIRE(same(expand(online, rank), streams[static_cast<std::size_t>(rank)]));
    CHECK(count_nodes(online.nodes) <= 2 * text(options));
  }
}

TEST_CASE("sets that are cut anywhere, taken and appended again are exact", "[call sets]") {
  for (std::uint64_t i = 0; i < 400; ++i) {
    const std::uint64_t seed = base_seed() + i;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    const Dispatcher::Options options{2 + static_cast<int>(seed % 5), seed % 3 == 0};
    Dispatcher program(seed, 0, options);
    const Stream stream = program.run(40);
    std::mt19937_64 random(seed);
    Folder folder(false), other(false);
    std::vector<std::size_t> cuts;
    for (std::size_t at = 0; at < stream.size(); at += 1 + random() % 60) cuts.push_back(at);
    Trace online;
    for (std::size_t part = 0; part < cuts.size(); ++part) {
      const std::size_t end = part + 1 < cuts.size() ? cuts[part + 1] : stream.size();
      const Stream events(stream.begin() + static_cast<std::ptrdiff_t>(cuts[part]),
                          stream.begin() + static_cast<std::ptrdiff_t>(end));
      // As a rank that bounds its values, or joins intervals: what was taken goes on.
      Trace trace = fold_on(random() % 2 == 0 ? folder : other, events, 0, 1, Feed::kKnown);
      folder.append(std::move(trace.nodes), random() % 2 == 0 ? events.size() : 0);
      if (random() % 4 != 0 && part + 1 < cuts.size()) continue;
      trace.nodes = folder.take();
      compress::append(online, std::move(trace));
    }
    INFO(text_of(online.nodes));
    REQUIRE(same(expand(online, 0), stream));
  }
}

TEST_CASE("what is not exact stays marked when a set becomes known", "[call sets]") {
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::uint64_t seed = base_seed() + i;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    Dispatcher program(seed, 0, Dispatcher::Options());
    const Stream stream = program.run(60);
    const auto first = stream.begin() + static_cast<std::ptrdiff_t>(program.ends()[2]);
    Folder folder(false);
    std::vector<Node> nodes =
        fold_on(folder, Stream(stream.begin(), first), 0, 1, Feed::kKnown).nodes;
    nodes[nodes.size() > 1 ? 1 : 0].inexact.push_back({RankList::single(0), kInexactCount});
    folder.append(std::move(nodes), program.ends()[2]);
    const Trace trace = fold_on(folder, Stream(first, stream.end()), 0, 1, Feed::kKnown);
    REQUIRE(same(expand(trace, 0), stream));
    INFO(text_of(trace.nodes));
    CHECK(compress::has_inexact(trace.nodes));
  }
}

TEST_CASE("orders in turn are steps of a loop, and no set", "[call sets]") {
  Stream stream;
  std::vector<std::size_t> ends;
  for (int step = 0; step < 60; ++step) {
    if (step % 6 == 0) ends.push_back(stream.size());
    for (int i = 0; i < 4; ++i)
      stream.push_back({3, static_cast<std::uint64_t>(step % 2 == 0 ? i : 3 - i), {0, 0, 0}});
    stream.push_back({kCollectiveCall, 9, {0, 0, 0}});
  }
  Folder folder(false);
  const Trace trace = fold_on(folder, stream, 0, 1, Feed::kAhead);
  REQUIRE(same(expand(trace, 0), stream));
  CHECK(count_nodes(trace.nodes) == 11);
  for (const std::size_t every : {1, 2, 3}) {
    const Trace online = joined(parts_of(stream, ends, every, 0, 1));
    REQUIRE(same(expand(online, 0), stream));
    INFO(every << ": " << text_of(online.nodes));
    CHECK(count_nodes(online.nodes) == 11);
  }
}

TEST_CASE("programs whose calls have one order fold to their text as without sets", "[call sets]") {
  const std::uint64_t programs = std::getenv("CHAMELEON_TEST_ALL") != nullptr ? 10000 : 1000;
  std::uint64_t more = 0;
  for (std::uint64_t i = 0; i < programs; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const Program program = ShapeMaker(seed, seed % 2 == 0).make();
    const ProgramRun run(program, static_cast<int>(seed % 3));
    if (!run.whole()) continue;
    Stream stream = stream_of(run.sites(), seed);
    for (std::size_t at = 0; at < stream.size(); ++at)
      if (run.sites()[at] % 5 == static_cast<int>(seed % 5)) stream[at].call = kCollectiveCall;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    Folder with_sets(false), without(true);
    const auto feed = static_cast<Feed>(seed % 3);
    const Trace trace = fold_on(with_sets, stream, 0, 1, feed);
    REQUIRE(same(expand(trace, 0), stream));
    const std::size_t least = count_nodes(fold_on(without, stream, 0, 1, feed).nodes);
    more += count_nodes(trace.nodes) > least ? 1 : 0;
  }
  INFO("CHAMELEON_TEST_SEED=" << base_seed() << ": " << more << " programs have more nodes");
  CHECK(1000 * more <= programs + 1000);  // one in a thousand, or one
}
