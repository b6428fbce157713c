// SPDX-License-Identifier: BSD-3-Clause
// chameleon-replay: runs a trace as an MPI job. See docs/reference/replay.md.

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/declared.h"
#include "analysis/reissue.h"
#include "analysis/run_length.h"
#include "analysis/thread_order.h"
#include "base/plain_text.h"
#include "format/codec.h"
#include "format/file.h"
#include "replay/interpreter.h"
#include "replay/options.h"
#include "replay/results.h"
#include "replay/watchdog.h"

namespace chameleon::replay {
namespace {

enum Exit { kDone = 0, kUsageError = 2, kUnreadable = 3, kRefused = 4 };

struct World {
  int rank = 0;
  int size = 1;
  MPI_Comm comm = MPI_COMM_NULL;  ///< the replay's own
};

/// Broadcasts in pieces: a count is an int.
void broadcast(Bytes& bytes, const World& world) {
  constexpr std::uint64_t kPiece = 1U << 30;
  std::uint64_t size = bytes.size();
  PMPI_Bcast(&size, 1, MPI_UINT64_T, 0, world.comm);
  bytes.resize(size);
  for (std::uint64_t at = 0; at < size; at += kPiece) {
    PMPI_Bcast(bytes.data() + at, static_cast<int>(std::min(kPiece, size - at)), MPI_BYTE, 0,
               world.comm);
  }
}

int refuse(Exit status, const std::string& message) {
  std::fprintf(stderr, "replay: %s\n", plain_text(message).c_str());
  return status;
}

/// What rank 0 tells all others.
struct Job {
  bool lenient = false;  ///< something may have been left out, or wait for what never comes
  Bytes trace;
  Bytes orders;  ///< of the threads of each rank, where there are several
  Bytes omissions;
  Bytes unawaited;
  Bytes rooms;
  Bytes scratch;  ///< path of the folder for files
};

Bytes write_omissions(const Omissions& omissions) {
  ByteWriter writer;
  for (const std::vector<Omission>& list : omissions) {
    writer.varint(list.size());
    std::uint64_t last = 0;
    for (const Omission& one : list) {
      writer.varint(one.event - last);
      writer.varint(one.part);
      last = one.event;
    }
  }
  return writer.take();
}

std::vector<Omission> read_omissions(const Bytes& bytes, std::uint32_t rank) {
  ByteReader reader(bytes);
  std::vector<Omission> mine;
  for (std::uint32_t of = 0; of <= rank && reader.ok(); ++of) {
    mine.resize(reader.count(2));
    std::uint64_t last = 0;
    for (Omission& one : mine) {
      last += reader.varint();
      one = {last, static_cast<std::uint32_t>(reader.varint())};
    }
  }
  return reader.ok() ? std::move(mine) : std::vector<Omission>();
}

Bytes write_rooms(const Rooms& rooms) {
  ByteWriter writer;
  for (const auto& list : rooms) {
    writer.varint(list.size());
    for (const auto& [event, bytes] : list) {
      writer.varint(event);
      writer.varint(static_cast<std::uint64_t>(bytes));
    }
  }
  return writer.take();
}

Rooms::value_type read_rooms(const Bytes& bytes, std::uint32_t rank) {
  ByteReader reader(bytes);
  Rooms::value_type mine;
  for (std::uint32_t of = 0; of <= rank && reader.ok(); ++of) {
    mine.clear();
    for (std::uint64_t left = reader.count(2); left > 0; --left) {
      const std::uint64_t event = reader.varint();
      mine[event] = static_cast<std::int64_t>(reader.varint());
    }
  }
  return reader.ok() ? std::move(mine) : Rooms::value_type();
}

Bytes write_orders(const std::map<std::uint32_t, StreamOrder>& orders, int ranks) {
  ByteWriter writer;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto found = orders.find(static_cast<std::uint32_t>(rank));
    const StreamOrder& order = found == orders.end() ? StreamOrder() : found->second;
    writer.varint(order.size());
    for (const StreamTurn& turn : order) {
      writer.varint(turn.stream);
      writer.varint(turn.events);
    }
  }
  return writer.take();
}

StreamOrder read_order(const Bytes& bytes, std::uint32_t rank) {
  ByteReader reader(bytes);
  StreamOrder mine;
  for (std::uint32_t of = 0; of <= rank && reader.ok(); ++of) {
    mine.resize(reader.count(2));
    for (StreamTurn& turn : mine) {
      turn.stream = static_cast<std::uint32_t>(reader.varint());
      turn.events = reader.varint();
    }
  }
  return reader.ok() ? std::move(mine) : StreamOrder();
}

/// In which order the calls of threads are made; a status other than kDone if there is none.
int find_orders(const Trace& trace, Job& job) {
  const Result<ThreadOrders> orders = order_threads(trace);
  if (!orders) return refuse(kUnreadable, orders.error().message);
  if (!orders->why_none.empty()) return refuse(kRefused, "refused: " + orders->why_none);
  job.orders = write_orders(orders->ranks, static_cast<int>(trace.world_size));
  job.lenient = true;
  return kDone;
}

/// Finds what has no counterpart, or not the room for it; a status other than kDone if that may not
/// be left out.
int find_omissions(const Options& options, const Trace& trace, Job& job) {
  job.lenient = !options.no_check && (options.best_effort || !trace.complete);
  if (options.no_check) return kDone;
  if (!job.lenient && declared_ranks(trace).empty()) return kDone;
  Omissions omissions, unawaited;
  Rooms rooms;
  const Result<CheckReport> report =
      job.lenient ? check(trace, &omissions, &unawaited, &rooms) : check(trace);
  if (!report) return refuse(kUnreadable, report.error().message);
  if (const std::string why = replay_refusal(trace, *report); !why.empty() && !options.best_effort)
    return refuse(kRefused, "refused: " + why);
  if (job.lenient) {
    job.omissions = write_omissions(omissions);
    job.unawaited = write_omissions(unawaited);
    job.rooms = write_rooms(rooms);
  }
  return kDone;
}

/// A new folder in the one the user named, which goes when the replay ends.
int make_scratch(const Options& options, Job& job) {
  if (options.scratch.empty()) return kDone;
  std::error_code error;
  std::string folder = std::filesystem::absolute(options.scratch, error).string();
  folder += "/chameleon-replay.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr)
    return refuse(kRefused, options.scratch +
                                ": cannot make a folder in it: " + std::strerror(errno) +
                                "; --scratch takes a folder that all "
                                "ranks see and can write to");
  job.scratch.assign(folder.begin(), folder.end());
  return kDone;
}

/// On rank 0: the trace, or a status other than kDone.
int load(const Options& options, const World& world, Job& job) {
  const Result<Trace> trace = read_trace(
      options.trace, nullptr, options.memory == 0 ? default_read_limit() : options.memory);
  if (!trace) return refuse(kUnreadable, trace.error().message);
  if (trace->world_size != static_cast<std::uint32_t>(world.size)) {
    return refuse(kRefused, options.trace + " is of " + std::to_string(trace->world_size) +
                                " ranks, this job has " + std::to_string(world.size));
  }
  for (int rank = 0; rank < world.size; ++rank) {
    if (trace->ranks.contains(static_cast<std::uint32_t>(rank))) continue;
    return refuse(kRefused, options.trace + " has no events of rank " + std::to_string(rank));
  }
  for (const auto& [id, call] : trace->calls)
    if (const CallInfo* info = find_call(static_cast<CallId>(id)); info && is_lacking(*info))
      return refuse(kRefused, options.trace + " has " + call.name + ", which the MPI of this " +
                                  "replay lacks: replay it under another MPI");
  const int status =
      trace->threads > 1 ? find_orders(*trace, job) : find_omissions(options, *trace, job);
  if (status != kDone) return status;
  job.trace = encode_trace(*trace);
  return make_scratch(options, job);
}

/// The sums over all ranks, on rank 0.
Results total(const Trace& trace, const Interpreter& interpreter, double seconds,
              const World& world) {
  Results results;
  results.ranks = world.size;
  std::vector<std::uint64_t> mine{interpreter.events()};
  for (const auto& [id, call] : trace.calls) {
    const auto found = interpreter.left_out().find(id);
    mine.push_back(found == interpreter.left_out().end() ? 0 : found->second);
  }
  std::vector<std::uint64_t> all(mine.size());
  PMPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM, 0,
              world.comm);
  PMPI_Reduce(&seconds, &results.seconds, 1, MPI_DOUBLE, MPI_MAX, 0, world.comm);
  results.events = all[0];
  std::size_t at = 1;
  for (const auto& [id, call] : trace.calls) {
    if (all[at] > 0) results.left_out[call.name] += all[at];
    ++at;
  }
  results.original = static_cast<double>(run_length_ns(trace)) * 1e-9;
  results.complete = trace.complete;
  return results;
}

/// Replays between the first and the last event: MPI_Init and MPI_Finalize are the replay's own.
double run(Follower& here, Interpreter& interpreter, Pace& pace) {
  FollowedEvent event;
  std::int64_t begin = Pace::now();
  std::int64_t end = 0;
  pace.resume();
  while (here.next(event)) {
    const CallInfo* call = event.plan == nullptr ? nullptr : event.plan->info;
    const bool starts = call != nullptr && has(*call, Attribute::kInit);
    const bool ends = call != nullptr && has(*call, Attribute::kFinalize);
    if (starts || ends) {
      interpreter.pass(event);
    } else {
      interpreter.step(event);
    }
    if (starts) begin = Pace::now();
    if (ends) end = Pace::now();
    if (starts) pace.restart();
  }
  return static_cast<double>((end == 0 ? Pace::now() : end) - begin) * 1e-9;
}

/// Seconds without an event after which a rank will not see another: the traced run's length,
/// as far as it is known, and some more.
double patience_of(const Options& options, const Trace& trace) {
  const auto length = static_cast<double>(run_length_ns(trace));
  return options.patience + 2e-9 * length * options.time_scale;
}

/// Ends requests still open, once all ranks are through: what then does not complete soon never
/// will.
void end_requests(Interpreter& interpreter, const World& world) {
  constexpr std::int64_t kGrace = 2'000'000'000;
  MPI_Request through = MPI_REQUEST_NULL;
  PMPI_Ibarrier(world.comm, &through);
  for (int done = 0; done == 0;) {
    interpreter.drain();
    PMPI_Test(&through, &done, MPI_STATUS_IGNORE);
    if (done == 0) sched_yield();
  }
  const std::int64_t end = Pace::now() + kGrace;
  while (interpreter.drain() > 0 && Pace::now() < end) sched_yield();
  interpreter.cancel_open();
}

/// Gives all ranks what rank 0 loaded; a status other than kDone if it refused.
int share(const Options& options, const World& world, Job& job) {
  int status = world.rank == 0 ? load(options, world, job) : kDone;
  PMPI_Bcast(&status, 1, MPI_INT, 0, world.comm);
  if (status != kDone) return status;
  int lenient = job.lenient ? 1 : 0;
  PMPI_Bcast(&lenient, 1, MPI_INT, 0, world.comm);
  job.lenient = lenient != 0;
  broadcast(job.trace, world);
  broadcast(job.orders, world);
  broadcast(job.omissions, world);
  broadcast(job.unawaited, world);
  broadcast(job.rooms, world);
  broadcast(job.scratch, world);
  return kDone;
}

/// Whoever cannot go on keeps all others from waiting for it. `fault`: empty on who can.
bool all_go_on(const std::string& fault, const World& world) {
  const int mine = fault.empty() ? world.size : world.rank;
  int first = world.size;
  PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, world.comm);
  if (first == world.rank) refuse(kUnreadable, fault);
  return first == world.size;
}

int ranks_of_host(const World& world) {
  MPI_Comm host = MPI_COMM_NULL;
  int ranks = 1;
  PMPI_Comm_split_type(world.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  PMPI_Comm_size(host, &ranks);
  PMPI_Comm_free(&host);
  return ranks;
}

/// Replays this rank; the sums over all ranks, on rank 0.
Results perform(const Options& options, const World& world, const Job& job, const FollowPlan& plan,
                Follower here, Follower ahead, Follower reader) {
  const Trace& trace = *plan.trace;
  const CallPlans calls = make_plans(trace);
  Pace pace(trace.timing == "none" ? Compute::kNone : options.compute, options.time_scale);
  Interpreter interpreter(plan, here, std::move(ahead), calls, pace);
  interpreter.leave_out(read_omissions(job.omissions, here.rank()));
  interpreter.do_not_await(read_omissions(job.unawaited, here.rank()));
  interpreter.make_room(read_rooms(job.rooms, here.rank()));
  const std::string scratch(job.scratch.begin(), job.scratch.end());
  interpreter.use(Files(scratch));
  if (trace.threads > 1) interpreter.await_no_sends();
  if (options.best_effort) interpreter.tolerate_failures();
  if (options.guard) interpreter.guard();
  interpreter.make_known(std::move(reader), world.comm);
  interpreter.share_memory(ranks_of_host(world));
  std::unique_ptr<Watchdog> watchdog;
  PMPI_Barrier(world.comm);
  if (job.lenient)
    watchdog =
        std::make_unique<Watchdog>(world.rank, interpreter.progress(), patience_of(options, trace));
  const double seconds = run(here, interpreter, pace);
  end_requests(interpreter, world);
  PMPI_Barrier(world.comm);
  std::error_code ignored;
  if (world.rank == 0 && !scratch.empty()) std::filesystem::remove_all(scratch, ignored);
  watchdog.reset();
  return total(trace, interpreter, seconds, world);
}

int replay(const Options& options, const World& world) {
  Job job;
  if (const int status = share(options, world, job); status != kDone) return status;
  const Result<Trace> trace = decode_trace(job.trace);
  job.trace = {};
  if (!all_go_on(trace ? "" : trace.error().message, world)) return kUnreadable;
  const FollowPlan plan(*trace);
  const auto rank = static_cast<std::uint32_t>(world.rank);
  Result<Follower> here = Follower::of_rank(plan, rank), ahead = Follower::of_rank(plan, rank);
  if (!all_go_on(here ? "" : here.error().message, world)) return kUnreadable;
  Result<Follower> reader = Follower::of_rank(plan, rank);
  const StreamOrder order = read_order(job.orders, rank);
  if (trace->threads > 1)
    for (Follower* follower : {&*here, &*ahead, &*reader}) follower->follow(order);
  const Results results =
      perform(options, world, job, plan, std::move(*here), std::move(*ahead), std::move(*reader));
  if (world.rank != 0) return kDone;
  if (options.json)
    print_json(results);
  else
    print_text(results, !job.scratch.empty());
  return kDone;
}

}  // namespace
}  // namespace chameleon::replay

int main(int argc, char** argv) {
  using namespace chameleon::replay;
  const auto options = parse_options(argc, argv);
  if (options && !options->help.empty()) {
    std::fputs(options->help.c_str(), stdout);
    return kDone;
  }
  prctl(PR_SET_TIMERSLACK, 1UL);
  MPI_Init(&argc, &argv);
  World world;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &world.size);
  int status = kUsageError;
  if (!options) {
    if (world.rank == 0)
      refuse(kUsageError, options.error().message + " (see chameleon-replay --help)");
  } else {
    PMPI_Comm_dup(MPI_COMM_WORLD, &world.comm);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    status = replay(*options, world);
    PMPI_Comm_free(&world.comm);
  }
  MPI_Finalize();
  return status;
}
