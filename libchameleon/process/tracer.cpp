// SPDX-License-Identifier: BSD-3-Clause
#include "process/tracer.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "compress/append.h"
#include "compress/merge.h"
#include "flush/share_pieces.h"
#include "process/say.h"
#include "record/aside.h"

namespace chameleon::process {

std::atomic<Tracer*> g_tracer{nullptr};
std::atomic<bool> g_sees_collectives{false};

namespace {

/// Else a child made by fork writes what is buffered a second time when it exits.
void flush_raw() {
  Tracer* tracer = present_tracer();
  if (tracer == nullptr) return;
  const auto held = tracer->recorder().lock();
  aside([&] {
    tracer->recorder().streams().for_each([](Stream& stream) {
      if (stream.raw != nullptr) std::fflush(stream.raw);
    });
  });
}

}  // namespace

Tracer::Tracer(Settings settings, int rank, int size, MPI_Comm votes, MPI_Comm last,
               std::string path, std::unique_ptr<TraceWriter> writer)
    : settings_(std::move(settings)),
      rank_(rank),
      size_(size),
      path_(std::move(path)),
      last_(last),
      recorder_(settings_, rank, size, [this](bool limited) { return budget_.spilled(limited); }),
      report_(recorder_, settings_, rank, size),
      budget_(recorder_, report_, settings_, rank, size),
      pieces_(recorder_, budget_, settings_, path_, rank, size),
      traced_(recorder_, report_, budget_, pieces_),
      file_(writer ? std::make_unique<TraceFile>(std::move(writer), settings_, size) : nullptr),
      online_(settings_, world_on(votes), world_on(last), {&traced_}, file_.get()),
      found_(settings_.markers, world_on(last), settings_.marker_timeout, recorder_.times()) {
  if (!settings_.raw.empty() && !kSimulated) ::pthread_atfork(flush_raw, nullptr, nullptr);
}

MpiWorld Tracer::world_on(MPI_Comm comm) {
  return MpiWorld(comm, kFlushPatience * settings_.marker_timeout, MpiWorld::kMostPieceBytes,
                  settings_.waiting, traced_.packer(), &traced_.marker_log().waits());
}

void Tracer::name_comm(MPI_Comm comm, const char* name) {
  if (name != nullptr && names_marker_comm(name))
    marker_comm_ = handle_bits(comm);
  else if (handle_bits(comm) == marker_comm_)
    marker_comm_ = 0;
}

void Tracer::pause(bool paused) {
  const auto held = recorder_.lock();
  recorder_.pause(Pause::kProgram, paused);
}

namespace {

/// UCX attaches the memory of a neighbour at the first message that is more than a few words, as a
/// ballot is. This is done now, while there is address space.
void attach_neighbours(MPI_Comm comm) {
  std::array<char, 512> sent{}, received{};
  PMPI_Reduce(sent.data(), received.data(), static_cast<int>(sent.size()), MPI_BYTE, MPI_BOR, 0,
              comm);
  PMPI_Bcast(received.data(), static_cast<int>(received.size()), MPI_BYTE, 0, comm);
}

}  // namespace

/// Collective.
bool Tracer::is_first_of_node() const {
  MPI_Comm node = MPI_COMM_NULL;
  if (PMPI_Comm_split_type(last_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node) != MPI_SUCCESS)
    return false;
  int rank = 0;
  PMPI_Comm_rank(node, &rank);
  PMPI_Comm_free(&node);
  return rank == 0;
}

void Tracer::start_clock() {
  TimeAccount& times = recorder_.times();
  const std::uint64_t begin = times.start();
  online_.compare_clocks();
  if (!kSimulated) attach_neighbours(last_);
  if (settings_.energy && !kSimulated) {
    const bool first = is_first_of_node();
    guarded([&] { traced_.marker_log().energy().start(first); });
  }
  PMPI_Barrier(last_);
  times.spent_before(begin);
  traced_.marker_log().waits() = {};
  recorder_.streams().begin(times.clock().now());
  // Threads of a rank may take turns at collectives, and not those of another: then ranks wait for
  // a comparison in vain. In a simulation comparisons take simulated time. For both somebody asks.
  if (recorder_.threaded()) found_.may_have_threads();
  g_sees_collectives =
      settings_.clustering && settings_.markers != Markers::kOff &&
      ((!kSimulated && !recorder_.threaded()) || settings_.markers == Markers::kAuto);
}

/// The vote that was cast goes on while the program does, at its MPI calls.
bool Tracer::progress_votes() {
  Tracer* const tracer = present_tracer();
  if (tracer == nullptr) return false;
  bool more = false;
  aside([&] {
    const bool votes = tracer->online_.progress();
    more = tracer->found_.progress() || votes;
  });
  return more;
}

/// At the calls of this thread, which has the markers. Not in a simulation, where it would take
/// simulated time.
void Tracer::progress_beside() {
  Stream* const stream = recorder_.threaded() ? Streams::own() : &recorder_.streams().first();
  if (kSimulated || stream == nullptr) return;
  stream->beside = progress_votes;
  stream->unusual = true;
}

void Tracer::mark(const MarkerCall& call) {
  aside([&] {
    if (call.kind == MarkerCall::Kind::kCollective) return see_collective(call);
    if (settings_.markers == Markers::kOff || !markers_.source(call)) return;
    if (found_.program_marks()) note_source("program", false);
    mark();
  });
}

/// Of all ranks: it may be a marker that was found.
void Tracer::see_collective(const MarkerCall& call) {
  // Threads of a rank may take turns at collectives, and not those of another.
  if (!found_.is_of_thread()) return;
  const std::uint64_t begin = recorder_.times().clock().now();
  bool threads = false;
  if (recorder_.threaded()) {
    const auto held = recorder_.lock();
    threads = recorder_.streams().count() > 1;
  }
  const bool is_marker = found_.source(call, threads).has_value();
  if (found_.changed()) heed_search();
  if (found_.compared()) {
    if (found_.progress()) progress_beside();
    traced_.marker_log().waits().voting = 0;  // for ranks that had not come there
    traced_.marker_log().spent(begin, online_.state());
  }
  if (is_marker) mark();
}

void Tracer::mark() {
  if (!traced_.marker_log().takes_markers()) return;
  const std::uint64_t begin = recorder_.times().clock().now();
  budget_.set_merging(true);
  const bool acted = online_.mark();
  budget_.set_merging(false);
  if (!acted) return;
  reserve_space();
  if (online_.progress()) progress_beside();
  g_tool_gate.set(online_.vote_open() ? CollectivePhase::kCast : CollectivePhase::kNothing);
  traced_.marker_log().spent(begin, online_.state());
}

void Tracer::meet() {
  traced_.end();
  online_.meet();
}

bool Tracer::finish() {
  const bool whole = online_.finish();
  found_.end();
  if (!whole) {
    g_tool_gate.set(CollectivePhase::kLeaves);
    const auto held = recorder_.lock();  // as in MPI_Abort
    guarded([&] { leave_partial("SIGTERM", true); });
    return false;
  }
  if (rank_ == 0) guarded([&] { say_if_unmarked(); });
  return true;
}

/// Other markers hold from here on, or no more are looked for.
void Tracer::heed_search() {
  const MarkerSearch::State state = found_.search().state();
  if (found_.search().is_over()) g_sees_collectives = false;
  if (found_.search().is_over() && state != MarkerSearch::State::kMarked) return;
  const bool paces = state == MarkerSearch::State::kByTime;
  guarded([&] { note_source(found_.what(), paces); });
}

void Tracer::note_source(const std::string& source, bool paces) {
  guarded([&] {
    const auto held = recorder_.lock();  // not while SIGTERM's thread saves what there is
    online_.marked_by(source, paces);
  });
}

/// Where the user may have counted on markers.
void Tracer::say_if_unmarked() {
  constexpr std::uint64_t kMinuteNs = 60'000'000'000;
  if (!settings_.clustering || settings_.markers == Markers::kOff || online_.facts().markers != 0)
    return;
  if (settings_.markers == Markers::kProgram && recorder_.times().run_ns() < kMinuteNs) return;
  const bool searched = !recorder_.threaded() || settings_.markers == Markers::kAuto;
  say_plain("no markers: %s; traces were merged once, at the end",
            searched ? found_.why_none()
                     : "with several threads they are searched for only by CHAMELEON_MARKERS=auto");
}

Status Tracer::write_partial(const std::string& why) {
  leave_pending(recorder_);
  end_interval(recorder_, true);  // an interval that was closed for a vote without an answer
  close_interval(recorder_, true);
  end_interval(recorder_, true);
  Share share = recorder_.take_share(true);
  pieces_.take(share);
  complete_share(share);
  std::vector<Share*> shares{&share};
  if (Share* aside = online_.aside(static_cast<std::uint32_t>(rank_)); aside && aside->keeps) {
    complete_share(*aside);
    shares.insert(shares.begin(), aside);
  }
  Trace facts = traced_.own_facts(false);
  Trace first = new_trace(size_, settings_);
  first.online = online_.facts();
  first.complete = false;
  Trace last = first;
  const bool in_files =
      std::any_of(shares.begin(), shares.end(), [](const Share* one) { return !!one->stored; });
  for (Share* one : shares)
    if (!in_files || one == &share) append(last, std::exchange(one->trace, Trace()));
  last.times = TimeTable::of(share.accounts);
  last.facts = std::move(facts.facts);
  last.declarations = std::move(facts.declarations);
  last.ends = {{static_cast<std::uint32_t>(rank_), why}};
  canonicalize(last);
  const std::string path = path_ + ".rank" + std::to_string(rank_);
  ShareDeltas deltas(shares);
  const auto next = [&] {
    Bytes delta = deltas.next();
    if (deltas.lost()) {  // what comes behind it would follow the wrong events
      last.nodes.clear();
      last.declarations.push_back(
          {kLostFlushDeclaration, RankList::single(static_cast<std::uint32_t>(rank_))});
    }
    return delta;
  };
  return in_files ? replace_trace_file(path, first, next, last) : replace_trace_file(path, last);
}

void Tracer::leave_partial(const std::string& why, bool everyone, bool says) {
  if (everyone) online_.say_last_fault();
  const Status written = write_partial(why);
  if (!written) return say(written.error().message);
  if (!says || (everyone && rank_ != 0)) return;
  say(why + (everyone ? "" : " on rank " + std::to_string(rank_)) +
      ": what each rank did since the last flush is in " + path_ + ".rankN; see: chameleon check " +
      path_);
}

bool Tracer::leave_copy(const std::string& why, bool last) {
  pieces_.leave_file_alone();
  if (!last) recorder_.streams().for_each([](Stream& stream) { stream.raw = nullptr; });
  bool written = false;
  return guarded([&] { written = !!write_partial(why); }) && written;
}

}  // namespace chameleon::process
