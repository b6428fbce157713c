// SPDX-License-Identifier: BSD-3-Clause
#include "common.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>

#include "analysis/work.h"
#include "base/plain_text.h"
#include "tools/allocation_count.h"
#include "tools/call_sites.h"
#include "tools/foreign_names.h"
#include "tools/left_parts.h"

namespace chameleon::tools {
namespace {

std::string three_digits(double value) {
  std::array<char, 32> text{};
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

/// What is read now, for a message when memory ends; verbs and files as the user named them.
std::string g_verb, g_file;  // NOLINT
std::uint64_t g_most_memory = 0;
bool g_takes_all = false;

/// Beyond these a verb asks before it starts. A rank costs about what 64 calls do.
constexpr double kMostVisits = 5e8, kVisitsOfRank = 64, kVisitsPerSecond = 2e6;

/// Verbs that visit every call of every rank, one after the other.
constexpr std::array<std::string_view, 12> kVisitors = {
    "check",  "cluster", "critical", "efficiency", "matrix", "pairs",
    "phases", "predict", "slow",     "whatif",     "replay", "patterns"};

/// Verbs that read loops as loops and ranks as lists of ranks, and verbs that ask themselves about
/// what they visit. All others visit ranks one by one, and calls where each has times of its own.
constexpr std::array<std::string_view, 5> kUnbounded = {"export", "info", "recover", "redact",
                                                        "verify"};

/// Verbs that are about the file itself, without what ranks left beside it.
constexpr std::array<std::string_view, 6> kOfFile = {"info",  "recover", "redact",
                                                     "serve", "verify",  "watch"};

/// Verbs that write names into files as they are, with the quotes of each format.
constexpr std::array<std::string_view, 4> kKeepNames = {"export", "recover", "redact", "report"};

template <std::size_t N>
bool is_one_of(std::string_view verb, const std::array<std::string_view, N>& verbs) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

/// The trace of a job that ended early, with the last words of its ranks.
void join_left(std::string_view verb, const std::string& path, Trace& trace) {
  const analysis::Recovery recovery = join_parts(trace, path);
  for (const std::string& why : recovery.left_out) fail(verb, "left out: " + why, kExitMismatch);
  if (!recovery.joined.empty())
    std::cerr << "chameleon " << verb << ": " << printable(path) << " with the last words of "
              << ranks_text(recovery.joined) << "\n";
}

}  // namespace

int fail(std::string_view verb, std::string_view message, int status) {
  std::cerr << "chameleon" << (verb.empty() ? "" : " ") << verb << ": " << printable(message)
            << "\n";
  return status;
}

int fail(std::string_view verb, const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUsage: return fail(verb, error.message, kExitUsage);
    case ErrorKind::kRefused: return fail(verb, error.message, kExitRefused);
    case ErrorKind::kNotATrace:
    case ErrorKind::kTruncated:
    case ErrorKind::kUnsupportedVersion:
    case ErrorKind::kCorrupt:
    case ErrorKind::kSystem: break;
  }
  return fail(verb, error.message, kExitUnreadable);
}

void set_limits(std::uint64_t most_memory, bool takes_all) {
  g_most_memory = most_memory;
  g_takes_all = takes_all;
}

std::uint64_t asked_memory() { return g_most_memory; }

std::uint64_t most_memory() { return g_most_memory == 0 ? default_read_limit() : g_most_memory; }
bool takes_all() { return g_takes_all; }

int out_of_memory() {
  const std::string of = g_file.empty() ? "" : g_file + ": ";
  return fail(g_verb, of + "there is not enough memory for it", kExitUnreadable);
}

Result<Trace> read_bounded(const std::string& path, FileFacts* facts) {
  const auto too_large = [&](const std::string& why) {
    return Error{ErrorKind::kRefused, why + "; --memory SIZE allows more", 0};
  };
  try {
    const AllocationBound bound(most_memory());
    Result<Trace> trace = read_trace(path, facts, most_memory());
    if (!trace && trace.error().kind == ErrorKind::kRefused)
      return too_large(trace.error().message);
    return trace;
  } catch (const std::bad_alloc&) {
    return too_large(path + ": too large: reading it takes more than " +
                     bytes_text(static_cast<double>(most_memory())) + " of memory");
  }
}

Status allow_visits(std::string_view path, double events, double ranks) {
  const double visits = events + kVisitsOfRank * ranks;
  if (g_takes_all || visits <= kMostVisits) return Unit{};
  return Error{ErrorKind::kRefused,
               std::string(path) + ": this visits " +
                   (events > 0 ? amount_text(events) + " calls of " : "") + amount_text(ranks) +
                   " ranks one by one, which takes about " +
                   duration_text(1e9 * visits / kVisitsPerSecond) + "; --all does it",
               0};
}

Status allow_visits(std::string_view path, const Trace& trace, bool each_call) {
  const bool calls = each_call || trace.timing == "full";
  return allow_visits(path, calls ? visited_events(trace, trace.ranks) : 0,
                      std::max<double>(trace.world_size, static_cast<double>(trace.ranks.size())));
}

std::optional<Trace> load_trace(std::string_view verb, const std::string& path, int& status,
                                FileFacts* facts) {
  g_verb = verb;
  g_file = path;
  Result<Trace> trace = read_bounded(path, facts);
  if (!trace) {
    status = fail(verb, trace.error());
    return std::nullopt;
  }
  if (!trace->complete && !is_one_of(verb, kOfFile)) join_left(verb, path, *trace);
  if (!is_one_of(verb, kUnbounded))
    if (const Status allowed = allow_visits(path, *trace, is_one_of(verb, kVisitors)); !allowed) {
      status = fail(verb, allowed.error());
      return std::nullopt;
    }
  if (!is_one_of(verb, kKeepNames)) make_names_printable(*trace);
  return std::move(*trace);
}

std::optional<Trace> load_unthreaded(std::string_view verb, const std::string& path, int& status,
                                     FileFacts* facts) {
  std::optional<Trace> trace = load_trace(verb, path, status, facts);
  if (!trace || trace->threads <= 1) return trace;
  status = fail(verb,
                path + " has ranks with up to " + std::to_string(trace->threads) +
                    " threads, and " + std::string(verb) +
                    " needs one sequence of calls for "
                    "each rank; see info, print, stats, matrix, report or export",
                kExitRefused);
  return std::nullopt;
}

std::string output_here(const std::string& trace, std::string_view suffix) {
  constexpr std::string_view kSuffix = ".cham";
  std::string_view name = base_name(trace);
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  return std::string(name).append(suffix);
}

nlohmann::ordered_json json_document(std::string_view verb) {
  nlohmann::ordered_json document;
  document["schema"] = "chameleon." + std::string(verb) + "/1";
  return document;
}

void print_json(const nlohmann::ordered_json& document) {
  // Names and paths of the traced machine need not be UTF-8.
  std::cout << document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
            << "\n";
}

std::string duration_text(double ns) {
  constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && ns >= 999.5) {
    ns /= 1000;
    ++unit;
  }
  if (unit == 0) return std::to_string(std::llround(ns)) + " ns";
  return three_digits(ns) + " " + kUnits[unit];
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1023.5) {
    bytes /= 1024;
    ++unit;
  }
  if (unit == 0) return std::to_string(std::llround(bytes)) + " B";
  return three_digits(bytes) + " " + kUnits[unit];
}

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string amount_text(double count) {
  if (count < 1e18) return count_text(static_cast<std::uint64_t>(count));
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", count);
  return text;
}

std::string share_text(double share) { return three_digits(share * 100) + " %"; }

std::string at_once_text(std::uint64_t events, std::uint64_t at_once) {
  if (at_once == 0) return "";
  return count_text(at_once) + " of " + count_text(events) +
         " calls were analysed at once: their iterations repeat others";
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

std::string hex_text(std::uint64_t value) {
  char text[19];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string json_text(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string printable(std::string_view text) { return plain_text(text); }

std::string ranks_text(const RankList& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranks.to_string();
}

std::string streams_text(const Trace& trace, const RankList& streams) {
  if (trace.threads <= 1) return ranks_text(streams);
  std::vector<std::pair<RankList, RankList>> groups;  // ranks, threads
  for (std::uint32_t thread = 0; thread < trace.threads; ++thread) {
    const std::uint32_t first = trace.stream_of(0, thread);
    const RankList ranks =
        trace.ranks_of(streams.intersection(RankList::range(first, first + trace.world_size - 1)));
    if (ranks.empty()) continue;
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == ranks; });
    if (same != groups.end())
      same->second.insert(thread);
    else
      groups.emplace_back(ranks, RankList::single(thread));
  }
  std::string text;
  for (const auto& [ranks, threads] : groups)
    text += (text.empty() ? "" : "; ") + ranks_text(ranks) +
            (threads.size() == 1 ? ", thread " : ", threads ") + threads.to_string();
  return text;
}

std::vector<std::uint32_t> streams_by_rank(const Trace& trace, const RankList& ranks) {
  std::vector<std::uint32_t> streams;
  ranks.for_each([&](std::uint32_t rank) {
    for (const std::uint32_t stream : trace.streams_of(rank)) streams.push_back(stream);
  });
  return streams;
}

Result<RankList> wanted_ranks(const Trace& trace, const std::string& text) {
  RankList ranks = trace.whole_ranks();
  if (text.empty()) return ranks;
  const Result<RankList> wanted = RankList::parse(text);
  if (!wanted) return wanted.error();
  ranks = ranks.intersection(*wanted);
  if (ranks.empty()) return Error{ErrorKind::kUsage, "no such ranks in the trace", 0};
  return ranks;
}

Style::Style() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  on_ = (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1 &&
        terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string Style::wrap(const char* code, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  return std::string("\033[") + code + "m" + std::string(text) + "\033[0m";
}

}  // namespace chameleon::tools
