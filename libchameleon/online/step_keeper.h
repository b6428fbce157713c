// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The steps of a program whose markers are not all acted on: what each rank took from one marker
/// to the next. A rank notes it at every marker by itself (step_log.h). At a flush, where ranks
/// meet anyway, the tallies over ranks go up the tree: one message of 216 bytes a span.
///
/// Where a span has several steps, each rank names its slowest. Of the one in which some rank was
/// busy longest the series has what those ranks took that name it, too: all of them where the
/// others waited; sums over ranks are as if the rest had taken as long.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/series.h"
#include "online/ranks.h"

namespace chameleon::online {

/// A span of steps, over ranks.
struct StepTally {
  struct Took {
    RankExtent compute, communication, busy;

    void add(const Took& other) {
      compute.add(other.compute);
      communication.add(other.communication);
      busy.add(other.busy);
    }
  };
  std::uint64_t steps = 1;
  Took all, worst;            ///< of all steps, and of the slowest
  std::uint64_t slowest = 0;  ///< the marker that ends the slowest step
  std::uint64_t ranks = 1;    ///< that name it

  static Took took(const IntervalTally& tally) {
    return {tally.compute, tally.communication, tally.busy};
  }
  static StepTally of(const SeriesSpan& span) {
    return {span.intervals, took(span.all), took(span.worst), span.slowest, 1};
  }

  void add(const StepTally& other) {
    all.add(other.all);
    if (other.slowest == slowest) {
      worst.add(other.worst);
      ranks += other.ranks;
    } else if (std::pair(other.worst.busy.most_ns, ~other.slowest) >
               std::pair(worst.busy.most_ns, ~slowest)) {
      worst = other.worst;
      slowest = other.slowest;
      ranks = other.ranks;
    }
  }

  /// Into a span that has the same steps, of so many ranks.
  void put(SeriesSpan& span, std::uint32_t size) const {
    const auto set = [](IntervalTally& tally, const Took& from) {
      tally.compute = from.compute;
      tally.communication = from.communication;
      tally.busy = from.busy;
    };
    set(span.all, all);
    set(span.worst, worst);
    span.slowest = slowest;
    for (RankExtent* const part :
         {&span.worst.compute, &span.worst.communication, &span.worst.busy})
      part->sum_ns = part->sum_ns / ranks * size + part->sum_ns % ranks * size / ranks;
  }
};
static_assert(sizeof(StepTally) == 216);

template <class World>
class StepKeeper {
 public:
  /// On every rank, at every marker.
  static void note(std::uint32_t rank, Member& member, std::uint64_t marker, std::uint64_t now_ns) {
    member.steps.add(rank, marker, now_ns, member.rank->marker_log().step_times());
  }

  /// Collective: of all ranks, up to the marker where they are; on rank 0, and nothing elsewhere.
  static std::vector<SeriesSpan> collect(World& world, Members<World>& members) {
    std::vector<SeriesSpan> spans;
    auto tallies = world.map(members, [&](std::uint32_t rank, Member& member) {
      std::vector<SeriesSpan> own = member.steps.take();
      std::vector<StepTally> tally;
      tally.reserve(own.size());
      for (const SeriesSpan& span : own) tally.push_back(StepTally::of(span));
      if (rank == 0) spans = std::move(own);
      return tally;
    });
    const auto all = world.reduce(
        std::move(tallies), [](std::vector<StepTally>& mine, std::vector<StepTally>&& theirs) {
          // Markers may be uneven: then only the spans that are the same on all ranks are known.
          std::size_t same = 0;
          for (; same < std::min(mine.size(), theirs.size()); ++same) {
            if (mine[same].steps != theirs[same].steps) break;
            mine[same].add(theirs[same]);
          }
          mine.resize(same);
        });
    spans.resize(all ? std::min(spans.size(), all->size()) : 0);
    for (std::size_t i = 0; i < spans.size(); ++i) (*all)[i].put(spans[i], world.size());
    return spans;
  }
};

}  // namespace chameleon::online
