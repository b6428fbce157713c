// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tracer.h"

#include <sched.h>
#include <unistd.h>

#include <cstring>

#include "mpi/event_layout.h"
#include "trace/time_code.h"

namespace chameleon {

std::atomic<Tracer*> g_tracer{nullptr};
thread_local int t_depth = 0;

Tracer::Tracer(Settings settings, int rank, int size, MPI_Comm tool_comm)
    : settings_(std::move(settings)),
      rank_(rank),
      size_(size),
      tool_comm_(tool_comm),
      folder_(settings_.timing != Timing::kNone) {
  for (std::size_t kind = 0; kind < slots_.size(); ++kind)
    slots_[kind] = std::make_unique<Slots>(static_cast<Kind>(kind));
  for (const CallInfo& call : all_calls())
    records_[call.id] = (settings_.all_events || !has(call, Attribute::kLocal)) &&
                        !settings_.excludes(call.name + std::strlen("MPI_"));
  buffer_.reserve(settings_.buffer / sizeof(std::int64_t));
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  facts_.host = host;
  facts_.processor = static_cast<std::uint32_t>(std::max(0, sched_getcpu()));
  open_raw();
}

Tracer::~Tracer() {
  if (raw_ != nullptr) std::fclose(raw_);
}

bool Tracer::open_raw() {
  if (settings_.raw.empty()) return true;
  const std::string path = settings_.raw + "/rank." + std::to_string(rank_) + ".raw";
  raw_ = std::fopen(path.c_str(), "w");
  if (raw_ == nullptr) {
    std::fprintf(stderr, "chameleon: %s: cannot write raw records: %s; set CHAMELEON_RAW to a "
                         "folder that exists\n", path.c_str(), std::strerror(errno));
    return false;
  }
  std::fprintf(raw_, "# chameleon raw 1\n# rank %d of %d\n", rank_, size_);
  for (const PredefinedHandle& object : predefined_handles()) {
    int bytes = 0;
    if (object.kind == Kind::kDatatype && object.id != -1)
      PMPI_Type_size(static_cast<MPI_Datatype>(object.handle), &bytes);
    std::fprintf(raw_, "# predefined %s %s %lld %d\n", kind_name(object.kind), object.name,
                 static_cast<long long>(object.handle), bytes);
  }
  std::fprintf(raw_, "# constant MPI_ANY_SOURCE %d\n# constant MPI_PROC_NULL %d\n"
                     "# constant MPI_ROOT %d\n# constant MPI_ANY_TAG %d\n"
                     "# constant MPI_UNDEFINED %d\n",
               MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ROOT, MPI_ANY_TAG, MPI_UNDEFINED);
  return true;
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

RequestFacts& Tracer::request(std::int64_t id) {
  static RequestFacts none;
  if (id < 0) return none = RequestFacts{};
  if (static_cast<std::size_t>(id) >= requests_.size())
    requests_.resize(static_cast<std::size_t>(id) + 1);
  return requests_[static_cast<std::size_t>(id)];
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

std::uint64_t Tracer::intern(std::vector<std::int64_t>&& array) {
  const std::uint64_t id = array_id(array);
  arrays_.try_emplace(id, std::move(array));
  return id;
}

void Tracer::pause(bool paused) {
  paused_ = paused;
  was_paused_ = was_paused_ || paused;
}

void Tracer::append(CallId call, void* site, std::uint64_t compute, std::uint64_t communication,
                    const std::int64_t* values, std::size_t count) {
  seen_[static_cast<std::size_t>(call)] = true;
  buffer_.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(call) | (count << 16)));
  buffer_.push_back(static_cast<std::int64_t>(engine_.capture(site)));
  buffer_.push_back(static_cast<std::int64_t>(compute));
  buffer_.push_back(static_cast<std::int64_t>(communication));
  buffer_.insert(buffer_.end(), values, values + count);
  if ((buffer_.size() + 1024) * sizeof(std::int64_t) > settings_.buffer) fold_buffer();
}

void Tracer::fold_buffer() {
  ns_per_tick_ = clock_.ns_per_tick();
  std::vector<std::int64_t> with_times;
  for (std::size_t at = 0; at < buffer_.size();) {
    const auto head = static_cast<std::uint64_t>(buffer_[at]);
    const std::size_t count = head >> 16;
    const auto ns = [&](std::size_t word) {
      return static_cast<std::uint64_t>(static_cast<double>(buffer_[at + word]) * ns_per_tick_);
    };
    Event event{static_cast<std::uint16_t>(head & 0xffff),
                static_cast<std::uint64_t>(buffer_[at + 1]), ns(2), ns(3),
                std::span(buffer_).subspan(at + 4, count)};
    if (settings_.timing == Timing::kFull) {
      with_times.assign(event.values.begin(), event.values.end());
      with_times.push_back(encode_time(event.compute));
      with_times.push_back(encode_time(event.communication));
      event.values = with_times;
    }
    folder_.push(event);
    ++facts_.events;
    at += 4 + count;
  }
  buffer_.clear();
}

void Tracer::describe_calls(Trace& trace) const {
  for (const CallInfo& call : all_calls())
    if (seen_[call.id])
      trace.calls.emplace(call.id, describe_call(call, settings_.timing == Timing::kFull));
  for (const PredefinedHandle& object : predefined_handles()) {
    if (object.id > -2) continue;
    auto& list = trace.predefined[kind_name(object.kind)];
    const auto place = static_cast<std::size_t>(-2 - object.id);
    if (list.size() <= place) list.resize(place + 1);
    list[place].name = object.name;
    if (object.kind == Kind::kDatatype) {
      int bytes = 0;
      PMPI_Type_size(static_cast<MPI_Datatype>(object.handle), &bytes);
      list[place].size = static_cast<std::uint32_t>(bytes);
    }
  }
}

Trace Tracer::finish() {
  const std::uint64_t now = clock_.now();
  fold_buffer();
  facts_.run_ns = static_cast<std::uint64_t>(static_cast<double>(now - start_) * ns_per_tick_);
  facts_.tool_ns = static_cast<std::uint64_t>(static_cast<double>(tool_ticks_) * ns_per_tick_);

  Trace trace;
  trace.ranks = RankList::single(static_cast<std::uint32_t>(rank_));
  trace.world_size = static_cast<std::uint32_t>(size_);
  trace.complete = true;
  trace.nodes = folder_.take();
  describe_calls(trace);
  for (auto& [id, array] : arrays_) trace.arrays.emplace(id, std::move(array));
  arrays_.clear();
  callpath::Engine::for_each_path([&](std::uint64_t signature, std::span<const Frame> frames) {
    trace.paths[signature].frames.assign(frames.begin(), frames.end());
  });
  trace.modules = callpath::Engine::modules();
  if (was_paused_)
    trace.declarations.push_back(
        {"tracing was switched off for a while with MPI_Pcontrol: calls are missing",
         trace.ranks});
  if (!settings_.exclude.empty())
    trace.declarations.push_back({"calls were left out with CHAMELEON_EXCLUDE", trace.ranks});
  if (threaded_)
    trace.declarations.push_back(
        {"calls of all threads of a rank are in one stream, in order of completion", trace.ranks});
  if (!was_paused_) facts_.paused = 0;
  trace.facts.emplace(static_cast<std::uint32_t>(rank_), facts_);
  if (raw_ != nullptr) std::fclose(raw_);
  raw_ = nullptr;
  return trace;
}

}  // namespace chameleon
