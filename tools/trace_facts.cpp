// SPDX-License-Identifier: BSD-3-Clause
#include "trace_facts.h"

#include <nlohmann/json.hpp>

namespace chameleon::tools {
namespace {

using Json = nlohmann::ordered_json;

/// What is shown of the values that the streams have for one fact.
template <class T>
struct Summary {
  T sum = 0, least = 0, most = 0;
  std::uint32_t most_rank = 0;
  bool empty = true;

  void add(std::uint32_t rank, T value) {
    sum = joined(sum, value, Join::kSum, {});
    if (empty || value < least) least = value;
    if (empty || value > most) {
      most = value;
      most_rank = rank;
    }
    empty = false;
  }
  Json json(const std::string& unit, Join join) const {
    Json result{{"unit", unit}};
    if (join == Join::kSum) result["sum"] = sum;
    result.update({{"least", least}, {"most", most}, {"most_rank", most_rank}});
    return result;
  }
};

template <>
struct Summary<std::string> {
  std::map<std::string, RankList> values;

  void add(std::uint32_t rank, const std::string& value) { values[value].insert(rank); }
  Json json(const std::string& unit, Join) const {
    Json result{{"unit", unit}, {"values", Json::object()}};
    for (const auto& [value, ranks] : values) result["values"][value] = ranks.to_string();
    return result;
  }
};

/// Calls f(rank, value) for each stream that has a value.
template <class F>
void for_each_value(const CarriedFact& fact, const Trace& trace, F f) {
  ValueSequence::Cursor cursor(fact.values);
  fact.ranks.for_each([&](std::uint32_t stream) { f(trace.rank_of(stream), cursor.next()); });
}

const std::string& text_of(const CarriedFact& fact, std::int64_t place) {
  return fact.texts.at(static_cast<std::size_t>(place));
}

template <class T>
Summary<T> summary_of(const CarriedFact& fact, const Trace& trace) {
  Summary<T> summary;
  for_each_value(fact, trace, [&](std::uint32_t rank, std::int64_t value) {
    if constexpr (std::is_same_v<T, std::string>)
      summary.add(rank, text_of(fact, value));
    else
      summary.add(rank, value);
  });
  return summary;
}

Json run_value(const CarriedFact& fact) {
  return fact.is_text ? Json(text_of(fact, fact.values.front())) : Json(fact.values.front());
}

std::string with_unit(std::int64_t number, const std::string& unit) {
  return std::to_string(number) + (unit.empty() ? "" : " " + unit);
}

std::string line_of(const CarriedFact& fact, const Trace& trace) {
  std::string line = fact.name + ": ";
  if (fact.of_run)
    return line + (fact.is_text ? text_of(fact, fact.values.front())
                                : with_unit(fact.values.front(), fact.unit));
  if (fact.is_text) {
    const char* separator = "";
    for (const auto& [value, ranks] : summary_of<std::string>(fact, trace).values) {
      line += separator + value + " (" + ranks.to_string() + ")";
      separator = ", ";
    }
    return line;
  }
  const auto summary = summary_of<std::int64_t>(fact, trace);
  if (fact.how() == Join::kSum) line += "sum " + with_unit(summary.sum, fact.unit) + ", ";
  return line + "most " + with_unit(summary.most, fact.unit) + " of rank " +
         std::to_string(summary.most_rank);
}

}  // namespace

Json facts_json(const Trace& trace) {
  Json run = Json::object(), of_ranks = Json::object();
  for_each_run_fact([&](const Fact& fact, auto member) { run[fact.name] = trace.*member; });
  for_each_online_fact(
      [&](const Fact& fact, auto member) { run[fact.name] = trace.online.*member; });
  for_each_rank_fact([&]<class T>(const Fact& fact, T RankFacts::*member) {
    Summary<T> summary;
    for (const auto& [stream, facts] : trace.facts)
      summary.add(trace.rank_of(stream), facts.*member);
    if (!trace.facts.empty()) of_ranks[fact.name] = summary.json(fact.unit, fact.join);
  });
  for (const CarriedFact& fact : trace.carried) {
    if (fact.of_run)
      run[fact.name] = run_value(fact);
    else if (fact.is_text)
      of_ranks[fact.name] = summary_of<std::string>(fact, trace).json(fact.unit, fact.how());
    else
      of_ranks[fact.name] = summary_of<std::int64_t>(fact, trace).json(fact.unit, fact.how());
  }
  return {{"run", run}, {"ranks", of_ranks}};
}

std::vector<std::string> carried_lines(const Trace& trace) {
  std::vector<std::string> lines;
  for (const CarriedFact& fact : trace.carried) lines.push_back(line_of(fact, trace));
  return lines;
}

}  // namespace chameleon::tools
