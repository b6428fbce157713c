// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon simulate BEHAVIOUR`: signatures, clustering and merging, as in a
/// traced job, on virtual ranks in this process. `capek` and `effort` are in simulate_capek.h.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "allocation_count.h"
#include "amounts.h"
#include "analysis/partner.h"
#include "behaviours.h"
#include "cluster/by_signatures.h"
#include "cluster_axes.h"
#include "common.h"
#include "compress/append.h"
#include "compress/fold.h"
#include "compress/merge.h"
#include "flush/flush.h"
#include "format/codec.h"
#include "online/ballot.h"
#include "recorded_events.h"
#include "signature/call_rules.h"
#include "simulate_capek.h"
#include "simulate_rows.h"
#include "world/virtual_world.h"

namespace chameleon::tools {
namespace simulate_verb {

struct Options {
  std::string behaviour;
  std::uint32_t from = 1024, to = 1U << 20;
  std::uint32_t iterations = 20;
  std::uint32_t inner = UINT32_MAX;  ///< rounds of a loop within a step at most
  ClusterAxes axes;
  std::string fidelity = "exact", filter = "auto";
  std::string output;
  bool merge = true;
  bool json = false;
};

/// A part of a run: the start-up, and so many steps from one on.
struct Part {
  bool start = false;
  std::uint32_t first = 0, steps = 0;
};

class Simulation {
 public:
  Simulation(const Options& options, const Behaviour& behaviour, ClusterOptions clustering,
             FlushOptions flushing, const signature::Rules& rules)
      : options_(options),
        behaviour_(behaviour),
        clustering_(clustering),
        flushing_(flushing),
        rules_(rules) {}

  Row run(std::uint32_t ranks) {
    const auto begin = std::chrono::steady_clock::now();
    filtered_ = false;
    frame_ = behaviour_trace(ranks);
    Row row;
    row.ranks = ranks;
    AllocationCount allocations;
    VirtualWorld world(ranks, true, true, &allocations);
    vote_once(world);
    row.vote = world.traffic();
    row.vote_seconds = world.critical_seconds();
    world.reset_traffic();
    IntervalSignature signature;
    const auto signatures = world.generate([&](std::uint32_t rank) {
      signature.read_by_xor(rank);
      return sign({rank, ranks}, signature);
    });
    const Clustering clusters = cluster::cluster(world, signatures, clustering_);
    row.clustering = world.traffic();
    row.clustering_seconds = world.critical_seconds();
    describe(row, clusters);
    world.reset_traffic();
    if (options_.merge) merge_all(world, allocations, clusters, row);
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return row;
  }

  const Trace& last() const { return last_; }

 private:
  /// About a step that all ranks repeat.
  static void vote_once(VirtualWorld& world) {
    const auto ballots = world.generate([](std::uint32_t rank) {
      const RankExtent extent = RankExtent::of(rank, rank);
      return Ballot{Vote(0, 0, 0, mix(1)), {extent, extent, extent, extent}};
    });
    const auto add = [](Ballot& mine, Ballot&& theirs) { combine(mine, theirs); };
    world.cast(ballots, add, 0);
  }

  void merge_all(VirtualWorld& world, AllocationCount& allocations, const Clustering& clusters,
                 Row& row) {
    // History (start-up and the first step) is everyone's; the steady steps are those of
    // leads, and of others as the fidelity says.
    Trace online = frame_;
    const FlushOptions all(Fidelity::kExact, flushing_.filter);
    const auto held = [&, before = allocations.now()] {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(0, allocations.now() - before));
    };
    const auto flush = [&](const Clustering& by, FlushOptions how, const Part& part) {
      {
        Trace partial = merged(world, by, how, part);
        world.attempt([&] { append(online, std::move(partial)); });
      }
      world.root_holds(held());
    };
    flush(Clustering(), all, {.start = true, .steps = 1});
    flush(clusters, flushing_, {.first = 1, .steps = options_.iterations});
    row.merging = world.traffic();
    row.merging_seconds = world.critical_seconds();
    const std::uint64_t merging = world.root_bytes(), held_bytes = held();
    world.reset_traffic();
    describe(online, clusters);
    canonicalize(online);
    row.filtered = filtered_;
    row.trace_bytes = encode_trace(online).size();
    const std::uint32_t ranks = world.size();
    row.end = simulate_end(world, allocations, online, [&](std::uint32_t rank, const auto& visit) {
      for_each({rank, ranks}, {.start = true, .steps = options_.iterations + 1}, visit);
    });
    row.end.rank_0_bytes = std::max(merging, held_bytes + row.end.rank_0_bytes);
    last_ = std::move(online);
  }

  RecordedEvents started(Place place) const {
    RecordedEvents events;
    behaviour_.start(RankCalls(place, events));
    return events;
  }
  RecordedEvents stepped(Place place, std::uint32_t number) const {
    RecordedEvents events;
    behaviour_.step(RankCalls(place, events), {number, options_.inner});
    return events;
  }

  /// Calls `visit(events)` for the parts of a part of a run, in order. Steps that do not differ
  /// are made once.
  template <class Visit>
  void for_each(Place place, const Part& part, Visit&& visit) const {
    if (part.start) visit(started(place));
    RecordedEvents step;
    for (std::uint32_t i = 0; i < part.steps; ++i) {
      if (i == 0 || behaviour_.steps_differ) step = stepped(place, part.first + i);
      visit(step);
    }
  }

  /// The fold of a rank's events, in place of what `share` held.
  void fill(Share& share, Place place, const Part& part) const {
    Folder folder;
    for_each(place, part, [&](const RecordedEvents& events) {
      events.push_to(folder);
      share.trace.arrays.insert(events.arrays.begin(), events.arrays.end());
    });
    share.events = folder.event_count();
    share.trace.ranks = RankList::single(place.rank);
    share.trace.nodes = folder.take();
  }

  static void describe(Row& row, const Clustering& clusters) {
    std::set<std::uint64_t> call_paths;
    for (const MainCluster& main : clusters.main) {
      row.largest = std::max(row.largest, main.clusters.size());
      for (const SubCluster& one : main.clusters) call_paths.insert(one.signature.call_path);
    }
    row.call_paths = call_paths.size();
    row.leads = clusters.size();
    row.format = clusters.format;
  }

  /// The signatures of a step, as the tracer feeds them.
  SignatureVector sign(Place place, IntervalSignature& signature) const {
    const RecordedEvents step = stepped(place, 0);
    signature::CallSites sites = sites_of(place);
    std::uint64_t compute = 0, communication = 0;
    for (const RecordedEvents::Kept& one : step.events) {
      sign_event(one, place, sites, signature);
      compute += one.compute;
      communication += one.communication;
    }
    signature::IntervalTotals totals = signature.take_totals();
    const std::uint64_t events = step.events.size();
    totals[Parameter::kCompute] = {static_cast<std::int64_t>(compute), events, 0};
    totals[Parameter::kCommunication] = {static_cast<std::int64_t>(communication), events, 0};
    if ((clustering_.format & format_bit(Parameter::kLoop)) != 0) {
      Folder folder;
      step.push_to(folder);
      totals[Parameter::kLoop] = signature::loop_total(folder.take());
    }
    return totals.signature();
  }

  void sign_event(const RecordedEvents::Kept& event, Place place, signature::CallSites& sites,
                  IntervalSignature& signature) const {
    const std::uint64_t symbol = Node::event_symbol(event.call, event.path);
    signature.call(symbol);
    signature::for_each_signed(
        *find_call(static_cast<CallId>(event.call)), [&](const signature::SignedValue& value) {
          const std::int64_t given = event.values[value.at];
          if (const std::uint32_t rule = rule_of(event, place, sites, value); rule != 0)
            signature.add_ruled(value.parameter, rule);
          else if (value.end_point)
            signature.add_end_point(value.parameter, given);
          else if (value.parameter == Parameter::kDataOperation)
            signature.add(value.parameter, signature::type_bit(value.range, given));
          else
            signature.add(value.parameter, given);
        });
    std::uint64_t whole = symbol;
    for (std::size_t i = 0; i < event.values.size(); ++i)
      whole = combine(whole, compared(event, i));
    signature.add(Parameter::kSequence, static_cast<std::int64_t>(whole));
  }

  /// A value as ranks compare it: partners by their distances, roots by their ranks.
  std::uint64_t compared(const RecordedEvents::Kept& event, std::size_t i) const {
    const Field& field = frame_.calls.at(event.call).fields[i];
    std::int64_t value = event.values[i];
    if (field.stored == FieldKind::kEndPoint) {
      const auto partner = analysis::readings({EndPointForm::kBoth, value}, nullptr);
      value = field.kind == "root" ? partner.absolute : partner.relative;
    }
    return static_cast<std::uint64_t>(value);
  }

  /// What a rank keeps of events that it drops, with fidelity `checked`.
  flush::StreamHashes hashes_of(Place place, const Part& part) const {
    flush::StreamHashes hashes{};
    const auto add = [&](std::uint32_t kind, std::uint64_t value) {
      std::uint64_t& hash = hashes[static_cast<std::size_t>(std::countr_zero(kind))];
      hash = combine(hash, value);
    };
    for_each(place, part, [&](const RecordedEvents& events) {
      for (const RecordedEvents::Kept& event : events.events) {
        add(kInexactEvents, Node::event_symbol(event.call, event.path));
        const auto& fields = frame_.calls.at(event.call).fields;
        for (std::size_t i = 0; i < event.values.size(); ++i)
          add(inexactness_of(fields[i]), compared(event, i));
      }
    });
    return hashes;
  }

  /// Of calls that have rules, as the rank begins its first step.
  signature::CallSites sites_of(Place place) const {
    signature::CallSites sites;
    if (rules_.empty()) return sites;
    const RecordedEvents begin = started(place);
    for (const RecordedEvents::Kept& one : begin.events) {
      const bool ruled = !rules_.of(one.call).empty();
      if (ruled) sites.number(one.call, one.path);
    }
    return sites;
  }

  /// The rule that gives a value, from 1.
  std::uint32_t rule_of(const RecordedEvents::Kept& event, Place place, signature::CallSites& sites,
                        const signature::SignedValue& value) const {
    if (rules_.of(event.call).empty()) return 0;
    auto caller = rules_.caller(event.call, event.values, place.rank, place.ranks);
    caller.site = sites.number(event.call, event.path);
    return rules_.matching(event.call, value, event.values, caller);
  }

  // Traces are made where they are needed, and not all held at once.
  Trace merged(VirtualWorld& world, const Clustering& clusters, FlushOptions flushing,
               const Part& part) const {
    const std::uint32_t ranks = world.size();
    Share scratch;
    scratch.trace = frame_;
    const std::vector<std::uint32_t> leads = clusters.leads();
    const bool leads_only = flushing.fidelity != Fidelity::kExact && !leads.empty();
    auto classes = world.late([&](std::uint32_t rank) {
      std::vector<ShareClass> mine;
      if (leads_only && !std::binary_search(leads.begin(), leads.end(), rank)) return mine;
      scratch.trace.arrays = frame_.arrays;
      fill(scratch, {rank, ranks}, part);
      mine.push_back(classify(rank, scratch));
      return mine;
    });
    auto comparisons = world.late([&](std::uint32_t rank) {
      if (flushing.fidelity != Fidelity::kChecked) return std::vector<Comparison>();
      const bool keeps = std::binary_search(leads.begin(), leads.end(), rank);
      return flush::comparison_of(rank, hashes_of({rank, ranks}, part), keeps, clusters);
    });
    auto trace = flush::flush(
        world, std::move(classes), std::move(comparisons), clusters, flushing,
        [&](std::uint32_t rank, const FlushPlan::Entry& entry) {
          Share mine;
          mine.trace = frame_;
          fill(mine, {rank, ranks}, part);
          mine.rules = &rules_.rules();
          mine.sites = sites_of({rank, ranks});
          return prepare(entry, mine);
        },
        [&](const FlushPlan& plan) { filtered_ = filtered_ || plan.filtered; });
    return trace ? std::move(*trace) : Trace();
  }

  /// What rank 0 spends, as its recorded times say.
  std::uint64_t duration_ns(std::uint32_t ranks, std::uint32_t steps) const {
    std::uint64_t sum = 0;
    for_each({0, ranks}, {.start = true, .steps = steps}, [&](const RecordedEvents& events) {
      for (const RecordedEvents::Kept& one : events.events) sum += one.compute + one.communication;
    });
    return sum;
  }

  void describe(Trace& trace, const Clustering& clusters) const {
    trace.program = std::string("simulated ") + behaviour_.name;
    trace.tool_version = CHAMELEON_VERSION;
    trace.timing = "histogram";
    trace.complete = true;
    OnlineFacts& online = trace.online;
    online.clustering = selection_name(clustering_.selection);
    online.fidelity = options_.fidelity;
    online.k = clustering_.k;
    online.algorithm = cluster::algorithm_name(clustering_);
    online.steps = cluster::steps_name(clustering_.steps);
    online.signature_format = signature::format_text(clusters.format);
    online.markers = online.acted = options_.iterations + 1;
    online.count_at = online.count_c = online.count_f = 1;
    online.count_l = options_.iterations - 1;
    online.flushes = 2;
    online.clusterings = 1;
    online.filter = filtered_ ? "on" : "off";
    trace.rules = rules_.rules().text();
    const std::uint32_t ranks = trace.world_size;
    online.phases = {{0, 1, 1, 0, duration_ns(ranks, 1)}, {1, 2, 1, 0, duration_ns(ranks, 2)}};
    if (options_.iterations > 1)
      online.phases.push_back(
          {2, 3, options_.iterations - 1, 0, duration_ns(ranks, options_.iterations + 1)});
    for (const MainCluster& main : clusters.main)
      for (const SubCluster& one : main.clusters)
        online.clusters.push_back({one.signature.call_path, one.lead, one.ranks});
  }

  const Options& options_;
  const Behaviour& behaviour_;
  ClusterOptions clustering_;
  FlushOptions flushing_;
  signature::CallRules rules_;
  mutable bool filtered_ = false;
  Trace frame_;
  Trace last_;
};

int run_simulate(const Options& options) {
  const Behaviour* behaviour = find_behaviour(options.behaviour);
  if (behaviour == nullptr) {
    std::string names;
    for (const Behaviour& one : behaviours())
      names += std::string(names.empty() ? "" : ", ") + one.name;
    return fail("simulate", "no behaviour '" + options.behaviour + "': there are " + names,
                kExitUsage);
  }
  const Result<ClusterOptions> clustering = cluster_options(options.axes);
  if (!clustering) return fail("simulate", clustering.error().message, kExitUsage);
  const Fidelity fidelity = options.fidelity == "lead"      ? Fidelity::kLead
                            : options.fidelity == "checked" ? Fidelity::kChecked
                                                            : Fidelity::kExact;
  FlushOptions flushing(fidelity);
  if (!flush::filter_of(options.filter, flushing.filter))
    return fail("simulate", "--filter takes auto, on or off, not '" + options.filter + "'",
                kExitUsage);
  const Result<signature::Rules> rules = cluster_rules(options.axes);
  if (!rules) return fail("simulate", rules.error().message, kExitUsage);
  flushing.rules = !rules->empty();
  if (options.from == 0 || options.to < options.from || options.to > (1U << 22))
    return fail("simulate", "--from and --to take 1 to 4194304 ranks, ascending", kExitUsage);
  if (!options.merge && !options.output.empty())
    return fail("simulate", "with --no-merge there is no trace to write", kExitUsage);
  if (options.iterations == 0) return fail("simulate", "--iterations takes at least 1", kExitUsage);
  double all = 0;
  for (std::uint64_t ranks = options.from; ranks <= options.to; ranks *= 2)
    all += static_cast<double>(ranks);
  if (const Status allowed = allow_visits(options.behaviour, all * (1.0 + options.iterations), all);
      !allowed)
    return fail("simulate", allowed.error());
  Simulation simulation(options, *behaviour, *clustering, flushing, *rules);
  auto document = json_document("simulate");
  document["behaviour"] = behaviour->name;
  document["algorithm"] = cluster::algorithm_name(*clustering);
  document["options"] = cluster::options_text(*clustering);
  document["rows"] = nlohmann::ordered_json::array();
  if (!options.json) {
    std::cout << behaviour->name << ": " << behaviour->shape << "; "
              << cluster::algorithm_name(*clustering) << ", K = " << cluster::k_text(clustering->k)
              << ", " << options.fidelity << "\n";
    print_heads();
  }
  for (std::uint64_t ranks = options.from; ranks <= options.to; ranks *= 2) {
    const Row row = simulation.run(static_cast<std::uint32_t>(ranks));
    if (options.json)
      document["rows"].push_back(json_row(row, options.merge));
    else
      print_row(row, options.merge);
  }
  if (options.json) print_json(document);
  if (options.output.empty()) return kExitOk;
  if (const Status written = create_trace_file(options.output, simulation.last()); !written)
    return fail("simulate", written.error());
  return kExitOk;
}

/// What belongs to the other kind of simulation is refused, not ignored.
int run_either(const CLI::App& verb, const Options& options, CapekSimulation capek) {
  const bool clusters_efforts = options.behaviour == "capek" || options.behaviour == "effort";
  const auto given = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (verb.count(name) > 0) return std::string(name);
    return std::string();
  };
  const std::string other =
      clusters_efforts
          ? given({"--iterations", "--inner", "--algorithm", "--format", "--steps", "--leads",
                   "--clustering", "--equality", "--count-tolerance", "--distance", "--rules",
                   "--filter", "--fidelity", "--output", "--no-merge"})
          : given({"--figure", "--table", "--seeds", "--published"});
  if (!other.empty())
    return fail("simulate", "'" + options.behaviour + "' takes no " + other, kExitUsage);
  if (!clusters_efforts) return run_simulate(options);
  capek.json = options.json;
  capek.seed = options.axes.seed;
  if (verb.count("--from") > 0) capek.from = options.from;
  if (verb.count("--to") > 0) capek.to = options.to;
  if (options.from == 0 || options.to == 0 || options.to > (1U << 22))
    return fail("simulate", "--from and --to take 1 to 4194304 ranks, ascending", kExitUsage);
  const bool table = options.behaviour == "effort";
  if (verb.count(table ? "--figure" : "--table") > 0)
    return fail("simulate", "figures are capek's, the table is effort's", kExitUsage);
  if (verb.count("--seeds") > 0 && (table || capek.figure != 9))
    return fail("simulate", "--seeds is of figure 9", kExitUsage);
  if (capek.published && (table || (capek.figure != 6 && capek.figure != 9)))
    return fail("simulate", "--published is of figures 6 and 9", kExitUsage);
  const double all = 2.0 * capek.to * capek.seeds;
  if (const Status allowed = allow_visits(options.behaviour, 0, all); !allowed)
    return fail("simulate", allowed.error());
  if (table) return simulate_effort(capek);
  return capek.figure == 9 ? simulate_capek_quality(capek) : simulate_capek_cost(capek);
}

}  // namespace simulate_verb

void add_simulate_command(CLI::App& app, int& status) {
  using namespace simulate_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "simulate", "Cluster and merge an example's behaviour on virtual ranks, in this process");
  auto capek = std::make_shared<CapekSimulation>();
  verb->add_option("behaviour", options->behaviour, "An example's name, capek or effort")
      ->required();
  verb->add_option(
          "--from", options->from,
          "First number of ranks, doubled until --to; figures and table 1 have their own default")
      ->capture_default_str();
  verb->add_option("--to", options->to, "Most ranks")->capture_default_str();
  verb->add_option("--iterations", options->iterations, "Time steps in state L")
      ->capture_default_str();
  verb->add_option("--inner", options->inner,
                   "Rounds of a loop within a time step at most (default: as in the program)")
      ->check(count_of("rounds"));
  add_cluster_axes(*verb, options->axes);
  verb->add_option("--filter", options->filter,
                   "Whether ranks send only kinds of values that differ: auto, on, off");
  verb->add_option("--fidelity", options->fidelity, "exact, checked or lead")
      ->check(CLI::IsMember({"exact", "checked", "lead"}))
      ->capture_default_str();
  verb->add_flag("!--no-merge", options->merge, "Vote and cluster only");
  verb->add_option("-o,--output", options->output, "Write the largest job's trace");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->add_option("--figure", capek->figure, "capek: figure 4 to 9 of Gamblin et al. 2010")
      ->check(number_from(4, 9))
      ->capture_default_str();
  verb->add_option("--table", capek->table, "effort: table 1 of Gamblin et al. 2010")
      ->check(number_from(1, 1))
      ->capture_default_str();
  verb->add_option("--seeds", capek->seeds,
                   "figure 9: number of seeds, from --seed on; shows median, least and most")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_flag("--published", capek->published,
                 "figures 6 and 9: BIC as Gamblin et al. 2010 print it");
  verb->callback([verb, options, capek, &status] { status = run_either(*verb, *options, *capek); });
}

}  // namespace chameleon::tools
