// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Facts about the ranks and the run, in addition to events. chameleon/facts.inc states
/// each fact once: here its rows become members, and descriptions that code iterates
/// over (`for_each_rank_fact`), so that no other code names a fact that it does not
/// use.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace chameleon::inline model {

/// How parts of a trace become one that have a fact of the same rank, or of the run. The file
/// stores the number.
enum class Join : std::uint8_t {
  kSum,
  kMost,
  kFirst,  ///< the first part's that is not 0 or empty
  kLast,   ///< the last part's that is not 0 or empty
  kHost,   ///< that of the first part which names a host
  kClock,  ///< that of the part which compared clocks most often
};
inline constexpr const char* kJoinNames[] = {"sum", "most", "first", "last", "host", "clock"};

/// A row of the table.
struct Fact {
  const char* name;
  const char* unit;
  Join join;
  const char* since;  ///< version of the format
  const char* meaning;
  bool is_text;

  /// N of the version 1.N that the fact came with.
  constexpr unsigned since_minor() const {
    unsigned minor = 0;
    for (const char* digit = since + 2; *digit != 0; ++digit)
      minor = 10 * minor + static_cast<unsigned>(*digit - '0');
    return minor;
  }
};

/// A rank's clock beside rank 0's: where it shows t ns, rank 0's shows
/// begin_ns + t + t * drift_ppb / 10^9, to within error_ns.
struct RankClock {
  std::uint64_t samples = 0;  ///< times it was compared; 0: not known
  std::int64_t begin_ns = 0;
  std::int64_t drift_ppb = 0;
  std::uint64_t error_ns = 0;
  bool operator==(const RankClock&) const = default;
};

/// The facts of one rank.
struct RankFacts {
#define CHAMELEON_RANK_FACT(type, name, unit, join, since, meaning) type name{};
#include "chameleon/facts.inc"

  bool operator==(const RankFacts&) const = default;

  RankClock clock() const {
    return {clock_samples, clock_begin_ns, clock_drift_ppb, clock_error_ns};
  }
  void set_clock(const RankClock& clock) {
    clock_samples = clock.samples;
    clock_begin_ns = clock.begin_ns;
    clock_drift_ppb = clock.drift_ppb;
    clock_error_ns = clock.error_ns;
  }
  /// Tool time at markers that led to a state: AT, C, L, F.
  std::uint64_t& tool_ns_in(std::size_t state) {
    std::uint64_t* const times[] = {&tool_at_ns, &tool_c_ns, &tool_l_ns, &tool_f_ns};
    return *times[state];
  }
  std::uint64_t tool_ns_in(std::size_t state) const {
    const std::uint64_t times[] = {tool_at_ns, tool_c_ns, tool_l_ns, tool_f_ns};
    return times[state];
  }
  /// The part of it that was waiting for other ranks' work.
  std::uint64_t& idle_ns_in(std::size_t state) {
    std::uint64_t* const times[] = {&idle_at_ns, &idle_c_ns, &idle_l_ns, &idle_f_ns};
    return *times[state];
  }
  std::uint64_t idle_ns_in(std::size_t state) const {
    const std::uint64_t times[] = {idle_at_ns, idle_c_ns, idle_l_ns, idle_f_ns};
    return times[state];
  }
};

/// The program and the tool of the run.
struct RunFacts {
#define CHAMELEON_RUN_FACT(type, name, unit, join, since, meaning) type name{};
#include "chameleon/facts.inc"
};

/// The facts of how a trace came about while the program ran.
struct MarkerFacts {
#define CHAMELEON_ONLINE_FACT(type, name, unit, join, since, meaning) type name{};
#include "chameleon/facts.inc"

  MarkerFacts() { call_frequency = 1; }
  /// Markers acted on that led to a state: AT, C, L, F.
  std::uint64_t& count(std::size_t state) {
    std::uint64_t* const counts[] = {&count_at, &count_c, &count_l, &count_f};
    return *counts[state];
  }
};

inline constexpr Fact kRankFacts[] = {
#define CHAMELEON_RANK_FACT(type, name, unit, join, since, meaning) \
  {#name, unit, Join::join, since, meaning, std::is_same_v<type, std::string>},
#include "chameleon/facts.inc"
};
inline constexpr Fact kRunFacts[] = {
#define CHAMELEON_RUN_FACT(type, name, unit, join, since, meaning) \
  {#name, unit, Join::join, since, meaning, std::is_same_v<type, std::string>},
#include "chameleon/facts.inc"
};
inline constexpr Fact kOnlineFacts[] = {
#define CHAMELEON_ONLINE_FACT(type, name, unit, join, since, meaning) \
  {#name, unit, Join::join, since, meaning, std::is_same_v<type, std::string>},
#include "chameleon/facts.inc"
};

/// Calls f(row, member) for each fact of a rank, in the order of the table: `facts.*member` is it.
template <class F>
void for_each_rank_fact(F f) {
  const Fact* row = kRankFacts;
#define CHAMELEON_RANK_FACT(type, name, unit, join, since, meaning) f(*row++, &RankFacts::name);
#include "chameleon/facts.inc"
}
/// The same of the run.
template <class F>
void for_each_run_fact(F f) {
  const Fact* row = kRunFacts;
#define CHAMELEON_RUN_FACT(type, name, unit, join, since, meaning) f(*row++, &RunFacts::name);
#include "chameleon/facts.inc"
}
template <class F>
void for_each_online_fact(F f) {
  const Fact* row = kOnlineFacts;
#define CHAMELEON_ONLINE_FACT(type, name, unit, join, since, meaning) f(*row++, &MarkerFacts::name);
#include "chameleon/facts.inc"
}

/// Which of two parts the facts of the node and of the clock are taken from.
struct Precedence {
  bool host = false, clock = false;  ///< true: from the second
};
inline Precedence precedence(const RankFacts& first, const RankFacts& second) {
  return {first.host.empty(), first.clock_samples < second.clock_samples};
}

/// One value of two parts'. Numbers wrap.
template <class T>
T joined(const T& first, const T& second, Join how, Precedence second_holds) {
  switch (how) {
    case Join::kSum:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(first) +
                              static_cast<std::uint64_t>(second));
      else
        break;
    case Join::kMost: return first < second ? second : first;
    case Join::kFirst: break;
    case Join::kLast: return second == T{} ? first : second;
    case Join::kHost: return second_holds.host ? second : first;
    case Join::kClock: return second_holds.clock ? second : first;
  }
  return first == T{} ? second : first;
}

/// Joins what a rank says in another part of its trace.
void join(RankFacts& first, const RankFacts& second);
void join(RunFacts& first, const RunFacts& second);

}  // namespace chameleon::inline model
