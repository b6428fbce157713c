// SPDX-License-Identifier: BSD-3-Clause
// The MPI functions the application calls. Each passes on to PMPI and gives its
// result; what is recorded around that is decided by the table. Compiled once for
// each shard of the generated list, to use all processors.
#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>
#include <optional>
#include <type_traits>

#include "intercept/callers.h"
#include "intercept/ending_imports.h"
#include "intercept/fortran_binding.h"
#include "intercept/other_mpi.h"
#include "intercept/pending_wrappers.h"
#include "intercept/seen_collectives.h"
#include "intercept/untraced_functions.h"
#include "mpi/call_meaning.h"
#include "process/ending.h"
#include "process/fault.h"
#include "process/say.h"
#include "process/tracer.h"
#include "record/aside.h"
#include "record/call_record.h"
#include "record/raw.h"
#include "record/raw_file.h"

#define CHAMELEON_EXPORT __attribute__((visibility("default")))

// A call at the end of a wrapper becomes a jump, but where the compiler does not do so: there the
// function that would be called is part of the wrapper, so that it returns to the program too.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CHAMELEON_TAIL [[gnu::noinline]]
#define CHAMELEON_HAS_TAIL true
#else
#define CHAMELEON_TAIL [[gnu::always_inline]] inline
#define CHAMELEON_HAS_TAIL false
#endif

namespace chameleon::intercept {

/// Whether wrappers ask for the tracer or pass straight through. Set after it, and before it is
/// gone.
void set_all_dispatch(bool traced);
/// Another MPI's library, where all wrappers go on to its functions instead.
inline void* g_elsewhere = nullptr;
/// The same for the calls of a shard.
template <int Shard>
void set_all_dispatch(bool traced);

namespace {

constexpr bool kHasTail = CHAMELEON_HAS_TAIL;

class DepthGuard {
 public:
  DepthGuard() { ++t_depth; }
  ~DepthGuard() { --t_depth; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
};

[[gnu::noinline]] inline void name_comm(MPI_Comm comm, const char* name) {
  if (Tracer* const tracer = present_tracer()) tracer->name_comm(comm, name);
}

/// When a call with a key began and returned, and what came of it.
struct Returned {
  std::uint64_t entry = 0, after = 0;
  int code = MPI_SUCCESS;
  bool noted = false;  ///< as the call in progress
};

/// Of a call with a key nothing is looked at beforehand, and nothing else where the event is one of
/// those expected: that is done where the call was made, without floating point.
template <CallId C, class PathOf, class... P>
[[gnu::always_inline]] inline void record_returned(Recorder& recorder, CallRecord<C, P...>& event,
                                                   Returned call, PathOf path_of) {
  try {
    const auto held = recorder.enter();
    Stream& stream = recorder.streams().present();
    if (stream.pending.is_closed()) [[unlikely]]
      return;
    if (call.noted) stream.pending.forget();
    const bool records = recorder.records(C);
    const std::uint64_t path = records ? path_of() : 0;
    if (records && stream.raw != nullptr) [[unlikely]]
      std::apply([&](P... q) { write_raw<C, P...>(recorder, stream, path, call.code, q...); },
                 event.args());
    const std::uint64_t compute = stream.computed_until(call.entry);
    const std::uint64_t time = time_between(call.entry, call.after);
    if (records && stream.raw != nullptr) [[unlikely]]
      write_raw_times(recorder.times(), stream, path, compute, time);
    event.make(call.code);
    if (!records || call.code != MPI_SUCCESS ||
        !recorder.append_again(stream, C, path, compute, time, event)) [[unlikely]]
      std::apply(
          [&](P... q) {
            append_anew<C, P...>(recorder, stream, path, compute, time, call.code, event.made(),
                                 q...);
          },
          event.args());
    if constexpr (has(*find_call(C), Attribute::kCollective)) stream.collective_ticks += time;
    recorder.times().leave(stream, C, call.entry, call.entry, call.after);
  } catch (...) {
    fault_caught();
  }
}

/// The same aside. All is passed by value: nothing that its caller has gets an address by this.
template <CallId C, class... P>
[[gnu::noinline]] void record_returned_aside(Recorder& recorder, void* site, Returned call,
                                             P... p) {
  const Registers here = present_registers();
  aside([&] {
    CallRecord<C, P...> event(recorder.objects(), p...);
    record_returned(recorder, event, call, [&] { return recorder.path(site, &here); });
  });
}

template <CallId C, class... P>
[[gnu::always_inline]] inline int record_keyed(Recorder& recorder, bool room, void* site,
                                               int (*pmpi)(P...), P... p) {
  const DepthGuard guard;
  forget_raised_error();
  MPI_Status own;
  CallRecord<C, P...> event(recorder.objects(), p...);
  event.own_status(own);
  Returned call;
  const Registers here = present_registers();
  PendingCall* const pending = pending_call(recorder, here.sp);
  call.noted = pending != nullptr;
  call.entry = recorder.times().clock().now();
  if (pending != nullptr) [[likely]]
    std::apply([&](P... q) { pending->note(leave_keyed<C, P...>, call.entry, site, here, q...); },
               event.args());
  const int code = call_noted(pending, [&] { return std::apply(pmpi, event.args()); });
  call.code = record::CallTraits<C>::kCallsHandler ? code : outcome(code);
  call.after = recorder.times().clock().now();
  if (room) [[likely]]
    record_returned(recorder, event, call, [&] { return recorder.path(site); });
  else
    std::apply([&](P... q) { record_returned_aside<C, P...>(recorder, site, call, q...); },
               event.args());
  if constexpr (kSeenByAll<C>)
    std::apply([&](P... q) { see<C, P...>(site, call.code, q...); }, event.args());
  return code;
}

template <CallId C, class... P>
[[gnu::always_inline]] inline int record(Recorder& recorder, bool room, void* site,
                                         int (*pmpi)(P...), P... p) {
  const DepthGuard guard;
  const Registers here = present_registers();
  forget_raised_error();
  constexpr const CallInfo& call = *find_call(C);
  CallRecord<C, P...> event(recorder.objects(), p...);
  const bool early = event.kEarly || recorder.writes_raw();
  std::optional<RawLine<C, P...>> raw;
  std::uint64_t raw_line = 0;
  const std::uint64_t entry = recorder.times().clock().now();
  std::uint64_t before = entry;
  bool prepared = true;
  const auto prepare = [&]() __attribute__((noinline)) {
    try {
      event.own_statuses();
      if (early) {
        const auto held = recorder.enter();
        event.before();
        if (recorder.records(C) && recorder.streams().present().raw != nullptr) {
          raw.emplace().before(event.args(), event.comm());
          if constexpr (record::CallTraits<C>::kReadsRequest) raw_line = recorder.next_raw_line();
        }
        before = recorder.times().clock().now();
      }
    } catch (...) {
      prepared = false;
      fault_caught();
    }
  };
  if (early || record::CallTraits<C>::kStatus >= 0) in_room(room, prepare);
  // What ends the run is recorded first, and what begins it has happened.
  constexpr bool ends = has(call, Attribute::kFinalize | Attribute::kAbort);
  constexpr bool begun = has(call, Attribute::kInit);
  int code = ends || begun ? MPI_SUCCESS : kNoCodeYet;
  std::uint64_t after = 0;
  const auto append = [&](Stream & stream) __attribute__((noinline)) {
    const bool records = recorder.records(C);
    const std::uint64_t path = records ? recorder.path(site, &here) : 0;
    if (!early) event.before();
    event.after(code);
    discover(recorder, stream, path, code == MPI_SUCCESS);
    if (raw) {
      if constexpr (!record::CallTraits<C>::kReadsRequest) raw_line = recorder.next_raw_line();
      raw->after(event.args(), event.comm(), code, stream.raw, raw_line);
    }
    const std::uint64_t compute = begun ? 0 : stream.computed_until(entry);
    const std::uint64_t time = ends || begun ? 0 : time_between(before, after);
    if (raw) write_raw_times(recorder.times(), stream, path, compute, time);
    if (records)
      recorder.append(stream, C, path, compute, time, event);
    else
      recorder.count_paused();
    // Up to here it is all MPI_Init, in which the program computes nothing.
    const std::uint64_t since = begun ? std::min(stream.last_exit, entry) : entry;
    if constexpr (has(call, Attribute::kCollective)) stream.collective_ticks += time;
    recorder.times().leave(stream, C, since, before, after);
  };
  const OpenCall open{[&](Stream& stream, std::uint64_t now) {
    after = now;
    code = stream.pending.code();
    append(stream);
  }};
  int returned = MPI_SUCCESS;
  PendingCall* pending = nullptr;
  if constexpr (!ends && !begun) {
    if (prepared) pending = pending_call(recorder, here.sp);
    if (pending != nullptr) pending->note(leave_open<decltype(open.leaves)>, here, &open);
    returned = call_noted(pending, [&] { return std::apply(pmpi, event.args()); });
  }
  if (!prepared) return returned;
  code = record::CallTraits<C>::kCallsHandler ? returned : outcome(returned);
  after = recorder.times().clock().now();
  const auto record_it = [&]() __attribute__((noinline)) {
    try {
      const auto held = recorder.enter();
      Stream& stream = recorder.streams().present();
      if (stream.pending.is_closed()) return;
      if (pending != nullptr) pending->forget();
      append(stream);
    } catch (...) {
      fault_caught();
    }
  };
  in_room(room, record_it);
  if constexpr (C == CallId::kCommSetName)
    name_comm(std::get<0>(event.args()), std::get<1>(event.args()));
  if constexpr (kSeenByAll<C>)
    std::apply([&](P... q) { see<C, P...>(site, code, q...); }, event.args());
  return returned;
}

/// Whether the wrapper that returns to `site` was called by MPI, inside a call that is recorded.
bool within_mpi(const void* site) { return t_depth > 0 && called_by_mpi(site); }

/// Calls that still matter when the rank records no more: markers, and the end.
template <CallId C>
constexpr bool kMattersAfterFault = C == CallId::kBarrier || C == CallId::kCommSetName ||
                                    kSeenByAll<C> ||
                                    has(*find_call(C), Attribute::kFinalize | Attribute::kAbort);

/// A wrapper's work where there is no recording tracer.
template <CallId C, auto kPmpi, class R, class... P>
[[gnu::noinline]] R pass_by(void* site, P... p) {
  if constexpr (kMattersAfterFault<C>) {
    Tracer* const stopped = g_stopped.load(std::memory_order_acquire);
    if (stopped == nullptr || within_mpi(site)) return kPmpi(p...);
    const DepthGuard guard;
    if constexpr (has(*find_call(C), Attribute::kFinalize)) {
      set_all_dispatch(false);
      finish_tracer();
    }
    if constexpr (has(*find_call(C), Attribute::kAbort)) abandon_tracer();
    const R code = kPmpi(p...);
    if constexpr (C == CallId::kCommSetName) name_comm(p...);
    if constexpr (kSeenByAll<C>) see<C>(site, code, p...);
    return code;
  } else {
    return kPmpi(p...);
  }
}

/// A wrapper's work while there is a tracer. The wrapper ends with this call, which costs no frame
/// and moves no argument: it returns to the program itself.
template <CallId C, auto kPmpi, class R, class... P>
CHAMELEON_TAIL R trace(P... p) {
  constexpr const CallInfo& call = *find_call(C);
  void* const site = __builtin_return_address(0);
  Tracer* const tracer = g_tracer.load(std::memory_order_acquire);
  if (tracer == nullptr || within_mpi(site)) {
    if constexpr (kMattersAfterFault<C>) return pass_by<C, kPmpi, R>(site, p...);
    return kPmpi(p...);
  }
  Recorder& recorder = tracer->recorder();
  if constexpr (has(call, Attribute::kLocal)) {
    if (!recorder.records(C)) return kPmpi(p...);
  }
  const bool room = has_room_to_record();
  if constexpr (!has(call, Attribute::kFinalize | Attribute::kAbort))
    if (!room && !has_own_stack()) [[unlikely]] {
      tracer->report().count_squeezed();
      return kPmpi(p...);
    }
  if constexpr (CallRecord<C, P...>::kKeyed)
    return record_keyed<C, P...>(recorder, room, site, kPmpi, p...);
  const int code = record<C, P...>(recorder, room, site, kPmpi, p...);
  if constexpr (has(call, Attribute::kFinalize)) {
    const DepthGuard guard;
    set_all_dispatch(false);
    finish_tracer();
    return kPmpi(p...);
  } else if constexpr (has(call, Attribute::kAbort)) {
    const DepthGuard guard;
    abandon_tracer();
    return kPmpi(p...);
  } else {
    return code;
  }
}

/// In place of MPI_Sendrecv.
[[gnu::noipa]] inline int send_nothing(const void*, int, MPI_Datatype, int, int, void*, int,
                                       MPI_Datatype, int, int, MPI_Comm, MPI_Status*) {
  return MPI_SUCCESS;
}

/// Records a call as the wrapper of one with a key does, with the way in and out.
template <class... P>
[[gnu::noinline]] void rehearse(Recorder& recorder, void* site, int (*pmpi)(P...),
                                std::type_identity_t<P>... p) {
  record_keyed<CallId::kSendrecv, P...>(recorder, has_room_to_record(), site, pmpi, p...);
}

/// Who else deals with MPI in this process.
inline void look_for_others(Tracer& tracer) {
  if constexpr (kSimulated) return;
  redirect_fortran_binding();  // a plug-in may have loaded one since
  redirect_endings();
  look_around();
  if (other_tool().empty()) return;
  const std::string found(other_tool());
  if (tracer.rank() == 0) say(found);
  tracer.report().declare(found);
}

/// MPI_Init and its like: what follows it is traced.
template <CallId C, auto kPmpi, class... P>
CHAMELEON_TAIL int begin_trace(P... p) {
  void* const site = __builtin_return_address(0);
  if constexpr (!kSimulated)
    if (void* other = in_other_mpi(find_call(C)->name))
      return reinterpret_cast<int (*)(P...)>(other)(p...);
  const int code = kPmpi(p...);
  if (code != MPI_SUCCESS || t_depth > 0) return code;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  if constexpr (!kSimulated) guarded([] { note_untraced(untraced_functions()); });
  start_tracer(level > MPI_THREAD_FUNNELED, look_for_others);
  if (Tracer* tracer = g_tracer.load(std::memory_order_acquire)) {
    MPI_Status status{};
    Recorder& recorder = tracer->recorder();
    guarded([&] {
      aside([&] {
        recorder.measure_unseen(CallId::kSendrecv, [&] {
          rehearse(recorder, site, send_nothing, nullptr, 1, MPI_INT, MPI_PROC_NULL, 0, nullptr, 1,
                   MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
        });
      });
    });
    record<C, P...>(recorder, has_room_to_record(), site, kPmpi, p...);
  }
  if (present_tracer() != nullptr) set_all_dispatch(true);
  return code;
}

/// Whether calls are traced once there is a tracer.
template <CallId C, class R>
constexpr bool kTraced =
    std::is_same_v<R, int> && !has(*find_call(C), Attribute::kMpit | Attribute::kInit);

/// Whether the target of a call is chosen once for all calls of its kind, not at each call.
template <CallId C>
constexpr bool kHasDispatch =
    kHasTail&& C != CallId::kSessionFinalize && !has(*find_call(C), Attribute::kInit);

template <auto kPmpi, class R, class... P>
R pass(P... p) {
  return kPmpi(p...);
}

/// The target of a call: PMPI, or, while there is a tracer, to `trace`. The wrapper is a jump
/// there and leaves the arguments where they are; the compiler moves those on the stack to and fro
/// where a function decides before such a jump.
template <CallId C, auto kPmpi, class R, class... P>
struct Dispatch {
  static constinit inline std::atomic<R (*)(P...)> next{pass<kPmpi, R, P...>};
};

template <CallId C, auto kPmpi, class R, class... P>
void set_dispatch(R (*)(P...), bool traced) {
  if constexpr (kHasDispatch<C>) {
    R (*next)(P...) = pass<kPmpi, R, P...>;
    if constexpr (kTraced<C, R>)
      if (traced) next = trace<C, kPmpi, R, P...>;
    if (g_elsewhere != nullptr)
      if (void* there = dlsym(g_elsewhere, find_call(C)->name))
        next = reinterpret_cast<R (*)(P...)>(there);
    Dispatch<C, kPmpi, R, P...>::next.store(next, std::memory_order_relaxed);
  }
}

template <CallId C, auto kPmpi, class R, class... P>
[[gnu::always_inline]] inline R choose(R (*)(P...), P... p) {
  if constexpr (kHasDispatch<C>) {
    return Dispatch<C, kPmpi, R, P...>::next.load(std::memory_order_relaxed)(p...);
  } else if constexpr (kTraced<C, R>) {
    // Only pointers are the same to both MPIs; else `Dispatch` passes arguments on as they are.
    if constexpr (C == CallId::kSessionFinalize)
      if (g_elsewhere != nullptr)
        if (void* there = dlsym(g_elsewhere, find_call(C)->name))
          return reinterpret_cast<R (*)(P...)>(there)(p...);
    const bool stopped =
        kMattersAfterFault<C> && g_stopped.load(std::memory_order_relaxed) != nullptr;
    if (g_tracer.load(std::memory_order_relaxed) == nullptr && !stopped) {
      if constexpr (C == CallId::kSessionFinalize) guarded(note_untraced_session);
      return kPmpi(p...);
    }
    return trace<C, kPmpi, R, P...>(p...);
  } else if constexpr (std::is_same_v<R, int> && has(*find_call(C), Attribute::kInit)) {
    return begin_trace<C, kPmpi, P...>(p...);
  } else {
    return kPmpi(p...);
  }
}

template <CallId C, auto kPmpi, class... A>
[[gnu::always_inline]] inline auto traced(A... a) {
  return choose<C, kPmpi>(kPmpi, a...);
}

}  // namespace
}  // namespace chameleon::intercept

using chameleon::intercept::traced;
using chameleon::mpi::CallId;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "wrappers.inc"  // generated

#if CHAMELEON_SHARD == 0
void chameleon::intercept::set_all_dispatch(bool traced) {
  [&]<int... Shard>(std::integer_sequence<int, Shard...>) {
    (set_all_dispatch<Shard>(traced), ...);
  }
  (std::make_integer_sequence<int, CHAMELEON_WRAPPER_SHARDS>());
}

void chameleon::intercept::go_elsewhere(void* library) {
  g_elsewhere = library;
  set_all_dispatch(false);
}

extern "C" CHAMELEON_EXPORT int MPI_Pcontrol(const int level, ...) {
  using namespace chameleon::intercept;
  if (g_elsewhere != nullptr)
    if (void* there = dlsym(g_elsewhere, "MPI_Pcontrol"))
      return reinterpret_cast<int (*)(int, ...)>(there)(level);
  Tracer* tracer = present_tracer();
  if (tracer != nullptr && !within_mpi(__builtin_return_address(0))) {
    const DepthGuard guard;
    if (level == 0 || level == 1) tracer->pause(level == 0);
    tracer->mark(MarkerCall::pcontrol(level));
  }
  return kSimulated ? MPI_SUCCESS : PMPI_Pcontrol(level);  // SMPI's ends the program
}
#endif
