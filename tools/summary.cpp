// SPDX-License-Identifier: BSD-3-Clause
#include "tools/summary.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/declared.h"
#include "analysis/hang.h"
#include "tools/call_sites.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace {

constexpr std::size_t kPlaces = 5, kStretches = 5, kUneven = 3, kOutliers = 3;
/// Of the run: what outliers of a rank at a place are worth telling.
constexpr double kNoticed = 0.01;
/// Below this load balance ranks do unequal work, if it costs the run a twentieth.
constexpr double kEven = TraceSummary::kEven, kGrave = TraceSummary::kGrave;
constexpr double kShortRun = 2e9;  ///< ns; the start and the end take up to a tenth of a second

constexpr std::array<const char*, kSpentTimes.size()> kShareNames = {
    "computing", "point-to-point", "collectives", "waiting at markers", "tool"};

std::string call_name(const Trace& trace, std::uint16_t call) {
  const auto found = trace.calls.find(call);
  return found == trace.calls.end() ? std::to_string(call) : found->second.name;
}

void add_rank(SpentShare& share, std::uint32_t rank, double ns, bool first) {
  if (first || ns < share.least_ns) {
    share.least_ns = ns;
    share.least_rank = rank;
  }
  if (first || ns > share.most_ns) {
    share.most_ns = ns;
    share.most_rank = rank;
  }
}

/// What each rank told of its phases, added up; nothing if that is more than its run, as traces of
/// earlier versions may say. A time in a trace is within 1/128.
std::vector<SpentShare> shares_of(const PhaseTotals& totals, double run_ns) {
  std::vector<SpentShare> shares(kSpentTimes.size());
  double ranks = 0;
  for (const PhaseTotals::Entry& entry : totals.entries()) {
    SpentTimes spent;
    for (const auto& [phase, times] : entry.phases) spent.add(times);
    if (static_cast<double>(spent.sum()) > (1 + 1.0 / 64) * run_ns) return {};
    const std::uint32_t rank = entry.ranks.first();
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const auto ns = std::min(static_cast<double>(spent.*kSpentTimes[i]), run_ns);
      shares[i].mean_ns += ns * static_cast<double>(entry.ranks.size());
      add_rank(shares[i], rank, ns, ranks == 0);
    }
    ranks += static_cast<double>(entry.ranks.size());
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i].name = kShareNames[i];
    shares[i].mean_ns /= ranks;
  }
  return shares;
}

/// The same of a trace that does not have it: from its events. Of ranks with several threads, whose
/// times add up to more than the run: means over the threads.
std::vector<SpentShare> shares_of(const Trace& trace, const analysis::Load& load) {
  std::vector<SpentShare> shares(2);
  shares[0].name = kShareNames[0];
  shares[1].name = "MPI";
  for (const analysis::RankLoad& rank : load.ranks) {
    const bool first = &rank == &load.ranks.front();
    const auto ranks = static_cast<double>(load.ranks.size());
    const auto threads =
        trace.threads > 1
            ? static_cast<double>(std::max<std::size_t>(trace.streams_of(rank.rank).size(), 1))
            : 1.0;
    add_rank(shares[0], rank.rank, rank.compute_ns / threads, first);
    add_rank(shares[1], rank.rank, rank.call_ns / threads, first);
    shares[0].mean_ns += rank.compute_ns / threads / ranks;
    shares[1].mean_ns += rank.call_ns / threads / ranks;
  }
  return shares;
}

/// Calls at one place that differ in who called the function around it: each gets the first of its
/// outer frames that is not the same in all.
void tell_apart(std::vector<CostlyPlace>& places, const std::vector<std::uint64_t>& paths,
                CallSites& sites) {
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < places.size(); ++i)
    alike[places[i].call + " " + places[i].site].push_back(i);
  for (const auto& [text, group] : alike) {
    if (group.size() < 2) continue;
    std::vector<std::vector<std::string>> frames;
    for (const std::size_t i : group) frames.push_back(sites.frames(paths[i]));
    for (std::size_t one = 0; one < group.size(); ++one) {
      // The frame in which it differs first from the one that it is most like.
      std::size_t common = 0;
      for (std::size_t other = 0; other < group.size(); ++other)
        if (other != one) {
          const auto [mine, theirs] = std::mismatch(frames[one].begin(), frames[one].end(),
                                                    frames[other].begin(), frames[other].end());
          common = std::max(common, static_cast<std::size_t>(mine - frames[one].begin()));
        }
      if (common < frames[one].size())
        places[group[one]].site += ", called at " + frames[one][common];
    }
  }
}

std::vector<CostlyPlace> costly_places(const Trace& trace, const analysis::Load& load,
                                       CallSites& sites) {
  std::vector<const analysis::PlaceLoad*> order;
  for (const analysis::PlaceLoad& place : load.places)
    if (place.in_call.sum_ns > 0) order.push_back(&place);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->in_call.sum_ns > b->in_call.sum_ns;
  });
  if (order.size() > kPlaces) order.resize(kPlaces);
  std::vector<CostlyPlace> places;
  std::vector<std::uint64_t> paths;
  for (const auto* place : order) {
    places.push_back({call_name(trace, place->call), sites.site(place->path), place->in_call.sum_ns,
                      place->in_call.most_ns, place->in_call.slowest});
    paths.push_back(place->path);
  }
  tell_apart(places, paths, sites);
  return places;
}

class Findings {
 public:
  Findings(const Trace& trace, CallSites& sites) : trace_(trace), sites_(sites) {}

  void add_slow(std::vector<analysis::SlowSteps> slow) {
    std::stable_sort(slow.begin(), slow.end(),
                     [](const auto& a, const auto& b) { return a.lost_ns > b.lost_ns; });
    if (slow.size() > kStretches) slow.resize(kStretches);
    for (const analysis::SlowSteps& one : slow) add(stretch(one));
  }

  /// What ranks computed for long now and then, where no time steps tell.
  void add_outliers(const TraceSummary& summary, const analysis::Load& load) {
    struct Sum {
      std::uint64_t times = 0, excess_ns = 0;
      Outlier longest;
    };
    std::map<std::pair<std::uint32_t, std::uint64_t>, Sum> sums;  // by rank and symbol
    for (const Outlier& one : trace_.outliers.all()) {
      if (one.in_call) continue;
      Sum& sum = sums[{trace_.rank_of(one.stream), one.place.symbol}];
      ++sum.times;
      sum.excess_ns += one.excess_ns();
      if (one.ns > sum.longest.ns) sum.longest = one;
    }
    std::vector<std::pair<std::uint32_t, Sum>> worst;
    for (const auto& [key, sum] : sums)
      if (static_cast<double>(sum.excess_ns) >= kNoticed * summary.run_ns)
        worst.emplace_back(key.first, sum);
    std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
      return a.second.excess_ns > b.second.excess_ns;
    });
    if (worst.size() > kOutliers) worst.resize(kOutliers);
    for (const auto& [rank, sum] : worst) {
      const auto at = std::find_if(load.places.begin(), load.places.end(), [&](const auto& one) {
        return Node::event_symbol(one.call, one.path) == sum.longest.place.symbol;
      });
      if (at == load.places.end()) continue;
      add("Rank " + std::to_string(rank) + " computed for " + (sum.times > 1 ? "up to " : "") +
          duration_text(static_cast<double>(sum.longest.ns)) + " before " +
          place(at->call, at->path) +
          (sum.times > 1 ? ", " + count_text(sum.times) + " times" : ", once") + "; " +
          duration_text(static_cast<double>(sum.longest.usual_ns)) +
          " is usual there. chameleon slow says what that cost.");
    }
  }

  void add_balance(const TraceSummary& summary, const analysis::Load& load) {
    const double lost = load.most_compute_ns() - load.mean_compute_ns();
    if (summary.balance == 0 || summary.balance >= kEven || lost < kGrave * summary.run_ns) return;
    add("Work is shared unevenly (load balance " + share_text(summary.balance) + "): rank " +
        std::to_string(summary.slowest) + " computes longest, " +
        duration_text(load.most_compute_ns()) + "; the mean is " +
        duration_text(load.mean_compute_ns()) + ".");
    // One place alone says little: what a rank does less here it may do elsewhere.
    for (std::size_t i = 0; i < std::min(load.places.size(), kUneven); ++i) {
      const analysis::PlaceLoad& worst = load.places[i];
      if (worst.compute.most_ns - worst.compute.mean_ns < kGrave * summary.run_ns) return;
      add((i == 0 ? "The largest difference is before " : "Another one is before ") +
          place(worst.call, worst.path) + ": " + ranks_text(worst.compute.slowest) +
          " computed up to " + duration_text(worst.compute.most_ns) + " there; the mean is " +
          duration_text(worst.compute.mean_ns) + ".");
    }
  }

  void add_communication(const TraceSummary& summary) {
    if (summary.balance < kEven || summary.run_ns == 0) return;
    const double rest = 1 - summary.most_compute_ns / summary.run_ns;
    if (rest > 0.2)
      add("Even the rank that computes longest spends " + share_text(rest) +
          " of the run outside computing, most of it in MPI; work is shared evenly.");
  }

  void add_tool(const TraceSummary& summary) {
    if (summary.run_ns == 0) return;
    for (const SpentShare& share : summary.shares)
      if (share.name == kShareNames.back() && share.mean_ns > kGrave * summary.run_ns)
        add("The tracer took " + duration_text(share.mean_ns) + " of a rank's run, " +
            share_text(share.mean_ns / summary.run_ns) + "; no other time here includes it. " +
            tool_advice(summary.run_ns));
  }

  /// The job was ended while it hung.
  void add_hang() {
    if (trace_.complete || trace_.threads > 1 || !allow_visits("", trace_, true)) return;
    const Result<analysis::CheckReport> report = analysis::check(trace_);
    if (!report) return;
    const analysis::Hang hang = analysis::hang_of(trace_, *report);
    if (!hang.is_fault) return;
    const auto site = [this](std::uint64_t path) { return sites_.site(path); };
    std::string text = hang.is_deadlock() ? "The program hung: " : "The program failed: ";
    for (const std::string& line : analysis::hang_text(hang, *report, site))
      text += (text.back() == ' ' ? "" : "; ") + line.substr(line.find_first_not_of(' '));
    add(text + ".");
  }

  void add(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  std::string tool_advice(double run_ns) const {
    if (run_ns < kShortRun || trace_.online.acted <= 1)
      return "Most of it is the start and the end of the run: the longer the run, the smaller its "
             "share.";
    if (trace_.online.call_frequency == 1)
      return "Votes at fewer markers (chameleon run --every auto) reduce it.";
    return "A run that calls MPI less often has less of it.";
  }

  std::string place(std::uint16_t call, std::uint64_t path) {
    return call_name(trace_, call) + " at " + sites_.site(path);
  }

  std::string stretch(const analysis::SlowSteps& one) {
    using Whose = analysis::SlowSteps::Whose;
    std::string text = one.first == one.last ? "At marker " + std::to_string(one.first)
                                             : "At markers " + std::to_string(one.first) + " to " +
                                                   std::to_string(one.last);
    const std::string lost = duration_text(one.lost_ns);
    const std::string before =
        one.computes ? " before " + place(one.computes->call, one.computes->path) : "";
    if (one.whose != Whose::kAll)
      return text + (one.whose == Whose::kMoves ? " in turn " : " ") + ranks_text(one.ranks) +
             " computed longest, " + duration_text(one.compute_ns) + before + ". The others lost " +
             lost + ".";
    text += " all ranks took " + lost + " longer than in other steps";
    if (one.computes) text += ": they computed longer" + before;
    if (one.waits)
      text += (one.computes ? ", and waited longer in " : ": they waited longer in ") +
              place(one.waits->call, one.waits->path);
    return text + ".";
  }

  const Trace& trace_;
  CallSites& sites_;
  std::vector<std::string> sentences_;
};

}  // namespace

Result<TraceSummary> TraceSummary::make(const Trace& trace) {
  TraceSummary summary;
  CallSites sites(trace);
  Findings findings(trace, sites);
  for (const auto& [stream, facts] : trace.facts)
    summary.run_ns = std::max(summary.run_ns, static_cast<double>(facts.run_ns));
  if (!trace.complete)
    findings.add(
        "The run did not reach MPI_Finalize, or is still running: what is here ends at "
        "the last flush, or with what its ranks left when they were ended.");
  findings.add_hang();
  if (trace.timing == "none") {
    findings.add("No times were recorded: there are only counts and bytes (chameleon stats).");
    summary.findings = findings.take();
    return summary;
  }
  const Result<analysis::Load> load = analysis::load_of(trace);
  if (!load) return load.error();
  Result<std::vector<analysis::SlowSteps>> slow = analysis::slow_steps(trace);
  if (!slow) return slow.error();
  if (summary.run_ns == 0) summary.run_ns = load->run_ns();
  if (!trace.totals.empty() && trace.threads <= 1)
    summary.shares = shares_of(trace.totals, summary.run_ns);
  if (summary.shares.empty() && !load->ranks.empty()) summary.shares = shares_of(trace, *load);
  summary.places = costly_places(trace, *load, sites);
  summary.most_compute_ns = load->most_compute_ns();
  if (summary.most_compute_ns > 0 && trace.threads <= 1) {
    summary.balance = load->mean_compute_ns() / summary.most_compute_ns;
    for (const analysis::RankLoad& rank : load->ranks)
      if (rank.compute_ns == summary.most_compute_ns) summary.slowest = rank.rank;
  }
  const bool tells_steps = !slow->empty();
  findings.add_slow(std::move(*slow));
  if (!tells_steps) findings.add_outliers(summary, *load);
  findings.add_balance(summary, *load);
  findings.add_communication(summary);
  findings.add_tool(summary);
  summary.findings = findings.take();
  return summary;
}

}  // namespace chameleon::tools
