// SPDX-License-Identifier: BSD-3-Clause
// V-cycles of multigrid for -u'' = f on a line, as in MG: each coarser level keeps every second
// point where it is, so below one point per rank some ranks have nothing left and sit out, and the
// others talk to the nearest rank that still has points. Each level is a function of its own, so
// that call paths tell levels apart: edges and idle levels make the behaviours, whose number grows
// with the logarithm of the number of ranks.
//
// f is an eigenvector of the discrete operator, so the discrete solution is known; the residual has
// to fall by half or more in every cycle.

#include <algorithm>
#include <numbers>
#include <vector>

#include "example.h"

namespace {

using Values = std::vector<double>;

constexpr std::size_t kMostLevels = 30;  // of 2^30 points, the most that --size can ask for

// Points begin..end-1 of n on this rank, and the ranks that have the points beside them, or -1.
// Arrays have a ghost on both sides: index 0 is point begin - 1.
struct Level {
  int n;
  int begin;
  int end;
  int left;
  int right;

  bool idle() const { return begin == end; }
  int count() const { return end - begin; }
  double weight() const { return double(n) * n; }  // 1 / h^2
};

int owner(int point, int n, int ranks) {
  int rank = static_cast<int>((long long)point * ranks / n);
  while (rank + 1 < ranks && (long long)n * (rank + 1) / ranks <= point) ++rank;
  return rank;
}

std::vector<Level> make_levels(int n, int rank, int ranks) {
  std::vector<Level> levels;
  int begin = static_cast<int>((long long)n * rank / ranks);
  int end = static_cast<int>((long long)n * (rank + 1) / ranks);
  for (int stride = 1; n / stride >= 2; stride *= 2) {
    Level level{n / stride, begin, end, -1, -1};
    if (begin > 0) level.left = owner((begin - 1) * stride, n, ranks);
    if (end < level.n) level.right = owner(end * stride, n, ranks);
    levels.push_back(level);
    begin = (begin + 1) / 2;
    end = (end + 1) / 2;
  }
  return levels;
}

void exchange(const Level& level, Values& u) {
  MPI_Request requests[4];
  int count = 0;
  double* first = &u[1];
  double* last = &u[level.count()];
  if (level.left >= 0)
    MPI_Irecv(first - 1, 1, MPI_DOUBLE, level.left, 1, MPI_COMM_WORLD, &requests[count++]);
  if (level.right >= 0)
    MPI_Irecv(last + 1, 1, MPI_DOUBLE, level.right, 2, MPI_COMM_WORLD, &requests[count++]);
  if (level.left >= 0)
    MPI_Isend(first, 1, MPI_DOUBLE, level.left, 2, MPI_COMM_WORLD, &requests[count++]);
  if (level.right >= 0)
    MPI_Isend(last, 1, MPI_DOUBLE, level.right, 1, MPI_COMM_WORLD, &requests[count++]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

// r = f - A u, zero at the boundary point 0; needs no ghosts of f.
void residual(const Level& level, Values& u, const Values& f, Values& r) {
  exchange(level, u);
  for (int i = 1; i <= level.count(); ++i)
    r[i] = f[i] - level.weight() * (2 * u[i] - u[i - 1] - u[i + 1]);
  if (level.begin == 0) r[1] = 0;
}

void smooth(const Level& level, Values& u, const Values& f, Values& r) {
  residual(level, u, f, r);
  for (int i = 1; i <= level.count(); ++i) u[i] += r[i] / (3 * level.weight());
}

// The cycle from level `Depth` on. A plain recursion would hide the levels: in a call path, a
// function that calls itself is one frame, however deep.
template <std::size_t Depth>
[[gnu::noinline]] void cycle(const std::vector<Level>& levels, Values& u, const Values& f) {
  const Level& level = levels[Depth];
  if (level.idle()) return;
  if (Depth + 1 == levels.size()) {  // points 0 and 1: the middle is known at once
    for (int i = 1; i <= level.count(); ++i)
      u[i] = level.begin + i == 2 ? f[i] / (2 * level.weight()) : 0;
    return;
  }
  Values r(level.count() + 2);
  smooth(level, u, f, r);
  smooth(level, u, f, r);
  residual(level, u, f, r);
  exchange(level, r);

  const Level& coarse = levels[Depth + 1];
  const auto here = [&](int point) { return 2 * point - level.begin + 1; };
  Values coarse_f(coarse.count() + 2);
  Values correction(coarse.count() + 2);
  for (int i = 1; i <= coarse.count(); ++i) {
    const int k = here(coarse.begin + i - 1);
    coarse_f[i] = 0.25 * (r[k - 1] + 2 * r[k] + r[k + 1]);
  }
  if constexpr (Depth + 1 < kMostLevels) cycle<Depth + 1>(levels, correction, coarse_f);

  // Even points from the coarse level, odd ones between, by way of the ghosts of this level.
  std::fill(r.begin(), r.end(), 0.0);
  for (int i = 1; i <= coarse.count(); ++i) r[here(coarse.begin + i - 1)] = correction[i];
  exchange(level, r);
  for (int i = 1; i <= level.count(); ++i)
    u[i] += (level.begin + i - 1) % 2 == 0 ? r[i] : 0.5 * (r[i - 1] + r[i + 1]);
  smooth(level, u, f, r);
  smooth(level, u, f, r);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("multigrid", argc, argv, {.iterations = 8, .size = 256});
  int n = 2;
  while (n < run.options.size || n < 2 * run.ranks) n *= 2;
  const std::vector<Level> levels = make_levels(n, run.rank, run.ranks);
  const Level& top = levels.front();

  const double pi = std::numbers::pi;
  const int wave = 3;
  const double eigenvalue = 4 * top.weight() * std::pow(std::sin(0.5 * pi * wave / n), 2);
  Values u(top.count() + 2);
  Values f(u.size());
  Values r(u.size());
  for (int i = 1; i <= top.count(); ++i) f[i] = std::sin(pi * wave * (top.begin + i - 1) / n);

  double before = 1;
  const double rounding = 1e-13 * top.weight();
  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    cycle<0>(levels, u, f);
    run.compute(u);
    residual(top, u, f, r);
    double mine = 0;
    double norm = 0;
    for (int i = 1; i <= top.count(); ++i) mine = std::max(mine, std::abs(r[i]));
    MPI_Allreduce(&mine, &norm, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    run.check(norm <= 0.5 * before + rounding);
    before = norm;
    example::end_of_timestep();
  }
  run.stop();

  // The inverse of the operator is at most 1/8.
  for (int i = 1; i <= top.count(); ++i)
    run.check(std::abs(u[i] - f[i] / eigenvalue) <= 0.125 * before + rounding);

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
