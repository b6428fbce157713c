// SPDX-License-Identifier: BSD-3-Clause
/// One reading of all events in time: matrix, message sizes, and the timeline, which is
/// an overview of all ranks in cells and single calls of some ranks, a track a thread, in a part
/// of the run.

#include <algorithm>
#include <array>
#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <set>

#include "analysis/timeline.h"
#include "tools/common.h"
#include "tools/progress.h"
#include "tools/report/report.h"

namespace chameleon::tools::report {
namespace {

constexpr std::size_t kColumns = 512;
constexpr std::size_t kMostRows = 256;
constexpr std::size_t kMostTracks = 64;      ///< ranks shown call by call
constexpr std::uint64_t kMostCalls = 30000;  ///< about so many calls shown
constexpr std::size_t kMostArrows = 20000;
constexpr std::size_t kMostSizes = 2000;

std::string base64(const std::vector<std::uint8_t>& bytes) {
  namespace iterators = boost::archive::iterators;
  using Letters = iterators::base64_from_binary<
      iterators::transform_width<std::vector<std::uint8_t>::const_iterator, 6, 8>>;
  std::string text(Letters(bytes.begin()), Letters(bytes.end()));
  return text.append((3 - bytes.size() % 3) % 3, '=');
}

/// Time in calls of each kind, by row of ranks and column of time. The width of a column
/// doubles whenever the run turns out longer than was thought.
class Overview {
 public:
  /// `threads`: of each rank.
  Overview(std::vector<std::size_t> threads, double expected_ns)
      : threads_(std::move(threads)),
        ranks_(threads_.size()),
        ranks_per_row_(std::max<std::size_t>((ranks_ + kMostRows - 1) / kMostRows, 1)),
        rows_((ranks_ + ranks_per_row_ - 1) / ranks_per_row_),
        width_(std::max<std::uint64_t>(static_cast<std::uint64_t>(expected_ns / kColumns) + 1, 1)),
        cells_(rows_ * kColumns) {}

  void add(std::size_t index, std::size_t kind, std::uint64_t begin, std::uint64_t end) {
    while (end > width_ * kColumns) halve();
    Cell* row = &cells_[index / ranks_per_row_ * kColumns];
    while (begin < end) {
      const std::uint64_t column = begin / width_;
      const std::uint64_t until = std::min(end, (column + 1) * width_);
      row[column][kind] += until - begin;
      begin = until;
    }
  }

  Json write(std::uint64_t end_ns) const {
    const std::size_t columns =
        std::clamp<std::uint64_t>((end_ns + width_ - 1) / width_, 1, kColumns);
    std::vector<std::uint8_t> share, kind;
    for (std::size_t row = 0; row < rows_; ++row) {
      std::size_t here = 0;  // threads
      for (std::size_t i = 0; i < ranks_per_row_ && row * ranks_per_row_ + i < ranks_; ++i)
        here += threads_[row * ranks_per_row_ + i];
      for (std::size_t column = 0; column < columns; ++column) {
        const Cell& cell = cells_[row * kColumns + column];
        std::uint64_t sum = 0;
        for (const std::uint64_t ns : cell) sum += ns;
        const double whole = static_cast<double>(width_) * static_cast<double>(here);
        share.push_back(static_cast<std::uint8_t>(
            std::min(255.0, 255.0 * static_cast<double>(sum) / whole + 0.5)));
        kind.push_back(
            static_cast<std::uint8_t>(std::max_element(cell.begin(), cell.end()) - cell.begin()));
      }
    }
    return {{"rows", rows_},       {"ranks_per_row", ranks_per_row_}, {"columns", columns},
            {"column_ns", width_}, {"share", base64(share)},          {"kind", base64(kind)}};
  }

 private:
  using Cell = std::array<std::uint64_t, kCallKinds>;

  void halve() {
    width_ *= 2;
    for (std::size_t row = 0; row < rows_; ++row) {
      Cell* cells = &cells_[row * kColumns];
      for (std::size_t column = 0; column < kColumns; ++column) {
        Cell sum{};
        if (2 * column + 1 < kColumns)
          for (std::size_t kind = 0; kind < kCallKinds; ++kind)
            sum[kind] = cells[2 * column][kind] + cells[2 * column + 1][kind];
        cells[column] = sum;
      }
    }
  }

  std::vector<std::size_t> threads_;
  std::size_t ranks_, ranks_per_row_, rows_;
  std::uint64_t width_;
  std::vector<Cell> cells_;
};

/// Calls of some ranks, one by one, in a part of the run.
class Detail {
 public:
  Detail(const Trace& trace, const Load& load, Sites& sites) : trace_(trace), sites_(sites) {
    choose(load);
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
    if (track == track_.end() || event.end_ns < begin_ || event.begin_ns >= end_) return;
    if (++calls_ > 2 * kMostCalls) return;
    Track& to = tracks_[track->second];
    const CallDescription& call = event.at->call();
    const auto [name, fresh] = names_.try_emplace(call.name, names_.size());
    if (fresh) kinds_.push_back(call_kind(call));
    to.begin.push_back(event.begin_ns - to.last);
    to.length.push_back(event.end_ns - event.begin_ns);
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
    std::uint64_t last = 0;
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
      json.push_back(Json::array(
          {wait.begin_ns, wait.end_ns - wait.begin_ns, static_cast<std::size_t>(wait.kind)}));
    return json;
  }

  // All ranks if they are few; else leads, the ones that compute most and least, and some between.
  void choose(const Load& load) {
    std::set<std::uint32_t> chosen;
    const auto add = [&](std::uint32_t rank) {
      if (chosen.size() < kMostTracks) chosen.insert(rank);
    };
    if (load.ranks.size() > kMostTracks) {
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
  std::unordered_map<std::uint32_t, std::size_t> index;
  for (const RankLoad& one : load.ranks) index.emplace(one.rank, index.size());
  std::unordered_map<const CallDescription*, std::size_t> kinds;
  std::vector<std::size_t> threads;
  for (const RankLoad& one : load.ranks) threads.push_back(trace.streams_of(one.rank).size());
  Overview overview(std::move(threads), load.longest_ns);
  Detail detail(trace, load, sites);
  Progress progress("report", trace.event_count());
  const bool timed = !lacks_times(trace);
  PlaceWaits place_waits(trace, [&](const WaitSpan& wait) { detail.add(wait); });
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
    overview.add(index[event.rank()], kind->second, event.begin_ns, event.end_ns);
    detail.add(event);
  });
  if (!facts) return facts.error();

  Events result;
  if (timed) {
    result.waits = waits(trace, place_waits.finish(*facts), sites);
    result.critical = critical(trace, path.finish(), sites);
  }
  builder.matrix.unmodelled = facts->unmodelled;
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
                     {"overview", overview.write(facts->end_ns)},
                     {"detail", detail.write(facts->end_ns)}};
  return result;
}

}  // namespace chameleon::tools::report
