// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The meaning of each call of the MPI table beyond its attributes, generated from mpi_calls.txt:
/// the call of which it is a form, the data that a collective moves and which ranks wait in it,
/// which parameters describe the data, and how large a datatype becomes. Constants without mpi.h,
/// for analyses, exports and replay; a look-up is one indexed load.

#include <array>
#include <cstdint>

#include "mpi/call_table.h"

namespace chameleon::mpi {

/// How a collective moves data. With Attribute::kReduction it is combined on the way, with
/// Attribute::kNeighbor it moves between neighbours in the topology.
struct Movement {
  enum class From : std::uint8_t {
    kNobody,
    kRoot,
    kAll,
    kUpTo,   ///< the receiver and the ranks before it
    kBelow,  ///< the ranks before the receiver
  };
  enum class To : std::uint8_t { kNobody, kRoot, kAll };
  enum class Part : std::uint8_t {
    kWhole,  ///< each receiver gets all that a sender gives
    kBlock,  ///< each receiver gets a block of its own
  };
  From from = From::kNobody;
  To to = To::kNobody;
  Part part = Part::kWhole;

  constexpr bool moves() const { return from != From::kNobody; }
  constexpr bool from_root() const { return from == From::kRoot; }
  constexpr bool to_root() const { return to == To::kRoot; }
  friend bool operator==(const Movement&, const Movement&) = default;
};

/// For whose arrival a collective waits.
enum class Waits : std::uint8_t {
  kForAll,
  kForRoot,
  kRootForAll,
  kForLower,  ///< for the ranks before it
  kForNobody,
};

/// Parameters, by index in the call, that describe what it sends or receives; -1: none.
struct BufferParams {
  std::int8_t buffer = -1, count = -1, type = -1;
};

/// Bytes in the datatype that a call makes: the product of the factors times the size of the
/// parameter `type`; pairwise: counts of the factor's array times sizes of the array `type`,
/// summed.
struct TypeSize {
  struct Factor {
    enum class Rule : std::uint8_t { kValue, kSum, kProduct };
    Rule rule = Rule::kValue;
    std::uint8_t param = 0;
  };
  std::int8_t type = -1;  ///< -1: the size is not known
  bool pairwise = false;
  std::uint8_t factor_count = 0;
  std::array<Factor, 2> factors{};
};

struct CallMeaning {
  std::uint16_t form_of;  ///< id of the call that it is another form of, or its own
  std::uint16_t basic;    ///< id of the blocking call with int counts at the end of such steps
  Movement movement;
  Waits waits;
  bool over_result;  ///< members of the communicator made take part, not those of one passed in
  BufferParams sent, received;
  TypeSize size;
};

namespace detail {

inline constexpr CallMeaning kMeanings[] = {
#define CHAMELEON_MEANING(...) CallMeaning{__VA_ARGS__},
#include "call_meaning.inc"  // generated
#undef CHAMELEON_MEANING
};

}  // namespace detail

/// The meaning of a call of the table.
constexpr const CallMeaning& meaning_of(const CallInfo& call) {
  return detail::kMeanings[detail::kRowOfId[call.id]];
}

/// The parameter with the one datatype that a call makes, and nothing else, or -1.
constexpr int made_datatype(const CallInfo& call) {
  if (!has(call, Attribute::kCreates)) return -1;
  int made = -1, outs = 0, at = 0;
  for (const ParamInfo& param : params(call)) {
    if (param.direction == Direction::kOut) {
      ++outs;
      const bool one = param.length.rule == Length::Rule::kScalar;
      if (param.kind == Kind::kDatatype && one) made = at;
    }
    ++at;
  }
  return outs == 1 ? made : -1;
}

/// It is no call of the program: it says what an object is, and a replay makes such an object.
constexpr bool is_discovery(const CallInfo& call) { return call.version[0] == '0'; }

/// The call that this one is a form of, as it is named without `_c`: of Ibcast_c, Ibcast.
constexpr const CallInfo& without_large_counts(const CallInfo& call) {
  return has(call, Attribute::kLargecount)
             ? *find_call(static_cast<CallId>(meaning_of(call).form_of))
             : call;
}

}  // namespace chameleon::mpi
