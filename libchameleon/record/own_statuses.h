// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the tool passes to MPI in place of what the program passed: statuses of its own where the
/// program ignores them, because what they tell is recorded too, and functions that note errors
/// before the program's error handlers.

#include "record/raised_errors.h"
#include "record/request_values.h"

namespace chameleon::record {

template <CallId C>
class OwnStatuses {
  using Call = CallTraits<C>;

 public:
  /// Before the call.
  template <class... P>
  void pass(CallValues<C, P...>& call) {
    each_argument(call.args, [&]<int I>() {
      constexpr const ParamInfo& param = params(Call::kCall)[I];
      if constexpr (param.kind == Kind::kStatus && param.direction == Direction::kOut &&
                    (Call::kReceives || Call::kProbes || Call::kCompletes || Call::kTransfers) &&
                    !Call::kPosts)
        pass<I>(call);
      else if constexpr (param.kind == Kind::kFunction && Call::kMakesHandler)
        note_errors(std::get<I>(call.args));
    });
  }

 private:
  template <class Function>
  static void note_errors(Function*& handler) {
    handler = reinterpret_cast<Function*>(noting_handler(reinterpret_cast<void*>(handler)));
  }

  template <int I, class... P>
  void pass(CallValues<C, P...>& call) {
    auto*& status = std::get<I>(call.args);
    if constexpr (is_array(params(Call::kCall)[I])) {
      if (status != MPI_STATUSES_IGNORE) return;
      statuses_.assign(static_cast<std::size_t>(request_count(call)), untouched_status());
      if (!statuses_.empty()) status = statuses_.data();
    } else if (status == MPI_STATUS_IGNORE) {
      // ROMIO sets nothing but the bytes.
      statuses_ = Call::kTransfers ? MPI_Status{} : untouched_status();
      status = &statuses_;
    }
  }

  std::conditional_t<Call::kManyStatuses, boost::container::small_vector<MPI_Status, 8>, MPI_Status>
      statuses_;
};

}  // namespace chameleon::record
