// SPDX-License-Identifier: BSD-3-Clause
#include "tool_work_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/tool_work.h"
#include "common.h"

namespace chameleon::tools {
namespace {

using analysis::ToolWork;
using analysis::ToolWorkByRole;

constexpr std::size_t kLead = 2;

nlohmann::ordered_json seconds_json(const std::array<double, 4>& ns, double ranks) {
  auto json = nlohmann::ordered_json::object();
  for (std::size_t state = 0; state < kStates.size(); ++state)
    json[kStates[state]] = ns[state] * ranks * 1e-9;
  return json;
}

nlohmann::ordered_json role_json(const char* role, const ToolWork& work) {
  nlohmann::ordered_json json = {{"role", role},
                                 {"ranks", work.ranks},
                                 {"run_seconds", work.run_ns * 1e-9},
                                 {"tool_seconds", seconds_json(work.tool_ns, 1)},
                                 {"idle_seconds", seconds_json(work.idle_ns, 1)}};
  if (work.instructions == 0) return json;
  json["instructions"] = work.instructions;
  json["tool_instructions"] = work.tool_instructions;
  return json;
}

std::string by_state_text(const ToolWork& work) {
  std::string text;
  for (std::size_t state = 0; state < kStates.size(); ++state)
    text += (state == 0 ? "" : ", ") + std::string(kStates[state]) + " " +
            duration_text(work.idle_ns[state] * static_cast<double>(work.ranks));
  return text;
}

/// "idle 1.20 s in L, 3.40 % of the run".
std::string in_lead_text(const ToolWork& work) {
  const double share = work.run_ns > 0 ? work.idle_ns[kLead] / work.run_ns : 0;
  return "idle " + duration_text(work.idle_ns[kLead]) + " in L, " + share_text(share) +
         " of the run";
}

/// "12 % fewer": of others than of leads.
std::string fewer_text(double others, double leads) {
  if (leads == others) return "as many";
  if (leads == 0) return "more";
  const double change = others / leads - 1;
  return share_text(std::abs(change)) + (change > 0 ? " more" : " fewer");
}

std::string instructions_text(const ToolWork& work) {
  return count_text(static_cast<std::uint64_t>(std::min(work.instructions, 1e19))) + " a rank, " +
         share_text(work.tool_instructions / work.instructions) +
         " of them in the tool at markers and in MPI_Finalize";
}

/// A rank that did not lead, and a lead.
std::string roles_text(const ToolWorkByRole& work) {
  std::string text = "a rank that did not lead: " + in_lead_text(work.others);
  if (work.others.instructions != 0 && work.leads.instructions != 0)
    text += ", " + fewer_text(work.others.tool_instructions, work.leads.tool_instructions) +
            " instructions in the tool than a lead, " +
            fewer_text(work.others.instructions, work.leads.instructions) + " in all";
  return text + "; a lead: " + in_lead_text(work.leads);
}

/// The energy of nodes by their names, uJ; and what could not be counted, with the ranks.
struct Counted {
  std::map<std::string, double> nodes;
  std::map<std::string, RankList> missing;
};

Counted counted(const Trace& trace) {
  Counted all;
  for (const auto& [stream, facts] : trace.facts) {
    const std::uint32_t rank = trace.rank_of(stream);
    if (facts.energy_uj != 0) all.nodes[facts.host] += static_cast<double>(facts.energy_uj);
    if (!facts.no_instructions.empty())
      all.missing["instructions: " + facts.no_instructions].insert(rank);
    if (!facts.no_energy.empty()) all.missing["energy: " + facts.no_energy].insert(rank);
  }
  return all;
}

std::string joules_text(double microjoules) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g J", microjoules * 1e-6);
  return text;
}

std::string energy_text(const std::map<std::string, double>& nodes) {
  double sum = 0;
  for (const auto& [host, energy] : nodes) sum += energy;
  return joules_text(sum) + " on " + count_text(nodes.size()) +
         (nodes.size() == 1 ? " node" : " nodes") + ", all that ran there included";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> tool_work_lines(const Trace& trace) {
  const analysis::ToolWorkByRole work = analysis::tool_work(trace);
  std::vector<std::pair<std::string, std::string>> lines;
  if (work.all.idle() != 0)
    lines.emplace_back("idle time",
                       by_state_text(work.all) + " of it, waiting for other ranks' tool work");
  if (work.all.idle() != 0 && work.others.ranks != 0)
    lines.emplace_back("idle ranks", roles_text(work));
  if (work.all.instructions != 0) lines.emplace_back("instructions", instructions_text(work.all));
  const Counted all = counted(trace);
  if (!all.nodes.empty()) lines.emplace_back("energy", energy_text(all.nodes));
  for (const auto& [what, ranks] : all.missing)
    lines.emplace_back("not counted", what + ": " + ranks_text(ranks));
  return lines;
}

void add_tool_work(const Trace& trace, nlohmann::ordered_json& document) {
  const analysis::ToolWorkByRole work = analysis::tool_work(trace);
  if (work.all.idle() != 0 || work.all.instructions != 0) {
    document["idle_seconds"] = seconds_json(work.all.idle_ns, static_cast<double>(work.all.ranks));
    document["roles"] = nlohmann::ordered_json::array();
    if (work.leads.ranks != 0) document["roles"].push_back(role_json("lead", work.leads));
    if (work.others.ranks != 0) document["roles"].push_back(role_json("other", work.others));
  }
  const Counted all = counted(trace);
  for (const auto& [host, energy] : all.nodes)
    document["energy"].push_back({{"host", host}, {"joules", energy * 1e-6}});
  for (const auto& [what, ranks] : all.missing)
    document["not_counted"].push_back({{"what", what}, {"ranks", ranks.to_string()}});
}

}  // namespace chameleon::tools
