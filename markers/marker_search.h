// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Markers of a program that sets none. The search sees each blocking collective operation on a
/// communicator of all ranks, and chooses a kind of them: every p-th of that kind is a marker.
///
/// All ranks see the same kinds in the same order. They decide what follows from kinds alone with
/// no message: when to compare proposals (`due`), which of the operations are markers, and that a
/// loop is over. Places of calls may differ between ranks. Each rank therefore proposes a period
/// (loop_proposal.h), and the combination of all proposals decides.
/// Any number of operations of other kinds may come between markers.
///
/// A time step may have many operations of one kind, and not always as many (a solver). Then no
/// period serves. But if each rank has a place that stood so far where those of all others did, and
/// always between the same places, or behind or before one, that place is a marker: the one that
/// occurred least.
///
/// The search wants the outermost loop that still runs: among the kinds that repeated four times or
/// more, the one with most operations between its repetitions, if one takes no more than a second;
/// otherwise the one with fewest. Ranks compare after 7, 14, 28 … operations, so an outer loop
/// replaces an inner one once it has repeated. If the kind does not occur for four times as long as
/// usual, the loop is over, and the search begins again. If nothing has repeated after 56
/// operations, each of them may be a marker: then only time decides which is acted on (pace.h).
///
/// Pure. A collective takes O(1); a comparison, of which there are few, reads the last 1,024.
/// 17 KiB.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "markers/loop_proposal.h"

namespace chameleon::markers {

/// CHAMELEON_MARKERS: the program's own markers, and markers that are found after a minute without
/// one; markers that are found; none.
enum class Markers : std::uint8_t { kProgram, kAuto, kOff };

class MarkerSearch {
 public:
  enum class State : std::uint8_t {
    kWaits,       ///< for a minute without markers
    kSearches,    ///< there are no markers yet
    kFound,       ///< every `period`-th of a kind
    kByTime,      ///< nothing repeats
    kMarked,      ///< the program sets markers
    kUnlike,      ///< ranks did not see the same operations
    kUnanswered,  ///< a comparison was not answered by all in time
    kThreads      ///< several threads of a rank call MPI
  };
  static constexpr std::uint64_t kFirstComparison = 7, kGivesUpAfter = 56;
  static constexpr unsigned kLeastRepeats = 4;
  static constexpr std::uint64_t kLongestNs = 1'000'000'000;
  static constexpr std::size_t kWindow = 1024;

  explicit MarkerSearch(Markers wanted) {
    if (wanted == Markers::kAuto) begin();
  }

  State state() const { return state_; }
  /// Whether the search has ended.
  bool is_over() const { return state_ >= State::kMarked; }
  /// Number of collectives seen; and the number at which the present markers were found.
  std::uint64_t seen() const { return seen_; }
  std::uint64_t found_at() const { return found_.at; }
  /// The call of the present markers, and n if every n-th such call is a marker.
  std::uint16_t call() const { return found_.call; }
  unsigned period() const { return found_.period; }
  /// Or those from one place.
  bool by_place() const { return found_.by_place; }

  /// The next collective of all ranks. Whether it is a marker.
  bool see(const Collective& next) {
    ++seen_;
    hash_ = base::combine(hash_, next.kind);
    if (next.synchronizes) synchronized_ = seen_;
    // Preferably where all ranks wait for each other anyway: a comparison there delays no rank.
    may_compare_ = next.synchronizes || seen_ - synchronized_ > kFirstComparison;
    if (state_ == State::kWaits || is_over()) return false;
    keep(next);
    if (state_ == State::kByTime) return true;
    if (state_ != State::kFound) return false;
    if (next.kind == found_.kind) {
      found_.last = seen_;
      if (found_.by_place) return path_of(next) == found_.path;
      if (++found_.since < found_.period) return false;
      found_.since = 0;
      return true;
    }
    if (seen_ - found_.last > 4 * found_.distance + 2 * kFirstComparison) begin();
    return false;
  }

  /// Whether ranks may compare now, after the collective seen last; and whether they should.
  bool may_compare() const { return may_compare_; }
  bool due() const { return may_compare_ && seen_ >= next_ && !is_over(); }
  /// This rank's proposal for a comparison. `elapsed_ns`: since `began`.
  LoopProposal propose(std::uint64_t elapsed_ns, bool marked, bool waited, bool threads = false) {
    proposed_ = began_;
    rarest_ = rarest();
    LoopProposal mine;
    mine.kinds = hash_;
    mine.elapsed_ns = elapsed_ns;
    mine.marked = marked;
    mine.waited = waited;
    mine.threads = threads;
    mine.place.positions = rarest_.positions;
    for (std::size_t kind = 0; kind < kinds_count_; ++kind) {
      std::array<std::uint32_t, kWindow> places{};
      std::size_t count = 0;
      each_backwards([&](std::uint64_t, const Kept& kept) {
        if (kept.kind == kind) places[count++] = kept.path;
      });
      const Repetition found = repetition(std::span<const std::uint32_t>(places).first(count));
      mine.periods[kind] = found.period;
      mine.lengths[kind] = found.length;
    }
    return mine;
  }
  /// Takes the combined proposal of all ranks, at the same later collective on all of them; nothing
  /// if not all ranks sent theirs. Whether the markers change from here on.
  bool hear(const std::optional<LoopProposal>& all) {
    if (!all || !all->alike || all->marked) {
      state_ = !all ? State::kUnanswered : all->alike ? State::kMarked : State::kUnlike;
      return true;
    }
    if (all->threads && state_ <= State::kSearches) {
      state_ = State::kThreads;
      return true;
    }
    if (state_ == State::kWaits) {
      if (all->waited)
        begin();
      else
        next_ *= 2;
      return false;
    }
    if (proposed_ != began_) return false;  // of a loop that is over
    const std::uint64_t span = next_ - began_;
    next_ += span;
    if (const auto loop = choose(*all)) return take(*loop);
    if (state_ != State::kSearches || span < kGivesUpAfter) return false;
    state_ = State::kByTime;
    found_ = {};
    found_.at = seen_;
    return true;
  }
  /// How many collectives had been seen when the search last began.
  std::uint64_t began() const { return began_; }

 private:
  struct Kept {
    std::uint32_t path = 0;
    std::uint8_t kind = 0;  ///< its number; `kMostKinds` of those beyond the first
  };
  struct Kind {
    std::uint64_t kind = 0;
    std::uint16_t call = 0;
    bool synchronizes = false;
  };
  struct Found : Kind {
    unsigned period = 1, since = 0;
    std::uint64_t distance = 1;  ///< collectives from one marker to the next
    std::uint64_t last = 0;      ///< of the kind
    std::uint64_t at = 0;
    bool by_place = false;
    std::uint32_t path = 0;  ///< likewise
  };
  /// Where this rank calls, and when it did.
  struct Place {
    std::uint32_t path = 0;
    std::uint8_t kind = 0;
    std::uint32_t count = 0;
    std::uint64_t first = 0, last = 0, positions = 0;
    std::uint32_t before = 0, behind = 0;  ///< the places beside it, 0: none yet
    bool has_one_before = true, has_one_behind = true;

    std::uint64_t distance() const { return (last - first) / std::max(count - 1, 1U); }
  };
  static constexpr std::size_t kMostPlaces = 128;

  void begin() {
    state_ = State::kSearches;
    began_ = seen_;
    next_ = seen_ + kFirstComparison;
    kinds_count_ = 0;
    places_.fill({});
    noted_ = kMostPlaces;
    rarest_ = {};
    found_ = {};
  }

  static std::uint32_t path_of(const Collective& one) {
    return static_cast<std::uint32_t>(one.path ^ (one.path >> 32));
  }

  void keep(const Collective& next) {
    std::size_t number = 0;
    while (number < kinds_count_ && kinds_[number].kind != next.kind) ++number;
    if (number == kinds_count_ && number < kinds_.size())
      kinds_[kinds_count_++] = {next.kind, next.call, next.synchronizes};
    kept_[seen_ % kWindow] = {path_of(next), static_cast<std::uint8_t>(number)};
    if (number < kinds_.size()) note(path_of(next), static_cast<std::uint8_t>(number));
  }

  /// Places beyond the first are not noted.
  void note(std::uint32_t path, std::uint8_t kind) {
    const auto see = [](std::uint32_t& beside, bool& is_one, std::uint32_t now) {
      is_one = is_one && (beside == 0 || beside == now);
      beside = now;
    };
    const std::size_t former = std::exchange(noted_, kMostPlaces);
    const std::uint32_t before = former < kMostPlaces ? places_[former].path : 0;
    if (before != 0) see(places_[former].behind, places_[former].has_one_behind, path);
    const std::uint64_t hash = base::combine(path, kind);
    for (std::size_t i = 0; i < kMostPlaces; ++i) {
      const std::size_t at = (hash + i) % kMostPlaces;
      Place& place = places_[at];
      if (place.count == 0) {
        place = Place();
        place.path = path;
        place.kind = kind;
        place.first = seen_;
        place.positions = kinds_[kind].kind;
      }
      if (place.path != path || place.kind != kind) continue;
      ++place.count;
      place.last = seen_;
      place.positions = base::combine(place.positions, seen_ - began_) | 1;
      if (before != 0) see(place.before, place.has_one_before, before);
      noted_ = at;
      return;
    }
  }

  /// The place that occurred least, and still does; preferably where all ranks wait for each other,
  /// and late. None: its positions are 0.
  Place rarest() const {
    Place best;
    const auto rank = [this](const Place& one) {
      return std::tuple(one.count, !kinds_[one.kind].synchronizes, UINT64_MAX - one.last);
    };
    for (const Place& one : places_)
      if (one.count >= kLeastRepeats && (one.has_one_before || one.has_one_behind) &&
          seen_ - one.last <= 2 * one.distance() + 2 && (best.count == 0 || rank(one) < rank(best)))
        best = one;
    return best;
  }

  /// f(number of the collective, what was kept), the last first.
  template <class F>
  void each_backwards(F f) const {
    const std::uint64_t count = std::min<std::uint64_t>(seen_ - began_, kWindow);
    for (std::uint64_t i = 0; i < count; ++i) f(seen_ - i, kept_[(seen_ - i) % kWindow]);
  }

  /// From kinds and the combined proposal only: all ranks choose the same.
  std::optional<Found> choose(const LoopProposal& all) const {
    std::optional<Found> best;
    bool best_is_short = false;
    for (std::size_t number = 0; number < kinds_count_; ++number) {
      const unsigned period = all.periods[number], length = all.lengths[number];
      if (period == 0 || length < kLeastRepeats * period) continue;
      std::uint64_t last = 0, first = 0;
      unsigned count = 0;
      each_backwards([&](std::uint64_t at, const Kept& kept) {
        if (kept.kind != number || count == length) return;
        if (count++ == 0) last = at;
        first = at;
      });
      if (count < kLeastRepeats * period) continue;  // some have left the window since
      Found one{kinds_[number], period, 0, (last - first) * period / (count - 1), seen_, seen_};
      if (seen_ - last > 2 * one.distance + 2) continue;  // it no longer runs
      const bool is_short = takes_short(all, one.distance);
      if (!best || is_better(one, is_short, *best, best_is_short)) {
        best = one;
        best_is_short = is_short;
      }
    }
    if (const auto one = choose_place(all)) {
      const bool is_short = takes_short(all, one->distance);
      if (!best || (is_short == best_is_short && one->distance > best->distance && is_short) ||
          (is_short && !best_is_short))
        best = one;
    }
    return best;
  }
  /// From positions, which are the same on all ranks.
  std::optional<Found> choose_place(const LoopProposal& all) const {
    if (all.place.positions == 0 || all.place.positions != rarest_.positions) return std::nullopt;
    if (seen_ - rarest_.last > 3 * rarest_.distance() + 2) return std::nullopt;
    return Found{kinds_[rarest_.kind], 1, 0, rarest_.distance(), seen_, seen_, true, rarest_.path};
  }
  bool takes_short(const LoopProposal& all, std::uint64_t distance) const {
    const double share = static_cast<double>(distance) / static_cast<double>(seen_ - began_);
    return share * static_cast<double>(all.elapsed_ns) <= kLongestNs;
  }
  static bool is_better(const Found& one, bool is_short, const Found& best, bool best_is_short) {
    if (is_short != best_is_short) return is_short;
    if (one.distance != best.distance) return (one.distance > best.distance) == is_short;
    return one.synchronizes && !best.synchronizes;
  }

  bool take(const Found& loop) {
    if (state_ == State::kFound && loop.kind == found_.kind && loop.period == found_.period &&
        loop.by_place == found_.by_place && loop.path == found_.path) {
      found_.distance = loop.distance;
      return false;
    }
    state_ = State::kFound;
    found_ = loop;
    return true;
  }

  State state_ = State::kWaits;
  std::uint64_t seen_ = 0, began_ = 0, next_ = 1;
  std::uint64_t proposed_ = 0;      ///< in the search that began then
  std::uint64_t synchronized_ = 0;  ///< the last that is so
  std::uint64_t hash_ = 0;
  bool may_compare_ = false;
  Found found_;
  std::array<Kind, LoopProposal::kMostKinds> kinds_{};
  std::size_t kinds_count_ = 0;
  std::array<Kept, kWindow> kept_{};
  std::array<Place, kMostPlaces> places_{};
  std::size_t noted_ = kMostPlaces;  ///< the place of the last operation, if it was noted
  Place rarest_;                     ///< as proposed
};

}  // namespace chameleon::markers
