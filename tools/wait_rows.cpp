// SPDX-License-Identifier: BSD-3-Clause
#include "tools/wait_rows.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/csv.h"
#include "tools/export/export.h"
#include "tools/wait_table.h"

namespace chameleon::tools {
namespace {

constexpr double kNearlyLongest = 0.9;

struct RowSum {
  WaitTimes times;
  std::map<std::uint32_t, double> by_rank;  ///< waiting in calls
};

RankList longest_of(const RowSum& sum) {
  double most = 0;
  for (const auto& [rank, ns] : sum.by_rank) most = std::max(most, ns);
  RankList ranks;
  for (const auto& [rank, ns] : sum.by_rank)
    if (ns > 0 && ns >= kNearlyLongest * most) ranks.insert(rank);
  return ranks;
}

std::string cell(const std::string& text, std::size_t width) {
  return text.size() >= width ? " " + text : std::string(width - text.size(), ' ') + text;
}

std::string wait_text(double ns) { return ns > 0 ? duration_text(ns) : "-"; }

/// Kinds of which there are any.
std::vector<std::size_t> kinds_in(const std::vector<WaitRow>& rows) {
  std::vector<std::size_t> kinds;
  for (std::size_t kind = 0; kind < kWaitClasses; ++kind)
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const WaitRow& row) { return row.times.waited_ns[kind] > 0; }))
      kinds.push_back(kind);
  return kinds;
}

std::string head_of(const std::vector<std::size_t>& kinds, bool by_path) {
  std::string head = "call" + std::string(18, ' ') + cell("count", 13) + cell("total", 11) +
                     cell("waiting", 11) + cell("transfer", 11) + cell("excess", 11);
  for (const std::size_t kind : kinds) {
    const std::string word = kWaitWords[kind] == std::string("N×N") ? "N x N" : kWaitWords[kind];
    head += cell(word, 15);
  }
  return head + (by_path ? "  where" : "  waits longest");
}

std::string line_of(const WaitRow& row, const std::vector<std::size_t>& kinds,
                    const std::string& last) {
  std::string line = row.call + std::string(row.call.size() < 22 ? 22 - row.call.size() : 1, ' ');
  line += cell(count_text(static_cast<std::uint64_t>(row.times.events)), 13) +
          cell(duration_text(row.times.call_ns), 11) +
          cell(wait_text(row.times.in_calls_ns()), 11) +
          cell(wait_text(row.times.transfer_ns), 11) + cell(wait_text(row.times.excess_ns()), 11);
  for (const std::size_t kind : kinds) line += cell(wait_text(row.times.waited_ns[kind]), 15);
  return line + "  " + last;
}

}  // namespace

std::vector<WaitRow> wait_rows(const Trace& trace, const WaitReport& waits, const RankList& ranks,
                               bool by_path) {
  std::map<std::pair<std::string, std::uint64_t>, RowSum> sums;
  for (const PlaceWait& place : waits.places) {
    if (!ranks.contains(place.stream)) continue;
    const auto call = trace.calls.find(place.call);
    const std::string name = call == trace.calls.end() ? "?" : call->second.name;
    RowSum& sum = sums[{name, by_path ? place.path : 0}];
    sum.times.add(place.times);
    sum.by_rank[place.stream] += place.times.in_calls_ns();
  }
  std::vector<WaitRow> rows;
  for (const auto& [key, sum] : sums)
    rows.push_back({key.first, key.second, sum.times, longest_of(sum)});
  std::stable_sort(rows.begin(), rows.end(), [](const WaitRow& a, const WaitRow& b) {
    return a.times.in_calls_ns() > b.times.in_calls_ns();
  });
  return rows;
}

std::vector<std::string> wait_notes(const Trace& trace, const WaitReport& waits) {
  std::vector<std::string> notes = {timeline_text(trace)};
  if (trace.timing != "full")
    notes.push_back(
        "waiting that comes and goes is not in means, and counts as excess: "
        "CHAMELEON_TIMING=full has it");
  if (const std::string text = at_once_text(waits.events, waits.at_once); !text.empty())
    notes.push_back(text);
  if (waits.clock_error_ns > 0 && waits.all.in_calls_ns() > 0)
    notes.push_back("clocks agree within " +
                    duration_text(static_cast<double>(waits.clock_error_ns)) +
                    "; shorter waits are " +
                    share_text(waits.undecided_ns / waits.all.in_calls_ns()) + " of the waiting");
  if (waits.unmatched > 0)
    notes.push_back(count_text(waits.unmatched) +
                    " receives and collectives are unmatched: they wait for no rank");
  return notes;
}

void print_wait_rows(const Trace& trace, const WaitReport& waits, const RankList& ranks,
                     bool by_path, const Style& style) {
  CallSites sites(trace);
  const std::vector<WaitRow> rows = wait_rows(trace, waits, ranks, by_path);
  const std::vector<std::size_t> kinds = kinds_in(rows);
  std::cout << style.strong(head_of(kinds, by_path)) << "\n";
  WaitTimes all;
  for (const WaitRow& row : rows) {
    all.add(row.times);
    std::cout << line_of(row, kinds, by_path ? sites.site(row.path) : row.longest.to_string())
              << "\n";
  }
  if (all.call_ns > 0)
    std::cout << "\nof " << duration_text(all.call_ns) << " in MPI, summed over ranks: waiting "
              << share_text(all.in_calls_ns() / all.call_ns) << ", transfer "
              << share_text(all.transfer_ns / all.call_ns) << ", excess "
              << share_text(all.excess_ns() / all.call_ns) << "\n";
  for (const std::string& note : wait_notes(trace, waits)) std::cout << style.faint(note) << "\n";
}

void print_wait_csv(const Trace& trace, const WaitReport& waits, const RankList& ranks) {
  const char* between = "";
  for (const char* title : wait_columns()) std::cout << std::exchange(between, ",") << title;
  std::cout << "\n";
  PathNames names(trace);
  for (const PlaceWait& place : waits.places) {
    const auto call = trace.calls.find(place.call);
    if (!ranks.contains(place.stream) || call == trace.calls.end()) continue;
    std::cout << place.stream << "," << csv_text(call->second.name) << ","
              << csv_text(names.site(place.path));
    for (const std::uint64_t number : wait_numbers(place.times)) std::cout << "," << number;
    std::cout << "\n";
  }
}

nlohmann::ordered_json wait_times_json(const WaitTimes& times) {
  nlohmann::ordered_json object;
  object["count"] = static_cast<std::uint64_t>(times.events);
  object["call_seconds"] = times.call_ns * 1e-9;
  object["waiting_seconds"] = times.in_calls_ns() * 1e-9;
  object["transfer_seconds"] = times.transfer_ns * 1e-9;
  object["excess_seconds"] = times.excess_ns() * 1e-9;
  for (std::size_t kind = 0; kind < kWaitClasses; ++kind)
    object[std::string(kWaitKeys[kind]) + "_seconds"] = times.waited_ns[kind] * 1e-9;
  return object;
}

nlohmann::ordered_json wait_rows_json(const Trace& trace, const WaitReport& waits,
                                      const RankList& ranks, bool by_path) {
  CallSites sites(trace);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const WaitRow& row : wait_rows(trace, waits, ranks, by_path)) {
    nlohmann::ordered_json one = {{"call", row.call}};
    one.update(wait_times_json(row.times));
    one["longest"] = row.longest.to_string();
    if (by_path) one["path"] = sites.frames(row.path);
    rows.push_back(std::move(one));
  }
  return rows;
}

}  // namespace chameleon::tools
