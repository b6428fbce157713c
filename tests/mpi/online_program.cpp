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
//   parted   the same, with a marker after every 10,000th step
//   lists    the same, and arrays of counts that never repeat
//   listed   the same, with a marker after every 500th step
//   filled   the same; files may not grow beyond SLEEP_MS KiB
//   beside   the same in two threads of each rank
//   among    the same in three, the first with a marker after every 3,000th step
//   alone    100 messages of each rank to itself, which differ each time on all but rank 0, with a
//            marker after every 50th step
//   astray   each rank makes such a sum of its own in 5 % of its steps, beside the shift
//   wrong    no markers, and a sum over all ranks; in the second third of the steps rank 1 calls
//            one more, which fails for its arguments
//   handled  no markers, and an exchange that fails for its arguments: the error handler makes as
//            many empty exchanges of each rank with itself as there are steps, at other places each
//   solver, threads  no markers, and sums over all ranks alone: one, as many pairs as it takes,
//   one;
//            `threads` asks for MPI_THREAD_MULTIPLE
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
#include <vector>

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
  bool is_apart() const {
    return mode == "apart" || mode == "parted" || mode == "lists" || mode == "beside" ||
           mode == "among" || mode == "filled" || mode == "listed";
  }
  int marked_step() const {
    return mode == "parted" ? 10000 : mode == "among" ? 3000 : mode == "listed" ? 500 : 0;
  }
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

/// The same of a rank to itself. On rank 0 they are all alike.
void send_alone(const Program& run, int step) {
  static char out[kMostNoise], in[kMostNoise];
  for (int message = 0; message < 100; ++message) {
    const int one = run.rank == 0 ? 1 : noise(run.rank, step, message);
    MPI_Sendrecv(out, one, MPI_CHAR, 0, one, in, one, MPI_CHAR, 0, one, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
  }
}

template <int Place>
[[gnu::noinline]] void sum_at(int value, MPI_Comm comm) {
  int sum = 0;
  value += Place;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
}

/// A sum over all ranks, at a place of the step's, or of the step's and the rank's of it alone.
void sum(const Program& run, int step, MPI_Comm comm) {
  constexpr void (*kPlaces[])(int, MPI_Comm) = {sum_at<0>, sum_at<1>, sum_at<2>, sum_at<3>,
                                                sum_at<4>, sum_at<5>, sum_at<6>, sum_at<7>};
  kPlaces[noise(comm == MPI_COMM_WORLD ? 0 : run.rank, step, 1) % 8](run.rank, comm);
}

/// Every rank sends each other one another length each time.
void exchange(const Program& run, int step) {
  static char out[kMostNoise], in[kMostNoise];
  std::vector<int> sent, received, none(static_cast<std::size_t>(run.ranks));
  const auto length = [&](int from, int to) {
    return noise(from * run.ranks + to, step, 3) / run.ranks;
  };
  for (int rank = 0; rank < run.ranks; ++rank) {
    sent.push_back(length(run.rank, rank));
    received.push_back(length(rank, run.rank));
  }
  std::vector<int> places(1, 0);
  for (const int each : received) places.push_back(places.back() + each);
  MPI_Alltoallv(out, sent.data(), none.data(), MPI_CHAR, in, received.data(), places.data(),
                MPI_CHAR, MPI_COMM_WORLD);
}

void sum_wrongly(const Program& run, int step) {
  int sum = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (run.odd() && 3 * step > run.steps && 3 * step < 2 * run.steps)
    if (MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) == MPI_SUCCESS)
      MPI_Abort(MPI_COMM_WORLD, 96);
  sum_at<0>(run.rank, MPI_COMM_WORLD);
}

int g_exchanges = 0;

void exchange_alone(MPI_Comm*, int*, ...) {
  char out = 0, in = 0;
  const int none = 0;
  for (int place = 0; place < g_exchanges; ++place)
    MPI_Alltoallv(&out, &none, &place, MPI_CHAR, &in, &none, &none, MPI_CHAR, MPI_COMM_SELF);
}

/// Counts of the failing call are looked at before it, and there is an event of it behind those of
/// the handler.
void exchange_wrongly(const Program& run) {
  g_exchanges = run.steps;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(exchange_alone, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  std::vector<int> counts, places(static_cast<std::size_t>(run.ranks), 7);
  for (int rank = 0; rank < run.ranks; ++rank) counts.push_back(2000 + rank);
  char out = 0, in = 0;
  if (MPI_Alltoallv(&out, counts.data(), places.data(), MPI_DATATYPE_NULL, &in, counts.data(),
                    places.data(), MPI_CHAR, MPI_COMM_WORLD) == MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 95);
  MPI_Errhandler_free(&handler);
}

/// Never as many iterations in two steps that follow each other.
void solve(int step) {
  int one = 1, sum = 0;
  const auto add = [&] { MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); };
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 4 + noise(0, step, 0) % 9; ++i) {
    add();
    MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Allreduce(&sum, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

void shift(const Program& run, int step) {
  if (run.mode == "root") return serve(run);
  if (run.mode == "handled") return step == 0 ? exchange_wrongly(run) : void();
  const int next = (run.rank + 1) % run.ranks;
  const int previous = (run.rank + run.ranks - 1) % run.ranks;
  if (run.mode == "noise") return shift_noise(run, step, next, previous);
  if (run.mode == "alone") return send_alone(run, step);
  if (run.mode == "poll") return poll(run, next, previous);
  if (run.mode == "wrong") return sum_wrongly(run, step);
  if (run.mode == "solver" || run.mode == "threads") return solve(step);
  if (run.mode == "disorder") return sum(run, step, MPI_COMM_WORLD);
  if (run.mode == "lists" || run.mode == "listed") exchange(run, step);
  if (run.is_apart()) return sum(run, step, MPI_COMM_SELF);
  if (run.mode == "astray" && noise(run.rank, step, 2) < static_cast<int>(kMostNoise) / 20)
    sum(run, step, MPI_COMM_SELF);
  int out = run.rank + step;
  int in = -1;
  const int tag = run.mode == "vary" || run.mode == "limit" ? step * 7919 % 32749 : 0;
  MPI_Sendrecv(&out, 1, MPI_INT, next, tag, &in, 1, MPI_INT, previous, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (in != previous + step) MPI_Abort(MPI_COMM_WORLD, 99);
}

void end_of_step(const Program& run, int step) {
  if (run.mode == "vary" || run.mode == "last" || run.mode == "disorder" || run.mode == "wrong" ||
      run.mode == "handled" || run.mode == "solver" || run.mode == "threads" ||
      (run.is_apart() && (run.marked_step() == 0 || (step + 1) % run.marked_step() != 0)) ||
      (run.mode == "alone" && step % 50 != 49) || (run.mode == "limit" && step % 100 != 99) ||
      (run.mode == "absent" && run.odd()))
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

void limit_files(const Program& run) {
  if (run.mode != "filled") return;
  const rlimit limit{static_cast<rlim_t>(run.sleep_ms) << 10, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) MPI_Abort(MPI_COMM_WORLD, 98);
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
  std::vector<std::thread> others;
  for (int i = run.mode == "among" ? 2 : run.mode == "beside" ? 1 : 0; i > 0; --i)
    others.emplace_back([&] {
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_dup(MPI_COMM_SELF, &comm);
      for (int step = 0; step < run.steps; ++step) sum(run, step, comm);
      MPI_Comm_free(&comm);
    });
  for (int step = 0; step < run.steps; ++step) {
    happen(run, step);
    shift(run, step);
    if (run.mode == "slow") ::usleep(run.odd() ? 20000 : 4000);
    if (run.mode == "limit" && step == 10) limit_memory(run.sleep_ms);
    if (run.sleep_ms > 0 && run.mode != "limit" && run.mode != "filled")
      ::usleep(static_cast<useconds_t>(run.sleep_ms) * 1000);
    end_of_step(run, step);
  }
  for (std::thread& other : others) other.join();
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
  const bool threads =
      run.mode == "thread" || run.mode == "threads" || run.mode == "beside" || run.mode == "among";
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (run.mode == "handler") std::signal(SIGTERM, count_signal);
  if (::chdir("/") != 0) return 2;  // a program may: its trace stays where it began
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  if (run.mode == "barrier") {
    MPI_Comm_dup(MPI_COMM_WORLD, &run.marker_comm);
    MPI_Comm_set_name(run.marker_comm, "chameleon.marker");
  }
  limit_files(run);
  run_steps(run);
  if (run.marker_comm != MPI_COMM_NULL) MPI_Comm_free(&run.marker_comm);
  // No collective call here: some modes are about ranks that come to MPI_Finalize early.
  if (run.odd()) std::printf("done, %d signals\n", static_cast<int>(g_signals));
  std::fflush(stdout);
  while (run.mode == "last" && run.odd()) ::sleep(1);
  MPI_Finalize();
  return 0;
}
