// SPDX-License-Identifier: BSD-3-Clause
#include "tools/efforts.h"

#include <nlohmann/json.hpp>

namespace chameleon::tools {
namespace {

using Json = nlohmann::ordered_json;

double seconds(double ns) { return 1e-9 * ns; }
double seconds(std::uint64_t ns) { return 1e-9 * static_cast<double>(ns); }

Json estimate_row(const EffortEstimate& estimate) {
  return {{"mean_seconds", seconds(estimate.exact)},
          {"estimate_seconds", seconds(estimate.estimate)},
          {"claimed_error_seconds", seconds(estimate.claimed)},
          {"actual_error_seconds", seconds(estimate.actual())},
          {"holds", estimate.holds()}};
}

Json step_rows(const EffortWindow& window, const Efforts::Settings& settings) {
  const std::vector<EffortEstimate> estimates = step_estimates(window, settings);
  Json rows = Json::array();
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const EffortStep& step = window.steps[i];
    Json row = {{"marker", step.marker},
                {"sum_seconds", seconds(step.sum_ns)},
                {"deviation_seconds", seconds(step.deviation_ns)},
                {"least_seconds", seconds(step.least_ns)},
                {"most_seconds", seconds(step.most_ns)}};
    row.update(estimate_row(estimates[i]));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json stratum_row(const EffortStratum& stratum) {
  Json row = {{"medoid", stratum.medoid},
              {"ranks", stratum.size},
              {"mean_seconds", Json::array()},
              {"deviation_seconds", Json::array()},
              {"sampled", Json::array()}};
  for (const EffortCell& cell : stratum.steps) {
    row["mean_seconds"].push_back(seconds(static_cast<double>(cell.sum_ns) / stratum.size));
    row["deviation_seconds"].push_back(seconds(cell.deviation_ns));
  }
  for (const SampledRank& sampled : stratum.sampled) {
    Json one = {{"rank", sampled.rank}, {"seconds", Json::array()}};
    for (const std::uint64_t ns : sampled.ns) one["seconds"].push_back(seconds(ns));
    row["sampled"].push_back(std::move(one));
  }
  return row;
}

}  // namespace

std::string effort_of(const Trace& trace) {
  return trace.effort.empty() ? "compute" : trace.effort;
}

std::string effort_text(const Trace& trace) {
  const std::string of = effort_of(trace);
  if (of == "compute") return "computation between calls";
  if (of == "communication") return "time in MPI calls";
  const std::size_t at = of.find('@');
  if (at == of.npos) return "time in calls of " + of;
  const std::string what = of.substr(0, at), where = "made in " + of.substr(at + 1);
  if (what.empty()) return "computation before, and time in, MPI calls " + where;
  if (what == "compute") return "computation before MPI calls " + where;
  return (what == "communication" ? "time in MPI calls " : "time in calls of " + what + " ") +
         where;
}

Json effort_rows(const Efforts& efforts) {
  Json rows = Json::array();
  for (const EffortWindow& window : efforts.windows()) {
    Json row = {{"first", window.first}, {"last", window.last}, {"gap", gap_name(window.gap)}};
    if (window.gap == EffortGap::kNone) {
      row["ranks"] = window.ranks;
      row["sampled"] = sampled_ranks(window);
      row["by_equation_1"] = ranks_by_equation_1(window, efforts.settings());
      row["unstratified"] = window.unstratified;
      row["strata_pay"] = window.strata_pay;
      row.update(estimate_row(window_estimate(window, efforts.settings())));
      row["steps"] = step_rows(window, efforts.settings());
      row["strata"] = Json::array();
      for (const EffortStratum& stratum : window.strata)
        row["strata"].push_back(stratum_row(stratum));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace chameleon::tools
