// SPDX-License-Identifier: BSD-3-Clause
// Windows, files and error handlers: what a call on one needs before, and leaves behind.
#include <sched.h>

#include <algorithm>

#include "mpi/handles.h"
#include "replay/interpreter.h"
#include "replay/mpi_four.h"

namespace chameleon::replay {

int Interpreter::find_param(std::string_view name) const {
  for (std::size_t i = 0; i < plan_->params.size(); ++i)
    if (plan_->params[i].info.name == name) return static_cast<int>(i);
  return -1;
}

/// Sets or gets the error handler of a communicator, window, file or session.
bool Interpreter::on_errhandler() const {
  return plan_->params.size() == 2 && plan_->params[1].info.kind == Kind::kErrhandler &&
         plan_->params[0].info.kind != Kind::kFunction;
}

void Interpreter::set_errhandler(MPI_Errhandler handler) {
  switch (plan_->params[0].info.kind) {
    case Kind::kComm:
      if (from_word<MPI_Comm>(words_[0]) != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(from_word<MPI_Comm>(words_[0]), handler);
      break;
    case Kind::kWin: PMPI_Win_set_errhandler(from_word<MPI_Win>(words_[0]), handler); break;
    case Kind::kFile: PMPI_File_set_errhandler(from_word<MPI_File>(words_[0]), handler); break;
    case Kind::kSession: set_session_errhandler(from_word<Session>(words_[0]), handler); break;
    default: break;
  }
}

/// False if the event needs no call.
bool Interpreter::prepare_target() {
  if (on_errhandler()) {
    // A replay's errors return, so that it can tell of them; who asks hears what was so then.
    const std::int64_t id = value(1);
    if (plan_->params[1].info.direction == Direction::kOut && id < -1)
      if (const std::optional<Word> then = objects_.find(Kind::kErrhandler, id))
        set_errhandler(from_word<MPI_Errhandler>(*then));
    return true;
  }
  if (static_cast<CallId>(plan_->info->id) == CallId::kWinTest) return test_window();
  if (plan_->target >= 0 && !place_in_window()) {
    omit_event();
    return false;
  }
  if (has(*plan_->info, Attribute::kIo)) prepare_file();
  return true;
}

namespace {

/// The predefined type of which a datatype is made; MPI_BYTE if there are several.
MPI_Datatype element_of(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
    return MPI_BYTE;
  if (combiner == MPI_COMBINER_NAMED) return type;
  std::vector<int> numbers(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> places(static_cast<std::size_t>(addresses));
  std::vector<MPI_Datatype> parts(static_cast<std::size_t>(types), MPI_DATATYPE_NULL);
  if (types == 0 || PMPI_Type_get_contents(type, integers, addresses, types, numbers.data(),
                                           places.data(), parts.data()) != MPI_SUCCESS)
    return MPI_BYTE;
  MPI_Datatype element = MPI_DATATYPE_NULL;
  for (MPI_Datatype& part : parts) {
    const MPI_Datatype inner = element_of(part);
    if (element == MPI_DATATYPE_NULL) element = inner;
    if (inner != element) element = MPI_BYTE;
    int named = 0;
    PMPI_Type_get_envelope(part, &integers, &addresses, &types, &named);
    if (named != MPI_COMBINER_NAMED) PMPI_Type_free(&part);
  }
  return element;
}

}  // namespace

/// Of a dynamic window: gives the target a place in the memory that stands for all that was
/// attached. What lay in several pieces far from each other lies together there.
bool Interpreter::place_in_window() {
  const TypeFacts* type = objects_.type(value(plan_->target_type));
  const std::int64_t count = plan_->target_count < 0 ? 1 : value(plan_->target_count);
  std::int64_t low = 0, high = 0;
  if (type != nullptr && count > 0) {
    const std::int64_t last = (count - 1) * type->extent;
    low = std::min<std::int64_t>(0, last) + type->true_lb;
    high = std::max<std::int64_t>(0, last) + type->true_lb + type->true_extent;
  }
  const auto target = static_cast<int>(word(plan_->target));
  Word& place = word(plan_->target_disp);
  if (windows_.place(value(plan_->win), target, low, high, place)) return true;
  if (type == nullptr || plan_->target_count < 0) return false;
  const MPI_Datatype element = element_of(type->handle);
  MPI_Count size = 0;
  PMPI_Type_size_x(element, &size);
  if (size <= 0) return false;
  const std::int64_t bytes = count * type->size;
  word(plan_->target_count) = bytes / size;
  word(plan_->target_type) = to_word(element);
  return windows_.place(value(plan_->win), target, 0, bytes, place);
}

/// An epoch is over when it was: a test that found it open is not made, one that found it over is
/// repeated until it is.
bool Interpreter::test_window() {
  if (value(plan_->flag) == 0) return false;
  for (unsigned tries = 0;; ++tries) {
    check(plan_->entry->invoke(words_.data()));
    if (read_word(&storage_[static_cast<std::size_t>(plan_->flag)], 4) != 0) return false;
    if (tries > 100) sched_yield();
  }
}

void Interpreter::prepare_file() {
  const auto call = static_cast<CallId>(plan_->info->id);
  if (const int path = find_param("filename"); path >= 0) {
    const std::string text = from_word<const char*>(word(path));
    if (call == CallId::kFileDelete) return files_.prepare_delete(text);
    return files_.prepare_open(text, static_cast<int>(word(find_param("amode"))), comm_.rank == 0);
  }
  const auto file = plan_->file < 0 ? MPI_FILE_NULL : from_word<MPI_File>(word(plan_->file));
  if (file == MPI_FILE_NULL) return;
  const int offset = find_param("offset");
  if (call == CallId::kFileSeek || call == CallId::kFileSeekShared) {
    if (word(find_param("whence")) == MPI_SEEK_END && word(offset) < 0)
      files_.prepare_read(value(plan_->file), file, Files::From::kEnd, 0, -word(offset));
    return;
  }
  const int buffer = find_param("buf");
  if (buffer < 0) return;
  const ParamPlan& param = plan_->params[static_cast<std::size_t>(buffer)];
  if (param.info.direction != Direction::kOut) return;
  const BufferPlan& plan = param.buffer;
  const TypeFacts* type = plan.type < 0 ? nullptr : objects_.type(value(plan.type));
  if (type == nullptr || plan.count < 0) return;
  std::int64_t bytes = value(plan.count) * type->size;
  // At the end of the file there was less.
  if (plan_->status >= 0) {
    const int field = event_->plan->status_bytes;
    const std::int64_t told = field < 0 ? kNotRecorded : event_->value(field);
    if (told != kNotRecorded) bytes = told;
  }
  using From = Files::From;
  const bool shared = has(*plan_->info, Attribute::kSharedPointer);
  const bool together = has(*plan_->info, Attribute::kCollective);
  const From from = offset >= 0          ? From::kExplicit
                    : shared && together ? From::kOrdered
                    : shared             ? From::kShared
                                         : From::kIndividual;
  files_.prepare_read(value(plan_->file), file, from, offset < 0 ? 0 : word(offset), bytes);
}

void Interpreter::note_target() {
  const auto call = static_cast<CallId>(plan_->info->id);
  if (plan_->win >= 0) note_window(call);
  if (plan_->file >= 0) note_file(call);
  // The program's own handlers do nothing here, as good as MPI_ERRORS_RETURN.
  if (on_errhandler() && value(1) < -1) set_errhandler(MPI_ERRORS_RETURN);
  // What comes from a group and not from a communicator has a handler of its own.
  if (call == CallId::kCommCreateFromGroup || call == CallId::kIntercommCreateFromGroups) {
    const auto made = from_word<MPI_Comm*>(words_[plan_->params.size() - 1]);
    if (*made != MPI_COMM_NULL) PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  }
  if (call == CallId::kSessionInit)
    set_session_errhandler(*from_word<Session*>(words_[2]), MPI_ERRORS_RETURN);
}

namespace {

/// The buffers of operations on a window may be used for something else afterwards.
bool completes_operations(CallId call) {
  switch (call) {
    case CallId::kWinFence:
    case CallId::kWinComplete:
    case CallId::kWinUnlock:
    case CallId::kWinUnlockAll:
    case CallId::kWinFlush:
    case CallId::kWinFlushAll:
    case CallId::kWinFlushLocal:
    case CallId::kWinFlushLocalAll: return true;
    default: return false;
  }
}

}  // namespace

void Interpreter::note_window(CallId call) {
  const std::int64_t id = value(plan_->win);
  const bool made =
      plan_->params[static_cast<std::size_t>(plan_->win)].info.direction == Direction::kOut;
  if (call == CallId::kWinCreateDynamic) {
    windows_.made_dynamic(id, *from_word<MPI_Win*>(word(plan_->win)), comm_.handle,
                          room_in_window(), received_);
  } else if (made) {
    windows_.made(id, *from_word<MPI_Win*>(word(plan_->win)), std::move(owned_));
    owned_.clear();
  } else if (call == CallId::kWinAttach) {
    windows_.attached(id, std::move(owned_));
    owned_.clear();
  } else if (call == CallId::kWinDetach) {
    windows_.detached(id);
  } else if (call == CallId::kWinFree) {
    windows_.freed(id);
  } else if (plan_->target >= 0 && plan_->request < 0) {
    std::erase_if(owned_, [](const Pool::Block& one) { return !one.must_be_kept(); });
    if (!owned_.empty())
      windows_.begun(id, static_cast<int>(word(plan_->target)), std::move(owned_));
    owned_.clear();
  } else if (completes_operations(call)) {
    const int rank = find_param("rank");
    windows_.completed(id, rank < 0 ? -1 : static_cast<int>(word(rank)));
  }
}

namespace {

/// Another call ends what this one begins with a buffer: no status or request tells of it here.
bool begins_transfer(const CallInfo& call) {
  bool transfers = false, told = false;
  for (const ParamInfo& param : params(call)) {
    transfers = transfers || param.kind == Kind::kBuffer;
    told = told || param.kind == Kind::kStatus || param.kind == Kind::kRequest;
  }
  return has(call, Attribute::kIo) && transfers && !told;
}

}  // namespace

void Interpreter::note_file(CallId call) {
  const std::int64_t id = value(plan_->file);
  if (call == CallId::kFileOpen) {
    const std::string path = from_word<const char*>(word(find_param("filename")));
    files_.opened(id, *from_word<MPI_File*>(word(plan_->file)), path, comm_.rank);
  } else if (call == CallId::kFileClose) {
    files_.closed(id);
  } else if (call == CallId::kFileSetView) {
    if (const TypeFacts* etype = objects_.type(value(find_param("etype"))))
      files_.viewed(id, etype->size);
  } else if (begins_transfer(*plan_->info)) {
    files_.begun(id, std::move(owned_));
    owned_.clear();
  }
}

/// The most that this rank attached at once, or moved to or from anyone in one call, which may lie
/// in several pieces. In one more pass over the trace: only where there are dynamic windows.
std::uint64_t Interpreter::room_in_window() const {
  std::uint64_t largest = 0;
  Result<Follower> follower = Follower::of_rank(follow_, here_.rank());
  FollowedEvent event;
  while (follower && follower->next(event)) {
    const auto plan = plans_.find(event.view.node->call);
    if (event.call == nullptr || plan == plans_.end() || plan->second.info == nullptr) continue;
    const auto field = [&](int param) {
      return param < 0 ? -1 : plan->second.params[static_cast<std::size_t>(param)].field;
    };
    if (const int type = field(plan->second.target_type); type >= 0) {
      const int count = field(plan->second.target_count);
      const std::int64_t bytes =
          follower->bytes(event, count < 0 ? 1 : event.value(count), event.value(type));
      if (bytes > 0) largest = std::max(largest, static_cast<std::uint64_t>(bytes));
    }
    if (static_cast<CallId>(plan->second.info->id) != CallId::kWinAttach) continue;
    for (const ParamPlan& param : plan->second.params)
      if (param.info.kind == Kind::kAint && param.field >= 0 && event.value(param.field) > 0)
        largest = std::max(largest, static_cast<std::uint64_t>(event.value(param.field)));
  }
  return largest;
}

}  // namespace chameleon::replay
