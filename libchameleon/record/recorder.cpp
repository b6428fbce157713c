// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder.h"

#include <unistd.h>

#include <cstring>
#include <set>

#include "compress/pieces.h"
#include "mpi/event_layout.h"
#include "record/aside.h"
#include "record/raw.h"
#include "record/raw_file.h"

namespace chameleon::record {

CHAMELEON_PER_THREAD int t_depth = 0;

namespace {

/// Of an array that is not there: not one of null requests.
constexpr std::array<std::int64_t, 1> kUnknownArray{0};

/// Fewer arrays stay.
constexpr std::size_t kManyArrays = 1024;

/// Whether a call makes, ends or changes an object that calls after it refer to. Requests and
/// messages of one operation do not outlast it.
bool outlasts(const CallInfo& call) {
  if (has(call, Attribute::kProbe) || (has(call, Attribute::kRecv) && has(call, Attribute::kFrees)))
    return false;
  return has(
      call, Attribute::kCreates | Attribute::kFrees | Attribute::kPersistent | Attribute::kLasting);
}

/// The pauses for which a call is not recorded. What objects are must be known whenever recording
/// goes on.
std::uint8_t stops(const CallInfo& call, const RecordOptions& options) {
  const bool recorded = (options.all_events || !has(call, Attribute::kLocal)) &&
                        !names_call(options.exclude, call.name);
  if (!recorded) return 0xff;
  if (!outlasts(call)) return 0x7f;
  return static_cast<std::uint8_t>(Pause::kMemory) | static_cast<std::uint8_t>(Pause::kFault);
}

TimeAccount::EffortMasks effort_masks(const RecordOptions& options) {
  TimeAccount::EffortMasks masks{};
  for (const CallInfo& call : all_calls())
    if (names_call(options.effort_calls, call.name)) masks[call.id] = ~std::uint64_t{0};
  return masks;
}

}  // namespace

Recorder::Recorder(const RecordOptions& options, int rank, int size, Spilled spilled)
    : options_(options),
      engine_(options.frames),
      rules_(options.rules, [this](std::int64_t comm) { return objects_.comm_shape_of(comm); }),
      streams_(options, rank, size, options.rules.empty() ? nullptr : &rules_),
      times_(options.counter, effort_masks(options)),
      spills_{std::move(spilled), static_cast<std::uint32_t>(rank),
              static_cast<std::uint32_t>(size)} {
  for (const CallInfo& call : all_calls()) {
    stops_[call.id] = stops(call, options);
    if (names_call(options.exclude, call.name)) hide(objects_, call);
  }
  read_arrays(streams_, [this](std::int64_t id) -> std::span<const std::int64_t> {
    const auto* const array = objects_.find_array(static_cast<std::uint64_t>(id));
    if (array == nullptr) return kUnknownArray;
    return *array;
  });
}

void Recorder::set_threaded() {
  threaded_ = true;
  streams_.enter();  // the first
}

bool Recorder::close() {
  if (!threaded_) return true;
  for (int i = 0; i < 1000; ++i) {
    if (mutex_.try_lock()) return true;
    ::usleep(1000);
  }
  return false;
}

void Recorder::pause(Pause why, bool paused) {
  const auto bit = static_cast<unsigned>(why);
  if (paused)
    pauses_.fetch_or(bit, std::memory_order_relaxed);
  else
    pauses_.fetch_and(~bit, std::memory_order_relaxed);
  // A fault is declared as such.
  was_paused_ = was_paused_ || (paused && why != Pause::kFault);
}

std::optional<std::uint64_t> Recorder::paused_calls() const {
  if (!was_paused_) return std::nullopt;
  return paused_calls_;
}

std::optional<ValueBound> Recorder::value_bound() {
  if (spills_.most_values == 0) return std::nullopt;
  ValueBound bound{Trace(), spills_.most_values};
  describe_calls(bound.schema, seen_, options_);
  bound.schema.ranks = RankList::single(spills_.rank + spills_.size * streams_.present().thread);
  return bound;
}

void Recorder::spill() {
  aside([this] { fold_full_log(); });
}

void Recorder::fold_full_log() {
  const double scale = times_.ns_per_tick();
  const std::optional<ValueBound> bound = value_bound();
  const bool limited = streams_.present().trace.spill(scale, bound ? &*bound : nullptr);
  spills_.most_values = spills_.done(limited);
  streams_.present().unusual = true;
  forget_arrays();
  forget_closed_arrays();
}

/// Arrays of the present interval to which nothing that is here refers any more: what did is
/// stored. Looked for each time they are twice as many. A call that is under way may have some of
/// which its event is to come.
void Recorder::forget_arrays() {
  RankTrace& trace = streams_.present().trace;
  if (streams_.count() > 1 || !trace.log().empty() || t_depth > 1) return;
  if (objects_.array_counts().present < std::max(spills_.arrays, kManyArrays)) return;
  Trace schema;
  describe_calls(schema, seen_, options_);
  const std::span<const Node> open = trace.folded().open.nodes();
  objects_.keep_arrays(arrays_of(open, schema));
  spills_.arrays = 2 * objects_.array_counts().present;
}

/// The same of intervals before it: what referred to them is stored, or was dropped.
void Recorder::forget_closed_arrays() {
  if (objects_.array_counts().before < std::max(spills_.closed_arrays, kManyArrays)) return;
  Trace schema;
  describe_calls(schema, seen_, options_);
  std::set<std::uint64_t> needed;
  streams_.for_each([&](Stream& stream) {
    needed.merge(arrays_of(stream.trace.folded().partial.nodes(), schema));
  });
  objects_.keep_closed_arrays(needed);
  spills_.closed_arrays = 2 * needed.size();
}

/// A new event.
void Recorder::learn_receives(Stream& stream, std::uint32_t number, const ReceiveRoom& room) {
  IntervalLog& log = stream.trace.log();
  PairLog& pairs = stream.trace.book().pairs();
  const EventTable& table = log.table();
  pairs.learn(table.generation(), number, table[number].call, table.values(table[number]), room,
              [this](std::int64_t id) { return objects_.array(id); });
  if (pairs.crowded()) log.crowd();
}

Share Recorder::take_share(bool keeps) {
  Share share;
  share.keeps = keeps;
  share.paused = was_paused_;
  if (!options_.rules.empty()) {
    share.rules = &options_.rules;
    share.sites = streams_.first().trace.signer().sites();
  }
  share.events = streams_.first().trace.events();
  share.hashes = streams_.first().trace.hashes();
  share.accounts = streams_.accounts();
  Trace schema;
  describe_calls(schema, seen_, options_);
  share.trace = streams_.take(schema);
  share.trace.arrays = objects_.take_arrays(keeps);
  spills_.closed_arrays = 0;
  if (!keeps) share.trace = Trace();
  return share;
}

void append_discoveries(Recorder& recorder, Stream& stream, std::uint64_t path, bool ok) {
  IntervalLog& log = stream.trace.log();
  for (const Discovery& object : discover(recorder.objects_, ok)) {
    if (!recorder.records(object.call)) continue;
    if (stream.raw != nullptr) {
      write_raw(stream.raw, object, recorder.next_raw_line());
      write_raw_times(recorder.times_, stream, path, 0, 0);
    }
    recorder.seen_[static_cast<std::size_t>(object.call)] = true;
    const std::uint32_t number = log.find(static_cast<std::uint16_t>(object.call), path,
                                          object.values.data(), object.values.size());
    log.append(number, 0, 0);
    if (stream.trace.book().pairs().wants(log.table().generation(), number))
      recorder.learn_receives(stream, number, {0, object.bytes});
    if (log.full()) recorder.spill();
  }
}

#ifdef __SANITIZE_THREAD__
__attribute__((no_sanitize("thread")))
#endif
Activity
activity(Recorder& recorder) {
  Activity found;
  if (!recorder.close()) return found;  // a thread is busy
  recorder.streams().for_each([&](const Stream& stream) {
    found.number += stream.last_exit + stream.pending.entry();
    found.inside = found.inside || stream.pending;
  });
  reopen(recorder);
  return found;
}

void leave_pending(Recorder& recorder) {
  const std::uint64_t now = recorder.times().clock().now();
  Streams& streams = recorder.streams();
  Stream& present = streams.present();
  streams.for_each([&](Stream& stream) {
    if (!stream.pending) return;
    streams.set_present(stream);
    stream.beside = nullptr;  // it calls MPI, in which the thread is
    stream.pending.leave(recorder, stream, now);
    stream.pending.close();
  });
  streams.set_present(present);
}

Trace piece_schema(Recorder& recorder, std::uint32_t thread) {
  Trace piece;
  describe_calls(piece, recorder.seen_, recorder.options_);
  piece.world_size = recorder.spills_.size;
  piece.threads = static_cast<std::uint32_t>(recorder.streams_.count());
  piece.ranks = RankList::single(piece.stream_of(recorder.spills_.rank, thread));
  return piece;
}

void add_arrays(Recorder& recorder, Trace& piece) {
  for (const std::uint64_t id : arrays_of(piece.nodes, piece))
    if (const std::vector<std::int64_t>* array = recorder.objects().find_array(id))
      piece.arrays.emplace(id, *array);
}

SignatureVector close_interval(Recorder& recorder, bool elects) {
  Streams& streams = recorder.streams();
  const SignatureVector signature = streams.close_interval(recorder.times().ns_per_tick(), elects);
  const bool others = recorder.threaded() && Streams::own() == nullptr;
  recorder.objects().seal_arrays(others || streams.count() > 1);
  return signature;
}

void end_interval(Recorder& recorder, bool keeps) {
  Streams& streams = recorder.streams();
  const double scale = recorder.times().ns_per_tick();
  if (!streams.end_interval(scale, keeps)) return;
  recorder.objects().close_arrays();
  recorder.forget_closed_arrays();
}

}  // namespace chameleon::record
