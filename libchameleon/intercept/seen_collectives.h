// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Behind a wrapper's call: barriers that are markers, and collective operations among which the
/// tracer looks for some. Part of wrappers.cpp.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>

#include "base/hash.h"
#include "mpi/call_meaning.h"
#include "mpi/error_number.h"
#include "process/tracer.h"
#include "record/aside.h"

namespace chameleon::intercept {
namespace {

/// A barrier may be a marker.
[[gnu::noinline]] inline void mark_barrier(MPI_Comm comm) {
  if (Tracer* const tracer = present_tracer())
    tracer->mark(MarkerCall::barrier(tracer->is_marker_comm(comm)));
}

/// A blocking operation that all ranks of a communicator call in the same order.
template <CallId C>
constexpr bool kSeenByAll = has(*find_call(C), Attribute::kCollective) &&
                            first_of(*find_call(C), Kind::kComm) >= 0 &&
                            !has(*find_call(C), Attribute::kNonblocking | Attribute::kPersistent |
                                                    Attribute::kCreates | Attribute::kFrees |
                                                    Attribute::kIo | Attribute::kRma) &&
                            meaning_of(*find_call(C)).waits != Waits::kForNobody;

/// A reduction's operation, as all ranks know it.
inline std::uint64_t op_class(MPI_Op op) {
  const MPI_Op known[] = {MPI_SUM,  MPI_MAX, MPI_MIN,  MPI_PROD, MPI_LAND,   MPI_LOR,
                          MPI_BAND, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return static_cast<std::uint64_t>(std::find(std::begin(known), std::end(known), op) - known);
}

/// A blocking collective operation, where the tracer looks for markers: if it is of all ranks.
template <CallId C, class... P>
[[gnu::noinline]] void see_collective(void* site, P... p) {
  constexpr const CallInfo& call = *find_call(C);
  constexpr int root = first_of(call, Kind::kRoot), op = first_of(call, Kind::kOp);
  constexpr Movement movement = meaning_of(call).movement;
  Tracer* const tracer = present_tracer();
  if (tracer == nullptr) return;
  const std::tuple<P...> args(p...);
  const MPI_Comm comm = std::get<first_of(call, Kind::kComm)>(args);
  const Registers here = present_registers();
  aside([&] {
    Recorder& recorder = tracer->recorder();
    Collective seen{.call = static_cast<std::uint16_t>(C), .kind = 0, .path = 0};
    bool of_all = false;
    if (!guarded([&] { of_all = is_of_all(recorder, comm); })) of_all = query_comm(comm).all;
    if (!of_all) return;
    guarded([&] {
      const auto held = recorder.enter();
      if (recorder.records(C)) seen.path = recorder.path(site, &here);
    });
    seen.kind = combine(seen.call, comm == MPI_COMM_WORLD ? 1 : 0);
    if constexpr (root >= 0)
      seen.kind = combine(seen.kind, static_cast<std::uint64_t>(std::get<root>(args)));
    if constexpr (op >= 0) seen.kind = combine(seen.kind, op_class(std::get<op>(args)));
    seen.synchronizes = C == CallId::kBarrier ||
                        (movement.from == Movement::From::kAll &&
                         movement.to == Movement::To::kAll && !has(call, Attribute::kNeighbor));
    tracer->mark(MarkerCall::of_all(seen));
  });
}

/// Behind such a call. One that failed for its arguments may have been called by this rank alone.
template <CallId C, class... P>
[[gnu::always_inline]] inline void see(void* site, int code, P... p) {
  if constexpr (C == CallId::kBarrier)
    if (took_place(*find_call(C), error_number(code))) mark_barrier(p...);
  if constexpr (kSeenByAll<C>)
    if (g_sees_collectives.load(std::memory_order_relaxed)) [[unlikely]]
      if (took_place(*find_call(C), error_number(code))) see_collective<C>(site, p...);
}

}  // namespace
}  // namespace chameleon::intercept
