// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Named numbers that are passed as plain ints (kinds of locks, assertions, orders of arrays, modes
/// of files, levels of threads, any tag), which implementations number differently. Traces and raw
/// records have MPICH's numbers, so that a trace says the same whatever MPI it is of. Under MPICH
/// and its ABI nothing is compiled of this. Which set a parameter is of follows from its name in
/// the standard.

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

/// MPI_ANY_TAG in traces.
inline constexpr std::int64_t kAnyTag = -1;

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
#if defined(MPI_COMM_TYPE_HW_GUIDED) || defined(CHAMELEON_STANDARD_ABI)
inline constexpr std::array kSplits = {NamedNumber{MPI_COMM_TYPE_SHARED, 1},
                                       NamedNumber{MPI_COMM_TYPE_HW_GUIDED, 2},
                                       NamedNumber{MPI_COMM_TYPE_HW_UNGUIDED, 3}};
#else
inline constexpr std::array kSplits = {NamedNumber{MPI_COMM_TYPE_SHARED, 1}};
#endif
inline constexpr std::array kTags = {NamedNumber{MPI_ANY_TAG, kAnyTag}};
inline constexpr std::array kLevels = {
    NamedNumber{MPI_THREAD_SINGLE, 0}, NamedNumber{MPI_THREAD_FUNNELED, 1},
    NamedNumber{MPI_THREAD_SERIALIZED, 2}, NamedNumber{MPI_THREAD_MULTIPLE, 3}};
inline constexpr std::array kModes = {NamedNumber{MPI_MODE_CREATE, 1},
                                      NamedNumber{MPI_MODE_RDONLY, 2},
                                      NamedNumber{MPI_MODE_WRONLY, 4},
                                      NamedNumber{MPI_MODE_RDWR, 8},
                                      NamedNumber{MPI_MODE_DELETE_ON_CLOSE, 16},
                                      NamedNumber{MPI_MODE_UNIQUE_OPEN, 32},
                                      NamedNumber{MPI_MODE_EXCL, 64},
                                      NamedNumber{MPI_MODE_APPEND, 128},
                                      NamedNumber{MPI_MODE_SEQUENTIAL, 256}};
inline constexpr std::array kWhences = {
    NamedNumber{MPI_SEEK_SET, 600}, NamedNumber{MPI_SEEK_CUR, 602}, NamedNumber{MPI_SEEK_END, 604}};
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
  if (param.kind == Kind::kTag) return {detail::kTags};
  if (param.kind != Kind::kInt) return {};
  const std::string_view name = param.name;
  if (name == "lock_type") return {detail::kLocks};
  if (name == "assert") return {detail::kAssertions, true};
  if (name == "order") return {detail::kOrders};
  if (name == "typeclass") return {detail::kTypeClasses};
  if (name == "split_type") return {detail::kSplits};
  if (name == "required" || name == "provided") return {detail::kLevels};
  if (name == "amode") return {detail::kModes, true};
  if (name == "whence") return {detail::kWhences};
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
    if (number == (to_trace ? one.trace : one.here))
      return number < 0 ? (to_trace ? one.here : one.trace) : kNameless + number;
  return number;
}

}  // namespace chameleon::mpi
