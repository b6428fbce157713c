// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Counts, times and bytes of each call and each call path, over some ranks: what
/// `chameleon stats` prints and `chameleon report` shows. Times are those of
/// place_times.h. O(nodes x ranks), with full timing O(events).

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/declared.h"
#include "analysis/place_times.h"
#include "analysis/sent_bytes.h"
#include "base/result.h"
#include "format/file.h"

namespace chameleon::tools {

struct StatisticsRow {
  std::string call;
  std::uint64_t path = 0;
  std::uint64_t count = 0, bytes = 0;
  double compute_ns = 0, call_ns = 0;
  RankList ranks;

  double mean_ns() const { return count == 0 ? 0 : call_ns / static_cast<double>(count); }
  void add(const StatisticsRow& other);
};

struct Statistics {
  /// Statistics of the streams in `streams`. Error: the trace is damaged.
  static Result<Statistics> make(const Trace& trace, const RankList& streams);

  std::map<std::string, StatisticsRow> calls;
  std::map<std::pair<std::uint64_t, std::string>, StatisticsRow> paths;
  std::map<const Node*, StatisticsRow> nodes;  ///< events
  NodeTimes times;                             ///< of the same nodes
  StatisticsRow total;
  std::uint64_t node_count = 0;
  bool bytes_complete = true;  ///< false: bytes are a lower bound
  RankList streams;            ///< whose these are
  /// Events of ranks declared inexact in them, by kind.
  std::array<std::uint64_t, kInexactKinds.size()> given_up{};

  bool exact() const;
  double given_up_share(std::size_t kind) const;
  /// Those of the trace that concern these ranks.
  std::vector<Declaration> declarations(const Trace& trace) const;

 private:
  void add(const Trace& trace, const SentBytes& sent, const std::vector<Node>& list,
           const RankList& around, const std::vector<Inexact>& declared_around);
  void give_up(const Node& node, const RankList& ranks, const std::vector<Inexact>& inexact);
};

/// Longest first; without times, most frequent first.
template <class Map>
std::vector<StatisticsRow> sorted_rows(const Map& map) {
  std::vector<StatisticsRow> rows;
  for (const auto& [key, row] : map) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [](const StatisticsRow& a, const StatisticsRow& b) {
    return a.call_ns != b.call_ns ? a.call_ns > b.call_ns : a.count > b.count;
  });
  return rows;
}

/// The output of `chameleon stats --json`, `by` call or path, and `chameleon info --json`.
nlohmann::ordered_json statistics_document(const Trace& trace, const FileFacts& file,
                                           const Statistics& statistics, const std::string& by);
nlohmann::ordered_json info_document(const Trace& trace, const FileFacts& file);

}  // namespace chameleon::tools
