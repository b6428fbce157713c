// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which arguments a call reads on this rank: not those of the root elsewhere,
/// not counts, types and displacements of a buffer given as MPI_IN_PLACE, and no object through a
/// null pointer, which MPI refuses.
/// Anything else may be garbage and must not be touched.

#include <string_view>

#include "record/arguments.h"

namespace chameleon::record {

/// The buffer that parameter `index` describes: the last one before it, or -1.
constexpr int buffer_before(const CallInfo& call, int index) {
  int found = -1;
  for (int i = 0; i < index; ++i)
    if (params(call)[static_cast<std::size_t>(i)].kind == Kind::kBuffer) found = i;
  return found;
}

template <CallId C, int I, class Args>
bool significant(const Args& args, const CommShape& comm) {
  constexpr const CallInfo& call = *find_call(C);
  constexpr const ParamInfo& param = params(call)[I];
  if constexpr (param.only_at_root) {
    if (!at_root<C>(args, comm)) return false;
  }
  if constexpr (is_object(param.kind) && param.direction == Direction::kInOut && !is_array(param))
    if (std::get<I>(args) == nullptr) return false;
  constexpr bool describes = param.kind == Kind::kCount || param.kind == Kind::kDatatype ||
                             param.kind == Kind::kDisplacement || param.kind == Kind::kAint;
  constexpr int buffer = buffer_before(call, I);
  if constexpr (describes && buffer >= 0 && has(call, Attribute::kCollective) &&
                !has(call, Attribute::kReduction)) {
    if (buffer_class(std::get<buffer>(args)) == BufferClass::kInPlace) return false;
  }
  return true;
}

/// The flag without which a call sets no other output of this kind: statuses, messages, numbers; or
/// -1.
constexpr int flag_of(const CallInfo& call, Kind kind) {
  if (kind != Kind::kStatus && kind != Kind::kMessage && kind != Kind::kInt) return -1;
  for (int i = 0; i < call.param_count; ++i) {
    const ParamInfo& param = params(call)[static_cast<std::size_t>(i)];
    if (param.kind == Kind::kFlag && param.direction == Direction::kOut &&
        std::string_view(param.name) == "flag")
      return i;
  }
  return -1;
}

/// Whether a call that took place has set its output `I`, which it need not if its flag is false.
template <CallId C, int I, class Args>
bool is_set(const Args& args) {
  constexpr int flag = flag_of(*find_call(C), params(*find_call(C))[I].kind);
  if constexpr (flag >= 0 && params(*find_call(C))[I].direction == Direction::kOut)
    return std::get<flag>(args) == nullptr || *std::get<flag>(args) != 0;
  else
    return true;
}

/// Number of elements of an array argument that may be read: none of a null
/// pointer or of MPI_UNWEIGHTED.
template <CallId C, int I, class Args>
std::int64_t readable_length(const Args& args, const CommShape& comm) {
  const auto* array = std::get<I>(args);
  if (array == nullptr || !significant<C, I>(args, comm)) return 0;
  using T = std::remove_cvref_t<decltype(*array)>;
  if constexpr (std::is_same_v<T, int>) {
    if (is_unweighted(array)) return 0;
  }
  const std::int64_t length = array_length<C, I>(args, comm);
  return length < 0 ? 0 : length;
}

}  // namespace chameleon::record
