// SPDX-License-Identifier: BSD-3-Clause
// What the example programs share: options, a timed region, computation to order, checks and the
// last line of output. An example calls MPI_Init, makes a Run, works, and returns what finish()
// gives after MPI_Finalize. Output depends on nothing but the options and the number of ranks,
// except for the line that --time adds. Only <mpi.h> and <chameleon/chameleon.h> (header-only) are
// needed; the programs run the same without the tracer.

#pragma once

#define MPICH_SKIP_MPICXX 1
#include <chameleon/chameleon.h>
#include <mpi.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace example {

// A rank is late in a time step, by sleeping: as the step begins, or where it computes.
struct Delay {
  int rank = 0;
  int step = 0;  // from 0
  double us = 0;
  bool computes = false;
};
inline std::vector<Delay> delays;  // of this rank
inline int present_step = 0;

inline void be_late(bool computes) {
  double us = 0;
  for (Delay& delay : delays)
    if (delay.step == present_step && delay.computes == computes)
      us += std::exchange(delay.us, 0);  // some compute several times in a step
  if (us > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us));
}

struct Options {
  int iterations = 0;
  int size = 0;
  double compute = 0;  // microseconds per iteration and rank
  bool time = false;
  bool setup = false;
  std::string_view pattern = {};  // of a program that has phases
  const char* more_usage = "";    // for options that the program reads itself
};

// Called by all ranks at the end of each time step: a marker.
inline void end_of_timestep() {
  chameleon_marker();
  ++present_step;
  be_late(false);
}

class Run {
 public:
  Run(const char* name, int argc, char** argv, Options defaults) : name_(name), options(defaults) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!parse(argc, argv)) {
      if (rank == 0) {
        std::fprintf(stderr,
                     "usage: %s [--iterations N] [--size N] [--compute MICROSECONDS] "
                     "[--delay RANK:STEP:MICROSECONDS[:compute]] [--setup] [--time]%s%s\n",
                     name_, options.pattern.empty() ? "" : " [--pattern PATTERN]",
                     options.more_usage);
      }
      MPI_Finalize();
      std::exit(2);
    }
    if (options.setup) set_up();
  }

  void start() {
    MPI_Barrier(MPI_COMM_WORLD);
    begin_ = MPI_Wtime();
    be_late(false);
  }

  void stop() {
    MPI_Barrier(MPI_COMM_WORLD);
    const double mine = MPI_Wtime() - begin_;
    MPI_Reduce(&mine, &seconds_, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  }

  // Works on `data` for about options.compute microseconds, without changing it.
  void compute(std::span<const double> data) const {
    be_late(true);
    if (options.compute <= 0) return;
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double, std::micro>(options.compute);
    double value = 1;
    do {
      for (std::size_t i = 0, n = 256; i < n; ++i)
        value = 0.5 * value + (data.empty() ? 1.0 : data[i % data.size()]);
      volatile double keep = value;
      (void)keep;
    } while (Clock::now() < end);
  }

  void check(bool holds) { failures_ += !holds; }

  void check_near(double found, double expected, double tolerance = 1e-9) {
    check(std::abs(found - expected) <= tolerance * std::fmax(1, std::abs(expected)));
  }

  // Joins the checks of all ranks and prints the last line; gives the exit status.
  int finish() {
    long long all = 0;
    MPI_Allreduce(&failures_, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
      if (options.time) std::printf("time: %.6f s\n", seconds_);
      if (all == 0) {
        std::printf("%s: verified\n", name_);
      } else {
        std::printf("%s: FAILED (%lld checks)\n", name_, all);
      }
      std::fflush(stdout);
    }
    return all == 0 ? 0 : 1;
  }

 private:
  // As in codes that read their input on one rank.
  [[gnu::noinline]] void set_up() {
    MPI_Bcast(&options.iterations, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&options.size, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&options.compute, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    long long cells = options.size, all = 0;
    MPI_Allreduce(&cells, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(all == cells * ranks);
  }

  bool parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view option = argv[i];
      if (option == "--time" || option == "--setup") {
        (option == "--time" ? options.time : options.setup) = true;
        continue;
      }
      if (i + 1 == argc) return false;
      if (option == "--pattern" && !options.pattern.empty()) {
        options.pattern = argv[++i];
        if (options.pattern.empty()) return false;
        continue;
      }
      if (option == "--delay") {
        if (!parse_delay(argv[++i])) return false;
        continue;
      }
      char* end = nullptr;
      const double value = std::strtod(argv[++i], &end);
      if (end == argv[i] || *end != '\0' || !(value >= 0 && value <= 1e9)) return false;
      if (option == "--iterations") {
        options.iterations = static_cast<int>(value);
      } else if (option == "--size" && value >= 1) {
        options.size = static_cast<int>(value);
      } else if (option == "--compute") {
        options.compute = value;
      } else {
        return false;
      }
    }
    return true;
  }

  // RANK:STEP:MICROSECONDS or RANK:STEP:MICROSECONDS:compute
  bool parse_delay(const char* text) {
    Delay delay;
    int read = 0;
    if (std::sscanf(text, "%d:%d:%lf%n", &delay.rank, &delay.step, &delay.us, &read) != 3 ||
        delay.rank < 0 || delay.rank >= ranks || delay.step < 0 ||
        !(delay.us >= 0 && delay.us <= 1e9))
      return false;
    const std::string_view rest = text + read;
    delay.computes = rest == ":compute";
    if (!delay.computes && !rest.empty()) return false;
    if (delay.rank == rank) delays.push_back(delay);
    return true;
  }

  const char* name_;
  long long failures_ = 0;
  double begin_ = 0;
  double seconds_ = 0;

 public:
  Options options;
  int rank = 0;
  int ranks = 1;
};

}  // namespace example
