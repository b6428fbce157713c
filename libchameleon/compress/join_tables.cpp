// SPDX-License-Identifier: BSD-3-Clause
#include "compress/join_tables.h"

#include <algorithm>
#include <utility>

namespace chameleon::compress {

void join_tables(Trace& trace, Trace& other) {
  trace.threads = std::max(trace.threads, other.threads);
  trace.calls.merge(other.calls);
  trace.arrays.merge(other.arrays);
  trace.paths.merge(other.paths);
  trace.modules.merge(other.modules);
  trace.sources.merge(other.sources);
  trace.predefined.merge(other.predefined);
  join(trace.carried, other.carried, trace.facts, other.facts);
  trace.facts.merge(other.facts);
  for (const auto& [rank, fact] : other.facts) join(trace.facts[rank], fact);  // those in both
  trace.times.supersede(std::move(other.times));
  trace.totals.supersede(std::move(other.totals));
  trace.outliers.merge(other.outliers);
  trace.pair_accounts.merge(other.pair_accounts);
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
