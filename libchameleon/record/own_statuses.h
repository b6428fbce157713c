// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Statuses of the tool's own where the program ignores them: what they tell is recorded too.

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
    });
  }

 private:
  template <int I, class... P>
  void pass(CallValues<C, P...>& call) {
    auto*& status = std::get<I>(call.args);
    if constexpr (is_array(params(Call::kCall)[I])) {
      if (status != MPI_STATUSES_IGNORE) return;
      statuses_.resize(static_cast<std::size_t>(request_count(call)),
                       boost::container::default_init);
      if (!statuses_.empty()) status = statuses_.data();
    } else if (status == MPI_STATUS_IGNORE) {
      if constexpr (Call::kTransfers) statuses_ = MPI_Status{};  // MPI-IO may leave it as it was
      status = &statuses_;
    }
  }

  std::conditional_t<Call::kManyStatuses, boost::container::small_vector<MPI_Status, 8>, MPI_Status>
      statuses_;
};

}  // namespace chameleon::record
