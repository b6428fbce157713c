// SPDX-License-Identifier: BSD-3-Clause
// A solver that is as slow as it is told to be. Cells on a ring are relaxed; a time step exchanges
// halos, relaxes, passes a running sum along the ranks, and adds up. All ranks make the same calls
// from the same places in every time step, whatever is slow: only times differ.
//
//     --fault slow:RANK:STEPS:MICROSECONDS[:FUNCTION]   RANK takes longer in FUNCTION: relax (the
//                                                       default), exchange, pass_on or add_up
//     --fault late:RANK:STEPS:MICROSECONDS              RANK sends its halo late
//     --fault serial:STEPS:MICROSECONDS                 every rank takes its part of the running
//                                                       sum while the ranks after it wait
//     --fault moving:STEPS:MICROSECONDS                 as slow, a rank further every time step
//
// STEPS is a time step or FIRST-LAST, both included, from 0. --fault may be given several times.
// Delays are slept: ranks that share a processor do not slow each other.

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "example.h"

namespace {

struct Fault {
  std::string kind, function = "relax";
  int rank = -1;  // every rank
  int first = 0, last = 0;
  double us = 0;
};

// The words of `text` between colons.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char letter : text)
    if (letter == ':')
      words.emplace_back();
    else
      words.back() += letter;
  return words;
}

bool number_of(const std::string& text, double most, double& number) {
  char* end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && number >= 0 && number <= most;
}

bool steps_of(const std::string& text, Fault& fault) {
  const std::size_t dash = text.find('-');
  double first = 0, last = 0;
  if (!number_of(text.substr(0, dash), 1e9, first)) return false;
  if (dash == std::string::npos)
    last = first;
  else if (!number_of(text.substr(dash + 1), 1e9, last))
    return false;
  fault.first = static_cast<int>(first);
  fault.last = static_cast<int>(last);
  return first <= last;
}

bool fault_of(const std::string& text, Fault& fault) {
  const std::vector<std::string> words = words_of(text);
  fault.kind = words[0];
  const bool of_one = fault.kind == "slow" || fault.kind == "late";
  if (!of_one && fault.kind != "serial" && fault.kind != "moving") return false;
  const std::size_t steps = of_one ? 2 : 1;
  if (words.size() < steps + 2 || words.size() > steps + (fault.kind == "slow" ? 3 : 2))
    return false;
  if (fault.kind == "late") fault.function = "exchange";
  if (fault.kind == "serial") fault.function = "pass_on";
  if (words.size() == steps + 3) fault.function = words.back();
  double rank = -1;
  if (of_one && !number_of(words[1], 1e9, rank)) return false;
  fault.rank = static_cast<int>(rank);
  return (fault.function == "relax" || fault.function == "exchange" ||
          fault.function == "pass_on" || fault.function == "add_up") &&
         steps_of(words[steps], fault) && number_of(words[steps + 1], 1e7, fault.us);
}

// Takes the options that other examples do not have out of the arguments; false if one is wrong.
bool take_faults(int& argc, char** argv, std::vector<Fault>& faults) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--fault") {
      argv[kept++] = argv[i];
      continue;
    }
    if (++i == argc || !fault_of(argv[i], faults.emplace_back())) return false;
  }
  argc = kept;
  return true;
}

struct Solver {
  example::Run& run;
  const std::vector<Fault>& faults;
  std::vector<double> cells, next;  // with a halo at either end
  int step = 0;

  // What is wrong with a function in this time step takes its time.
  void delay(std::string_view function, std::string_view kind) const {
    double us = 0;
    for (const Fault& fault : faults)
      if (fault.kind == kind && fault.function == function && step >= fault.first &&
          step <= fault.last &&
          (fault.rank < 0 ? kind != "moving" || run.rank == step % run.ranks
                          : run.rank == fault.rank))
        us += fault.us;
    if (us > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us));
  }

  [[gnu::noinline]] void exchange() {
    const int n = static_cast<int>(cells.size()) - 2;
    const int left = (run.rank + run.ranks - 1) % run.ranks, right = (run.rank + 1) % run.ranks;
    MPI_Request requests[4];
    delay("exchange", "slow");
    MPI_Irecv(&cells[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&cells[n + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    delay("exchange", "late");
    MPI_Isend(&cells[n], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&cells[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }

  [[gnu::noinline]] void relax() {
    run.compute(cells);
    delay("relax", "slow");
    delay("relax", "moving");
    for (std::size_t i = 1; i + 1 < cells.size(); ++i)
      next[i] = 0.25 * cells[i - 1] + 0.5 * cells[i] + 0.25 * cells[i + 1];
    cells.swap(next);
  }

  // The ranks before this one hand on what they have; MPI_PROC_NULL is at either end.
  [[gnu::noinline]] void pass_on() {
    double before = 0;
    const int previous = run.rank == 0 ? MPI_PROC_NULL : run.rank - 1;
    const int following = run.rank + 1 == run.ranks ? MPI_PROC_NULL : run.rank + 1;
    delay("pass_on", "slow");
    MPI_Recv(&before, 1, MPI_DOUBLE, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    delay("pass_on", "serial");
    const double so_far = before + run.rank;
    MPI_Send(&so_far, 1, MPI_DOUBLE, following, 3, MPI_COMM_WORLD);
    run.check(so_far == 0.5 * run.rank * (run.rank + 1));
  }

  // Relaxing moves values between cells, and none is lost.
  [[gnu::noinline]] void add_up(double expected) {
    double mine = 0, all = 0;
    for (std::size_t i = 1; i + 1 < cells.size(); ++i) mine += cells[i];
    delay("add_up", "slow");
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    run.check_near(all, expected);
  }
};

constexpr char kFaults[] =
    "FAULT: slow:RANK:STEPS:MICROSECONDS[:FUNCTION]\n"
    "       late:RANK:STEPS:MICROSECONDS\n"
    "       serial:STEPS:MICROSECONDS\n"
    "       moving:STEPS:MICROSECONDS\n"
    "STEPS: a time step or FIRST-LAST, from 0";

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<Fault> faults;
  const bool good = take_faults(argc, argv, faults);
  const std::string usage = std::string(" [--fault FAULT]...\n") + kFaults;
  example::Run run("faulty", argc, argv,
                   {.iterations = 40, .size = 256, .more_usage = usage.c_str()});
  if (!good) {
    if (run.rank == 0) std::fprintf(stderr, "faulty: --fault FAULT\n%s\n", kFaults);
    MPI_Finalize();
    return 2;
  }
  const auto n = static_cast<std::size_t>(run.options.size);
  Solver solver{run, faults, std::vector<double>(n + 2), std::vector<double>(n + 2)};
  double expected = 0;
  for (std::size_t i = 1; i <= n; ++i) solver.cells[i] = run.rank + static_cast<double>(i);
  for (int rank = 0; rank < run.ranks; ++rank)
    expected += static_cast<double>(n) * rank + 0.5 * static_cast<double>(n * (n + 1));

  run.start();
  for (; solver.step < run.options.iterations; ++solver.step) {
    solver.exchange();
    solver.relax();
    solver.pass_on();
    solver.add_up(expected);
    example::end_of_timestep();
  }
  run.stop();

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
