// SPDX-License-Identifier: BSD-3-Clause
#include "replay/interpreter.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "analysis/reissue.h"
#include "replay/guard.h"

namespace chameleon::replay {

Interpreter::Interpreter(const FollowPlan& plan, const Follower& here, Follower ahead,
                         const CallPlans& plans, Pace& pace)
    : follow_(plan),
      here_(here),
      plans_(plans),
      pace_(pace),
      reissue_(plan),
      matches_(std::move(ahead)),
      objects_(here.trace()) {}

void Interpreter::guard() {
  for (Pool* pool : {&payload_, &received_, &arrays_}) pool->guard();
  tell_faults(here_.rank());
  guarded_ = true;
}

std::int64_t Interpreter::value(int param) const {
  const int field = param < 0 ? -1 : plan_->params[static_cast<std::size_t>(param)].field;
  return field < 0 ? 0 : event_->value(field);
}

std::span<const std::int64_t> Interpreter::array(int param) const {
  const int field = param < 0 ? -1 : plan_->params[static_cast<std::size_t>(param)].field;
  return here_.array(*event_, field);
}

void Interpreter::check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  int rank = 0;
  PMPI_Error_string(code, text, &length);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (char& c : text)
    if (c == '\n') c = ' ';
  std::fprintf(stderr, "replay: rank %d, event %llu, %s: %s\n", rank,
               static_cast<unsigned long long>(number_), plan_->info->name, text);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

/// Makes `event` the one at hand and adds its computation; false if it is not whole.
bool Interpreter::load(const FollowedEvent& event) {
  ++number_;
  if (guarded_)
    name_event(number_, event.call == nullptr ? "an unknown call" : event.call->name.c_str());
  progress_.store(number_, std::memory_order_relaxed);
  while (next_omission_ < omissions_.size() && omissions_[next_omission_].event < number_)
    ++next_omission_;
  event_ = &event;
  const auto plan = plans_.find(event.view.node->call);
  plan_ = plan == plans_.end() ? nullptr : &plan->second;
  const EventTimes times = here_.times(event);
  pace_.owe(static_cast<double>(times.compute));
  pace_.owe_idle(static_cast<double>(times.waiting));
  return plan_ != nullptr && event.call != nullptr;
}

void Interpreter::pass(const FollowedEvent& event) {
  load(event);
  pace_.settle();
}

bool Interpreter::omitted(std::uint32_t part) const {
  for (std::size_t i = next_omission_; i < omissions_.size(); ++i) {
    if (omissions_[i].event != number_) return false;
    if (omissions_[i].part == part) return true;
  }
  return false;
}

/// Leaves the event out: what it would have made does not exist.
void Interpreter::omit_event() {
  ++left_out_[event_->view.node->call];
  for (std::size_t i = 0; i < plan_->params.size(); ++i) {
    const ParamPlan& param = plan_->params[i];
    if (param.info.direction != Direction::kOut || param.field < 0) continue;
    if (param.info.length.rule != Length::Rule::kScalar) continue;
    const std::int64_t id = value(static_cast<int>(i));
    if (Objects::keeps(param.info.kind)) objects_.erase(param.info.kind, id);
    if (param.info.kind != Kind::kRequest) continue;
    if (RequestState* state = request(id)) abandon(*state);
  }
}

/// Half of an exchange: the other partner becomes nobody.
void Interpreter::omit_partners() {
  for (std::size_t i = 0; i < plan_->params.size(); ++i) {
    const Kind kind = plan_->params[i].info.kind;
    if ((kind == Kind::kDest && omitted(0)) || (kind == Kind::kSource && omitted(1)))
      words_[i] = MPI_PROC_NULL;
  }
}

/// A call that failed in the replay only, where operations are left out.
void Interpreter::fail_softly() {
  if (has(*plan_->info, Attribute::kCompletes)) {
    ++left_out_[event_->view.node->call];
    update_requests();
  } else {
    omit_event();
  }
}

void Interpreter::step(const FollowedEvent& event) {
  const bool whole = load(event);
  const char* const why_not = reissue_.why_not(event);
  const bool left_out = why_not != nullptr && !(why_not == Reissue::kOnFile && files_.usable());
  const bool partly =
      next_omission_ < omissions_.size() && omissions_[next_omission_].event == number_;
  const bool exchange = partly && plan_ != nullptr && plan_->info != nullptr &&
                        has(*plan_->info, Attribute::kSend) && has(*plan_->info, Attribute::kRecv);
  const bool list = partly && plan_ != nullptr && plan_->info != nullptr &&
                    static_cast<CallId>(plan_->info->id) == CallId::kStartall;
  if (whole && plan_->info != nullptr && is_discovery(*plan_->info)) return make_known();
  if (left_out && !Reissue::is_loss(event)) return;
  if (whole && (left_out || (partly && !exchange && !list))) return omit_event();
  // An end-point or a length that is not told: of a damaged trace.
  if (!whole || plan_->entry == nullptr || !decode()) {
    ++left_out_[event.view.node->call];
    return;
  }
  if (exchange) omit_partners();
  if (exchange || list) ++left_out_[event.view.node->call];
  pace_.settle();
  if (!detach_send() && prepare()) {
    const int code = plan_->entry->invoke(words_.data());
    // What failed in the traced run fails as it did.
    const bool expected = event.failed();
    if (code != MPI_SUCCESS && tolerant_ && !expected) {
      fail_softly();
      return pace_.resume();
    }
    if (!expected) check(code);
    if (static_cast<CallId>(plan_->info->id) == CallId::kCommSplitType) restore_split();
    note_objects();
    note_target();
    update_requests();
  }
  pace_.resume();
}

void Interpreter::make_known(Follower reader, MPI_Comm comm) {
  known_ = make_known_objects(std::move(reader), comm,
                              {files_, windows_, received_, [this] { return room_in_window(); }});
}

/// An object that the traced run did not see being made.
void Interpreter::make_known() {
  const auto call = static_cast<CallId>(plan_->info->id);
  int place = 0;
  while (plan_->params[static_cast<std::size_t>(place)].info.direction != Direction::kOut) ++place;
  const std::int64_t id = value(place);
  if (!is_shared(call)) {
    if (!make_known_here(call, id)) omit_event();
    return;
  }
  const KnownObject made = next_known_ < known_.size() ? known_[next_known_++] : KnownObject{};
  if (made.comm != MPI_COMM_NULL) return objects_.store(Kind::kComm, id, to_word(made.comm));
  if (made.win != MPI_WIN_NULL) {
    objects_.store(Kind::kWin, id, to_word(made.win));
    if (made.dynamic < 0) return windows_.rename(made.dynamic, id);
    return windows_.made(id, made.win, {});
  }
  if (made.file == MPI_FILE_NULL) return omit_event();
  objects_.store(Kind::kFile, id, to_word(made.file));
  files_.opened(id, made.file, made.path, made.rank);
}

/// One of this rank alone. False if it cannot be made.
bool Interpreter::make_known_here(CallId call, std::int64_t id) {
  if (call == CallId::kGroupKnown) {
    const std::span<const std::int64_t> listed = array(1);
    std::vector<int> ranks(listed.begin(), listed.end());
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (const std::int64_t rank : listed)
      if (rank < 0 || rank >= size) return false;
    MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    check(PMPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group));
    PMPI_Group_free(&world);
    objects_.store(Kind::kGroup, id, to_word(group));
  } else if (call == CallId::kOpKnown) {
    objects_.store(Kind::kOp, id, to_word(some_op(value(0) != 0)));
  } else if (call == CallId::kErrhandlerKnown) {
    objects_.store(Kind::kErrhandler, id, to_word(some_errhandler()));
  } else if (call == CallId::kInfoKnown) {
    MPI_Info info = MPI_INFO_NULL;
    check(PMPI_Info_create(&info));
    objects_.store(Kind::kInfo, id, to_word(info));
  } else {
    const std::int64_t bytes = value(0);
    if (bytes < 0 || bytes > INT32_MAX) return false;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(PMPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type));
    check(PMPI_Type_commit(&type));
    objects_.store(Kind::kDatatype, id, to_word(type));
  }
  return true;
}

/// What MPI_Comm_split_type gives depends on the machine. Where this one differs from the traced
/// one, the recorded communicators are made by MPI_Comm_split instead.
void Interpreter::restore_split() {
  const std::span<const std::int64_t> members = here_.array(*event_, event_->plan->members);
  auto* made = from_word<MPI_Comm*>(words_[plan_->params.size() - 1]);
  int size = 0;
  if (*made != MPI_COMM_NULL) PMPI_Comm_size(*made, &size);
  int same = static_cast<std::size_t>(size) == members.size();
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> world_ranks(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (same != 0 && size > 0) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(*made, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, world_ranks.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    same = std::equal(members.begin(), members.end(), world_ranks.begin());
  }
  int all = 0;
  check(PMPI_Allreduce(&same, &all, 1, MPI_INT, MPI_LAND, comm_.handle));
  if (all != 0) return;
  if (*made != MPI_COMM_NULL) check(PMPI_Comm_free(made));
  const auto own = std::find(members.begin(), members.end(), here_.rank());
  check(PMPI_Comm_split(comm_.handle,
                        members.empty() ? MPI_UNDEFINED : static_cast<int>(members.front()),
                        static_cast<int>(own - members.begin()), made));
}

void Interpreter::note_objects() {
  for (std::size_t i = 0; i < plan_->params.size(); ++i) {
    const ParamPlan& param = plan_->params[i];
    const ParamInfo& info = param.info;
    if (info.direction == Direction::kIn || param.field < 0) continue;
    if (!Objects::keeps(info.kind)) continue;
    const unsigned width = plan_->entry->widths[i];
    if (info.length.rule != Length::Rule::kScalar) {
      const std::span<const std::int64_t> ids = array(static_cast<int>(i));
      const char* handles = from_word<char*>(words_[i]);
      for (std::size_t j = 0; j < ids.size() && info.direction == Direction::kOut; ++j)
        objects_.store(info.kind, ids[j], read_word(handles + j * width, width));
      continue;
    }
    const std::int64_t id = value(static_cast<int>(i));
    const Word handle = read_word(&storage_[i], width);
    if (info.direction == Direction::kOut) {
      // The call that commits it may not be recorded.
      auto type = from_word<MPI_Datatype>(handle);
      if (info.kind == Kind::kDatatype && id >= 0 && type != MPI_DATATYPE_NULL)
        PMPI_Type_commit(&type);
      objects_.store(info.kind, id, handle);
    } else if (handle == Objects::null(info.kind)) {
      objects_.erase(info.kind, id);
    }
  }
  note_attached();
}

/// Memory for buffered messages is MPI's until it is detached.
void Interpreter::note_attached() {
  switch (static_cast<CallId>(plan_->info->id)) {
    case CallId::kBufferAttach:
    case CallId::kBufferAttachC:
      if (!owned_.empty()) attached_[{Kind::kBuffer, 0}] = std::move(owned_.front());
      break;
    case CallId::kBufferDetach:
    case CallId::kBufferDetachC: attached_.erase({Kind::kBuffer, 0}); break;
    case CallId::kCommAttachBuffer:
    case CallId::kCommAttachBufferC:
    case CallId::kSessionAttachBuffer:
    case CallId::kSessionAttachBufferC:
      if (!owned_.empty())
        attached_[{plan_->params[0].info.kind, value(0)}] = std::move(owned_.front());
      break;
    case CallId::kCommDetachBuffer:
    case CallId::kCommDetachBufferC:
    case CallId::kSessionDetachBuffer:
    case CallId::kSessionDetachBufferC:
      attached_.erase({plan_->params[0].info.kind, value(0)});
      break;
    default: break;
  }
}

}  // namespace chameleon::replay
