// SPDX-License-Identifier: BSD-3-Clause
#include "process/settings.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/edit_distance.h"
#include "base/masked_arguments.h"
#include "mpi/call_table.h"
#include "record/given_rules.h"

namespace chameleon::process {
namespace {

constexpr const char* kPrefix = "CHAMELEON_";
constexpr const char* kAlgorithm = "ALGORITHM";
constexpr const char* kFormat = "FORMAT";

struct Variable {
  const char* takes;
  std::function<bool(Settings&, const std::string&)> set;
};

bool set_timing(Settings& settings, const std::string& value) {
  if (value == "none")
    settings.timing = Timing::kNone;
  else if (value == "histogram")
    settings.timing = Timing::kHistogram;
  else if (value == "full")
    settings.timing = Timing::kFull;
  else
    return false;
  return true;
}

bool set_events(Settings& settings, const std::string& value) {
  settings.all_events = value == "all";
  return value == "all" || value == "communication";
}

bool set_exclude(Settings& settings, const std::string& value) {
  return record::call_names_of(value, settings.exclude);
}

/// Names or globs of calls; those that no call has are a mistake.
bool set_calls(std::vector<std::string>& names, const std::string& text) {
  if (!record::call_names_of(text, names)) return false;
  return std::all_of(names.begin(), names.end(), [](const std::string& name) {
    const auto calls = mpi::all_calls();
    return std::any_of(calls.begin(), calls.end(), [&](const mpi::CallInfo& call) {
      return record::names_call({name}, call.name);
    });
  });
}

/// [WHAT]@FUNCTION[,FUNCTION...]; without WHAT both computation and communication.
bool set_effort_sites(Settings& settings, const std::string& value) {
  const std::size_t at = value.find('@');
  const std::string what = value.substr(0, at);
  EffortSites& sites = settings.effort_sites;
  sites.compute = what.empty() || what == "compute";
  sites.communication = what != "compute";
  if (what != "" && what != "compute" && what != "communication" &&
      !set_calls(settings.effort_calls, what))
    return false;
  return record::words_of(value.substr(at + 1), sites.functions);
}

/// What effort windows are of.
bool set_effort(Settings& settings, const std::string& value) {
  settings.effort.of = cluster::effort_of(value);
  settings.effort_given = settings.effort.on() ? value : "";
  if (settings.effort.of == cluster::EffortOf::kSites) return set_effort_sites(settings, value);
  return settings.effort.of != cluster::EffortOf::kCalls || set_calls(settings.effort_calls, value);
}

auto size_of(std::uint64_t Settings::*field) {
  return [field](Settings& settings, const std::string& value) {
    const auto size = parse_size(value);
    if (!size || *size < 65536) return false;
    settings.*field = *size;
    return true;
  };
}

/// A table of words and what they set.
template <class Part, class T>
auto word(T Part::*field, std::map<std::string, std::type_identity_t<T>> words) {
  return [field, words = std::move(words)](Settings& settings, const std::string& value) {
    const auto found = words.find(value);
    if (found != words.end()) settings.*field = found->second;
    return found != words.end();
  };
}

bool set_clustering(Settings& settings, const std::string& value) {
  settings.clustering = value != "off";
  return value == "off" || selection_of(value, settings.cluster.selection);
}

/// Options of clustering that `read` reads, as one function for all.
template <class T>
auto axis(T ClusterOptions::*field, bool (*read)(std::string_view, T&)) {
  return [field, read](Settings& settings, const std::string& value) {
    return read(value, settings.cluster.*field);
  };
}

/// The same of effort windows.
template <class T>
auto effort(T EffortOptions::*field, bool (*read)(std::string_view, T&)) {
  return [field, read](Settings& settings, const std::string& value) {
    return read(value, settings.effort.*field);
  };
}
template <class T>
auto effort_window(T Efforts::Settings::*field, bool (*read)(std::string_view, T&)) {
  return [field, read](Settings& settings, const std::string& value) {
    return read(value, settings.effort.window.*field);
  };
}

bool set_format(Settings& settings, const std::string& value) {
  return format_of(value, settings.cluster);
}

/// Before the other variables: they change single axes of it.
bool set_algorithm(Settings& settings, const std::string& value) {
  const Preset* preset = find_preset(value);
  if (preset != nullptr) settings.cluster = preset->options;
  return preset != nullptr;
}

bool set_frames(Settings& settings, const std::string& value) {
  return callpath::frames_of(value, settings.frames);
}

bool set_filter(Settings& settings, const std::string& value) {
  return flush::filter_of(value, settings.filter);
}

bool set_time_classes(Settings& settings, const std::string& value) {
  const auto classes = parse_size(value);
  const bool good = classes && *classes >= 1 && *classes <= 4096;
  if (good) settings.time_classes = static_cast<std::uint32_t>(*classes);
  return good;
}

bool set_seed(Settings& settings, const std::string& value) {
  const auto seed = parse_size(value);
  if (seed) settings.cluster.seed = *seed;
  return static_cast<bool>(seed);
}

auto at_least_one(std::uint64_t Settings::*field) {
  return [field](Settings& settings, const std::string& value) {
    const auto number = parse_size(value);
    if (!number || *number < 1) return false;
    settings.*field = *number;
    return true;
  };
}

bool set_call_frequency(Settings& settings, const std::string& value) {
  if (value == "auto") return settings.call_frequency = kAutoFrequency, true;
  return at_least_one(&Settings::call_frequency)(settings, value);
}

/// Who says how often has it so.
bool set_flush_every(Settings& settings, const std::string& value) {
  settings.least_flush_seconds = 0;
  return at_least_one(&Settings::flush_every)(settings, value);
}

auto seconds_of(double Settings::*field) {
  return [field](Settings& settings, const std::string& value) {
    double seconds = 0;
    const char* end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, seconds);
    if (error != std::errc() || rest != end || !(seconds > 0) || seconds > 1e9) return false;
    settings.*field = seconds;
    return true;
  };
}

/// A share above 0 and below 1, as such or in percent.
auto share_of(double Settings::*field) {
  return [field](Settings& settings, const std::string& value) {
    double share = 0;
    const char* end = value.data() + value.size();
    auto [rest, error] = std::from_chars(value.data(), end, share);
    if (rest != end && *rest == '%') share /= 100, ++rest;
    if (error != std::errc() || rest != end || !(share > 0) || share >= 1) return false;
    settings.*field = share;
    return true;
  };
}

bool set_few(Settings& settings, const std::string& value) {
  if (value == "0") return settings.few = 0, true;
  return share_of(&Settings::few)(settings, value);
}

/// Who gives a budget wants it kept, by leaving out what costs most.
bool set_budget(Settings& settings, const std::string& value) {
  settings.leaves_out = value != "off";
  if (value == "off") return settings.budget = 0, true;
  return share_of(&Settings::budget)(settings, value);
}

bool set_flush_seconds(Settings& settings, const std::string& value) {
  settings.flush_seconds_given = true;
  return seconds_of(&Settings::flush_seconds)(settings, value);
}

bool set_series(Settings& settings, const std::string& value) {
  const auto size = parse_size(value);
  if (!size || *size < 1024) return false;
  settings.series_limit = *size;
  return true;
}

const std::map<std::string, Variable>& variables() {
  static const std::map<std::string, Variable> list{
      {"ENABLE",
       {"0 or 1",
        [](Settings& s, const std::string& v) {
          s.enable = v == "1";
          return v == "0" || v == "1";
        }}},
      {"OUTPUT",
       {"a path",
        [](Settings& s, const std::string& v) {
          s.output = v;
          return !v.empty();
        }}},
      {"FRAMES",
       {"all, or how many innermost and outermost frames have to agree, such as 1+1", set_frames}},
      {"PYTHON", {"0 or 1", word(&Settings::python, {{"0", false}, {"1", true}})}},
      {"TIMING", {"none, histogram or full", set_timing}},
      {"PAIRS", {"on or off", word(&Settings::pairs, {{"on", true}, {"off", false}})}},
      {"TIME_CLASSES", {"a number from 1 to 4096", set_time_classes}},
      {"EVENTS", {"communication or all", set_events}},
      {"EXCLUDE", {"call names or globs, separated by commas", set_exclude}},
      {"BUFFER", {"a size of at least 64K, such as 8M", size_of(&Settings::buffer)}},
      {"CLOCK",
       {"counter or monotonic",
        word(&Settings::counter, {{"counter", true}, {"monotonic", false}})}},
      {"MEMORY", {"a size of at least 64K, such as 512M", size_of(&Settings::memory)}},
      {"SPILL",
       {"a folder, or off",
        [](Settings& s, const std::string& v) {
          s.spills = v != "off";
          s.spill = s.spills ? v : "";
          return !v.empty();
        }}},
      {"RAW",
       {"a directory",
        [](Settings& s, const std::string& v) {
          s.raw = v;
          return !v.empty();
        }}},
      {"CLUSTERING", {"k-farthest, k-medoid, k-random, capek or off", set_clustering}},
      {kAlgorithm,
       {"chameleon, callpath+parameter, reference, acurdion or dynamic", set_algorithm}},
      {kFormat,
       {"all, adaptive, or names of signatures (callpath, src, dest, count, tag, key, color, comp, "
        "comm, loop, data, sequence) separated by commas, also after 'adaptive:', or each after -, "
        "and behind a + those that are used as far as K allows",
        set_format}},
      {"STEPS", {"double or single", axis(&ClusterOptions::steps, cluster::steps_of)}},
      {"EQUALITY", {"exact, xor or packed", axis(&ClusterOptions::equality, cluster::equality_of)}},
      {"COUNT_TOLERANCE",
       {"a share such as 5%", axis(&ClusterOptions::count_tolerance, cluster::tolerance_of)}},
      {"K", {"a number from 1 to 65536, or all", axis(&ClusterOptions::k, cluster::k_of)}},
      {"SEED", {"a number", set_seed}},
      {"RULES",
       {"a file of rules, or rules",
        [](Settings& s, const std::string& v) {
          s.rules_given = v;
          return !v.empty();
        }}},
      {"FILTER", {"auto, on or off", set_filter}},
      {"DISTANCE",
       {"manhattan or euclidean", axis(&ClusterOptions::distance, cluster::distance_of)}},
      {"EFFORT",
       {"off, compute, communication, or names of MPI calls or globs, separated by commas; behind "
        "it @ and functions",
        set_effort}},
      {"EFFORT_STEPS",
       {"a multiple of 16 up to 1024",
        effort_window(&Efforts::Settings::length, cluster::effort_steps_of)}},
      {"EFFORT_K",
       {"bic, samples, or a number from 1 to 64", effort(&EffortOptions::k, cluster::effort_k_of)}},
      {"EFFORT_ERROR",
       {"a share such as 5%",
        effort_window(&Efforts::Settings::error_ppm, cluster::effort_share_of)}},
      {"EFFORT_CONFIDENCE",
       {"a share such as 95%",
        effort_window(&Efforts::Settings::confidence_ppm, cluster::effort_share_of)}},
      {"FIDELITY",
       {"exact, checked or lead", word(&Settings::fidelity, {{"exact", Fidelity::kExact},
                                                             {"checked", Fidelity::kChecked},
                                                             {"lead", Fidelity::kLead}})}},
      {"SIGNATURE",
       {"ordered or xor", word(&Settings::signature, {{"ordered", CallPathForm::kOrdered},
                                                      {"xor", CallPathForm::kXor}})}},
      {"CALL_FREQUENCY", {"a number of markers from 1 on, or auto", set_call_frequency}},
      {"MARKERS",
       {"program, auto or off", word(&Settings::markers, {{"program", markers::Markers::kProgram},
                                                          {"auto", markers::Markers::kAuto},
                                                          {"off", markers::Markers::kOff}})}},
      {"FLUSH_EVERY", {"a number of markers from 1 on", set_flush_every}},
      {"BUDGET", {"a share of the run time such as 1%, or off", set_budget}},
      {"FEW", {"0, or a share of the ranks such as 25%", set_few}},
      {"MARKER_TIMEOUT", {"seconds above 0", seconds_of(&Settings::marker_timeout)}},
      {"STALL",
       {"seconds, or 0",
        [](Settings& s, const std::string& v) {
          s.stall = 0;
          s.stall_given = true;
          return v == "0" || seconds_of(&Settings::stall)(s, v);
        }}},
      {"STALL_ABORT", {"0 or 1", word(&Settings::stall_ends, {{"0", false}, {"1", true}})}},
      {"VOTE",
       {"deferred or blocking", word(&Settings::voting, {{"deferred", Voting::kDeferred},
                                                         {"blocking", Voting::kBlocking}})}},
      {"WAIT",
       {"yield or sleep", word(&Settings::waiting, {{"yield", world::Waiting::kYield},
                                                    {"sleep", world::Waiting::kSleep}})}},
      {"ENERGY", {"off or on", word(&Settings::energy, {{"off", false}, {"on", true}})}},
      {"FLUSH_SECONDS", {"seconds above 0", set_flush_seconds}},
      {"SERIES", {"a size of at least 1K, such as 64K", set_series}},
      {"TRACE_LIMIT", {"a size of at least 64K, such as 512M", size_of(&Settings::trace_limit)}},
      {"VERBOSE",
       {"0, 1 or 2",
        [](Settings& s, const std::string& v) {
          s.verbose = v.size() == 1 ? v[0] - '0' : -1;
          return s.verbose >= 0 && s.verbose <= 2;
        }}},
      // Read as the process begins, before there are settings.
      {"MASK",
       {"names or globs of arguments, separated by commas, or off before them",
        [](Settings&, const std::string& v) {
          SecretNames names;
          return secret_names_of(v, names);
        }}},
      {"RECORD_COMMAND",
       {"0 or 1", [](Settings&, const std::string& v) { return v == "0" || v == "1"; }}},
      // Read by the `chameleon` command, not here.
      {"LIBRARY", {"a path", [](Settings&, const std::string&) { return true; }}},
  };
  return list;
}

}  // namespace

Result<std::uint64_t> parse_size(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  unsigned shift = 0;
  const char* unit = rest;
  if (unit != end && error == std::errc()) {
    if (*unit == 'K' || *unit == 'k') shift = 10;
    if (*unit == 'M' || *unit == 'm') shift = 20;
    if (*unit == 'G' || *unit == 'g') shift = 30;
    if (shift != 0) ++unit;
  }
  if (error != std::errc() || unit != end || value > (UINT64_MAX >> shift))
    return Error{ErrorKind::kUsage, "'" + text + "' is not a size", 0};
  return value << shift;
}

namespace {

struct Assignment {
  std::string name;  ///< without the prefix
  std::string value;
};

/// The variables of the tracer, in their order, but the one first that names what others change.
std::vector<Assignment> assignments(const char* const* environment) {
  std::vector<Assignment> list;
  for (; *environment != nullptr; ++environment) {
    const std::string entry = *environment;
    const std::size_t equals = entry.find('=');
    if (entry.rfind(kPrefix, 0) != 0 || equals == std::string::npos) continue;
    const std::size_t prefix = std::strlen(kPrefix);
    list.push_back({entry.substr(prefix, equals - prefix), entry.substr(equals + 1)});
  }
  std::stable_partition(list.begin(), list.end(),
                        [](const Assignment& one) { return one.name == kAlgorithm; });
  return list;
}

/// The variable that may be meant; empty: none is near.
std::string nearest(std::string_view name) {
  std::string found;
  std::size_t least = kUnrelatedNames;
  for (const auto& [variable, meaning] : variables())
    if (const std::size_t away = edit_distance(name, variable); away < least) {
      least = away;
      found = variable;
    }
  return found;
}

}  // namespace

Result<Settings> parse_settings(const char* const* environment) {
  Settings settings;
  bool names_format = false, says_how_often = false;
  for (const auto& [name, value] : assignments(environment)) {
    names_format = names_format || name == kAlgorithm || name == kFormat;
    says_how_often = says_how_often || name == "CALL_FREQUENCY";
    const auto variable = variables().find(name);
    if (variable == variables().end()) {
      const std::string near = nearest(name);
      settings.warnings.push_back(kPrefix + name + " is not a variable of the tracer" +
                                  (near.empty() ? "" : std::string(": ") + kPrefix + near + " is"));
      continue;
    }
    if (!variable->second.set(settings, value))
      return Error{
          ErrorKind::kUsage,
          kPrefix + name + "='" + value + "' is malformed: it takes " + variable->second.takes, 0};
  }
  // Published clusterings are as published. Otherwise leads that are allowed are used where what
  // they do not know is lost.
  if (!names_format && settings.fidelity != Fidelity::kExact)
    settings.cluster.further = cluster::kFurtherSignatures;
  // Efforts are those of intervals, which are to be steps.
  if (settings.effort.on() && !says_how_often) settings.call_frequency = 1;
  settings.effort.seed = settings.cluster.seed;
  settings.format = fed_format(settings.cluster);
  settings.reads_by_xor = settings.cluster.equality == cluster::Equality::kXor;
  settings.keeps_times = settings.timing != Timing::kNone;
  settings.hashes = settings.fidelity == Fidelity::kChecked;
  if (settings.spills) settings.online_limit = settings.memory / 4;
  return settings;
}

Status load_rules(Settings& settings) {
  if (settings.rules_given.empty()) return Unit{};
  Result<signature::Rules> rules = record::given_rules(settings.rules_given);
  if (!rules) {
    std::string why = "CHAMELEON_RULES: ";
    return Error{ErrorKind::kUsage, why += rules.error().message, 0};
  }
  settings.follows_rules = !rules->empty();
  settings.rules = std::move(*rules);
  return Unit{};
}

}  // namespace chameleon::process
