// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/hang.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/recover.h"

namespace chameleon::analysis {
namespace {

using Hanging = CheckReport::Hanging;

/// Ranks shown with their places, of a cause.
constexpr std::size_t kMostShown = 4;

/// Who waits for whom. A set of ranks for which several wait is one node.
class WaitGraph {
 public:
  explicit WaitGraph(const std::vector<Hanging>& hanging) {
    for (const Hanging& one : hanging) {
      const std::size_t from = node(one.rank);
      const auto [set, fresh] = sets_.try_emplace(one.for_ranks, edges_.size());
      if (fresh) add(-1);
      edges_[from].push_back(set->second);
      const std::size_t to = set->second;
      if (fresh)
        one.for_ranks.for_each([&](std::uint32_t rank) {
          const std::size_t waited = node(rank);  // edges_ may move
          edges_[to].push_back(waited);
        });
    }
    low_.assign(edges_.size(), 0);
    index_.assign(edges_.size(), 0);
    component_.assign(edges_.size(), kNone);
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (index_[i] == 0) visit(i);
  }

  /// Sets of ranks that wait for nobody outside of the set.
  std::vector<RankList> ends() const {
    std::vector<bool> leaves(components_, false);
    for (std::size_t i = 0; i < edges_.size(); ++i)
      for (const std::size_t to : edges_[i])
        if (component_[to] != component_[i]) leaves[component_[i]] = true;
    std::vector<RankList> found(components_);
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (!leaves[component_[i]] && ranks_[i] >= 0)
        found[component_[i]].insert(static_cast<std::uint32_t>(ranks_[i]));
    std::erase_if(found, [](const RankList& ranks) { return ranks.empty(); });
    return found;
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  std::size_t add(std::int64_t rank) {
    edges_.emplace_back();
    ranks_.push_back(rank);
    return edges_.size() - 1;
  }
  std::size_t node(std::uint32_t rank) {
    const auto found = nodes_.find(rank);
    return found != nodes_.end() ? found->second : nodes_[rank] = add(rank);
  }

  /// Tarjan's algorithm with a stack of its own: chains of waits are as long as there are ranks.
  void visit(std::size_t root) {
    std::vector<std::pair<std::size_t, std::size_t>> path{{root, 0}};
    while (!path.empty()) {
      auto& [at, next] = path.back();
      if (next == 0) {
        index_[at] = low_[at] = ++visited_;
        stack_.push_back(at);
      }
      if (next < edges_[at].size()) {
        const std::size_t to = edges_[at][next++];
        if (index_[to] == 0)
          path.emplace_back(to, 0);
        else if (component_[to] == kNone)
          low_[at] = std::min(low_[at], index_[to]);
        continue;
      }
      if (low_[at] == index_[at]) close(at);
      const std::size_t child = at;
      path.pop_back();
      if (!path.empty()) low_[path.back().first] = std::min(low_[path.back().first], low_[child]);
    }
  }
  void close(std::size_t root) {
    for (std::size_t at = kNone; at != root;) {
      at = stack_.back();
      stack_.pop_back();
      component_[at] = components_;
    }
    ++components_;
  }

  std::vector<std::vector<std::size_t>> edges_;
  std::vector<std::int64_t> ranks_;  ///< by node; -1: of a set
  std::unordered_map<std::uint32_t, std::size_t> nodes_;
  std::map<RankList, std::size_t> sets_;
  std::vector<std::size_t> low_, index_, component_, stack_;
  std::size_t visited_ = 0, components_ = 0;
};

std::string ranks_name(const RankList& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranks.to_string();
}

std::string seconds_text(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ns) / 1e9);
  return text;
}

std::string call_text(const Hanging& one) {
  return one.call + (one.what.empty() ? "" : " " + one.what);
}

/// " crashed (SIGSEGV) outside of MPI, after Barrier at solver.c:88 exchange()"
std::string end_text(const CheckReport::End& end,
                     const std::function<std::string(std::uint64_t)>& site) {
  const std::string place =
      end.last.call.empty() ? "" : end.last.call + " at " + site(end.last.path);
  if (end.why == kFatalError && !end.error.empty())
    return " failed in " + place + ": " + end.error + ", for which MPI ended the job";
  if (end.why == kFatalError) return " ended in an error of MPI, in " + place;
  if (end.why == "MPI_Abort")
    return " called MPI_Abort" + (place.empty() ? "" : " at " + site(end.last.path));
  const std::string how =
      end.why.starts_with("SIG") ? " crashed (" + end.why + ")" : " ended by " + end.why;
  if (place.empty()) return how;
  return how + (end.inside ? " inside of " + place : " outside of MPI, after " + place);
}

std::string first_line(const Hang::Cause& cause, const CheckReport& report,
                       const std::function<std::string(std::uint64_t)>& site) {
  const std::string ranks = ranks_name(cause.ranks);
  const bool one = cause.ranks.size() == 1;
  const auto after = [&]() -> std::string {
    const auto last = report.last.find(cause.ranks.first());
    if (!one || last == report.last.end()) return "";
    return ", after " + last->second.call + " at " + site(last->second.path);
  };
  const std::string waiting = cause.waiting.empty()
                                  ? ""
                                  : ": " + ranks_name(cause.waiting) +
                                        (cause.waiting.size() == 1 ? " waits" : " wait") + " for " +
                                        (one ? "it" : "them");
  switch (cause.kind) {
    case Hang::Kind::kEnded:
      for (const CheckReport::End& end : report.ends)
        if (end.rank == cause.ranks.first()) return ranks + end_text(end, site) + waiting;
      return ranks;
    case Hang::Kind::kCircle:
      if (one) return ranks + " waits for itself";
      return ranks + " wait for each other" + (cause.ranks.size() > 2 ? " in a circle" : "");
    case Hang::Kind::kFinalized:
      return ranks + (one ? " has" : " have") + " called MPI_Finalize" + waiting;
    case Hang::Kind::kOutside:
      return ranks + (one ? " is" : " are") + " outside of MPI" + after() + waiting;
    case Hang::Kind::kInside:
      return ranks + (one ? " is in a call" : " are in calls") + " that could return" + waiting;
    case Hang::Kind::kUnknown: return ranks + " left no events after the last flush" + waiting;
  }
  return ranks;
}

}  // namespace

bool Hang::is_deadlock() const {
  return std::any_of(causes.begin(), causes.end(), [](const Cause& cause) {
    return cause.kind == Kind::kCircle || cause.kind == Kind::kFinalized;
  });
}

const char* kind_name(Hang::Kind kind) {
  static constexpr std::array<const char*, 6> kNames = {"ended",   "circle", "finalized",
                                                        "outside", "inside", "unknown"};
  return kNames[static_cast<std::size_t>(kind)];
}

Hang hang_of(const Trace& trace, const CheckReport& report) {
  Hang hang;
  std::map<std::pair<Hang::Kind, std::uint32_t>, Hang::Cause> found;
  RankList ended;
  // Ranks that ended alike are one cause.
  std::map<std::tuple<std::string, std::string, std::uint64_t, bool, std::string>, std::uint32_t>
      alike;
  for (const CheckReport::End& end : report.ends) {
    ended.insert(end.rank);
    const auto first =
        alike.try_emplace({end.why, end.last.call, end.last.path, end.inside, end.error}, end.rank);
    Hang::Cause& cause = found[{Hang::Kind::kEnded, first.first->second}];
    cause.kind = Hang::Kind::kEnded;
    cause.ranks.insert(end.rank);
    hang.is_fault = hang.is_fault || end.is_fault();
  }
  RankList unknown;
  for (const Declaration& declaration : trace.declarations)
    if (declaration.what == kNoPartialDeclaration) unknown.merge(declaration.ranks);
  RankList hanging, in_circles;
  for (const Hanging& one : report.hanging) hanging.insert(one.rank);
  for (RankList& ranks : WaitGraph(report.hanging).ends()) {
    Hang::Cause cause;
    cause.ranks = std::move(ranks);
    const std::uint32_t first = cause.ranks.first();
    if (ended.contains(first)) continue;
    if (hanging.contains(first))
      in_circles.merge(cause.ranks);
    else if (unknown.contains(first))
      cause.kind = Hang::Kind::kUnknown;
    else if (report.finalized.contains(first))
      cause.kind = Hang::Kind::kFinalized;
    else
      cause.kind = report.passed.contains(first) ? Hang::Kind::kInside : Hang::Kind::kOutside;
    // Ranks that hang together stay together; all others of a kind are one cause.
    const std::uint32_t key = cause.kind == Hang::Kind::kCircle ? first : 0;
    found[{cause.kind, key}].ranks.merge(cause.ranks);
    found[{cause.kind, key}].kind = cause.kind;
  }
  RankList direct;
  for (auto& [key, cause] : found) {
    for (const Hanging& one : report.hanging)
      if (!cause.ranks.contains(one.rank) && one.for_ranks.intersects(cause.ranks))
        cause.waiting.insert(one.rank);
    direct.merge(cause.waiting);
    hang.causes.push_back(std::move(cause));
  }
  std::stable_sort(hang.causes.begin(), hang.causes.end(),
                   [](const Hang::Cause& a, const Hang::Cause& b) {
                     return a.kind != b.kind ? a.kind < b.kind : a.ranks.size() < b.ranks.size();
                   });
  hang.behind = hanging.minus(in_circles);
  hang.is_fault = hang.is_fault || hang.is_deadlock();
  return hang;
}

std::vector<std::string> hang_text(const Hang& hang, const CheckReport& report,
                                   const std::function<std::string(std::uint64_t)>& site) {
  std::vector<std::string> lines;
  RankList shown;
  const auto show = [&](const RankList& ranks) {
    std::size_t count = 0;
    for (const Hanging& one : report.hanging) {
      if (!ranks.contains(one.rank) || shown.contains(one.rank)) continue;
      if (count++ == kMostShown) break;
      shown.insert(one.rank);
      lines.push_back("  " + ranks_name(RankList::single(one.rank)) + " in " + call_text(one) +
                      ", at " + site(one.path) + ", for " + seconds_text(one.ns));
      if (!one.near_miss.empty())
        lines.push_back("    " + one.near_miss + ", at " + site(one.near_path));
    }
  };
  for (const Hang::Cause& cause : hang.causes) {
    lines.push_back(first_line(cause, report, site));
    show(cause.kind == Hang::Kind::kCircle ? cause.ranks : cause.waiting);
  }
  // The others, by where they are.
  std::map<std::pair<std::string, std::uint64_t>, RankList> places;
  for (const Hanging& one : report.hanging)
    if (hang.behind.contains(one.rank) && !shown.contains(one.rank))
      places[{one.call, one.path}].insert(one.rank);
  for (const auto& [place, ranks] : places)
    lines.push_back("  behind them " + ranks_name(ranks) +
                    (ranks.size() == 1 ? " waits" : " wait") + " in " + place.first + ", at " +
                    site(place.second));
  return lines;
}

}  // namespace chameleon::analysis
