// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Work of wrappers beside the common way: an event that was not expected, a line of raw records,
/// and the event of a call that has not returned when the trace ends (record/pending_call.h).

#include <tuple>

#include "mpi/error_number.h"
#include "process/tracer.h"
#include "record/aside.h"
#include "record/call_record.h"
#include "record/raw.h"
#include "record/raw_file.h"

namespace chameleon::intercept {

/// A call with a key whose event is not one of those expected. Not part of the way of the others.
template <CallId C, class... P>
[[gnu::noinline]] void append_anew(Recorder& recorder, Stream& stream, std::uint64_t path,
                                   std::uint64_t compute, std::uint64_t communication, int code,
                                   std::int64_t made, P... p) {
  const UsualSse floats;
  if (!recorder.records(C)) return recorder.count_paused();
  CallRecord<C, P...> event(recorder.objects(), p...);
  event.before();
  event.after_making(made, code);
  discover(recorder, stream, path, code == MPI_SUCCESS);
  recorder.append(stream, C, path, compute, communication, event);
}

/// Calls MPI, or what the program has in its place; a call that does not return is forgotten.
template <class F>
[[gnu::always_inline]] inline int call_noted(PendingCall* pending, F call) {
  try {
    return call();
  } catch (...) {
    if (pending != nullptr) pending->forget();
    throw;
  }
}

template <CallId C, class... P>
[[gnu::noinline]] void write_raw(Recorder& recorder, Stream& stream, std::uint64_t path, int code,
                                 P... p) {
  const UsualFloats floats;
  CallRecord<C, P...> event(recorder.objects(), p...);
  event.before();
  discover(recorder, stream, path, code == MPI_SUCCESS);
  RawLine<C, P...>().after(event.args(), event.comm(), code, stream.raw, recorder.next_raw_line());
}

/// A call with a key has not returned, or failed for good, and the trace ends.
template <CallId C, class... P>
void leave_keyed(Recorder& recorder, Stream& stream, const PendingCall& call, std::uint64_t now) {
  if (!recorder.records(C)) return;
  const std::uint64_t path = recorder.path(call.site(), &call.here());
  const std::uint64_t compute = stream.computed_until(call.entry());
  const std::uint64_t time = time_between(call.entry(), now);
  std::apply(
      [&](P... p) {
        if (stream.raw != nullptr) {
          write_raw<C, P...>(recorder, stream, path, call.code(), p...);
          write_raw_times(recorder.times(), stream, path, compute, time);
        }
        append_anew<C, P...>(recorder, stream, path, compute, time, call.code(), -1, p...);
      },
      call.arguments<P...>());
  recorder.times().leave(stream, C, call.entry(), call.entry(), now);
}

/// Any other call, which keeps its arguments in the frame of its wrapper.
template <class Leaves>
struct OpenCall {
  static constexpr std::uint64_t kMark = 0x6f70656e2063616c;
  Leaves leaves;
  std::uint64_t mark = kMark;  ///< not there: the program left the frame by longjmp
};
template <class Leaves>
void leave_open(Recorder&, Stream& stream, const PendingCall& call, std::uint64_t now) {
  const auto& open = *std::get<0>(call.arguments<const OpenCall<Leaves>*>());
  if (open.mark == OpenCall<Leaves>::kMark) open.leaves(stream, now);
}

}  // namespace chameleon::intercept
