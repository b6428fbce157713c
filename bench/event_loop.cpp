// SPDX-License-Identifier: BSD-3-Clause
// Nanoseconds per MPI call for call patterns that do next to nothing, so that what is left is the
// tool's. A block of calls ends with a marker, in whose time the tool folds or drops them; the
// time to wait for the other ranks is not counted. Prints, from the rank given, a line a pattern:
// NAME DEPTH NS, the median of blocks; then `cpu: S`, the processor time from after MPI_Init to
// before MPI_Finalize. Run it with and without a tool, as bench/event and bench/budget do.
//
//     event_loop [BLOCKS [RANK [NAME]]]     all patterns, or those of this name
#include <chameleon/chameleon.h>
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kCalls = 16000;  // a block

int g_in[16], g_out[16];

#define CHAMELEON_BENCH_SITE                                                            \
  MPI_Sendrecv(g_out, 1, MPI_INT, MPI_PROC_NULL, 0, g_in, 1, MPI_INT, MPI_PROC_NULL, 0, \
               MPI_COMM_WORLD, MPI_STATUS_IGNORE)

void one_site() {
  for (int i = 0; i < kCalls; ++i) CHAMELEON_BENCH_SITE;
}

void eight_sites() {
  for (int i = 0; i < kCalls / 8; ++i) {
    CHAMELEON_BENCH_SITE;
    CHAMELEON_BENCH_SITE;
    CHAMELEON_BENCH_SITE;
    CHAMELEON_BENCH_SITE;
    CHAMELEON_BENCH_SITE;
    CHAMELEON_BENCH_SITE;
    CHAMELEON_BENCH_SITE;
    CHAMELEON_BENCH_SITE;
  }
}

/// In a block: seconds in the completing calls that are timed alone, and how many.
double g_waiting;
int g_waits;

void requests(int posts, bool only_waits = false) {
  MPI_Request request[8];
  for (int i = 0; i < kCalls / (posts + 1); ++i) {
    for (int k = 0; k < posts; k += 2) {
      MPI_Isend(g_out + k, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[k]);
      MPI_Irecv(g_in + k, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[k + 1]);
    }
    const double begin = only_waits ? PMPI_Wtime() : 0;
    MPI_Waitall(posts, request, MPI_STATUSES_IGNORE);
    if (!only_waits) continue;
    g_waiting += PMPI_Wtime() - begin;
    ++g_waits;
  }
}
void requests_of_8() { requests(8); }
void waitall_of_2() { requests(2, true); }
void waitall_of_8() { requests(8, true); }

void sums_of_self() {
  for (int i = 0; i < kCalls; ++i) MPI_Allreduce(g_out, g_in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

/// Runs f under `depth` frames of its own.
[[gnu::noinline, gnu::optimize("no-optimize-sibling-calls")]] void deep(int depth, void (*f)()) {
  if (depth > 0)
    deep(depth - 1, f);
  else
    f();
  asm volatile("");  // the call is not the last thing
}

/// A barrier that leaves the processor to others.
void sleep_until_met() {
  MPI_Request met;
  PMPI_Ibarrier(MPI_COMM_WORLD, &met);
  for (int done = 0; done == 0;) {
    PMPI_Test(&met, &done, MPI_STATUS_IGNORE);
    constexpr timespec kShort{0, 50'000};
    if (done == 0) nanosleep(&kShort, nullptr);
  }
}

/// Of the calls of a block and its marker; of one MPI_Waitall where these are timed alone. The
/// ranks take turns: two processors may be two threads of one core.
double block_ns(int depth, void (*f)()) {
  int rank = 0, size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int turn = 0; turn < rank; ++turn) sleep_until_met();
  g_waiting = 0;
  g_waits = 0;
  const double begin = PMPI_Wtime();
  deep(depth, f);
  const double called = PMPI_Wtime();
  const double waiting = g_waits > 0 ? g_waiting * 1e9 / g_waits : 0;
  for (int turn = rank; turn < size; ++turn) sleep_until_met();
  PMPI_Barrier(MPI_COMM_WORLD);  // none sleeps: the marker waits for nobody
  const double met = PMPI_Wtime();
  chameleon_marker();
  if (waiting > 0) return waiting;
  return ((called - begin) + (PMPI_Wtime() - met)) * 1e9 / kCalls;
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Pattern {
  const char* name;
  int depth;
  void (*run)();
};

constexpr Pattern kPatterns[] = {
    {"one_site", 5, one_site},          {"one_site", 10, one_site},
    {"one_site", 20, one_site},         {"one_site", 40, one_site},
    {"eight_sites", 20, eight_sites},   {"requests_of_8", 20, requests_of_8},
    {"waitall_of_2", 20, waitall_of_2}, {"waitall_of_8", 20, waitall_of_8},
    {"sums_of_self", 20, sums_of_self}};

}  // namespace

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 40;
  const int teller = argc > 2 ? std::atoi(argv[2]) : 0;
  const char* only = argc > 3 ? argv[3] : nullptr;
  MPI_Init(&argc, &argv);
  const double begin = cpu_seconds();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const Pattern& pattern : kPatterns) {
    if (only != nullptr && std::strcmp(pattern.name, only) != 0) continue;
    // Into the steady state of this pattern: a change of phase, a clustering.
    for (int i = 0; i < 6; ++i) block_ns(pattern.depth, pattern.run);
    std::vector<double> times;
    for (int i = 0; i < blocks; ++i) times.push_back(block_ns(pattern.depth, pattern.run));
    std::nth_element(times.begin(), times.begin() + blocks / 2, times.end());
    if (rank == teller)
      std::printf("%s %d %.2f\n", pattern.name, pattern.depth,
                  times[static_cast<std::size_t>(blocks / 2)]);
  }
  if (rank == teller) std::printf("cpu: %.6f\n", cpu_seconds() - begin);
  MPI_Finalize();
}
