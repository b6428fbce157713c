// SPDX-License-Identifier: BSD-3-Clause
// Sends that would wait in a circle if MPI does not buffer them: what waits for one in the trace
// goes on at once in the replay, and the send completes when its receive is posted.
#include <algorithm>

#include "replay/interpreter.h"
#include "replay/mpi_four.h"

namespace chameleon::replay {
namespace {

/// Places of a send's arguments: buffer, count, datatype, destination, tag.
constexpr std::size_t kSendArguments = 5;

}  // namespace

bool Interpreter::is_unawaited(std::uint32_t part) {
  if (awaits_no_sends_) {
    const CallInfo& call = *plan_->info;
    const bool exchanges = plan_->request >= 0 && has(call, Attribute::kRecv);
    return (has(call, Attribute::kSend) && !exchanges) || has(call, Attribute::kStarts);
  }
  while (next_unawaited_ < unawaited_.size() && unawaited_[next_unawaited_].event < number_)
    ++next_unawaited_;
  for (std::size_t i = next_unawaited_; i < unawaited_.size(); ++i) {
    if (unawaited_[i].event != number_) return false;
    if (unawaited_[i].part == part) return true;
  }
  return false;
}

/// Keeps what nobody in the trace asks for until it completes.
void Interpreter::keep(RequestState orphan) {
  orphans_.push_back(std::move(orphan));
  if (orphans_.size() < sweep_at_) return;
  sweep_orphans();
  sweep_at_ = std::max<std::size_t>(64, 2 * orphans_.size());
}

void Interpreter::send_unawaited(const Word* arguments, bool large, MPI_Comm comm) {
  RequestState state;
  state.active = true;
  const auto buffer = from_word<const void*>(arguments[0]);
  const auto type = from_word<MPI_Datatype>(arguments[2]);
  const auto dest = static_cast<int>(arguments[3]);
  const auto tag = static_cast<int>(arguments[4]);
  check(large ? isend_large(buffer, arguments[1], type, dest, tag, comm, &state.handle)
              : MPI_Isend(buffer, static_cast<int>(arguments[1]), type, dest, tag, comm,
                          &state.handle));
  state.blocks = std::move(owned_);
  owned_.clear();
  keep(std::move(state));
}

/// A blocking send that is not waited for; true if nothing is left of the call. An exchange still
/// receives.
bool Interpreter::detach_send() {
  const CallInfo& call = *plan_->info;
  if (!has(call, Attribute::kSend) || plan_->request >= 0 || !is_unawaited(0)) return false;
  const bool large = plan_->entry->widths[1] == sizeof(MPI_Count);
  // The buffers live as long as the send: an exchange that is done with its own leaves them to it.
  send_unawaited(words_.data(), large, comm_.handle);
  if (!has(call, Attribute::kRecv)) return true;
  words_[kSendArguments - 2] = MPI_PROC_NULL;
  return false;
}

/// Takes the sends that are not waited for out of a call that completes requests.
void Interpreter::detach_completed() {
  if (!leaves_sends()) return;
  const bool array = is_array(plan_->params[static_cast<std::size_t>(plan_->request)].info);
  const unsigned width = plan_->entry->widths[plan_->request];
  for (const Completion& one : event_->completions) {
    RequestState* const state = request(one.id);
    if (state == nullptr || !state->unawaited || !state->active) continue;
    keep(std::move(*state));
    *state = {};
    char* const handles = array ? from_word<char*>(word(plan_->request))
                                : reinterpret_cast<char*>(&storage_[plan_->request]);
    write_word(handles + (array ? one.place * width : 0), to_word(MPI_REQUEST_NULL), width);
  }
}

}  // namespace chameleon::replay
