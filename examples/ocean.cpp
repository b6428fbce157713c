// SPDX-License-Identifier: BSD-3-Clause
// The two halves of an ocean model's time step, as in POP: a baroclinic part that updates ghosts
// from many different functions, and a barotropic part that solves for the sea surface by
// Chronopoulos-Gear conjugate gradients: a ghost update and an Allreduce in each inner iteration,
// whose number differs from time step to time step with the tolerance asked for.
//
// Blocks on a grid of ranks, periodic east to west, closed in the north and south (MPI_PROC_NULL).
// All ranks behave alike; the loop of the solver is what varies. Every field keeps its total, and
// the solver's answer is checked against the true residual.

#include <array>
#include <vector>

#include "example.h"

namespace {

struct Ocean {
  int n;  // points of a block in each direction
  int north = 0, south = 0, west = 0, east = 0;
  MPI_Comm grid = MPI_COMM_NULL;
};

// A block with one ghost around it.
class Field {
 public:
  explicit Field(int n) : n_(n), values_(std::size_t(n + 2) * (n + 2)) {}
  double& operator()(int i, int j) { return values_[std::size_t(i) * (n_ + 2) + j]; }
  double operator()(int i, int j) const { return values_[std::size_t(i) * (n_ + 2) + j]; }
  int n() const { return n_; }
  std::vector<double>& values() { return values_; }

 private:
  int n_;
  std::vector<double> values_;
};

template <class Visit>
void for_each(int n, Visit&& visit) {
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) visit(i, j);
}

[[gnu::noinline]] void update_ghosts(const Ocean& ocean, Field& f) {
  const int n = ocean.n;
  std::vector<double> out_west(n), out_east(n), in_west(n), in_east(n);
  for (int i = 0; i < n; ++i) out_west[i] = f(i + 1, 1);
  for (int i = 0; i < n; ++i) out_east[i] = f(i + 1, n);
  // Closed walls mirror the field: nothing flows through.
  for (int j = 1; j <= n; ++j) f(0, j) = f(1, j);
  for (int j = 1; j <= n; ++j) f(n + 1, j) = f(n, j);
  std::array<MPI_Request, 8> r;
  MPI_Irecv(in_west.data(), n, MPI_DOUBLE, ocean.west, 1, ocean.grid, &r[0]);
  MPI_Irecv(in_east.data(), n, MPI_DOUBLE, ocean.east, 2, ocean.grid, &r[1]);
  MPI_Irecv(&f(0, 1), n, MPI_DOUBLE, ocean.north, 3, ocean.grid, &r[2]);
  MPI_Irecv(&f(n + 1, 1), n, MPI_DOUBLE, ocean.south, 4, ocean.grid, &r[3]);
  MPI_Isend(out_east.data(), n, MPI_DOUBLE, ocean.east, 1, ocean.grid, &r[4]);
  MPI_Isend(out_west.data(), n, MPI_DOUBLE, ocean.west, 2, ocean.grid, &r[5]);
  MPI_Isend(&f(n, 1), n, MPI_DOUBLE, ocean.south, 3, ocean.grid, &r[6]);
  MPI_Isend(&f(1, 1), n, MPI_DOUBLE, ocean.north, 4, ocean.grid, &r[7]);
  MPI_Waitall(static_cast<int>(r.size()), r.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; ++i) f(i + 1, 0) = in_west[i];
  for (int i = 0; i < n; ++i) f(i + 1, n + 1) = in_east[i];
}

double neighbours(const Field& f, int i, int j) {
  return f(i - 1, j) + f(i + 1, j) + f(i, j - 1) + f(i, j + 1);
}

// Mixing with the neighbours; keeps the total over the ocean.
void mix(Field& f, double rate) {
  Field next = f;
  for_each(f.n(), [&](int i, int j) {
    next(i, j) = f(i, j) + rate * (neighbours(f, i, j) - 4 * f(i, j));
  });
  f.values().swap(next.values());
}

struct State {
  Field temperature, salinity, u, v, surface;
};

// The functions of a time step that need ghosts, each with an update of its own.
[[gnu::noinline]] void diffuse_temperature(const Ocean& ocean, State& s) {
  update_ghosts(ocean, s.temperature);
  mix(s.temperature, 0.10);
}
[[gnu::noinline]] void diffuse_salinity(const Ocean& ocean, State& s) {
  update_ghosts(ocean, s.salinity);
  mix(s.salinity, 0.05);
}
[[gnu::noinline]] void viscosity_u(const Ocean& ocean, State& s) {
  update_ghosts(ocean, s.u);
  mix(s.u, 0.20);
}
[[gnu::noinline]] void viscosity_v(const Ocean& ocean, State& s) {
  update_ghosts(ocean, s.v);
  mix(s.v, 0.15);
}
[[gnu::noinline]] void stir_temperature(const Ocean& ocean, State& s) {
  update_ghosts(ocean, s.temperature);
  mix(s.temperature, 0.02);
}
[[gnu::noinline]] void stir_salinity(const Ocean& ocean, State& s) {
  update_ghosts(ocean, s.salinity);
  mix(s.salinity, 0.03);
}
[[gnu::noinline]] void smooth_velocity(const Ocean& ocean, State& s) {
  update_ghosts(ocean, s.u);
  update_ghosts(ocean, s.v);
  mix(s.u, 0.01);
  mix(s.v, 0.01);
}
[[gnu::noinline]] void smooth_surface(const Ocean& ocean, State& s) {
  update_ghosts(ocean, s.surface);
  mix(s.surface, 0.10);
}

// y = x - 4 laplace(x): symmetric and positive, and it keeps totals.
void apply(const Ocean& ocean, Field& x, Field& y) {
  update_ghosts(ocean, x);
  for_each(ocean.n,
           [&](int i, int j) { y(i, j) = x(i, j) + 4 * (4 * x(i, j) - neighbours(x, i, j)); });
}

std::array<double, 2> sum(const Ocean& ocean, std::array<double, 2> mine) {
  std::array<double, 2> all{};
  MPI_Allreduce(mine.data(), all.data(), 2, MPI_DOUBLE, MPI_SUM, ocean.grid);
  return all;
}

// Solves A x = b until |r|^2 <= tolerance; on every rank the same number of iterations.
[[gnu::noinline]] void solve_surface(const Ocean& ocean, const Field& b, Field& x,
                                     double tolerance) {
  const int n = ocean.n;
  Field r = b, s(n), q(n), ar(n);
  apply(ocean, x, ar);
  for_each(n, [&](int i, int j) { r(i, j) = b(i, j) - ar(i, j); });
  double gamma_before = 1;
  double sigma = 0;
  for (int inner = 0; inner < 500; ++inner) {
    apply(ocean, r, ar);
    std::array<double, 2> mine{};
    for_each(n, [&](int i, int j) {
      mine[0] += r(i, j) * r(i, j);
      mine[1] += r(i, j) * ar(i, j);
    });
    const auto [gamma, delta] = sum(ocean, mine);
    if (gamma <= tolerance) break;
    const double beta = inner == 0 ? 0 : gamma / gamma_before;
    sigma = delta - beta * beta * sigma;
    gamma_before = gamma;
    const double alpha = gamma / sigma;
    for_each(n, [&](int i, int j) {
      s(i, j) = r(i, j) + beta * s(i, j);
      q(i, j) = ar(i, j) + beta * q(i, j);
      x(i, j) += alpha * s(i, j);
      r(i, j) -= alpha * q(i, j);
    });
  }
}

double total(const Field& f) {
  double sum = 0;
  for_each(f.n(), [&](int i, int j) { sum += f(i, j); });
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("ocean", argc, argv, {.iterations = 8, .size = 8});
  Ocean ocean{.n = run.options.size};
  int dims[2] = {0, 0};
  int periods[2] = {0, 1};
  MPI_Dims_create(run.ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &ocean.grid);
  MPI_Cart_shift(ocean.grid, 0, 1, &ocean.north, &ocean.south);
  MPI_Cart_shift(ocean.grid, 1, 1, &ocean.west, &ocean.east);

  const Field empty(ocean.n);
  State state{empty, empty, empty, empty, empty};
  for_each(ocean.n, [&](int i, int j) {
    const double wave = std::sin(i + 2.0 * j + 3.0 * run.rank);
    state.temperature(i, j) = 15 + wave;
    state.salinity(i, j) = 35 - wave;
    state.u(i, j) = wave;
    state.v(i, j) = -0.5 * wave;
    state.surface(i, j) = 1 + 0.1 * wave;
  });
  const auto totals = [&](double a, double b) { return sum(ocean, {a, b}); };
  const auto before = totals(total(state.temperature), total(state.salinity));
  const auto before_uv = totals(total(state.u), total(state.v));

  Field ax(ocean.n);
  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    diffuse_temperature(ocean, state);
    diffuse_salinity(ocean, state);
    viscosity_u(ocean, state);
    viscosity_v(ocean, state);
    stir_temperature(ocean, state);
    stir_salinity(ocean, state);
    smooth_velocity(ocean, state);
    run.compute(state.temperature.values());

    Field b = state.surface;
    for_each(ocean.n, [&](int i, int j) { b(i, j) += 0.1 * state.u(i, j); });
    const double tolerance = std::pow(10.0, -4 - 3 * (step % 4));
    solve_surface(ocean, b, state.surface, tolerance);

    apply(ocean, state.surface, ax);
    double mine = 0;
    for_each(ocean.n, [&](int i, int j) { mine += std::pow(b(i, j) - ax(i, j), 2); });
    run.check(totals(mine, 0)[0] <= 1.1 * tolerance + 1e-20);
    smooth_surface(ocean, state);
    example::end_of_timestep();
  }
  run.stop();

  const auto after = totals(total(state.temperature), total(state.salinity));
  const auto after_uv = totals(total(state.u), total(state.v));
  for (int i = 0; i < 2; ++i) {
    run.check_near(after[i], before[i]);
    run.check_near(after_uv[i], before_uv[i]);
  }
  MPI_Comm_free(&ocean.grid);
  const int status = run.finish();
  MPI_Finalize();
  return status;
}
