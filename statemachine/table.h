// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The state graph as one table. `kStateTable` is read from above: the first row
/// that fits a cell decides; a static assertion holds that one fits every cell,
/// impossible ones included. docs/reference/states.md shows the table as it is
/// here, and a test compares. It is the graph of Figure 5.1 as the text of
/// section 5.1 describes it (Bahmani, "Scalable Communication Tracing via
/// Clustering", 2017), not Algorithm 6 as printed: line 29 there compares where
/// it should assign, so that a second clustering never happens, and AT is
/// returned for a steady lead phase. Cost of a look-up: a dozen comparisons.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::statemachine {

/// The states of Figure 5.1.
enum class State : std::uint8_t { kAllTracing, kClustering, kLead, kFinalize };

/// The action at a marker. *Partial* and *open* are a rank's folded traces of the closed intervals
/// and of the current one.
enum class Action : std::uint8_t {
  kRemember,            ///< the first marker: every rank keeps `open`
  kClusterAndElect,     ///< cluster and merge the pending history; elect leads by this interval
  kJoin,                ///< leads keep `open`, the others as the fidelity says
  kFlushAndKeep,        ///< flush `partial` under the current clusters; `open` becomes `partial`
  kKeep,                ///< every rank keeps `open`
  kJoinAndFlush,        ///< as kJoin, then flush under the current clusters; clusters stay
  kFlushHistory,        ///< every rank keeps `open`; cluster and merge the history, elect no leads
  kFlushAndElect,       ///< as kFlushAndKeep, then cluster, merge and elect by this interval
  kTake,                ///< the phase's clusters hold again, but every rank keeps its intervals, as
                        ///< it did in AT, until a flush is due
  kTakeAndFlush,        ///< as kTake, then flush the history
  kSwitch,              ///< as kJoin, if the current clusters serve this phase too. Otherwise they
                        ///< and the phase's become joint ones, before which `partial` is flushed if
                        ///< it represents others. Too many: every rank keeps until a flush is due
  kSwitchAndFlush,      ///< as kSwitch, then flush under the phase's clusters
  kStandAlone,          ///< as kJoin, but ranks that stray, and the ranks of leads that do, keep
                        ///< `open`. If they dropped intervals, `partial` is flushed first
  kStandAloneAndFlush,  ///< as kStandAlone, then flush under the current clusters; clusters stay
  kFinish,              ///< flush under the current clusters, cluster and merge every rank's tail
  kStop                 ///< markers stop everywhere; every rank keeps `open` until finalize
};

/// Whether ranks wait for each other in it: they flush, or may. In kStandAlone they do only if a
/// rank that strays has dropped intervals, and in kSwitch if leads hold something for others and
/// are to lead other ranks.
constexpr bool is_collective(Action action) {
  return action != Action::kRemember && action != Action::kJoin && action != Action::kKeep &&
         action != Action::kTake && action != Action::kStandAlone && action != Action::kFinish &&
         action != Action::kStop;
}

/// How many ranks stray: their Call-Path is not that by which they were clustered or, without
/// clusters, not that of their previous interval.
enum class Astray : std::uint8_t { kNone, kFew, kMany };

/// A situation in which a decision is asked for.
struct Cell {
  bool finalize = false;  ///< MPI_Finalize, not a marker
  bool stopped = false;   ///< markers have stopped
  bool halt = false;      ///< some rank is finalizing or has a fault
  bool first = false;     ///< no marker was acted on before
  bool changed = false;   ///< some rank's Call-Path signature changed
  Astray astray = Astray::kNone;
  bool recluster = false;  ///< there are no current clusters: the next steady interval makes them
  bool flush_due = false;  ///< the online trace was not written for long
  bool seen = false;       ///< an interval of this phase, by all ranks' Call-Paths, came before
  bool known = false;      ///< and leads were elected by one: its clusters are in the dictionary

  friend constexpr bool operator==(const Cell&, const Cell&) = default;
};

enum class When : std::uint8_t { kAny, kNo, kYes };
enum class Strays : std::uint8_t { kAny, kNone, kFew, kMany };
enum class Recluster : std::uint8_t { kStays, kClear, kSet };

struct TableRow {
  When finalize, stopped, halt, first, changed;
  Strays astray;
  When recluster, flush_due, seen, known;
  State state;
  Action action;
  Recluster then;

  static constexpr bool fits(When when, bool value) {
    return when == When::kAny || (when == When::kYes) == value;
  }
  static constexpr bool fits(Strays strays, Astray value) {
    return strays == Strays::kAny || static_cast<int>(strays) == static_cast<int>(value) + 1;
  }
  constexpr bool fits(const Cell& cell) const {
    return fits(finalize, cell.finalize) && fits(stopped, cell.stopped) && fits(halt, cell.halt) &&
           fits(first, cell.first) && fits(changed, cell.changed) && fits(astray, cell.astray) &&
           fits(recluster, cell.recluster) && fits(flush_due, cell.flush_due) &&
           fits(seen, cell.seen) && fits(known, cell.known);
  }
};

namespace table_detail {
constexpr When any = When::kAny, no = When::kNo, yes = When::kYes;
constexpr Strays who = Strays::kAny, none = Strays::kNone, few = Strays::kFew, many = Strays::kMany;
constexpr State AT = State::kAllTracing, C = State::kClustering, L = State::kLead,
                F = State::kFinalize;
constexpr Recluster stays = Recluster::kStays, clear = Recluster::kClear, set = Recluster::kSet;
}  // namespace table_detail

// The entry of a phase is considered before many ranks that stray: a phase that returns is not
// traced by all ranks again. Few ranks that stray take their own way until no rank changes beside
// them. A steady interval without clusters is row C also when a flush is due: C merges the history,
// and with a flush due at every marker the graph would otherwise never leave AT.
inline constexpr auto kStateTable = [] {
  using namespace table_detail;
  // clang-format off
  return std::to_array<TableRow>({
      // finalize, stopped, halt, first, changed, astray, recluster, flush_due, seen, known
      {yes, any, any, any, any, who, any, any, any, any, F, Action::kFinish, stays},
      {no, yes, any, any, any, who, any, any, any, any, AT, Action::kStop, stays},
      {no, no, yes, any, any, who, any, any, any, any, AT, Action::kStop, stays},
      {no, no, no, yes, any, who, any, no, any, any, AT, Action::kRemember, set},
      {no, no, no, yes, any, who, any, yes, any, any, AT, Action::kFlushHistory, set},
      {no, no, no, no, any, none, no, no, any, any, L, Action::kJoin, stays},
      {no, no, no, no, any, none, no, yes, any, any, L, Action::kJoinAndFlush, stays},
      {no, no, no, no, yes, few, no, no, any, any, L, Action::kStandAlone, stays},
      {no, no, no, no, yes, few, no, yes, any, any, L, Action::kStandAloneAndFlush, stays},
      {no, no, no, no, any, who, yes, no, any, yes, L, Action::kTake, clear},
      {no, no, no, no, any, who, yes, yes, any, yes, L, Action::kTakeAndFlush, clear},
      {no, no, no, no, any, who, no, no, any, yes, L, Action::kSwitch, stays},
      {no, no, no, no, any, who, no, yes, any, yes, L, Action::kSwitchAndFlush, stays},
      {no, no, no, no, no, few, no, any, any, no, C, Action::kFlushAndElect, stays},
      {no, no, no, no, any, none, yes, any, any, no, C, Action::kClusterAndElect, clear},
      {no, no, no, no, any, few, yes, any, any, no, C, Action::kClusterAndElect, clear},
      {no, no, no, no, any, many, yes, any, yes, no, C, Action::kClusterAndElect, clear},
      {no, no, no, no, any, many, no, any, yes, no, C, Action::kFlushAndElect, stays},
      {no, no, no, no, any, many, no, any, no, no, AT, Action::kFlushAndKeep, set},
      {no, no, no, no, any, many, yes, no, no, no, AT, Action::kKeep, stays},
      {no, no, no, no, any, many, yes, yes, no, no, AT, Action::kFlushHistory, stays},
  });
  // clang-format on
}();

/// The cell of a number below `kCells`: nine answers are its bits, and above them stands who
/// strays.
constexpr Cell cell_of(unsigned number) {
  const auto bit = [number](unsigned place) { return (number >> place & 1) != 0; };
  return {bit(8), bit(7), bit(6), bit(5), bit(4), static_cast<Astray>(number >> 9),
          bit(3), bit(2), bit(1), bit(0)};
}
inline constexpr unsigned kCells = 3 * 512;

/// The index of the first row that fits; the number of rows if none does.
constexpr std::size_t row_of(const Cell& cell) {
  std::size_t row = 0;
  while (row < kStateTable.size() && !kStateTable[row].fits(cell)) ++row;
  return row;
}

static_assert(
    [] {
      std::array<bool, kStateTable.size()> used{};
      for (unsigned number = 0; number < kCells; ++number) {
        const std::size_t row = row_of(cell_of(number));
        if (row == kStateTable.size()) return false;
        used[row] = true;
      }
      for (const bool row : used)
        if (!row) return false;
      return true;
    }(),
    "a row for every cell, a cell for every row");

}  // namespace chameleon::statemachine
