// SPDX-License-Identifier: BSD-3-Clause
// online_program MODE STEPS [SLEEP_MS]: time steps of one shift around all ranks each, with a
// marker at their end, and one thing that is not as it should be or not as usual.
//   loop     nothing                               absent  rank 1 calls no marker
//   fewer    rank 1 calls one marker fewer         more    rank 1 calls one marker more
//   late     rank 1 waits for a message that rank 0 sends after its marker
//   thread   a second thread calls markers too     barrier the marker is a barrier
//   pause    rank 1 records nothing from a third of the steps to two thirds
//   early, handler  a SIGTERM handler of its own, set before or after MPI_Init; rank 1 raises it
//   abort    rank 1 calls MPI_Abort with 7 after half of the steps
//   terminate  every rank gets SIGTERM after half of the steps, and goes on until it ends
//   slow     rank 1 computes five times as long: 20 ms of a step
//   vary     tags that never repeat, and no markers
//   limit    as vary, with markers; after ten steps the process gets no more than SLEEP_MS MiB of
//            address space beside what it has
//   poll     the shift is completed by MPI_Test, unsuccessfully at first for as often as it happens
//   disorder  no markers, and a sum over all ranks from one of eight places, as it happens
//   apart    the same of each rank alone, from another place on each
//   root     rank 0 receives from each rank and answers, in place of the shift
//   last     no markers, and rank 1 never calls MPI_Finalize
//   report   rank 0 prints the time of a step and the size of the trace before MPI_Finalize
#include <chameleon/chameleon.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

volatile std::sig_atomic_t g_signals = 0;

void count_signal(int) { g_signals = g_signals + 1; }

struct Program {
  std::string mode;
  int steps = 0;
  int sleep_ms = 0;
  int rank = 0;
  int ranks = 1;
  MPI_Comm marker_comm = MPI_COMM_NULL;

  bool odd() const { return rank == 1; }
};

/// Rank 0 receives from all others and answers each of them.
void serve(const Program& run) {
  int value = run.rank;
  if (run.rank != 0) {
    MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (int rank = 1; rank < run.ranks; ++rank)
    MPI_Recv(&value, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int rank = 1; rank < run.ranks; ++rank)
    MPI_Send(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
}

/// A shift that polls, more often on higher ranks.
void poll(const Program& run, int next, int previous) {
  int out = run.rank, in = -1, done = 0;
  MPI_Request requests[2];
  MPI_Irecv(&in, 1, MPI_INT, previous, 6, MPI_COMM_WORLD, &requests[0]);
  for (int i = 0; i < 1 + 3 * run.rank; ++i) {  // nobody has sent yet
    MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    if (done != 0) MPI_Abort(MPI_COMM_WORLD, 97);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(&out, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[1]);
  while (done == 0) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

constexpr unsigned kMostNoise = 1000;

/// A number below `kMostNoise` that has nothing to do with those before it.
int noise(int rank, int step, int message) {
  unsigned value = static_cast<unsigned>(rank) * 40503u +
                   static_cast<unsigned>(step) * 1103515245u +
                   static_cast<unsigned>(message) * 69069u;
  for (int i = 0; i < 3; ++i) value = (value ^ value >> 15) * 2246822519u;
  return static_cast<int>((value ^ value >> 13) % kMostNoise);
}

/// Messages whose lengths and tags differ each time, on each rank.
void shift_noise(const Program& run, int step, int next, int previous) {
  static char out[kMostNoise], in[kMostNoise];
  for (int message = 0; message < 100; ++message) {
    const int mine = noise(run.rank, step, message), theirs = noise(previous, step, message);
    MPI_Sendrecv(out, mine, MPI_CHAR, next, mine, in, theirs, MPI_CHAR, previous, theirs,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

template <int Place>
[[gnu::noinline]] void sum_at(int value, MPI_Comm comm) {
  int sum = 0;
  value += Place;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
}

/// A sum over all ranks, at a place of the step's, or of the step's and the rank's of it alone.
void sum(const Program& run, int step) {
  const bool apart = run.mode == "apart";
  constexpr void (*kPlaces[])(int, MPI_Comm) = {sum_at<0>, sum_at<1>, sum_at<2>, sum_at<3>,
                                                sum_at<4>, sum_at<5>, sum_at<6>, sum_at<7>};
  kPlaces[noise(apart ? run.rank : 0, step, 1) % 8](run.rank,
                                                    apart ? MPI_COMM_SELF : MPI_COMM_WORLD);
}

void shift(const Program& run, int step) {
  if (run.mode == "root") return serve(run);
  const int next = (run.rank + 1) % run.ranks;
  const int previous = (run.rank + run.ranks - 1) % run.ranks;
  if (run.mode == "noise") return shift_noise(run, step, next, previous);
  if (run.mode == "poll") return poll(run, next, previous);
  if (run.mode == "disorder" || run.mode == "apart") return sum(run, step);
  int out = run.rank + step;
  int in = -1;
  const int tag = run.mode == "vary" || run.mode == "limit" ? step * 7919 % 32749 : 0;
  MPI_Sendrecv(&out, 1, MPI_INT, next, tag, &in, 1, MPI_INT, previous, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (in != previous + step) MPI_Abort(MPI_COMM_WORLD, 99);
}

void end_of_step(const Program& run, int step) {
  if (run.mode == "vary" || run.mode == "last" || run.mode == "disorder" || run.mode == "apart" ||
      (run.mode == "limit" && step % 100 != 99) || (run.mode == "absent" && run.odd()))
    return;
  if (run.mode == "fewer" && run.odd() && step == run.steps - 1) return;
  int token = 0;
  if (run.mode == "late" && step == run.steps / 2 && run.odd())
    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (run.mode == "barrier")
    MPI_Barrier(run.marker_comm);
  else
    chameleon_marker();
  if (run.mode == "late" && step == run.steps / 2 && run.rank == 0)
    MPI_Send(&token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  if (run.mode == "thread" && step == run.steps / 2) std::thread(chameleon_marker).join();
  if (run.mode == "more" && run.odd() && step == run.steps - 1) chameleon_marker();
}

void happen(const Program& run, int step) {
  if (run.mode == "pause" && run.odd() && step == run.steps / 3) MPI_Pcontrol(0);
  if (run.mode == "pause" && run.odd() && step == 2 * run.steps / 3) MPI_Pcontrol(1);
  if (run.mode == "terminate" && step == run.steps / 2) ::kill(::getpid(), SIGTERM);
  if (step != run.steps / 2 || !run.odd()) return;
  if (run.mode == "abort") MPI_Abort(MPI_COMM_WORLD, 7);
  if (run.mode == "early" || run.mode == "handler") std::raise(SIGTERM);
}

void limit_memory(int more) {
  unsigned long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) MPI_Abort(MPI_COMM_WORLD, 98);
  std::fclose(file);
  const rlim_t now = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  const rlimit limit{now + (static_cast<rlim_t>(more) << 20), RLIM_INFINITY};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) MPI_Abort(MPI_COMM_WORLD, 98);
}

void report(double seconds, const Program& run) {
  if (run.rank != 0 || run.mode != "report") return;
  struct stat file {};
  const char* output = std::getenv("CHAMELEON_OUTPUT");
  if (output == nullptr || ::stat(output, &file) != 0) file.st_size = 0;
  std::fprintf(stderr, "step %.3f us, trace %lld bytes\n", seconds * 1e6 / run.steps,
               static_cast<long long>(file.st_size));
}

void run_steps(const Program& run) {
  const double begin = MPI_Wtime();
  for (int step = 0; step < run.steps; ++step) {
    happen(run, step);
    shift(run, step);
    if (run.mode == "slow") ::usleep(run.odd() ? 20000 : 4000);
    if (run.mode == "limit" && step == 10) limit_memory(run.sleep_ms);
    if (run.sleep_ms > 0 && run.mode != "limit")
      ::usleep(static_cast<useconds_t>(run.sleep_ms) * 1000);
    end_of_step(run, step);
  }
  report(MPI_Wtime() - begin, run);
}

}  // namespace

int main(int argc, char** argv) {
  Program run;
  run.mode = argc > 1 ? argv[1] : "loop";
  run.steps = argc > 2 ? std::atoi(argv[2]) : 20;
  run.sleep_ms = argc > 3 ? std::atoi(argv[3]) : 0;
  if (run.mode == "early") std::signal(SIGTERM, count_signal);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, run.mode == "thread" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  if (run.mode == "handler") std::signal(SIGTERM, count_signal);
  if (::chdir("/") != 0) return 2;  // a program may: its trace stays where it began
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  if (run.mode == "barrier") {
    MPI_Comm_dup(MPI_COMM_WORLD, &run.marker_comm);
    MPI_Comm_set_name(run.marker_comm, "chameleon.marker");
  }
  run_steps(run);
  if (run.marker_comm != MPI_COMM_NULL) MPI_Comm_free(&run.marker_comm);
  // No collective call here: some modes are about ranks that come to MPI_Finalize early.
  if (run.odd()) std::printf("done, %d signals\n", static_cast<int>(g_signals));
  std::fflush(stdout);
  while (run.mode == "last" && run.odd()) ::sleep(1);
  MPI_Finalize();
  return 0;
}
