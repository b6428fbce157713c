// SPDX-License-Identifier: BSD-3-Clause
#include "common.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

namespace chameleon::tools {
namespace {

std::string three_digits(double value) {
  std::array<char, 32> text{};
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

/// Messages of the library name the file already; a line break would make two lines of one.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

int fail(std::string_view verb, std::string_view message, int status) {
  std::cerr << "chameleon" << (verb.empty() ? "" : " ") << verb << ": " << one_line(message)
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

std::optional<Trace> load_trace(std::string_view verb, const std::string& path, int& status,
                                FileFacts* facts) {
  Result<Trace> trace = read_trace(path, facts);
  if (!trace) {
    status = fail(verb, trace.error());
    return std::nullopt;
  }
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

std::string printable(std::string_view text) {
  const auto is_plain = [](char letter) { return letter >= ' ' && letter <= '~'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  auto kept = nlohmann::json::parse(json_text(text)).get<std::string>();
  std::replace_if(
      kept.begin(), kept.end(),
      [](char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f'; },
      ' ');
  return kept;
}

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
