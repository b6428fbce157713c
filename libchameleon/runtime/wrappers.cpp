// SPDX-License-Identifier: BSD-3-Clause
// The MPI functions the application calls. Each passes on to PMPI and gives its
// result; what is recorded around that is decided by the table. Compiled once for
// each shard of the generated list, to use all processors.
#include <cstdarg>
#include <optional>

#include "runtime/call_record.h"
#include "runtime/callers.h"
#include "runtime/other_mpi.h"
#include "runtime/raw.h"
#include "runtime/stack_room.h"
#include "runtime/tracer.h"

#define CHAMELEON_EXPORT __attribute__((visibility("default")))

namespace chameleon {
namespace {

class DepthGuard {
 public:
  DepthGuard() { ++t_depth; }
  ~DepthGuard() { --t_depth; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
};

template <CallId C, class... P>
[[gnu::noinline]] int record(Tracer& tracer, void* site, int (*pmpi)(P...), P... p) {
  const DepthGuard guard;
  constexpr const CallInfo& call = *find_call(C);
  CallRecord<C, P...> event(tracer, p...);
  constexpr bool early = event.kEarly;
  std::optional<RawLine<C, P...>> raw;
  const std::uint64_t entry = tracer.clock().now();
  std::uint64_t before = entry;
  event.own_statuses();
  if (early || tracer.writes_raw()) {
    const auto held = tracer.enter();
    event.before();
    if (tracer.records(C) && tracer.stream().raw != nullptr)
      raw.emplace().before(event.args(), event.comm());
    before = tracer.clock().now();
  }
  // What ends the run is recorded first, and what begins it has happened.
  constexpr bool ends = has(call, Attribute::kFinalize | Attribute::kAbort);
  constexpr bool begun = has(call, Attribute::kInit);
  int code = MPI_SUCCESS;
  if constexpr (!ends && !begun) code = std::apply(pmpi, event.args());
  const std::uint64_t after = tracer.clock().now();
  {
    const auto held = tracer.enter();
    Stream& stream = tracer.stream();
    if (!early && !tracer.writes_raw()) event.before();
    event.after(code);
    if (raw) raw->after(event.args(), event.comm(), code, stream.raw, tracer.next_raw_line());
    if (tracer.records(C))
      tracer.append(stream, C, site, begun ? 0 : stream.computed_until(entry),
                    ends || begun ? 0 : after - before, event.values());
    else
      tracer.count_paused();
    tracer.leave(stream, C, entry, before, after);
  }
  if constexpr (C == CallId::kCommSetName)
    tracer.name_comm(std::get<0>(event.args()), std::get<1>(event.args()));
  if constexpr (C == CallId::kBarrier)
    tracer.mark(MarkerCall::barrier(tracer.is_marker_comm(std::get<0>(event.args()))));
  return code;
}

/// Whether the wrapper that returns to `site` was called by MPI, inside a call that is recorded.
bool within_mpi(const void* site) { return t_depth > 0 && called_by_mpi(site); }

template <CallId C, class R, class... P, class... A>
[[gnu::always_inline]] inline R traced(R (*pmpi)(P...), A... a) {
  constexpr const CallInfo& call = *find_call(C);
  if constexpr (!std::is_same_v<R, int> || has(call, Attribute::kMpit)) {
    return pmpi(a...);
  } else if constexpr (has(call, Attribute::kInit)) {
    if constexpr (!kSimulated)
      if (void* other = in_other_mpi(call.name)) return reinterpret_cast<R (*)(P...)>(other)(a...);
    const int code = pmpi(a...);
    if (code != MPI_SUCCESS || t_depth > 0) return code;
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    start_tracer(level > MPI_THREAD_FUNNELED);
    if (Tracer* tracer = g_tracer.load(std::memory_order_acquire))
      record<C, P...>(*tracer, __builtin_return_address(0), pmpi, a...);
    return code;
  } else {
    Tracer* tracer = g_tracer.load(std::memory_order_acquire);
    if constexpr (C == CallId::kSessionFinalize)
      if (tracer == nullptr) note_untraced_session();
    if (tracer == nullptr || within_mpi(__builtin_return_address(0))) return pmpi(a...);
    if constexpr (has(call, Attribute::kLocal)) {
      if (!tracer->records(C)) return pmpi(a...);
    }
    if constexpr (!has(call, Attribute::kFinalize | Attribute::kAbort))
      if (!has_room_to_record()) [[unlikely]] {
        tracer->count_squeezed();
        return pmpi(a...);
      }
    const int code = record<C, P...>(*tracer, __builtin_return_address(0), pmpi, a...);
    if constexpr (has(call, Attribute::kFinalize)) {
      const DepthGuard guard;
      finish_tracer();
      return pmpi(a...);
    } else if constexpr (has(call, Attribute::kAbort)) {
      const DepthGuard guard;
      abandon_tracer();
      return pmpi(a...);
    } else {
      return code;
    }
  }
}

}  // namespace
}  // namespace chameleon

using chameleon::CallId;
using chameleon::traced;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "wrappers.inc"  // generated

#if CHAMELEON_SHARD == 0
extern "C" CHAMELEON_EXPORT int MPI_Pcontrol(const int level, ...) {
  using namespace chameleon;
  Tracer* tracer = g_tracer.load(std::memory_order_acquire);
  if (tracer != nullptr && !within_mpi(__builtin_return_address(0))) {
    const DepthGuard guard;
    if (level == 0 || level == 1) tracer->pause(level == 0);
    tracer->mark(MarkerCall::pcontrol(level));
  }
  return kSimulated ? MPI_SUCCESS : PMPI_Pcontrol(level);  // SMPI's ends the program
}
#endif
