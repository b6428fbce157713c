// SPDX-License-Identifier: BSD-3-Clause
#include "compress/join_tables.h"

#include <algorithm>

namespace chameleon::compress {
namespace {

void add(RankFacts& mine, const RankFacts& more) {
  mine.events += more.events;
  mine.run_ns += more.run_ns;
  mine.tool_ns += more.tool_ns;
  mine.call_ns += more.call_ns;
  mine.paused += more.paused;
  for (std::size_t i = 0; i < mine.state_ns.size(); ++i) mine.state_ns[i] += more.state_ns[i];
  if (mine.host.empty()) {
    mine.host = more.host;
    mine.processor = more.processor;
  }
  if (mine.clock.samples < more.clock.samples) mine.clock = more.clock;
  mine.memory = std::max(mine.memory, more.memory);
}

}  // namespace

void join_tables(Trace& trace, Trace& other) {
  trace.threads = std::max(trace.threads, other.threads);
  trace.calls.merge(other.calls);
  trace.arrays.merge(other.arrays);
  trace.paths.merge(other.paths);
  trace.modules.merge(other.modules);
  trace.predefined.merge(other.predefined);
  trace.facts.merge(other.facts);
  for (const auto& [rank, fact] : other.facts) add(trace.facts[rank], fact);  // those in both
  if (other.declarations.empty()) return;
  std::map<std::string, std::size_t> declared;
  for (const Declaration& mine : trace.declarations) declared.emplace(mine.what, declared.size());
  for (Declaration& theirs : other.declarations) {
    const auto [mine, added] = declared.emplace(theirs.what, trace.declarations.size());
    if (added)
      trace.declarations.push_back(std::move(theirs));
    else
      trace.declarations[mine->second].ranks.merge(theirs.ranks);
  }
}

}  // namespace chameleon::compress
