// SPDX-License-Identifier: BSD-3-Clause
/// What the exports must get right beside the examples: collectives of every kind on the world, on
/// a part of it and over an intercommunicator, nonblocking and persistent ones, wildcards that
/// complete out of order, persistent and cancelled requests, messages to oneself and empty ones.
/// Built twice; with SLOW_NS, relax() computes longer on ranks 1 and 2.

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <vector>

#ifndef SLOW_NS
#define SLOW_NS 0
#endif

namespace {

int rank, size;

void spin(std::int64_t ns) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);
  while (std::chrono::steady_clock::now() < end) {
  }
}

[[gnu::noinline]] void relax() {
  spin(200'000 + (rank == 1 || rank == 2 ? SLOW_NS : 0));
  double mine = rank, other = 0;
  MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 1, &other, 1, MPI_DOUBLE,
               (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

[[gnu::noinline]] void collectives(MPI_Comm comm) {
  int me, n;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  const int last = n - 1;
  std::vector<int> counts(n), places(n), out(n * (n + 1) + 8), in(n * (n + 1) + 8);
  for (int i = 0; i < n; ++i) counts[i] = i + 1;
  for (int i = 1; i < n; ++i) places[i] = places[i - 1] + counts[i - 1];
  MPI_Barrier(comm);
  MPI_Bcast(out.data(), 3, MPI_INT, last, comm);
  MPI_Reduce(out.data(), in.data(), 5, MPI_INT, MPI_SUM, last, comm);
  MPI_Allreduce(MPI_IN_PLACE, in.data(), 2, MPI_INT, MPI_SUM, comm);
  MPI_Gather(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, last, comm);
  MPI_Scatter(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, last, comm);
  MPI_Gatherv(out.data(), me + 1, MPI_INT, in.data(), counts.data(), places.data(), MPI_INT, 0,
              comm);
  MPI_Scatterv(out.data(), counts.data(), places.data(), MPI_INT, in.data(), me + 1, MPI_INT, 0,
               comm);
  MPI_Allgather(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  MPI_Allgatherv(out.data(), me + 1, MPI_INT, in.data(), counts.data(), places.data(), MPI_INT,
                 comm);
  MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  std::vector<int> same(n, me + 1), by_rank(n);
  for (int i = 0; i < n; ++i) by_rank[i] = i * (me + 1);
  MPI_Alltoallv(out.data(), same.data(), by_rank.data(), MPI_INT, in.data(), counts.data(),
                places.data(), MPI_INT, comm);
  MPI_Scan(out.data(), in.data(), 4, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(out.data(), in.data(), 1, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter(out.data(), in.data(), counts.data(), MPI_INT, MPI_SUM, comm);
  MPI_Request requests[2];
  MPI_Ibcast(out.data(), 7, MPI_INT, 0, comm, &requests[0]);
  MPI_Iallgatherv(out.data() + n, me + 1, MPI_INT, in.data(), counts.data(), places.data(), MPI_INT,
                  comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request kept;
  MPI_Allreduce_init(out.data(), in.data(), 2, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &kept);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&kept);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&kept);
}

[[gnu::noinline]] void requests() {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int in[4] = {}, out[4] = {};
  // Two wildcards, of which the second posted may complete first.
  MPI_Request wild[2], sent[2];
  MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &wild[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD, &wild[1]);
  MPI_Isend(&out[0], 1, MPI_INT, next, 6, MPI_COMM_WORLD, &sent[0]);
  MPI_Isend(&out[1], 0, MPI_INT, next, 5, MPI_COMM_WORLD, &sent[1]);
  int which;
  MPI_Waitany(2, wild, &which, MPI_STATUS_IGNORE);
  MPI_Waitany(2, wild, &which, MPI_STATUS_IGNORE);
  MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
  MPI_Request kept[2];
  MPI_Send_init(&out[2], 2, MPI_INT, next, 7, MPI_COMM_WORLD, &kept[0]);
  MPI_Recv_init(&in[2], 2, MPI_INT, before, 7, MPI_COMM_WORLD, &kept[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, kept);
    MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&kept[0]);
  MPI_Request_free(&kept[1]);
  MPI_Request never;
  MPI_Irecv(&in[0], 1, MPI_INT, next, 8, MPI_COMM_WORLD, &never);
  MPI_Cancel(&never);
  MPI_Wait(&never, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&out[0], 1, MPI_INT, 0, 9, &in[0], 1, MPI_INT, 0, 9, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  MPI_Message message;
  MPI_Request last;
  MPI_Isend(out, 3, MPI_INT, next, 10, MPI_COMM_WORLD, &last);
  MPI_Mprobe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(in, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&last, MPI_STATUS_IGNORE);
}

[[gnu::noinline]] void groups() {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  collectives(part);
  if (size > 1) {
    // Sorted by -rank, the first of a part is its highest rank.
    const int highest = size - 1, other = highest % 2 == rank % 2 ? highest - 1 : highest;
    MPI_Comm inter;
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, other, 11, &inter);
    int value = rank;
    int me, there;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &there);
    if (me < there) {
      if (rank % 2 == 0)
        MPI_Send(&value, 1, MPI_INT, me, 12, inter);
      else
        MPI_Recv(&value, 1, MPI_INT, me, 12, inter, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free(&part);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 4; ++i) relax();
  collectives(MPI_COMM_WORLD);
  requests();
  groups();
  MPI_Finalize();
  return 0;
}
