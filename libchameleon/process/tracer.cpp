// SPDX-License-Identifier: BSD-3-Clause
#include "process/tracer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "base/memory.h"
#include "base/size_limit.h"
#include "compress/append.h"
#include "compress/merge.h"
#include "format/file.h"
#include "mpi/event_layout.h"
#include "online/online.h"
#include "process/say.h"
#include "record/stack_room.h"
#include "record/thread_number.h"

namespace chameleon::process {

std::atomic<Tracer*> g_tracer{nullptr};
CHAMELEON_PER_THREAD int t_depth = 0;

namespace {

/// The present thread's stream, and none before its first recorded call.
CHAMELEON_PER_THREAD Stream* t_stream CHAMELEON_FAST_TLS = nullptr;

/// Else a child made by fork writes what is buffered a second time when it exits.
void flush_raw() {
  Tracer* tracer = present_tracer();
  if (tracer == nullptr) return;
  const auto held = tracer->lock();
  tracer->streams().for_each([](Stream& stream) {
    if (stream.raw != nullptr) std::fflush(stream.raw);
  });
}

/// fopen(path, "w") whose writes cannot end the process.
std::FILE* open_for_records(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return nullptr;
  cookie_io_functions_t functions{};
  functions.write = [](void* cookie, const char* data, std::size_t size) -> ssize_t {
    const NoSizeSignal guard;
    const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(cookie));
    const ssize_t done = ::write(file, data, size);
    return done < 0 ? 0 : done;
  };
  functions.close = [](void* cookie) {
    return ::close(static_cast<int>(reinterpret_cast<std::intptr_t>(cookie)));
  };
  std::FILE* const made =
      ::fopencookie(reinterpret_cast<void*>(static_cast<std::intptr_t>(file)), "w", functions);
  if (made != nullptr) return made;
  ::close(file);
  throw std::bad_alloc();
}

}  // namespace

Tracer::Tracer(Settings settings, int rank, int size, MPI_Comm votes, MPI_Comm last,
               std::string path, std::unique_ptr<TraceWriter> writer)
    : settings_(std::move(settings)),
      rank_(rank),
      size_(size),
      path_(std::move(path)),
      writer_(std::move(writer)),
      streams_(settings_, rank, size) {
  for (const CallInfo& call : all_calls())
    records_[call.id] = (settings_.all_events || !has(call, Attribute::kLocal)) &&
                        !settings_.excludes(call.name + std::strlen("MPI_"));
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  facts_.host = host;
  facts_.processor = static_cast<std::uint32_t>(std::max(0, sched_getcpu()));
  open_raw(streams_.first());
  if (writes_raw() && !kSimulated) ::pthread_atfork(flush_raw, nullptr, nullptr);
  online_ = std::make_unique<Online>(*this, votes, last);
}

Tracer::~Tracer() = default;

void Tracer::set_threaded() {
  threaded_ = true;
  own_stream();  // the first
}

Stream& Tracer::own_stream() {
  if (t_stream != nullptr) [[likely]]
    return *t_stream;
  const std::size_t known = streams_.count();
  t_stream = &streams_.of(take_thread_number([] { t_stream = nullptr; }));
  // Until its first call a thread is taken to have computed: since the thread before it in the
  // stream ended, or since tracing began. So times along any stream are those of the rank.
  for (std::size_t thread = known; thread < streams_.count(); ++thread) {
    Stream& made = streams_.of(static_cast<std::uint32_t>(thread));
    made.last_exit = begun_;
    open_raw(made);
  }
  t_stream->unusual = true;
  return *t_stream;
}

void Tracer::open_raw(Stream& stream) {
  if (settings_.raw.empty()) return;
  const std::string of =
      std::to_string(rank_) + (stream.thread == 0 ? "" : "." + std::to_string(stream.thread));
  const std::string path = settings_.raw + "/rank." + of + ".raw";
  std::FILE* const file = stream.raw = open_for_records(path);
  if (file == nullptr) {
    std::fprintf(stderr,
                 "chameleon: %s: cannot write raw records: %s; set CHAMELEON_RAW to a "
                 "folder that exists\n",
                 path.c_str(), std::strerror(errno));
    return;
  }
  std::fprintf(file, "# chameleon raw 1\n# rank %d of %d\n", rank_, size_);
  if (stream.thread != 0) std::fprintf(file, "# thread %u\n", stream.thread);
  for (const PredefinedHandle& object : predefined_handles()) {
    int bytes = 0;
    if (object.kind == Kind::kDatatype && object.id != -1)
      PMPI_Type_size(handle_of<MPI_Datatype>(object.handle), &bytes);
    std::fprintf(file, "# predefined %s %s %lld %d\n", kind_name(object.kind), object.name,
                 static_cast<long long>(object.handle), bytes);
  }
  std::fprintf(file,
               "# constant MPI_ANY_SOURCE %d\n# constant MPI_PROC_NULL %d\n"
               "# constant MPI_ROOT %d\n# constant MPI_ANY_TAG %d\n"
               "# constant MPI_UNDEFINED %d\n",
               MPI_ANY_SOURCE, MPI_PROC_NULL, kRootOfIntercommunicator, MPI_ANY_TAG, MPI_UNDEFINED);
  std::fflush(file);  // a killed job leaves a whole head
}

const CommShape& Tracer::comm_shape(MPI_Comm comm) {
  const std::uint64_t handle = handle_bits(comm);
  if (cached_shape_ != nullptr && cached_comm_ == handle) return *cached_shape_;
  auto found = comms_.find(handle);
  if (found == comms_.end()) found = comms_.emplace(handle, query_comm(comm)).first;
  cached_comm_ = handle;
  cached_shape_ = &found->second;  // unordered_map keeps elements in place
  return found->second;
}

void Tracer::learn_comm(MPI_Comm comm, const CommShape& shape) {
  comms_[handle_bits(comm)] = shape;
}

void Tracer::forget_comm(MPI_Comm comm) {
  cached_shape_ = nullptr;
  comms_.erase(handle_bits(comm));
}

RequestFacts& Tracer::request_anew(std::int64_t id) {
  static RequestFacts none;
  Stream* const maker = streams_.maker(id);
  if (maker == nullptr) return none = RequestFacts{};
  const auto place = static_cast<std::size_t>(static_cast<std::uint32_t>(id));
  if (place >= maker->requests.size()) maker->requests.resize(place + 1);
  return maker->requests[place];
}

std::int64_t Tracer::type_bytes(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return 0;
  if (type != cached_type_) {
    MPI_Count bytes = 0;
    PMPI_Type_size_x(type, &bytes);
    cached_type_ = type;
    cached_bytes_ = bytes;
  }
  return cached_bytes_;
}

void Tracer::keep_array(std::uint64_t id, std::span<const std::int64_t> array) {
  if (arrays_.contains(id)) return;
  arrays_.emplace(id, std::vector<std::int64_t>(array.begin(), array.end()));
  stream_->unusual = true;
}

void Tracer::update_paused() {
  paused_.store(stopped_ || left_out_ || out_of_memory_ || has_fault(), std::memory_order_relaxed);
}

void Tracer::stop_for_good() { paused_.store(true, std::memory_order_relaxed); }

void Tracer::pause(bool paused) {
  const auto held = lock();
  stopped_ = paused;
  update_paused();
  was_paused_ = was_paused_ || paused;
}

void Tracer::leave_out(bool interval) {
  left_out_ = interval;
  update_paused();
  was_paused_ = was_paused_ || interval;
}

void Tracer::watch_memory() {
  const std::uint64_t bytes = memory_use().now;
  if (bytes <= settings_.memory || out_of_memory_) return;
  out_of_memory_ = was_paused_ = true;
  update_paused();
  const auto mebibytes = [](std::uint64_t size) { return std::to_string(size >> 20) + " MiB"; };
  declared_.push_back("CHAMELEON_MEMORY=" + mebibytes(settings_.memory) + " was used up, " +
                      online_->place() + ": later calls are missing");
  say("rank " + std::to_string(rank_) + ": the trace needs " + mebibytes(bytes) +
      " of memory, more than CHAMELEON_MEMORY=" + mebibytes(settings_.memory) +
      ": recording stops here; what was recorded stays");
}

void Tracer::start_clock() {
  start_ = clock_.now();
  online_->compare_clocks();
  streams_.first().last_exit = begun_ = clock_.now();
  other_ticks_ += begun_ - start_;
}

namespace {

/// Runs `work` on a thread of its own while this one, whose stack is small, waits; if no thread
/// can be had, here.
template <class Work>
void on_own_stack(Work work) {
  pthread_t thread;
  struct Job {
    Work& work;
    std::exception_ptr thrown;
  } job{work, nullptr};
  const auto run = [](void* given) -> void* {
    auto& mine = *static_cast<Job*>(given);
    try {
      mine.work();
    } catch (...) {
      mine.thrown = std::current_exception();
    }
    return nullptr;
  };
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = ::pthread_create(&thread, nullptr, run, &job) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started)
    ::pthread_join(thread, nullptr);
  else
    work();
  if (job.thrown) std::rethrow_exception(job.thrown);
}

}  // namespace

void Tracer::spill() {
  const double scale = ns_per_tick();
  if (stack_left(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) < kRoomToFold)
    on_own_stack([&] { stream_->trace.spill(scale); });
  else
    stream_->trace.spill(scale);
  watch_memory();
  // Where there are no markers, nothing can be agreed on: only what concerns this rank alone.
  if (settings_.budget > 0 && marker_ticks_ == 0 && !governor_.drops_times()) {
    const Governor::Spent now = spent();
    if (governor_.may_drop_times()) govern(governor_.over(now), now);
  }
  stream_->unusual = true;
}

void Tracer::name_comm(MPI_Comm comm, const char* name) {
  if (name != nullptr && names_marker_comm(name))
    marker_comm_ = handle_bits(comm);
  else if (handle_bits(comm) == marker_comm_)
    marker_comm_ = 0;
}

std::uint64_t Tracer::elapsed_ns() {
  return static_cast<std::uint64_t>(static_cast<double>(clock_.now() - start_) * ns_per_tick());
}

void Tracer::spent_at_marker(std::uint64_t begin, State state) {
  const std::uint64_t spent = clock_.now() - begin;
  const auto held = lock();
  // Computation goes on as if there had been no marker.
  if (!threaded_)
    streams_.first().last_exit += spent;
  else if (t_stream != nullptr)
    t_stream->last_exit += spent;
  marker_ticks_ += spent;
  facts_.tool_ns_in(static_cast<std::size_t>(state)) +=
      static_cast<std::uint64_t>(static_cast<double>(spent) * ns_per_tick_.load());
  watch_memory();
}

std::uint64_t Tracer::spent_at_calls(const Stream& stream) const {
  const auto unseen =
      static_cast<std::int64_t>(stream.trace.all_events()) * unseen_ticks_ / kRehearsed;
  const auto all = static_cast<std::int64_t>(stream.tool_ticks) + unseen;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(all, 0));
}

Governor::Spent Tracer::spent() {
  const auto ns = [scale = ns_per_tick()](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * scale);
  };
  std::uint64_t events = other_ticks_;
  streams_.for_each([&](const Stream& stream) { events += spent_at_calls(stream); });
  return {ns(clock_.now() - start_), ns(events), ns(marker_ticks_)};
}

void Tracer::govern(Governor::Cause cause, const Governor::Spent& now) {
  const std::string changed = governor_.step(cause, now);
  if (changed.empty()) return;
  if (governor_.drops_times()) streams_.drop_times();
  declared_.push_back("CHAMELEON_BUDGET, " + online_->place() + ": " + changed);
}

void Tracer::describe_calls(Trace& trace) const {
  for (const CallInfo& call : all_calls())
    if (seen_[call.id])
      trace.calls.emplace(call.id, describe_call(call, settings_.timing == Timing::kFull));
}

namespace {

using PredefinedTables = decltype(Trace::predefined);

PredefinedTables describe_predefined() {
  PredefinedTables all;
  for (const PredefinedHandle& object : predefined_handles()) {
    if (object.id > -2) continue;
    auto& list = all[kind_name(object.kind)];
    const auto place = static_cast<std::size_t>(-2 - object.id);
    if (list.size() <= place) list.resize(place + 1);
    list[place].name = object.name;
    if (object.kind == Kind::kDatatype) {
      int bytes = 0;
      PMPI_Type_size(handle_of<MPI_Datatype>(object.handle), &bytes);
      list[place].size = static_cast<std::uint32_t>(bytes);
    }
  }
  return all;
}

void used_paths(const std::vector<Node>& nodes, std::unordered_map<std::uint64_t, bool>& used) {
  for (const Node& node : nodes) {
    if (!node.is_loop()) used.emplace(node.path, true);
    used_paths(node.body, used);
  }
}

}  // namespace

Share Tracer::take_share(bool keeps) {
  Share share;
  share.keeps = keeps;
  share.paused = was_paused_;
  share.events = streams_.first().trace.events();
  share.hashes = streams_.first().trace.hashes();
  Trace schema;
  describe_calls(schema);
  share.trace = streams_.take(schema);
  // While a flush goes on, other threads record events of the next interval, with arrays in use.
  const bool alone = streams_.count() == 1 && (!threaded_ || t_stream != nullptr);
  if (!alone && keeps)
    for (const auto& [id, array] : arrays_) share.trace.arrays.emplace(id, array);
  if (alone) {
    for (auto& [id, array] : arrays_)
      if (keeps) share.trace.arrays.emplace(id, std::move(array));
    arrays_.clear();
    recent_arrays_ = {};
  }
  if (!keeps) share.trace = Trace();
  return share;
}

void Tracer::complete_share(Share& share) const {
  static const PredefinedTables predefined = describe_predefined();
  Trace& trace = share.trace;
  trace.predefined = predefined;
  std::unordered_map<std::uint64_t, bool> used;
  used_paths(trace.nodes, used);
  callpath::Engine::for_each_path([&](std::uint64_t signature, std::span<const Frame> frames) {
    if (used.count(signature) != 0)
      trace.paths[signature].frames.assign(frames.begin(), frames.end());
  });
  trace.modules = callpath::Engine::modules();
}

Trace Tracer::own_facts(bool lost) {
  facts_.run_ns = elapsed_ns();
  const auto ns = [scale = ns_per_tick_.load()](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * scale);
  };
  facts_.set_clock(clock_fit_.clock());
  facts_.tool_bytes = memory_use().most;
  if (!was_paused_) facts_.paused = 0;
  Trace trace;
  trace.world_size = static_cast<std::uint32_t>(size_);
  trace.threads = static_cast<std::uint32_t>(streams_.count());
  trace.complete = true;
  const RankList whole = RankList::single(static_cast<std::uint32_t>(rank_));
  const auto declares = [&](bool holds, const char* what) {
    if (holds) trace.declarations.push_back({what, whole});
  };
  declares(was_paused_, kPausedDeclaration);
  declares(!settings_.exclude.empty(), "calls were left out with CHAMELEON_EXCLUDE");
  for (const std::string& what : declared_) declares(true, what.c_str());
  declares(streams_.crowded(), "more threads call MPI than there are streams: the last is of many");
  declares(squeezed_ != 0, "calls with less than 16 KiB of stack left were not recorded");
  declares(lost, kLostFlushDeclaration);
  declares(has_fault(), fault_declaration(first_fault()));
  streams_.for_each([&](Stream& stream) {
    RankFacts facts = facts_;
    facts.tool_ns = ns(spent_at_calls(stream));
    facts.call_ns = ns(stream.call_ticks);
    facts.events = stream.trace.all_events();
    if (stream.thread == 0) {  // what is the rank's
      facts.tool_ns = ns(spent_at_calls(stream) + marker_ticks_ + other_ticks_);
    } else {
      for (std::size_t state = 0; state < 4; ++state) facts.tool_ns_in(state) = 0;
      facts.paused = facts.tool_bytes = 0;
    }
    const std::uint32_t number = trace.stream_of(whole.first(), stream.thread);
    trace.ranks.insert(number);
    trace.facts.emplace(number, std::move(facts));
    if (stream.raw != nullptr) std::fclose(std::exchange(stream.raw, nullptr));
  });
  return trace;
}

Trace Tracer::empty_trace() const {
  Trace trace = new_trace(size_);
  trace.timing = timing_name(settings_.timing);
  return trace;
}

void Tracer::write(const Trace& partial, const Trace& online) {
  report(writer_->append(partial, online));
}

void Tracer::write_last(const Trace& whole) {
  const Status written = writer_->finish(whole);
  report(written);
  if (written) summarize(whole, writer_->bytes(), writer_->path());
}

void Tracer::keep_last_words(const RankList& ranks) {
  Trace words = empty_trace();
  words.declarations.push_back(
      {"rank 0 ran out of memory: what it had not written by then is missing", ranks});
  writer_->keep_last_words(words);
}

void Tracer::report(const Status& written) {
  if (!written && !std::exchange(said_write_, true))
    say(written.error().message + "; " + path_ + " holds what was written before");
}

void Tracer::mark() { online_->mark(); }

void Tracer::meet() { online_->meet(); }
void Tracer::finish() { online_->finish(); }

bool Tracer::close() {
  if (!threaded_) return true;
  for (int i = 0; i < 1000; ++i) {
    if (mutex_.try_lock()) return true;
    ::usleep(1000);
  }
  return false;
}

void Tracer::leave_partial(const std::string& why, bool everyone) {
  streams_.join(ns_per_tick());  // an interval that was closed for a vote without an answer
  streams_.close_interval(ns_per_tick());
  streams_.join(ns_per_tick());
  Trace trace = empty_trace();
  Share share = take_share(true);
  complete_share(share);
  Trace facts = own_facts(false);
  facts.declarations.push_back({why + " on rank " + std::to_string(rank_),
                                RankList::single(static_cast<std::uint32_t>(rank_))});
  trace.online = online_->facts();
  compress::append(trace, std::move(share.trace));
  trace.facts = std::move(facts.facts);
  trace.declarations = std::move(facts.declarations);
  trace.complete = false;
  canonicalize(trace);
  const std::string path = path_ + ".rank" + std::to_string(rank_);
  const Status written = replace_trace_file(path, trace);
  if (!written) return say(written.error().message);
  if (!everyone)
    say(why + " on rank " + std::to_string(rank_) + ": its trace is in " + path);
  else if (rank_ == 0)
    say(why + ": what each rank did since the last flush is in " + path_ +
        ".rankN; join it with: chameleon recover " + path_);
}

}  // namespace chameleon::process
