// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "call_id.h"  // generated
#include "mpi/kinds.h"

/// The MPI table as constants of the program, generated from mpi_calls.txt and without mpi.h. Rows
/// are in the order of their ids; each row's parameters are a slice of one flat array. Looking up
/// by id is one indexed load, by name a linear search (for options and readers, not for the hot
/// path). All of it is read-only data, set at compile time.

namespace chameleon::mpi {
namespace detail {

inline constexpr CallInfo kCalls[] = {
#define CHAMELEON_CALL(id, name, version, ...) CallInfo{id, "MPI_" #name, version, __VA_ARGS__},
#define CHAMELEON_PARAM(...)
#include "call_table.inc"  // generated
#undef CHAMELEON_CALL
#undef CHAMELEON_PARAM
};

inline constexpr ParamInfo kParams[] = {
#define CHAMELEON_CALL(...)
#define CHAMELEON_PARAM(...) ParamInfo{__VA_ARGS__},
#include "call_table.inc"
#undef CHAMELEON_CALL
#undef CHAMELEON_PARAM
};

inline constexpr std::uint16_t kNoRow = 0xffff;

/// Row of each id; ids that were given up have none.
inline constexpr auto kRowOfId = [] {
  std::array<std::uint16_t, kCallIdEnd> rows{};
  rows.fill(kNoRow);
  for (std::size_t row = 0; row < std::size(kCalls); ++row) {
    rows[kCalls[row].id] = static_cast<std::uint16_t>(row);
  }
  return rows;
}();

}  // namespace detail

constexpr std::span<const CallInfo> all_calls() { return detail::kCalls; }

/// The call with this id, or null: ids come from files too.
constexpr const CallInfo* find_call(CallId id) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= detail::kRowOfId.size() || detail::kRowOfId[index] == detail::kNoRow) {
    return nullptr;
  }
  return &detail::kCalls[detail::kRowOfId[index]];
}

/// The call of this name, with or without MPI_, or null. `find_call("Send") ==
/// find_call(CallId::kSend)`.
constexpr const CallInfo* find_call(std::string_view name) {
  constexpr std::string_view kPrefix = "MPI_";
  if (name.substr(0, kPrefix.size()) == kPrefix) name.remove_prefix(kPrefix.size());
  for (const CallInfo& call : detail::kCalls) {
    if (std::string_view(call.name).substr(kPrefix.size()) == name) return &call;
  }
  return nullptr;
}

/// The call's parameters, in the order of its C prototype.
constexpr std::span<const ParamInfo> params(const CallInfo& call) {
  return std::span<const ParamInfo>(detail::kParams).subspan(call.first_param, call.param_count);
}

}  // namespace chameleon::mpi
