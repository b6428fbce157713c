// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The arguments of one MPI call, and the values of its event as they are made from them: handles
/// become symbolic ids, end-points relative and absolute at once, arrays entries of the array
/// table. What a call does to requests and statuses stands in files of their own.

#include <boost/container/small_vector.hpp>

#include "record/call_traits.h"
#include "record/objects.h"
#include "record/significance.h"
#include "record/status_values.h"

namespace chameleon::record {

template <CallId C, class... P>
struct CallValues {
  explicit CallValues(Objects& known, P... p) : objects(known), args(p...) {}

  Objects& objects;
  std::tuple<P...> args;
  CommShape comm;
  std::array<std::int64_t, CallTraits<C>::kValues> values;
};

/// Calls f.operator()<I>() for the position of each argument.
template <class... P, class F>
[[gnu::always_inline]] inline void each_argument(const std::tuple<P...>& /*args*/, F f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f.template operator()<I>(), ...);
  }
  (std::make_integer_sequence<int, static_cast<int>(sizeof...(P))>());
}

/// The first value of argument `I`.
template <int I, CallId C, class... P>
inline std::int64_t& value_of(CallValues<C, P...>& call) {
  constexpr std::size_t at = value_offset(CallTraits<C>::kCall, I);
  return call.values[at];
}

template <CallId C, class... P>
[[gnu::always_inline]] inline void look_at_comm(CallValues<C, P...>& call) {
  using Call = CallTraits<C>;
  if constexpr (Call::kComm >= 0) {
    if constexpr (params(Call::kCall)[Call::kComm].direction == Direction::kIn)
      call.comm = call.objects.comm_shape(std::get<Call::kComm>(call.args));
  }
}

template <class List>
inline std::int64_t intern(Objects& objects, const List& list) {
  return static_cast<std::int64_t>(objects.intern({list.data(), list.size()}));
}

template <int I, CallId C, class... P>
inline void encode_number(CallValues<C, P...>& call, std::int64_t number) {
  if constexpr (is_end_point(CallTraits<C>::kCall, params(CallTraits<C>::kCall)[I]))
    value_of<I>(call) = encode_end_point(number, call.comm);
  else
    value_of<I>(call) = number;
}

template <int I, CallId C, class... P>
inline void encode_array(CallValues<C, P...>& call) {
  boost::container::small_vector<std::int64_t, 16> elements;
  const auto* array = std::get<I>(call.args);
  if constexpr (!std::is_void_v<std::remove_pointer_t<decltype(array)>>) {
    constexpr const ParamInfo& param = params(CallTraits<C>::kCall)[I];
    constexpr Kind kind = param.kind;
    constexpr bool kMakes = is_object(kind) && param.direction == Direction::kOut &&
                            has(CallTraits<C>::kCall, Attribute::kCreates);
    const std::int64_t length = readable_length<C, I>(call.args, call.comm);
    elements.reserve(static_cast<std::size_t>(length));
    if constexpr (kMakes) call.objects.change();
    // An array of arrays (the triplets of Group_range_incl) is one list.
    using Row = std::remove_cvref_t<decltype(*array)>;
    const auto* flat = reinterpret_cast<const std::remove_all_extents_t<Row>*>(array);
    for (std::int64_t i = 0; i < length; ++i) {
      if (kMakes && is_asked_for(kind) && hides(call.objects, C)) continue;
      if constexpr (kMakes)
        elements.push_back(call.objects.slots(kind).create(handle_bits(flat[i])));
      else if constexpr (is_object(kind))
        elements.push_back(call.objects.slots(kind).find(handle_bits(flat[i])));
      else
        elements.push_back(in_trace<C, I>(as_number(flat[i])));
    }
  }
  value_of<I>(call) = intern(call.objects, elements);
}

template <int I, CallId C, class... P>
inline void encode_string(CallValues<C, P...>& call) {
  std::vector<std::int64_t> text;
  using T = std::tuple_element_t<I, std::tuple<P...>>;
  if constexpr (std::is_convertible_v<T, const char*>) {  // lists of strings are not kept
    const char* c = significant<C, I>(call.args, call.comm) ? std::get<I>(call.args) : nullptr;
    for (; c != nullptr && *c != 0; ++c) text.push_back(*c);
  }
  value_of<I>(call) = intern(call.objects, text);
}

}  // namespace chameleon::record
