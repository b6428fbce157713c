// SPDX-License-Identifier: BSD-3-Clause
// The exchanges of an algebraic multigrid solver on an irregular graph: on each of four levels a
// rank has neighbours of its own, drawn from a seed. First every rank asks its neighbours, who do
// not know that they will be asked, as an assumed partition does. Then a V-cycle completes its
// messages by Waitall, Waitany, Waitsome or Testany, by level. The order in which messages
// complete and the number of polls that fail differ from step to step; all else is the same.
//
// Smoothing moves shares along edges of the graph, so that the sum of all values stays and their
// squares become no more. Values are added in the order of neighbours, not of messages.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "example.h"

namespace {

constexpr int kLevels = 4;
constexpr std::uint64_t kSeed = 2026;
constexpr double kShare = 1.0 / 64;  // a vertex has fewer than 64 edges
enum Tag { kQuestion, kAnswer, kAnswered, kRelease, kHalo };

std::uint64_t hash(std::uint64_t level, std::uint64_t a, std::uint64_t b, std::uint64_t k = 0) {
  std::uint64_t h = kSeed + ((level * 4099 + std::min(a, b)) * 4099 + std::max(a, b)) * 64 + k;
  h = (h ^ (h >> 31)) * 0x9e3779b97f4a7c15;
  h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9;
  return h ^ (h >> 32);
}

// The ranks that a rank shares edges with on a level, in ascending order.
std::vector<int> neighbours_of(int level, int rank, int ranks) {
  std::vector<int> neighbours;
  for (const int distance : {1, 2, 3, 5, 8, 13}) {
    for (const int other : {(rank + distance) % ranks, (rank + ranks * 13 - distance) % ranks})
      if (other != rank && (distance == 1 || hash(level, rank, other) % 3 == 0))
        neighbours.push_back(other);
  }
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  return neighbours;
}

// The edges to one neighbour: the k-th joins mine[k] to a vertex of the neighbour.
struct Halo {
  int rank = 0;
  std::vector<int> mine;
  std::vector<double> out;
  std::vector<double> in;
};

struct Level {
  std::vector<Halo> halos;
  std::vector<double> values;
  std::vector<double> before;  // the values that came from the finer level
  std::vector<MPI_Request> receives;
  std::vector<MPI_Request> sends;
};

Level make_level(int level, int size, int rank, int ranks) {
  Level made;
  made.values.resize(std::max(1, size >> level));
  for (const int other : neighbours_of(level, rank, ranks)) {
    Halo halo{.rank = other, .mine = {}, .out = {}, .in = {}};
    const std::size_t edges = 1 + hash(level, rank, other, 1) % 3;
    for (std::size_t k = 0; k < edges; ++k)
      halo.mine.push_back(static_cast<int>(hash(level, rank, other, 2 + 2 * k + (rank < other)) %
                                           made.values.size()));
    halo.out.resize(edges);
    halo.in.resize(edges);
    made.halos.push_back(halo);
  }
  return made;
}

// Who will ask me? Each rank knows only whom it asks, and how many will ask it.
class Discovery {
 public:
  Discovery(int rank, int ranks, const std::vector<Halo>& halos) : rank_(rank), ranks_(ranks) {
    for (const Halo& halo : halos) asked_.push_back(halo.rank);
  }

  // Gives the ranks that asked, in ascending order.
  std::vector<int> run() {
    askers_.clear();
    replies_.assign(expect_questions(), 0);
    sends_.clear();
    sends_.reserve(asked_.size() + replies_.size());
    ask();
    if (rank_ == 0) {
      while (askers_.size() < replies_.size()) answer_question();
      release_all();
    } else {
      answer_until_released();
    }
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE);
    std::sort(askers_.begin(), askers_.end());
    return askers_;
  }

 private:
  std::size_t expect_questions() const {
    std::vector<int> asks(ranks_, 0);
    for (const int rank : asked_) asks[rank] = 1;
    int count = 0;
    MPI_Reduce_scatter_block(asks.data(), &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return static_cast<std::size_t>(count);
  }

  void ask() {
    answers_.assign(asked_.size(), 0);
    receives_.resize(asked_.size());
    for (std::size_t i = 0; i < asked_.size(); ++i)
      MPI_Irecv(&answers_[i], 1, MPI_INT, asked_[i], kAnswer, MPI_COMM_WORLD, &receives_[i]);
    for (const int& rank : asked_)
      MPI_Isend(&rank_, 1, MPI_INT, rank, kQuestion, MPI_COMM_WORLD, &sends_.emplace_back());
  }

  // Answers a question if there is one.
  bool answer_question() {
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &arrived, &status);
    if (arrived == 0) return false;
    int& reply = replies_[askers_.size()];
    askers_.push_back(status.MPI_SOURCE);
    MPI_Recv(&reply, 1, MPI_INT, status.MPI_SOURCE, kQuestion, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(&reply, 1, MPI_INT, askers_.back(), kAnswer, MPI_COMM_WORLD, &sends_.emplace_back());
    return true;
  }

  // Rank 0 releases the others once all have answered what they were asked.
  void release_all() {
    std::vector<int> notes(ranks_ - 1);
    std::vector<MPI_Request> requests(notes.size());
    for (std::size_t i = 0; i < notes.size(); ++i)
      MPI_Irecv(&notes[i], 1, MPI_INT, MPI_ANY_SOURCE, kAnswered, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int rank = 1; rank < ranks_; ++rank)
      MPI_Send(nullptr, 0, MPI_INT, rank, kRelease, MPI_COMM_WORLD);
  }

  void answer_until_released() {
    MPI_Request release = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_INT, 0, kRelease, MPI_COMM_WORLD, &release);
    for (int released = 0; released == 0;) {
      if (answer_question() && askers_.size() == replies_.size())
        MPI_Send(&rank_, 1, MPI_INT, 0, kAnswered, MPI_COMM_WORLD);
      MPI_Test(&release, &released, MPI_STATUS_IGNORE);
    }
  }

  int rank_;
  int ranks_;
  std::vector<int> asked_;
  std::vector<int> askers_;
  std::vector<int> answers_;
  std::vector<int> replies_;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
};

// Requests that are null when a call begins are of messages that came before.
void complete_by_waitany(std::vector<MPI_Request>& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    int index = 0;
    MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE);
  }
}

void complete_by_waitsome(std::vector<MPI_Request>& requests) {
  std::vector<int> indices(requests.size());
  for (std::size_t done = 0; done < requests.size();) {
    int count = 0;
    MPI_Waitsome(static_cast<int>(requests.size()), requests.data(), &count, indices.data(),
                 MPI_STATUSES_IGNORE);
    done += static_cast<std::size_t>(count);
  }
}

void complete_by_testany(std::vector<MPI_Request>& requests) {
  for (std::size_t done = 0; done < requests.size();) {
    int index = 0;
    int came = 0;
    MPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &came,
                MPI_STATUS_IGNORE);
    done += came != 0;
  }
}

void wait_for_all(std::vector<MPI_Request>& requests) {
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

// One call site for each level's messages, since each has a function of its own.
template <int L>
[[gnu::noinline]] void exchange(Level& level) {
  level.receives.resize(level.halos.size());
  level.sends.resize(level.halos.size());
  for (std::size_t i = 0; i < level.halos.size(); ++i) {
    Halo& halo = level.halos[i];
    MPI_Irecv(halo.in.data(), static_cast<int>(halo.in.size()), MPI_DOUBLE, halo.rank, kHalo + L,
              MPI_COMM_WORLD, &level.receives[i]);
  }
  for (std::size_t i = 0; i < level.halos.size(); ++i) {
    Halo& halo = level.halos[i];
    for (std::size_t k = 0; k < halo.mine.size(); ++k) halo.out[k] = level.values[halo.mine[k]];
    MPI_Isend(halo.out.data(), static_cast<int>(halo.out.size()), MPI_DOUBLE, halo.rank, kHalo + L,
              MPI_COMM_WORLD, &level.sends[i]);
  }
  constexpr std::array complete{wait_for_all, complete_by_waitany, complete_by_waitsome,
                                complete_by_testany};
  complete[L](level.receives);
  wait_for_all(level.sends);
}

// Moves a share of the difference along every edge.
template <int L>
void smooth(Level& level) {
  exchange<L>(level);
  std::vector<double> next = level.values;
  for (std::size_t i = 0; i + 1 < next.size(); ++i) {
    const double moved = kShare * (level.values[i + 1] - level.values[i]);
    next[i] += moved;
    next[i + 1] -= moved;
  }
  for (const Halo& halo : level.halos)
    for (std::size_t k = 0; k < halo.mine.size(); ++k)
      next[halo.mine[k]] += kShare * (halo.in[k] - level.values[halo.mine[k]]);
  level.values = next;
}

// The sum of all values, and of their squares.
std::array<double, 2> sums(const Level& level) {
  std::array<double, 2> mine{};
  for (const double value : level.values) {
    mine[0] += value;
    mine[1] += value * value;
  }
  std::array<double, 2> all{};
  MPI_Allreduce(mine.data(), all.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void restrict_to(Level& coarse, const Level& fine) {
  std::fill(coarse.values.begin(), coarse.values.end(), 0);
  for (std::size_t i = 0; i < fine.values.size(); ++i)
    coarse.values[std::min(i / 2, coarse.values.size() - 1)] += fine.values[i];
  coarse.before = coarse.values;
}

// What has come to a coarse vertex is shared by those that it stands for.
void prolong(Level& fine, const Level& coarse) {
  const std::size_t last = coarse.values.size() - 1;
  for (std::size_t i = 0; i < fine.values.size(); ++i) {
    const std::size_t at = std::min(i / 2, last);
    const std::size_t sharing = at < last ? 2 : fine.values.size() - 2 * last;
    fine.values[i] += (coarse.values[at] - coarse.before[at]) / static_cast<double>(sharing);
  }
}

template <int L>
void cycle(example::Run& run, std::array<Level, kLevels>& levels) {
  smooth<L>(levels[L]);
  if constexpr (L + 1 < kLevels) {
    restrict_to(levels[L + 1], levels[L]);
    cycle<L + 1>(run, levels);
    prolong(levels[L], levels[L + 1]);
  } else {
    run.compute(levels[L].values);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("sparse", argc, argv, {.iterations = 16, .size = 64});
  std::array<Level, kLevels> levels;
  for (int level = 0; level < kLevels; ++level)
    levels[level] = make_level(level, run.options.size, run.rank, run.ranks);
  Level& finest = levels[0];
  for (std::size_t i = 0; i < finest.values.size(); ++i)
    finest.values[i] = 1 + static_cast<double>(hash(0, run.rank, i) % 1000);
  Discovery discovery(run.rank, run.ranks, finest.halos);

  run.start();
  const double whole = sums(finest)[0];
  for (int step = 0; step < run.options.iterations; ++step) {
    if (run.ranks > 1) {
      const std::vector<int> askers = discovery.run();
      run.check(askers == neighbours_of(0, run.rank, run.ranks));
    }
    cycle<0>(run, levels);
    const std::array<double, 2> before = sums(finest);
    smooth<0>(finest);
    const std::array<double, 2> after = sums(finest);
    run.check_near(before[0], whole);
    run.check_near(after[0], whole);
    run.check(after[1] <= before[1] * (1 + 1e-12));
    example::end_of_timestep();
  }
  run.stop();

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
