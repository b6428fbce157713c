// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon print TRACE`: the folded trace as a tree, or one rank's events.

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "analysis/declared.h"
#include "analysis/place_times.h"
#include "analysis/work.h"
#include "call_sites.h"
#include "common.h"
#include "loop_places.h"
#include "rank_events.h"
#include "times_text.h"
#include "value_text.h"

namespace chameleon::tools {
namespace print_verb {

struct Options {
  std::string trace;
  std::optional<std::uint32_t> rank;
  bool expand = false;
  bool paths = false;
  bool all = false;
  std::uint64_t limit = UINT64_MAX;
};

class TreePrinter {
 public:
  TreePrinter(const Trace& trace, const Options& options)
      : trace_(trace),
        options_(options),
        text_(trace, options.all),
        sites_(trace, options.all),
        places_(trace, sites_) {}

  Status print() {
    RankList ranks = trace_.ranks;
    if (options_.rank) {
      ranks = RankList();
      for (const std::uint32_t stream : trace_.streams_of(*options_.rank)) ranks.insert(stream);
    }
    Result<NodeTimes> times = NodeTimes::make(trace_, ranks);
    if (!times) return times.error();
    times_ = std::move(*times);
    all_ = sum(trace_.nodes);
    nodes(trace_.nodes, ranks, 0);
    if (left_out_ != 0) std::cout << "... " << count_text(left_out_) << " more nodes (--limit)\n";
    return Unit{};
  }

 private:
  /// Of all ranks that are printed.
  struct Sums {
    double compute_ns = 0, call_ns = 0;
    double all() const { return compute_ns + call_ns; }
  };

  Sums sums(const Node& node) const {
    if (const auto loop = loops_.find(&node); loop != loops_.end()) return loop->second;
    const SpentAt& spent = times_.at(node);
    return {spent.compute.sum_ns, spent.communication.sum_ns};
  }

  /// Also notes what each loop spends.
  Sums sum(const std::vector<Node>& nodes) {
    Sums sum;
    for (const Node& node : nodes) {
      if (node.is_loop()) loops_[&node] = this->sum(node.body);
      const Sums one = sums(node);
      sum.compute_ns += one.compute_ns;
      sum.call_ns += one.call_ns;
    }
    return sum;
  }

  /// Nothing below one percent: what is left stands out.
  std::string share(const Node& node) {
    const double share = all_.all() > 0 ? sums(node).all() / all_.all() : 0;
    if (share < 0.01) return "";
    const std::string text = "  " + share_text(share);
    return share >= 0.1 ? style_.hot(text) : text;
  }

  void nodes(const std::vector<Node>& nodes, const RankList& around, std::size_t depth) {
    for (const Node& node : nodes) {
      const RankList ranks = node.ranks.empty() ? around : node.ranks.intersection(around);
      if (ranks.empty()) continue;
      const bool shown = printed_ < options_.limit;
      if (shown) {
        ++printed_;
        std::cout << std::string(2 * depth, ' ');
        if (node.is_loop())
          loop(node, ranks, around);
        else
          event(node, ranks, around, depth);
      } else {
        ++left_out_;
      }
      if (node.is_loop()) this->nodes(node.body, ranks, depth + 1);
    }
  }

  std::string difference(const RankList& ranks, const RankList& around) const {
    return ranks == around ? "" : style_.ranks("  " + streams_text(trace_, ranks));
  }

  void loop(const Node& node, const RankList& ranks, const RankList& around) {
    Field iterations;
    iterations.name = iterations.kind = "int";
    std::cout << style_.loop("loop " + text_.param(iterations, node.iterations, ranks) + " x")
              << difference(ranks, around) << inexact(node);
    if (const std::string& place = places_.of(node); !place.empty())
      std::cout << "   " << style_.faint(place);
    if (const Sums spent = sums(node); spent.all() > 0)
      std::cout << style_.faint("  compute " + duration_text(spent.compute_ns) + "  in calls " +
                                duration_text(spent.call_ns) + " in all");
    std::cout << share(node) << "\n";
  }

  std::string inexact(const Node& node) const {
    std::string text;
    for (const Inexact& entry : node.inexact)
      text +=
          "  not exact: " + kinds_text(entry.kinds) + " of " + streams_text(trace_, entry.ranks);
    return style_.hot(text);
  }

  void event(const Node& node, const RankList& ranks, const RankList& around, std::size_t depth) {
    const auto found = trace_.calls.find(node.call);
    const std::string name =
        found == trace_.calls.end() ? "call " + std::to_string(node.call) : found->second.name;
    std::cout << style_.strong(name);
    if (found != trace_.calls.end()) {
      const auto& fields = found->second.fields;
      const std::string line = call_text(found->second, [&](std::size_t i) {
        return i < node.params.size() ? text_.param(fields[i], node.params[i], ranks) : "";
      });
      if (!line.empty()) std::cout << "  " << line;
    }
    std::cout << difference(ranks, around) << inexact(node);
    if (!options_.paths) std::cout << "   " << style_.faint(sites_.site(node.path));
    times(node);
    std::cout << "\n";
    if (options_.paths)
      for (const std::string& frame : sites_.frames(node.path))
        std::cout << std::string(2 * depth + 4, ' ') << style_.faint(frame) << "\n";
  }

  void times(const Node& node) {
    const SpentAt& spent = times_.at(node);
    if (spent.communication.count <= 0) return;
    std::cout << style_.faint("  compute " + duration_text(spent.compute.mean_ns()) + "  in call " +
                              duration_text(spent.communication.mean_ns()))
              << share(node);
  }

  const Trace& trace_;
  const Options& options_;
  const Style style_;
  ValueText text_;
  CallSites sites_;
  const LoopPlaces places_;
  std::uint64_t printed_ = 0, left_out_ = 0;
  NodeTimes times_;
  std::unordered_map<const Node*, Sums> loops_;
  Sums all_;
};

/// Of CHAMELEON_TIMING=full, where each event has its own.
void print_times(const FollowedEvent& event, const ValueText& text, const Style& style) {
  for (std::size_t i = 0; i < event.call->fields.size(); ++i)
    if (const Field& field = event.call->fields[i]; is_time(field))
      std::cout << style.faint(
          "  " + (field.name == "communication" ? std::string("in call") : field.name) + " " +
          text.value(field, event.view.forms[i], event.view.values[i]));
}

/// The events of a stream.
int print_events(const FollowPlan& plan, std::uint32_t stream, const Options& options) {
  Result<Follower> follower = Follower::of_stream(plan, stream);
  if (!follower) return fail("print", follower.error());
  const Style style;
  const ValueText text(*plan.trace, options.all);
  CallSites sites(*plan.trace, options.all);
  FollowedEvent event;
  while (follower->next(event)) {
    const std::uint64_t number = event.number - 1;
    if (number == options.limit) {
      std::cout << "... (--limit)\n";
      break;
    }
    std::cout << number << "  ";
    if (event.call == nullptr) {
      std::cout << "call " << event.view.node->call;
    } else {
      const std::string line = event_text(*follower, event, text);
      std::cout << style.strong(event.call->name) << (line.empty() ? "" : "  ") << line;
    }
    if (options.paths)
      for (const std::string& frame : sites.frames(event.view.path))
        std::cout << "\n      " << style.faint(frame);
    else
      std::cout << "   " << style.faint(sites.site(event.view.path));
    if (event.call != nullptr) print_times(event, text, style);
    std::cout << "\n";
  }
  return kExitOk;
}

int print_all_events(const Trace& trace, const Options& options) {
  const Style style;
  const FollowPlan plan(trace);
  const std::vector<std::uint32_t> streams = trace.streams_of(*options.rank);
  RankList printed;
  for (const std::uint32_t stream : streams) printed.insert(stream);
  if (const Status allowed =
          allow_visits(options.trace, visited_events(trace, printed), trace.world_size);
      !allowed)
    return fail("print", allowed.error());
  for (const std::uint32_t stream : streams) {
    if (streams.size() > 1)
      std::cout << style.ranks("thread " + std::to_string(trace.thread_of(stream))) << "\n";
    if (const int status = print_events(plan, stream, options); status != kExitOk) return status;
  }
  return kExitOk;
}

int print(const Options& options) {
  int status = kExitOk;
  if (options.all)
    set_limits(asked_memory(), true);  // this verb's --all stands before the command's
  const std::optional<Trace> trace = load_trace("print", options.trace, status);
  if (!trace) return status;
  if (options.expand && !options.rank) return fail("print", "--expand needs --rank", kExitUsage);
  if (options.rank && trace->streams_of(*options.rank).empty())
    return fail("print",
                "rank " + std::to_string(*options.rank) + " is not in the trace (ranks " +
                    trace->whole_ranks().to_string() + ")",
                kExitUsage);
  if (options.expand) return print_all_events(*trace, options);
  if (options.rank)
    if (const std::string times = times_of_rank_text(*trace, *options.rank); !times.empty())
      std::cout << Style().faint("times: " + times) << "\n";
  const Status printed = TreePrinter(*trace, options).print();
  return printed ? kExitOk : fail("print", printed.error());
}

}  // namespace print_verb

void add_print_command(CLI::App& app, int& status) {
  using namespace print_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("print", "Print a trace as a tree of loops, or expanded");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--rank", options->rank, "Only calls in which this rank takes part");
  verb->add_flag("--expand", options->expand, "With --rank: one line an event, thread by thread");
  verb->add_flag("--paths", options->paths, "All frames of the call paths");
  verb->add_flag("--all", options->all, "Shorten nothing, and start also what takes long");
  verb->add_option("--limit", options->limit, "At most this many nodes, or events of a thread");
  verb->callback([options, &status] { status = print(*options); });
}

}  // namespace chameleon::tools
