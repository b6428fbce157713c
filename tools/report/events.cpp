// SPDX-License-Identifier: BSD-3-Clause
/// One reading of all events in time: matrix, message sizes, and the timeline, which is
/// an overview of all ranks in cells and single calls of some ranks, a track a thread, in a part
/// of the run.

#include <algorithm>
#include <array>
#include <set>

#include "analysis/timeline.h"
#include "base/time_between.h"
#include "tools/common.h"
#include "tools/progress.h"
#include "tools/report/report.h"
#include "tools/report/time_cells.h"

namespace chameleon::tools::report {
namespace {

constexpr std::size_t kMostTracks = 64;      ///< ranks shown call by call
constexpr std::uint64_t kMostCalls = 30000;  ///< about so many calls shown
constexpr std::size_t kMostArrows = 20000;
constexpr std::size_t kMostSizes = 2000;

/// Calls of some ranks, one by one, in a part of the run.
class Detail {
 public:
  /// `wanted`: ranks that are to be shown; empty: those that say most.
  Detail(const Trace& trace, const Load& load, const RankList& wanted, Sites& sites)
      : trace_(trace), sites_(sites) {
    choose(load, wanted);
    double calls = 0;
    for (const RankLoad& one : load.ranks)
      if (track_.contains(one.rank)) calls += one.events;
    const double run = load.longest_ns;
    end_ = UINT64_MAX;
    all_ = calls <= kMostCalls;
    if (all_) return;
    const double length = run * kMostCalls / calls;
    begin_ = static_cast<std::uint64_t>((run - length) / 2);
    end_ = begin_ + static_cast<std::uint64_t>(length) + 1;
  }

  void add(const TimedEvent& event) {
    const auto track = track_.find(event.stream());
    if (track == track_.end()) return;
    Track& of = tracks_[track->second];
    of.first = std::min(of.first, event.begin_ns);
    of.end = std::max(of.end, event.end_ns);
    if (event.end_ns < begin_ || event.begin_ns >= end_) return;
    if (++calls_ > 2 * kMostCalls) return;
    Track& to = tracks_[track->second];
    const CallDescription& call = event.at->call();
    const auto [name, fresh] = names_.try_emplace(call.name, names_.size());
    if (fresh) kinds_.push_back(call_kind(call));
    to.begin.push_back(event.begin_ns - to.last);
    to.length.push_back(time_between(event.begin_ns, event.end_ns));
    to.call.push_back(name->second);
    to.site.push_back(sites_.index(event.at->event().path));
    to.last = event.begin_ns;
    for (std::size_t i = 0; i < event.at->operations().size(); ++i) {
      const Operation& operation = event.at->operations()[i];
      if (operation.kind != Operation::Kind::kReceive || event.since_ns[i] < begin_ ||
          arrows_.size() >= kMostArrows)
        continue;
      if (const auto from = track_.find(event.since_stream[i]); from != track_.end())
        arrows_.push_back(
            {from->second, event.since_ns[i], track->second, event.end_ns, operation.bytes});
    }
  }

  void add(const WaitSpan& wait) {
    const auto track = track_.find(wait.stream);
    if (track == track_.end() || wait.end_ns < begin_ || wait.begin_ns >= end_) return;
    if (++waits_ <= 2 * kMostCalls) tracks_[track->second].waits.push_back(wait);
  }

  Json write(std::uint64_t end_ns) {
    Json tracks = Json::array(), names = Json::array();
    for (Track& track : tracks_) {
      Json one = {{"rank", trace_.rank_of(track.stream)}};
      if (trace_.threads > 1) one["thread"] = trace_.thread_of(track.stream);
      one["first"] = std::min(track.first, end_ns);
      one["last"] = std::min(track.end, end_ns);
      one["begin"] = track.begin;
      one["length"] = track.length;
      one["call"] = track.call;
      one["site"] = track.site;
      one["waits"] = waits_json(track.waits);
      tracks.push_back(std::move(one));
    }
    std::vector<std::string> ordered(names_.size());
    for (const auto& [name, index] : names_) ordered[index] = name;
    for (std::size_t i = 0; i < ordered.size(); ++i)
      names.push_back({{"name", ordered[i]}, {"kind", kinds_[i]}});
    return {{"begin", begin_},           {"end", std::min(end_, end_ns)}, {"whole", all_},
            {"calls", std::move(names)}, {"tracks", std::move(tracks)},   {"messages", arrows_}};
  }

 private:
  struct Track {
    std::uint32_t stream = 0;
    std::uint64_t last = 0;                     ///< begin of the call before
    std::uint64_t first = UINT64_MAX, end = 0;  ///< of all calls, shown or not
    std::vector<WaitSpan> waits;
    std::vector<std::uint64_t> begin, length;
    std::vector<std::size_t> call, site;
  };

  // Begin, length and class of each, in time; a wait may be told late.
  static Json waits_json(std::vector<WaitSpan>& waits) {
    std::sort(waits.begin(), waits.end(),
              [](const WaitSpan& a, const WaitSpan& b) { return a.begin_ns < b.begin_ns; });
    Json json = Json::array();
    for (const WaitSpan& wait : waits)
      json.push_back(Json::array({wait.begin_ns, time_between(wait.begin_ns, wait.end_ns),
                                  static_cast<std::size_t>(wait.kind)}));
    return json;
  }

  // All ranks if they are few; else leads, the ones that compute most and least, and some between.
  void choose(const Load& load, const RankList& wanted) {
    std::set<std::uint32_t> chosen;
    const auto add = [&](std::uint32_t rank) {
      if (chosen.size() < kMostTracks) chosen.insert(rank);
    };
    if (!wanted.empty()) {
      for (const RankLoad& one : load.ranks)
        if (wanted.contains(one.rank)) add(one.rank);
    } else if (load.ranks.size() > kMostTracks) {
      const auto less = [](const RankLoad& a, const RankLoad& b) {
        return a.compute_ns < b.compute_ns;
      };
      add(load.ranks.front().rank);
      add(std::max_element(load.ranks.begin(), load.ranks.end(), less)->rank);
      add(std::min_element(load.ranks.begin(), load.ranks.end(), less)->rank);
      for (const Cluster& cluster : trace_.online.clusters) {
        if (chosen.size() > kMostTracks / 2) break;
        if (trace_.ranks.contains(cluster.lead)) add(cluster.lead);
      }
      for (std::size_t i = 0; i < kMostTracks; ++i)
        add(load.ranks[i * load.ranks.size() / kMostTracks].rank);
    } else {
      for (const RankLoad& one : load.ranks) add(one.rank);
    }
    RankList ranks;
    for (const std::uint32_t rank : chosen) ranks.insert(rank);
    for (const std::uint32_t stream : streams_by_rank(trace_, ranks)) {
      if (tracks_.size() == kMostTracks) break;
      track_[stream] = tracks_.size();
      tracks_.emplace_back();
      tracks_.back().stream = stream;
    }
  }

  const Trace& trace_;
  Sites& sites_;
  std::map<std::uint32_t, std::size_t> track_;  ///< by stream
  std::vector<Track> tracks_;
  std::map<std::string, std::size_t> names_;
  std::vector<std::string> kinds_;
  struct Arrow {
    std::size_t from;
    std::uint64_t sent;
    std::size_t to;
    std::uint64_t received;
    std::int64_t bytes;
  };
  friend void to_json(Json& json, const Arrow& arrow) {
    json = Json::array({arrow.from, arrow.sent, arrow.to, arrow.received, arrow.bytes});
  }
  std::vector<Arrow> arrows_;
  std::uint64_t begin_ = 0, end_ = 0, calls_ = 0, waits_ = 0;
  bool all_ = true;
};

}  // namespace

Result<Events> events(const Request& request, const Load& load, Sites& sites) {
  const Trace& trace = request.trace;
  const RankList ranks = trace.whole_ranks();
  MatrixBuilder builder(ranks);
  std::map<std::int64_t, std::uint64_t> sizes;
  std::unordered_map<const CallDescription*, std::size_t> kinds;
  TimeCells by_rank(trace, TimeCells::by_rank(load), load.longest_ns);
  TimeCells by_class(trace, TimeCells::by_class(trace), load.longest_ns);
  Detail detail(trace, load, request.wanted, sites);
  Progress progress("report", trace.event_count());
  const bool timed = !lacks_times(trace);
  PlaceWaits place_waits(trace, [&](const WaitSpan& wait) {
    detail.add(wait);
    by_rank.add_wait(wait);
    by_class.add_wait(wait);
  });
  CriticalPathBuilder path(ranks.size());

  const Result<TimelineFacts> facts = run_timeline(trace, ranks, [&](const TimedEvent& event) {
    progress.step();
    builder.add(*event.at);
    if (timed) {
      place_waits.add(event);
      path.add(event);
    }
    for (const Operation& operation : event.at->operations())
      if (operation.kind == Operation::Kind::kSend) ++sizes[operation.bytes];
    const auto [kind, fresh] = kinds.try_emplace(&event.at->call(), 0);
    if (fresh) kind->second = call_kind_index(event.at->call());
    by_rank.add_call(event, kind->second);
    by_class.add_call(event, kind->second);
    detail.add(event);
  });
  if (!facts) return facts.error();

  Events result;
  if (timed) {
    result.waits = waits(trace, place_waits.finish(*facts), sites);
    result.critical = critical(trace, path.finish(), sites);
  }
  builder.matrix.unmodelled = facts->unmodelled;
  take_own_waits(trace, builder.matrix);
  result.matrix = std::move(builder.matrix);
  // Too many different sizes become powers of two: the page draws those anyway.
  std::map<std::int64_t, std::uint64_t> classes;
  const bool exact = sizes.size() <= kMostSizes;
  if (!exact)
    for (const auto& [size, count] : sizes) {
      std::int64_t low = size > 0 ? 1 : 0;
      while (low > 0 && low <= size / 2) low *= 2;
      classes[low] += count;
    }
  result.sizes = {{"exact", exact}, {"sizes", Json::array()}};
  for (const auto& [size, count] : exact ? sizes : classes)
    result.sizes["sizes"].push_back({size, count});
  result.timeline = {{"text", timeline_text(trace)},
                     {"end", facts->end_ns},
                     {"moved", facts->moved},
                     {"unmatched", facts->unmatched},
                     {"wait_keys", kWaitKeys},
                     {"wait_words", kWaitWords},
                     {"has_waits", timed},
                     {"overview", by_rank.write(facts->end_ns)},
                     {"classes", by_class.write(facts->end_ns)},
                     {"detail", detail.write(facts->end_ns)}};
  return result;
}

}  // namespace chameleon::tools::report
