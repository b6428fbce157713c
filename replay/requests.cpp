// SPDX-License-Identifier: BSD-3-Clause
// What must end as it did in the traced run: completions, probes, starts, frees.
#include <sched.h>

#include <algorithm>

#include "replay/interpreter.h"
#include "replay/mpi_four.h"

namespace chameleon::replay {
namespace {

constexpr std::int64_t kMostRequests = 1 << 24;

int find_kind(const CallPlan& plan, Kind kind) {
  for (std::size_t i = 0; i < plan.params.size(); ++i)
    if (plan.params[i].info.kind == kind) return static_cast<int>(i);
  return -1;
}

}  // namespace

Interpreter::RequestState* Interpreter::request(std::int64_t id) {
  const std::int64_t slot = place_of_object(id, here_.trace().threads);
  if (slot < 0 || static_cast<std::size_t>(slot) >= requests_.size()) return nullptr;
  return &requests_[static_cast<std::size_t>(slot)];
}

/// Progress without side effect; with `until_done`, until the request is complete.
void Interpreter::poll(MPI_Request request, bool until_done) {
  if (request == MPI_REQUEST_NULL) return;
  for (unsigned tries = 0;; ++tries) {
    int done = 0;
    // Of one that has failed the call that completes it tells.
    if (PMPI_Request_get_status(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    if (done != 0 || !until_done) return;
    if (tries > 100) sched_yield();
  }
}

/// The requests that the event was given.
void Interpreter::find_slots() {
  slots_.clear();
  if (plan_->request < 0) return;
  const ParamPlan& param = plan_->params[static_cast<std::size_t>(plan_->request)];
  if (param.field < 0) return;
  if (!is_array(param.info)) return slots_.push_back(value(plan_->request));
  const std::span<const std::int64_t> list = array(plan_->request);
  slots_.assign(list.begin(), list.end());
}

/// False if the event is done with, or needs no call.
bool Interpreter::prepare() {
  masked_.clear();
  const CallInfo& call = *plan_->info;
  find_slots();
  if (has(call, Attribute::kCompletes)) {
    detach_completed();
    return prepare_completion();
  }
  if (has(call, Attribute::kStarts)) return start_wildcards();
  if (static_cast<CallId>(call.id) == CallId::kRequestFree) return free_active();
  if (has(call, Attribute::kRma | Attribute::kIo) || on_errhandler()) return prepare_target();
  if (plan_->flag >= 0 && (has(call, Attribute::kProbe) || has(call, Attribute::kPartitioned))) {
    return prepare_probe();
  }
  return true;
}

/// Waits for exactly the requests that were completed, and hides the others from a call that
/// might complete them. A test that found nothing only makes progress.
bool Interpreter::prepare_completion() {
  const std::span<const std::int64_t> errors = here_.array(*event_, event_->plan->errors);
  const bool all = std::find(errors.begin(), errors.end(), kErrPending) == errors.end();
  if (plan_->index < 0 && plan_->flag < 0 && all) return true;
  const std::vector<Completion>& completed = event_->completions;
  if (completed.empty()) {
    bool active = false;
    for (const std::int64_t slot : slots_) {
      const RequestState* state = request(slot);
      if (state == nullptr || !state->active) continue;
      active = true;
      poll(state->handle, false);
    }
    return !active;
  }
  masked_.assign(slots_.size(), true);
  for (const Completion& one : completed) {
    masked_[one.place] = false;
    if (const RequestState* state = request(one.id)) poll(state->handle, true);
  }
  if (!is_array(plan_->params[static_cast<std::size_t>(plan_->request)].info)) return true;
  const unsigned width = plan_->entry->widths[plan_->request];
  char* handles = from_word<char*>(word(plan_->request));
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (masked_[i]) write_word(handles + i * width, to_word(MPI_REQUEST_NULL), width);
  return true;
}

/// A probe that found a message waits for it; one that did not, and would take a message if there
/// were one now, only makes progress.
bool Interpreter::prepare_probe() {
  const bool found = value(plan_->flag) != 0;
  if (has(*plan_->info, Attribute::kPartitioned)) {
    int arrived = 0;
    do {
      check(has_arrived(from_word<MPI_Request>(word(plan_->request)),
                        static_cast<int>(word(find_kind(*plan_, Kind::kInt))), &arrived));
      if (arrived == 0) sched_yield();
    } while (found && arrived == 0);
    return found;
  }
  const auto source = static_cast<int>(word(find_kind(*plan_, Kind::kSource)));
  const auto tag = static_cast<int>(word(find_kind(*plan_, Kind::kTag)));
  int flag = 0;
  for (unsigned tries = 0; found && flag == 0; ++tries) {
    check(PMPI_Iprobe(source, tag, comm_.handle, &flag, MPI_STATUS_IGNORE));
    if (tries > 100) sched_yield();
  }
  if (found || !has(*plan_->info, Attribute::kCreates)) return true;
  check(PMPI_Iprobe(source, tag, comm_.handle, &flag, MPI_STATUS_IGNORE));
  return false;
}

/// A persistent receive of any source may match a different sender at each start, so every start
/// posts a receive from the one that it matched. What is left out is not started.
bool Interpreter::start_wildcards() {
  bool one_by_one = false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const RequestState* state = request(slots_[i]);
    one_by_one |= state == nullptr || state->handle == MPI_REQUEST_NULL ||
                  !state->receive.empty() || omitted(static_cast<std::uint32_t>(i)) ||
                  is_unawaited(static_cast<std::uint32_t>(i));
  }
  if (!one_by_one) return true;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::int64_t slot = slots_[i];
    RequestState* state = request(slot);
    if (state == nullptr || state->handle == MPI_REQUEST_NULL) continue;
    if (omitted(static_cast<std::uint32_t>(i))) continue;
    if (is_unawaited(static_cast<std::uint32_t>(i)) && !state->send.empty()) {
      send_unawaited(state->send.data(), state->large, from_word<MPI_Comm>(state->send[5]));
      continue;
    }
    state->active = true;
    if (state->receive.empty()) {
      check(MPI_Start(&state->handle));
      continue;
    }
    const std::vector<Word>& receive = state->receive;
    int source = static_cast<int>(receive[3]);
    int tag = static_cast<int>(receive[4]);
    const CommFacts* comm = objects_.comm(state->receive_comm);
    if (const std::optional<Match> match = matches_.take(event_->stream, event_->number, slot);
        match && comm != nullptr) {
      if (source == MPI_ANY_SOURCE && match->source.is_member()) source = match->source.rank;
      if (tag == MPI_ANY_TAG && match->tag >= 0) tag = static_cast<int>(match->tag);
    }
    const auto buffer = from_word<void*>(receive[0]);
    const auto type = from_word<MPI_Datatype>(receive[2]);
    const auto on = from_word<MPI_Comm>(receive[5]);
    check(state->large ? irecv_large(buffer, receive[1], type, source, tag, on, &state->handle)
                       : MPI_Irecv(buffer, static_cast<int>(receive[1]), type, source, tag, on,
                                   &state->handle));
  }
  return false;
}

/// The buffers of a request freed while active must live until it completes, which only the
/// request can tell: it is freed then.
bool Interpreter::free_active() {
  RequestState* state = slots_.empty() ? nullptr : request(slots_.front());
  sweep_orphans();
  if (state == nullptr || !state->active) return state != nullptr;
  if (state->dormant != MPI_REQUEST_NULL) check(PMPI_Request_free(&state->dormant));
  keep(std::move(*state));
  *state = {};
  return false;
}

/// The program lost the request: what is under way completes by itself, in buffers of its own.
void Interpreter::abandon(RequestState& state) {
  if (state.dormant != MPI_REQUEST_NULL && state.dormant != state.handle)
    check(PMPI_Request_free(&state.dormant));
  if (state.active && state.handle != MPI_REQUEST_NULL)
    keep(std::move(state));
  else if (state.handle != MPI_REQUEST_NULL)
    check(PMPI_Request_free(&state.handle));
  state = {};
}

std::size_t Interpreter::drain() {
  std::size_t open = 0;
  sweep_orphans();
  for (RequestState& state : requests_) {
    if (!state.active || state.handle == MPI_REQUEST_NULL) continue;
    int done = 0;
    if (PMPI_Test(&state.handle, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) done = 1;
    if (done != 0)
      state.active = false;
    else
      ++open;
  }
  progress_.store(progress_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return open + orphans_.size();
}

void Interpreter::cancel_open() {
  const auto cancel = [](RequestState& state) {
    if (!state.active || state.handle == MPI_REQUEST_NULL) return;
    // A collective cannot be cancelled: it stays.
    if (PMPI_Cancel(&state.handle) == MPI_SUCCESS) PMPI_Request_free(&state.handle);
    state.active = false;
  };
  for (RequestState& state : requests_) cancel(state);
  for (RequestState& state : orphans_) cancel(state);
}

void Interpreter::sweep_orphans() {
  std::erase_if(orphans_, [this](RequestState& orphan) {
    int done = 0;
    // Of an error nobody heard in the traced run.
    if (PMPI_Test(&orphan.handle, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) done = 1;
    if (done != 0 && orphan.handle != MPI_REQUEST_NULL) PMPI_Request_free(&orphan.handle);
    return done != 0;
  });
}

void Interpreter::update_requests() {
  if (plan_->request < 0) return;
  const CallInfo& call = *plan_->info;
  const ParamPlan& param = plan_->params[static_cast<std::size_t>(plan_->request)];
  const unsigned width = plan_->entry->widths[plan_->request];
  if (param.info.direction == Direction::kIn) return;
  if (param.info.direction == Direction::kOut) {
    const std::int64_t slot =
        slots_.empty() ? -1 : place_of_object(slots_.front(), here_.trace().threads);
    if (slot < 0 || slot >= kMostRequests) return;
    if (static_cast<std::size_t>(slot) >= requests_.size()) {
      requests_.resize(static_cast<std::size_t>(slot) + 1);
    }
    RequestState& state = requests_[static_cast<std::size_t>(slot)];
    abandon(state);
    state.handle = from_word<MPI_Request>(read_word(&storage_[plan_->request], width));
    state.persistent = has(call, Attribute::kPersistent);
    state.active = !state.persistent;
    state.blocks = std::move(owned_);
    owned_.clear();
    state.unawaited = is_unawaited(0);
    if (state.persistent && has(call, Attribute::kSend) && !has(call, Attribute::kPartitioned) &&
        leaves_sends()) {
      state.large = plan_->entry->widths[1] == sizeof(MPI_Count);
      state.send.assign(words_.begin(), words_.begin() + 6);
    }
    const bool large = static_cast<CallId>(call.id) == CallId::kRecvInitC;
    if ((large || static_cast<CallId>(call.id) == CallId::kRecvInit) && event_->posted != nullptr &&
        (event_->posted->any_source || event_->posted->any_tag)) {
      state.large = large;
      state.dormant = state.handle;
      state.receive.assign(words_.begin(), words_.begin() + 6);
      state.receive_comm = comm_id_;
    }
    return;
  }
  const bool array = param.info.length.rule != Length::Rule::kScalar;
  const char* handles = array ? from_word<const char*>(word(plan_->request))
                              : reinterpret_cast<const char*>(&storage_[plan_->request]);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    RequestState* state = request(slots_[i]);
    if (state == nullptr || (i < masked_.size() && masked_[i])) continue;
    state->handle = from_word<MPI_Request>(read_word(handles + i * width, width));
    if (has(call, Attribute::kStarts)) state->active = true;
    if (has(call, Attribute::kCompletes)) state->active = false;
    if (state->handle != MPI_REQUEST_NULL) continue;
    if (state->dormant != MPI_REQUEST_NULL && has(call, Attribute::kCompletes)) {
      state->handle = state->dormant;
    } else {
      *state = {};
    }
  }
}

}  // namespace chameleon::replay
