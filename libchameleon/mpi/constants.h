// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Named numbers that are passed as plain ints (kinds of locks, assertions, orders of arrays),
/// which implementations number differently. Traces and raw records have MPICH's numbers, so that a
/// trace says the same whatever MPI it is of. Under MPICH and its ABI nothing is compiled of this.
/// Which set a parameter is of follows from its name in the standard. Modes of files and the
/// whences of seeks have the same numbers everywhere.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "mpi/kinds.h"

namespace chameleon::mpi {

/// A number as mpi.h has it, and as a trace has it.
struct NamedNumber {
  std::int64_t here, trace;
};

/// The names of a parameter's numbers, and whether the numbers are added up.
struct NamedNumbers {
  std::span<const NamedNumber> numbers;
  bool bits = false;

  constexpr bool differ() const {
    for (const NamedNumber& one : numbers)
      if (one.here != one.trace) return true;
    return false;
  }
};

namespace detail {

inline constexpr std::array kLocks = {NamedNumber{MPI_LOCK_EXCLUSIVE, 234},
                                      NamedNumber{MPI_LOCK_SHARED, 235}};
inline constexpr std::array kAssertions = {
    NamedNumber{MPI_MODE_NOCHECK, 1024}, NamedNumber{MPI_MODE_NOSTORE, 2048},
    NamedNumber{MPI_MODE_NOPUT, 4096}, NamedNumber{MPI_MODE_NOPRECEDE, 8192},
    NamedNumber{MPI_MODE_NOSUCCEED, 16384}};
inline constexpr std::array kOrders = {NamedNumber{MPI_ORDER_C, 56},
                                       NamedNumber{MPI_ORDER_FORTRAN, 57}};
inline constexpr std::array kTypeClasses = {NamedNumber{MPI_TYPECLASS_REAL, 1},
                                            NamedNumber{MPI_TYPECLASS_INTEGER, 2},
                                            NamedNumber{MPI_TYPECLASS_COMPLEX, 3}};
inline constexpr std::array kSplits = {NamedNumber{MPI_COMM_TYPE_SHARED, 1}};
#if !defined(CHAMELEON_SMPI)  // whose default argument may be an argument, too
inline constexpr std::array kDistributions = {NamedNumber{MPI_DISTRIBUTE_BLOCK, 121},
                                              NamedNumber{MPI_DISTRIBUTE_CYCLIC, 122},
                                              NamedNumber{MPI_DISTRIBUTE_NONE, 123}};
inline constexpr std::array kDefaults = {NamedNumber{MPI_DISTRIBUTE_DFLT_DARG, -49767}};
#else
inline constexpr std::array<NamedNumber, 0> kDistributions{}, kDefaults{};
#endif

}  // namespace detail

constexpr NamedNumbers named_numbers(const ParamInfo& param) {
  if (param.kind != Kind::kInt) return {};
  const std::string_view name = param.name;
  if (name == "lock_type") return {detail::kLocks};
  if (name == "assert") return {detail::kAssertions, true};
  if (name == "order") return {detail::kOrders};
  if (name == "typeclass") return {detail::kTypeClasses};
  if (name == "split_type") return {detail::kSplits};
  if (name == "array_of_distribs") return {detail::kDistributions};
  if (name == "array_of_dargs") return {detail::kDefaults};
  return {};
}

/// A number of mpi.h as a trace has it, and the other way round. A number without a name stays,
/// unless it is also the number of a name.
constexpr std::int64_t translated(const NamedNumbers& names, std::int64_t number, bool to_trace) {
  constexpr std::int64_t kNameless = 1 << 20;
  std::int64_t bits = 0, rest = number;
  for (const NamedNumber& one : names.numbers) {
    const std::int64_t from = to_trace ? one.here : one.trace;
    const std::int64_t to = to_trace ? one.trace : one.here;
    if (!names.bits && number == from) return to;
    if (names.bits && from != 0 && (number & from) == from) {
      bits |= to;
      rest &= ~from;
    }
  }
  if (names.bits) return bits | rest;
  for (const NamedNumber& one : names.numbers)
    if (number == (to_trace ? one.trace : one.here)) return kNameless + number;
  return number;
}

}  // namespace chameleon::mpi
