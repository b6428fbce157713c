// SPDX-License-Identifier: BSD-3-Clause
#include "times_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common.h"

namespace chameleon::tools {
namespace {

std::string within(double spread) { return "within " + share_text(spread); }

std::string of_class_text(const Trace& trace, const TimeClass& one) {
  return one.streams.size() == 1
             ? "its own"
             : "those of " + streams_text(trace, one.streams) + ", " + within(one.spread);
}

}  // namespace

std::string times_text(const Trace& trace) {
  const std::vector<TimeClass>& classes = trace.times.classes();
  if (classes.empty()) return "";
  double spread = 0;
  for (const TimeClass& one : classes) spread = std::max(spread, one.spread);
  if (std::all_of(classes.begin(), classes.end(),
                  [](const TimeClass& one) { return one.streams.size() == 1; }))
    return "of every rank";
  return "of " + count_text(classes.size()) +
         (classes.size() == 1 ? " class of ranks, members " : " classes of ranks, members ") +
         within(spread);
}

std::vector<std::string> time_class_lines(const Trace& trace) {
  std::vector<std::string> lines;
  RankList alone;
  for (const TimeClass& one : trace.times.classes())
    if (one.streams.size() > 1)
      lines.push_back(streams_text(trace, one.streams) + ", " + within(one.spread));
    else
      alone.merge(one.streams);
  if (!lines.empty() && !alone.empty())
    lines.push_back(streams_text(trace, alone) +
                    (alone.size() == 1 ? ", its own" : ", each its own"));
  return lines;
}

std::string times_of_rank_text(const Trace& trace, std::uint32_t rank) {
  if (trace.times.empty()) return "";
  std::string text;
  for (const std::uint32_t stream : trace.streams_of(rank)) {
    const std::uint32_t number = trace.times.class_of(stream);
    if (number == ClassTimes::kAll) continue;
    text += text.empty() ? "" : "; ";
    text += of_class_text(trace, trace.times.classes()[number]);
  }
  return text.empty() ? "not known" : text;
}

std::vector<std::string> times_of_lines(const Trace& trace, const RankList& streams) {
  std::vector<std::string> lines;
  for (const TimeClass& one : trace.times.classes())
    if (const RankList mine = one.streams.intersection(streams); !mine.empty())
      lines.push_back(streams_text(trace, mine) + ": " + of_class_text(trace, one));
  return lines;
}

nlohmann::ordered_json times_of_json(const Trace& trace, const RankList& streams) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (const TimeClass& one : trace.times.classes())
    if (const RankList mine = one.streams.intersection(streams); !mine.empty())
      classes.push_back(
          {{"ranks", mine.to_string()}, {"of", one.streams.to_string()}, {"spread", one.spread}});
  return classes;
}

nlohmann::ordered_json time_classes_json(const Trace& trace) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (const TimeClass& one : trace.times.classes())
    classes.push_back({{"ranks", one.streams.to_string()}, {"spread", one.spread}});
  return classes;
}

nlohmann::ordered_json totals_json(const Trace& trace) {
  using Json = nlohmann::ordered_json;
  Json totals = Json::array();
  for (const PhaseTotals::Entry& entry : trace.totals.entries())
    for (const auto& [phase, spent] : entry.phases) {
      Json& row = totals.emplace_back(Json{{"ranks", entry.ranks.to_string()}, {"phase", nullptr}});
      if (phase != PhaseTotals::kNoPhase) row["phase"] = phase;
      for (std::size_t i = 0; i < kSpentTimes.size(); ++i)
        row[std::string(kSpentTimeNames[i]) + "_seconds"] =
            1e-9 * static_cast<double>(spent.*kSpentTimes[i]);
    }
  return totals;
}

}  // namespace chameleon::tools
