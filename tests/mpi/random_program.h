// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A program made up from a seed. All ranks make it up alike; what a rank does on its own it finds
/// from the seed, its number and the step. Without the tool it never hangs: ranks call what may
/// wait in the same order, and a rank that ends early is left out by the others from there on. Some
/// programs make calls that fail, on all ranks or on some, and go on.

#include <chameleon/chameleon.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

class RandomProgram {
 public:
  RandomProgram(unsigned seed, int steps, int rank, int ranks)
      : seed_(seed), steps_(steps), rank_(rank), ranks_(ranks), random_(seed) {
    const int phases = 1 + pick(3);
    for (int i = 0; i < phases; ++i) {
      Phase phase;
      phase.begin = i == 0 ? 0 : 1 + pick(steps);
      for (int k = 1 + pick(4); k > 0; --k)
        phase.body.push_back({static_cast<Kind>(pick(kKinds)), pick(ranks), 1 + pick(8),
                              1 + pick(3), 20 + 8 * i + k, pick(4) == 0});
      phases_.push_back(std::move(phase));
    }
    std::sort(phases_.begin(), phases_.end(),
              [](const Phase& a, const Phase& b) { return a.begin < b.begin; });
    uneven_ = static_cast<Uneven>(pick(kUnevens));
    odd_ = pick(ranks);
    when_ = steps / 3 + pick(steps / 2);
    threads_ = pick(4) == 0;
    // Half of them. (Programs that found defects are of the other half.)
    if (seed % 4 == 0 || seed % 4 == 3) wrong_ = static_cast<Wrong>(1 + pick(kWrongs));
  }

  /// Whether a message is longer than its receive: a fault of the program that `check` finds.
  bool truncates() const { return wrong_ == Wrong::kLong; }

  void run() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_dup(MPI_COMM_WORLD, &other_);
    if (wrong_ != Wrong::kNot) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int step = 0; step < steps_; ++step) {
      if (uneven_ == Uneven::kEnds && step == when_ && !leave_out()) break;
      const auto phase = std::find_if(phases_.rbegin(), phases_.rend(),
                                      [&](const Phase& one) { return one.begin <= step; });
      for (const Statement& statement : phase->body) execute(statement, step);
      if (threads_) beside(step);
      fail(step);
      for (int i = markers(step); i > 0; --i) chameleon_marker();
    }
    if (uneven_ == Uneven::kTail && odd()) ::usleep(400'000);
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    MPI_Comm_free(&other_);
  }

 private:
  enum class Kind { kShift, kSum, kRoot, kAny, kPoll, kProbe, kPair, kSplit, kNear };
  static constexpr int kKinds = 9;
  enum class Uneven { kNot, kFewer, kMore, kAbsent, kHalf, kExtra, kSome, kEnds, kSleeps, kTail };
  static constexpr int kUnevens = 10;
  /// Calls with wrong arguments: none, on all ranks, on some; messages that are too long.
  enum class Wrong { kNot, kAll, kSome, kLong };
  static constexpr int kWrongs = 3;

  struct Statement {
    Kind kind;
    int distance, count, every, tag;
    bool differs;  ///< its parameters depend on the rank
  };
  struct Phase {
    int begin = 0;
    std::vector<Statement> body;
  };

  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool odd() const { return rank_ == odd_; }
  /// Chance that is this rank's own.
  unsigned own(int step) const {
    std::uint64_t mixed = seed_ * 0x9e3779b97f4a7c15ULL + static_cast<unsigned>(step) * 8191U +
                          static_cast<unsigned>(rank_);
    mixed = (mixed ^ (mixed >> 31)) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<unsigned>(mixed >> 40);
  }

  int markers(int step) const {
    const bool late = step >= when_;
    if (uneven_ == Uneven::kSleeps && odd() && step == when_) ::usleep(1'500'000);
    if (uneven_ == Uneven::kSome && odd()) return own(step) % 8 == 0 ? 0 : 1;
    if (uneven_ == Uneven::kAbsent && odd()) return 0;
    if (uneven_ == Uneven::kHalf && odd() && late) return 0;
    if (uneven_ == Uneven::kFewer && odd() && step == steps_ - 1) return 0;
    if (uneven_ == Uneven::kMore && odd() && step == steps_ - 1) return 2;
    if (uneven_ == Uneven::kExtra && odd() && step == when_) return 2;
    return 1;
  }

  /// The odd rank ends: the others go on among themselves. Whether this rank goes on.
  bool leave_out() {
    MPI_Comm all = comm_;
    MPI_Comm_split(all, odd() ? MPI_UNDEFINED : 0, rank_, &comm_);
    MPI_Comm_free(&all);
    if (odd()) return false;
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    odd_ = -1;
    threads_ = false;
    return true;
  }

  int at(int distance) const { return ((rank_ + distance) % ranks_ + ranks_) % ranks_; }

  void exchange(int to, int from, int count, int tag, bool any) const {
    int out[16] = {rank_}, in[16] = {};
    MPI_Request requests[2];
    MPI_Irecv(in, 16, MPI_INT, any ? MPI_ANY_SOURCE : from, tag, comm_, &requests[0]);
    MPI_Isend(out, count, MPI_INT, to, tag, comm_, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (in[0] != from) MPI_Abort(MPI_COMM_WORLD, 99);
  }

  void poll(int to, int from, int count) const {
    int out[16] = {rank_}, in[16] = {}, done = 0;
    MPI_Request requests[2];
    MPI_Irecv(in, 16, MPI_INT, from, 4, comm_, &requests[0]);
    if (own(count) % 2 == 0) ::usleep(own(count) % 500);
    MPI_Isend(out, count, MPI_INT, to, 4, comm_, &requests[1]);
    while (done == 0) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }

  void probe(int to, int from, int count) const {
    int out[16] = {rank_}, in[16] = {}, found = 0;
    MPI_Request request;
    MPI_Isend(out, count, MPI_INT, to, 5, comm_, &request);
    MPI_Status status;
    while (found == 0) MPI_Iprobe(from, 5, comm_, &found, &status);
    MPI_Recv(in, 16, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm_, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  void execute(const Statement& one, int step) const {
    if (step % one.every != 0) return;
    const int count = one.differs ? 1 + rank_ % 4 : one.count;
    int in = 0, root = one.distance % ranks_;
    switch (one.kind) {
      case Kind::kShift:
        return exchange(at(one.distance), at(-one.distance), count, one.tag, false);
      case Kind::kAny: return exchange(at(one.distance), at(-one.distance), count, one.tag, true);
      case Kind::kPoll: return poll(at(one.distance), at(-one.distance), count);
      case Kind::kProbe: return probe(at(one.distance), at(-one.distance), count);
      case Kind::kSum: MPI_Allreduce(&rank_, &in, 1, MPI_INT, MPI_SUM, comm_); return;
      case Kind::kRoot: return gather(root, one.count);
      case Kind::kPair: {  // rank 0 and others differ in what they call
        int out = rank_;
        if (rank_ == 0)
          for (int other = 1; other < ranks_; ++other)
            MPI_Recv(&in, 1, MPI_INT, other, 7, comm_, MPI_STATUS_IGNORE);
        else
          MPI_Send(&out, 1, MPI_INT, 0, 7, comm_);
        return;
      }
      case Kind::kSplit: {
        MPI_Comm part;
        MPI_Comm_split(comm_, one.differs ? rank_ % 2 : 0, rank_, &part);
        MPI_Allreduce(&rank_, &in, 1, MPI_INT, MPI_MAX, part);
        MPI_Comm_free(&part);
        return;
      }
      case Kind::kNear: {  // neighbours without wrapping
        int out = rank_;
        const int up = rank_ + 1 < ranks_ ? rank_ + 1 : MPI_PROC_NULL;
        const int down = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
        MPI_Sendrecv(&out, 1, MPI_INT, up, 8, &in, 1, MPI_INT, down, 8, comm_, MPI_STATUS_IGNORE);
        return;
      }
    }
  }

  /// On the world's communicator, from which nobody is left out.
  void fail(int step) const {
    int value = rank_, in = 0, ranks = 0, flag = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool called = wrong_ == Wrong::kAll ? step % 3 == 0 : own(step + 1000) % 3 == 0;
    if (wrong_ == Wrong::kNot || !called) return;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm part = MPI_COMM_NULL;
    if (wrong_ == Wrong::kLong) return receive_too_little();
    int codes[] = {
        MPI_Send(&value, 1, MPI_INT, ranks, 11, MPI_COMM_WORLD),
        MPI_Irecv(&in, -1, MPI_INT, 0, 11, MPI_COMM_WORLD, &request),
        MPI_Allreduce(&value, &in, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD),
        MPI_Ibcast(&value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, &request),
        MPI_Barrier(MPI_COMM_NULL),
        MPI_Comm_split(MPI_COMM_NULL, 0, 0, &part),
        MPI_Iprobe(0, -5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE),
        MPI_Start(&request),
    };
    for (const int code : codes)
      if (code == MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 95);
  }

  /// From itself.
  void receive_too_little() const {
    int self = 0, in = 0, out[2] = {0, 1};
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    MPI_Irecv(&in, 1, MPI_INT, self, 12, MPI_COMM_WORLD, &request);
    MPI_Send(out, 2, MPI_INT, self, 12, MPI_COMM_WORLD);
    if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 95);
  }

  void gather(int root, int count) const {
    int out[16] = {rank_};
    std::vector<int> in(static_cast<std::size_t>(rank_ == root ? ranks_ * count : 0));
    MPI_Gather(out, count, MPI_INT, in.data(), count, MPI_INT, root, comm_);
  }

  /// A second thread shifts while the first does.
  void beside(int step) const {
    std::thread second([&] {
      int out = rank_, in = 0;
      MPI_Sendrecv(&out, 1, MPI_INT, at(1), 9, &in, 1, MPI_INT, at(-1), 9, other_,
                   MPI_STATUS_IGNORE);
    });
    exchange(at(1), at(-1), 1 + step % 2, 10, false);
    second.join();
  }

  const unsigned seed_;
  const int steps_;
  int rank_, ranks_;
  std::mt19937 random_;
  std::vector<Phase> phases_;
  Uneven uneven_ = Uneven::kNot;
  int odd_ = 0, when_ = 0;
  bool threads_ = false;
  Wrong wrong_ = Wrong::kNot;
  MPI_Comm comm_ = MPI_COMM_NULL, other_ = MPI_COMM_NULL;
};
