// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/tool_work.h"

#include <cmath>
#include <numeric>

namespace chameleon::analysis {
namespace {

void add(ToolWork& work, const RankFacts& facts) {
  ++work.ranks;
  work.run_ns += static_cast<double>(facts.run_ns);
  work.counted += facts.instructions != 0 ? 1 : 0;
  work.instructions += static_cast<double>(facts.instructions);
  work.tool_instructions += static_cast<double>(facts.tool_instructions);
  for (std::size_t state = 0; state < work.tool_ns.size(); ++state) {
    work.tool_ns[state] += static_cast<double>(facts.tool_ns_in(state));
    work.idle_ns[state] += static_cast<double>(facts.idle_ns_in(state));
  }
}

void divide(ToolWork& work) {
  if (work.ranks == 0) return;
  const auto ranks = static_cast<double>(work.ranks);
  work.run_ns /= ranks;
  for (double& ns : work.tool_ns) ns /= ranks;
  for (double& ns : work.idle_ns) ns /= ranks;
  const double counted = work.counted == work.ranks ? ranks : HUGE_VAL;
  work.instructions /= counted;
  work.tool_instructions /= counted;
}

}  // namespace

double ToolWork::tool() const { return std::accumulate(tool_ns.begin(), tool_ns.end(), 0.0); }

double ToolWork::idle() const { return std::accumulate(idle_ns.begin(), idle_ns.end(), 0.0); }

ToolWorkByRole tool_work(const Trace& trace) {
  RankList leads, clustered;
  for (const Cluster& cluster : trace.online.clusters) {
    leads.insert(cluster.lead);
    clustered.merge(cluster.ranks);
  }
  ToolWorkByRole work;
  for (const auto& [stream, facts] : trace.facts) {
    if (trace.thread_of(stream) != 0) continue;  // the first thread has what is the rank's
    const std::uint32_t rank = trace.rank_of(stream);
    add(work.all, facts);
    if (leads.contains(rank))
      add(work.leads, facts);
    else if (clustered.contains(rank))
      add(work.others, facts);
  }
  for (ToolWork* one : {&work.all, &work.leads, &work.others}) divide(*one);
  return work;
}

}  // namespace chameleon::analysis
