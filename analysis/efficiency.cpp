// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/efficiency.h"

#include <algorithm>
#include <vector>

namespace chameleon::analysis {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

double Efficiency::load_balance() const {
  return ranks == 0 ? 0 : ratio(compute_ns / ranks, most_compute_ns);
}
double Efficiency::communication() const { return ratio(most_compute_ns, run_ns); }
double Efficiency::serialisation() const { return ratio(most_compute_ns, ideal_ns); }
double Efficiency::transfer() const { return ratio(ideal_ns, run_ns); }

double computation_scalability(const Efficiency& reference, const Efficiency& run, bool weak) {
  if (!weak) return ratio(reference.compute_ns, run.compute_ns);
  return ratio(ratio(reference.compute_ns, reference.ranks), ratio(run.compute_ns, run.ranks));
}

Result<Efficiency> efficiency_of(const Trace& trace, Loops loops) {
  Efficiency found;
  const RankList ranks = trace.whole_ranks();
  found.ranks = static_cast<std::uint32_t>(ranks.size());
  std::vector<double> compute(ranks.empty() ? 0 : ranks.runs().back().last() + std::size_t{1});
  double times = 1;
  RoundWatch watch;
  watch.take = [&](std::uint64_t rounds, double) { times = static_cast<double>(rounds); };
  const Result<TimelineFacts> run = run_timeline(
      trace, ranks,
      [&](const TimedEvent& event) {
        compute[event.rank()] += times * static_cast<double>(event.at->compute_ns());
      },
      false, Network::kRecorded, loops == Loops::kAtOnce ? &watch : nullptr);
  if (!run) return run.error();
  const Result<TimelineFacts> ideal = run_facts(trace, Network::kIdeal, loops);
  if (!ideal) return ideal.error();
  found.run_ns = static_cast<double>(run->end_ns);
  found.ideal_ns = static_cast<double>(ideal->end_ns);
  found.unmatched = run->unmatched;
  found.events = run->events;
  found.at_once = run->at_once;
  for (const double recorded : compute) {
    const double ns = recorded * run->stretch;
    found.compute_ns += ns;
    found.most_compute_ns = std::max(found.most_compute_ns, ns);
  }
  return found;
}

}  // namespace chameleon::analysis
