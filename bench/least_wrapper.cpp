// SPDX-License-Identifier: BSD-3-Clause
// Tools that do as little as can be at the calls of bench/event. Without CHAMELEON_BENCH_FLOOR: an
// empty wrapper. With it what a tracer with exact call paths cannot do without: two readings of the
// time-stamp counter around the call, the stack compared with the one before, word by word
// (callpath/engine.h), and a record of 16 bytes; no argument is looked at and nothing is folded.
#include <mpi.h>

#ifdef CHAMELEON_BENCH_FLOOR
#include <x86intrin.h>

#include <array>

#include "callpath/engine.h"
#endif

namespace {

#ifdef CHAMELEON_BENCH_FLOOR

struct Record {
  std::uint64_t path;
  std::uint32_t before, during;
};

chameleon::callpath::Engine engine;
std::array<Record, 4096> records;  // used again and again
std::uint64_t count;
std::uint64_t last;

template <class Call>
[[gnu::always_inline]] inline int record(Call call) {
  const std::uint64_t entry = __rdtsc();
  const int code = call();
  const std::uint64_t after = __rdtsc();
  records[count++ % records.size()] = {engine.capture(__builtin_return_address(0)),
                                       static_cast<std::uint32_t>(entry - last),
                                       static_cast<std::uint32_t>(after - entry)};
  last = after;
  return code;
}
#else
template <class Call>
[[gnu::always_inline]] inline int record(Call call) {
  return call();
}
#endif

}  // namespace

extern "C" {

#ifdef CHAMELEON_BENCH_FLOOR
int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  return chameleon::callpath::Engine::start() ? code : MPI_ERR_OTHER;
}
#endif

int MPI_Sendrecv(const void* out, int sends, MPI_Datatype type, int to, int tag, void* in,
                 int receives, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
  return record([&] {
    return PMPI_Sendrecv(out, sends, type, to, tag, in, receives, in_type, from, in_tag, comm,
                         status);
  });
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return record([&] { return PMPI_Isend(buffer, count, type, to, tag, comm, request); });
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return record([&] { return PMPI_Irecv(buffer, count, type, from, tag, comm, request); });
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return record([&] { return PMPI_Waitall(count, requests, statuses); });
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  return record([&] { return PMPI_Allreduce(out, in, count, type, op, comm); });
}

}  // extern "C"
