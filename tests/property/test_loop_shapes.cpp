// SPDX-License-Identifier: BSD-3-Clause
// Folding finds the loops of programs, whatever the hashes of their call paths.
#include <cstdlib>
#include <optional>

#include "compress/append.h"
#include "compress/merge.h"
#include "format/codec.h"
#include "format/file.h"
#include "property/loop_shapes.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::testing;

namespace {

std::uint64_t times(std::uint64_t otherwise) {
  const char* const given = std::getenv("CHAMELEON_TEST_TIMES");
  if (given != nullptr) return std::strtoull(given, nullptr, 10);
  return std::getenv("CHAMELEON_TEST_ALL") != nullptr ? 10000 : otherwise;
}

struct Solver {
  const char* name;
  Program program;
};

std::vector<Solver> solvers() {
  return {{"CG", cg_like()}, {"LU", lu_like()}, {"multigrid", multigrid_like()}};
}

/// The parts of a run, each of the steps between so many markers.
std::vector<Stream> parts_of(const Stream& stream, const std::vector<std::size_t>& markers,
                             std::size_t every) {
  std::vector<Stream> parts;
  std::size_t from = 0;
  for (std::size_t i = every; from < stream.size(); i += every) {
    const std::size_t end = i < markers.size() ? markers[i] : stream.size();
    parts.emplace_back(stream.begin() + static_cast<std::ptrdiff_t>(from),
                       stream.begin() + static_cast<std::ptrdiff_t>(end));
    from = end;
  }
  return parts;
}

/// Folded in such parts, which are appended.
Trace flushed(const Stream& stream, const std::vector<std::size_t>& markers, std::size_t every) {
  Trace online;
  for (const Stream& part : parts_of(stream, markers, every))
    compress::append(online, fold_stream(part, 0, 1));
  return online;
}

/// What five ranks did, merged at each flush; nothing where one of them does too much. Each rank
/// gets back what it did.
std::optional<Trace> flushed_by_ranks(const Program& program, std::uint64_t seed,
                                      std::size_t every) {
  constexpr int kRanks = 5;
  std::vector<Stream> streams;
  std::vector<Trace> merged;
  for (int rank = 0; rank < kRanks; ++rank) {
    const ProgramRun run(program, rank, 1U << 12);
    if (!run.whole()) return std::nullopt;
    streams.push_back(stream_of(run.sites(), seed));
    const std::vector<Stream> parts = parts_of(streams.back(), run.markers(), every);
    if (rank == 0) merged.resize(parts.size());
    REQUIRE(parts.size() == merged.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Trace one = fold_stream(parts[i], rank, kRanks);
      if (rank == 0)
        merged[i] = std::move(one);
      else
        compress::merge(merged[i], std::move(one));
    }
  }
  Trace online;
  for (Trace& part : merged) compress::append(online, std::move(part));
  for (int rank = 0; rank < kRanks; ++rank)
    REQUIRE(same(expand(online, rank), streams[static_cast<std::size_t>(rank)]));
  return online;
}

}  // namespace

TEST_CASE("the folded structure does not depend on hash values", "[shapes]") {
  for (const Solver& shape : solvers()) {
    const ProgramRun run(shape.program, 0);
    const std::size_t ideal = ideal_nodes(shape.program);
    std::string first;
    std::size_t others = 0, above = 0, worst = 0;
    const std::uint64_t labelings = times(300);
    for (std::uint64_t labels = 0; labels < labelings; ++labels) {
      const Stream stream = stream_of(run.sites(), base_seed() + labels);
      const Trace trace = fold_stream(stream, 0, 1, Feed::kAhead);
      if (labels < 5) REQUIRE(same(expand(trace, 0), stream));
      const std::string text = text_of(trace.nodes);
      const std::size_t nodes = count_nodes(trace.nodes);
      if (first.empty()) first = text;
      others += text != first ? 1 : 0;
      above += nodes > ideal ? 1 : 0;
      worst = std::max(worst, nodes);
    }
    INFO(shape.name << ": CHAMELEON_TEST_SEED=" << base_seed() << ", ideal " << ideal << ", worst "
                    << worst << ", above it " << above << ", " << first);
    CHECK(others == 0);
    CHECK(above == 0);
  }
}

TEST_CASE("loops of any nesting fold to the text of their program", "[shapes]") {
  for (const bool alternating : {false, true}) {
    std::uint64_t programs = 0, above = 0, nodes = 0, ideal = 0;
    std::string worst;
    double most = 0;
    for (std::uint64_t i = 0; i < times(700); ++i) {
      const std::uint64_t seed = base_seed() + i;
      const Program program = ShapeMaker(seed, alternating).make();
      const ProgramRun run(program, static_cast<int>(seed % 3));
      if (!run.whole()) continue;
      const Stream stream = stream_of(run.sites(), seed);
      const Trace trace = fold_stream(stream, 0, 1, static_cast<Feed>(seed % 3));
      INFO("CHAMELEON_TEST_SEED=" << seed);
      REQUIRE(same(expand(trace, 0), stream));
      const std::size_t found = count_nodes(trace.nodes), text = ideal_nodes(program);
      ++programs;
      above += found > text ? 1 : 0;
      nodes += std::max(found, text);
      ideal += text;
      const double share = static_cast<double>(found) / static_cast<double>(text);
      if (share <= most) continue;
      most = share;
      worst = std::to_string(seed) + ": " + std::to_string(found) + " of " + std::to_string(text);
    }
    INFO("CHAMELEON_TEST_SEED=" << base_seed() << (alternating ? ", branches in turn" : "") << ": "
                                << above << " of " << programs << " programs above their text, "
                                << nodes << " nodes for " << ideal << ", worst " << worst);
    CHECK(1000 * above <= programs + 1000);  // one in a thousand, or one
    CHECK(100 * nodes <= 102 * ideal);
  }
}

TEST_CASE("flushes leave no trace in the structure", "[shapes]") {
  for (const std::size_t every : {1, 3, 10, 100})
    for (int shape = 0; shape < 4; ++shape) {
      std::size_t nodes_of_first = 0;
      for (const int steps : {300, 1000, 4000}) {
        Program program = shape == 0   ? partial_tail(steps)
                          : shape == 1 ? partial_tail_at_end(steps)
                          : shape == 2 ? cg_like()
                                       : multigrid_like();
        for (Statement& statement : program)
          if (shape > 1 && !statement.body.empty()) statement.iterations = steps / 25;
        const ProgramRun run(program, 0, 1U << 20);
        const Stream stream = stream_of(run.sites(), 1);
        const std::size_t ideal = ideal_nodes(program);
        const Trace online = flushed(stream, run.markers(), every);
        REQUIRE(same(expand(online, 0), stream));
        const std::size_t nodes = count_nodes(online.nodes);
        if (nodes_of_first == 0) nodes_of_first = nodes;
        INFO("every " << every << ", shape " << shape << ", " << steps << " steps: " << nodes
                      << " nodes of " << ideal << ", " << format::encode_trace(online).size()
                      << " bytes, " << text_of(online.nodes));
        CHECK(nodes <= nodes_of_first);
        CHECK(2 * nodes <= 3 * ideal);
      }
    }
}

TEST_CASE("programs fold to their text in whatever parts they are flushed", "[shapes]") {
  for (const bool alternating : {false, true}) {
    std::uint64_t programs = 0, above = 0;
    std::string worst;
    double most = 0;
    for (std::uint64_t i = 0; i < times(700); ++i) {
      const std::uint64_t seed = base_seed() + i;
      const Program program = ShapeMaker(seed, alternating).make();
      const ProgramRun run(program, static_cast<int>(seed % 3), 1U << 14);
      if (!run.whole()) continue;
      const Stream stream = stream_of(run.sites(), seed);
      const std::size_t every = std::size_t{1} << seed % 7;
      INFO("CHAMELEON_TEST_SEED=" << seed << ", a flush every " << every);
      const Trace online = flushed(stream, run.markers(), every);
      REQUIRE(same(expand(online, 0), stream));
      const std::size_t found = count_nodes(online.nodes), text = ideal_nodes(program);
      ++programs;
      above += found > text ? 1 : 0;
      const double share = static_cast<double>(found) / static_cast<double>(text);
      if (share <= most) continue;
      most = share;
      worst = std::to_string(seed) + ": " + std::to_string(found) + " of " + std::to_string(text);
    }
    INFO("CHAMELEON_TEST_SEED=" << base_seed() << (alternating ? ", branches in turn" : "") << ": "
                                << above << " of " << programs
                                << " programs above their text, worst " << worst);
    CHECK(1000 * above <= programs + 1000);  // one in a thousand, or one
  }
}

TEST_CASE("programs of ranks that go round differently often fold to one text", "[shapes]") {
  for (const bool flushes : {false, true}) {
    std::uint64_t programs = 0, above = 0;
    std::string worst;
    double most = 0;
    for (std::uint64_t i = 0; i < times(150); ++i) {
      const std::uint64_t seed = base_seed() + i;
      Program program = ShapeMaker(seed).make();
      for (Statement& statement : program)  // all ranks come to all markers
        if (!statement.body.empty()) statement.by_visit = statement.by_rank = 1;
      const std::size_t every = flushes ? std::size_t{1} << seed % 7 : SIZE_MAX / 2;
      INFO("CHAMELEON_TEST_SEED=" << seed << ", a flush every " << every);
      const std::optional<Trace> online = flushed_by_ranks(program, seed, every);
      if (!online) continue;
      const std::size_t found = count_nodes(online->nodes), text = ideal_nodes(program);
      ++programs;
      above += found > text ? 1 : 0;
      const double share = static_cast<double>(found) / static_cast<double>(text);
      if (share <= most) continue;
      most = share;
      worst = std::to_string(seed) + ": " + std::to_string(found) + " of " + std::to_string(text);
    }
    INFO("CHAMELEON_TEST_SEED=" << base_seed() << (flushes ? ", flushed" : "") << ": " << above
                                << " of " << programs << " programs above their text, worst "
                                << worst);
    CHECK(1000 * above <= programs + 1000);  // one in a thousand, or one
  }
}

TEST_CASE("a rank that goes round once is in the loop of those that go round often", "[shapes]") {
  // A worker is given tasks, and then told to stop by the same call.
  const auto worker = [](int tasks) {
    Stream stream;
    for (int i = 0; i < tasks; ++i) {
      stream.push_back({1, 1, {0, 0, 0}});
      stream.push_back({2, 2, {0, 0, 0}});
    }
    stream.push_back({1, 1, {0, 1, 0}});
    return stream;
  };
  Trace online;
  std::vector<Stream> whole(3);
  for (int step = 0; step < 6; ++step) {
    Trace merged;
    for (int rank = 0; rank < 3; ++rank) {
      // The master has a loop of its own. Groups of workers that did as much differ each step.
      Stream stream = rank == 0 ? Stream(4, {3, 3, {0, 0, 0}}) : worker(1 + (step * rank) % 3);
      stream.push_back({3, 4, {0, 0, 0}});
      Stream& all = whole[static_cast<std::size_t>(rank)];
      all.insert(all.end(), stream.begin(), stream.end());
      Trace one = fold_stream(stream, rank, 3);
      if (rank == 0)
        merged = std::move(one);
      else
        compress::merge(merged, std::move(one));
    }
    compress::drop_ranks(merged);
    compress::append(online, std::move(merged));
  }
  INFO(text_of(online.nodes));
  for (int rank = 0; rank < 3; ++rank)
    REQUIRE(same(expand(online, rank), whole[static_cast<std::size_t>(rank)]));
  // A step: the master's loop of one call, the workers' of two, their last call, and the sum.
  CHECK(count_nodes(online.nodes) == 8);
}
