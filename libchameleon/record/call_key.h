// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The key of a call: all that the values of an event without arrays are made from, which are its
/// arguments, what the call returned, the request it made, and how often objects changed. Most
/// events are as one before: with the key of a known event nothing needs to be encoded.

#include <boost/container/static_vector.hpp>

#include "record/call_values.h"

namespace chameleon::record {

/// Calls f(element) for the elements of the key. `made`: the request's id.
template <CallId C, class... P, class F>
[[gnu::always_inline]] inline void each_of_key(const CallValues<C, P...>& call, std::int64_t made,
                                               std::uint64_t objects, F f) {
  using Call = CallTraits<C>;
  std::uint64_t buffers = 0;
  each_argument(call.args, [&]<int I>() {
    constexpr const ParamInfo& param = params(Call::kCall)[I];
    if constexpr (stored_values(param) == 0) {
    } else if constexpr (param.kind == Kind::kBuffer) {
      buffers = buffers << 2 | static_cast<std::uint64_t>(buffer_class(std::get<I>(call.args)));
    } else if constexpr (param.kind == Kind::kStatus) {
      if constexpr (Call::kReceives && !Call::kPosts) {
        const MPI_Status& status = *std::get<I>(call.args);
        f(status_bytes(status));
        f(status.MPI_SOURCE);
        f(status.MPI_TAG);
      }
    } else if constexpr (param.direction == Direction::kIn) {
      f(scalar<C, I>(call.args));
    } else {
      f(made);
    }
  });
  f(static_cast<std::int64_t>(objects << 8 ^ buffers));
}

template <CallId C, class... P>
[[gnu::always_inline]] inline bool has_key(const CallValues<C, P...>& call, std::int64_t made,
                                           std::uint64_t objects, const std::int64_t* key) {
  std::int64_t differs = 0;
  each_of_key(call, made, objects, [&](std::int64_t element) { differs |= element ^ *key++; });
  return differs == 0;
}

template <CallId C, class... P>
inline auto key_of(const CallValues<C, P...>& call, std::int64_t made, std::uint64_t objects) {
  boost::container::static_vector<std::int64_t, 2 + sizeof...(P) + 3> elements;
  each_of_key(call, made, objects, [&](std::int64_t element) { elements.push_back(element); });
  return elements;
}

}  // namespace chameleon::record
