// SPDX-License-Identifier: BSD-3-Clause
#include "tools/pair_messages.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/new_file.h"
#include "tools/call_sites.h"
#include "tools/common.h"
#include "tools/csv.h"

namespace chameleon::tools {
namespace {

using Json = nlohmann::ordered_json;

const RankFacts* facts_of(const Trace& trace, std::uint32_t rank) {
  const auto found = trace.facts.find(rank);
  return found == trace.facts.end() || found->second.host.empty() ? nullptr : &found->second;
}

std::string place_text(const Trace& trace, std::uint32_t rank) {
  const RankFacts* facts = facts_of(trace, rank);
  return "rank " + std::to_string(rank) +
         (facts == nullptr ? ""
                           : " on " + printable(facts->host) + ", processor " +
                                 std::to_string(facts->processor));
}

/// Clocks of both ranks beside rank 0's; negative: not known.
double clock_error_ns(const Trace& trace, std::uint32_t a, std::uint32_t b) {
  double error = 0;
  for (const std::uint32_t rank : {a, b}) {
    if (rank == 0 || a == b) continue;
    const auto facts = trace.facts.find(rank);
    if (facts == trace.facts.end() || facts->second.clock_samples == 0) return -1;
    error += static_cast<double>(facts->second.clock_error_ns);
  }
  return error;
}

const RankPair* pair_of(const RankPairs& pairs, const PairMessages& messages) {
  for (const RankPair& pair : pairs.pairs)
    if (pair.a == messages.a && pair.b == messages.b) return &pair;
  return nullptr;
}

double expected_ns(const RankPairs& pairs, std::uint64_t bytes) {
  const auto found = pairs.expected_ns.find(size_class(bytes));
  return found == pairs.expected_ns.end() ? 0 : found->second;
}

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

std::string size_range(const PairAccount& account) {
  const std::uint64_t least = least_bytes(account);
  if (least < 2) return std::to_string(least) + " B";
  return bytes_text(static_cast<double>(least)) + " to " +
         bytes_text(2 * static_cast<double>(least) - 1);
}

std::vector<PairAccount> accounts_of(const Trace& trace, std::uint32_t a, std::uint32_t b) {
  std::vector<PairAccount> found;
  for (const PairAccount& account : trace.pair_accounts.all()) {
    const std::uint32_t dest = trace.rank_of(account.stream);
    if ((account.source == a && dest == b) || (account.source == b && dest == a))
      found.push_back(account);
  }
  return found;
}

}  // namespace

void print_messages(const Trace& trace, const PairMessages& messages, const RankPairs& pairs,
                    std::size_t limit) {
  CallSites sites(trace);
  std::cout << "pair " << messages.a << " - " << messages.b << ": " << place_text(trace, messages.a)
            << "; " << place_text(trace, messages.b) << "\n";
  const RankPair* pair = pair_of(pairs, messages);
  std::cout << "messages: " << count_text(messages.messages);
  if (pair != nullptr) {
    std::cout << ", " << bytes_text(static_cast<double>(pair->bytes))
              << "; time from send to receive: " << duration_text(pair->transfer_ns) << ", "
              << duration_text(std::abs(pair->residual_ns))
              << (pair->residual_ns < 0 ? " less" : " more") << " than expected";
  }
  const double error = clock_error_ns(trace, messages.a, messages.b);
  std::cout << "\n"
            << (error < 0 ? "how far the clocks of the two ranks agree is not known"
                          : "clocks of the two ranks agree within " + duration_text(error))
            << "\n";
  if (messages.too_short > 0)
    std::cout << "messages that are too short for the clocks: " << count_text(messages.too_short)
              << "\n";
  std::cout << "\n"
            << Style().strong(
                   "      size  from    to    messages      time    median  expected   longest"
                   "   sent at  send -> receive")
            << "\n";
  for (std::size_t i = 0; i < messages.sizes.size(); ++i) {
    const SizeMessages& size = messages.sizes[i];
    if (i == limit) {
      std::cout << count_text(messages.sizes.size() - limit) << " more (--limit)\n";
      break;
    }
    std::cout << padded(bytes_text(static_cast<double>(size.bytes)), 10)
              << padded(std::to_string(size.source), 6) << padded(std::to_string(size.dest), 6)
              << padded(count_text(size.messages), 12)
              << padded(duration_text(size.transfer_ns), 10)
              << padded(duration_text(size.median_ns), 10)
              << padded(duration_text(expected_ns(pairs, size.bytes)), 10)
              << padded(duration_text(static_cast<double>(size.longest.transfer_ns())), 10)
              << padded(duration_text(static_cast<double>(size.longest.sent_ns)), 10) << "  "
              << printable(sites.site(size.send_path)) << " -> "
              << printable(sites.site(size.receive_path)) << "\n";
  }
  if (messages.every > 1)
    std::cout << "medians, call sites and plots are of one message in "
              << count_text(messages.every) << "\n";
}

void print_messages_document(const Trace& trace, const PairMessages& messages,
                             const RankPairs& pairs) {
  CallSites sites(trace);
  Json document = json_document("pairs");
  document["a"] = messages.a;
  document["b"] = messages.b;
  document["places"] = Json::array();
  for (const std::uint32_t rank : {messages.a, messages.b}) {
    Json place = {{"rank", rank}};
    if (const RankFacts* facts = facts_of(trace, rank)) {
      place["host"] = facts->host;
      place["processor"] = facts->processor;
    }
    document["places"].push_back(std::move(place));
  }
  document["messages"] = messages.messages;
  if (const RankPair* pair = pair_of(pairs, messages)) {
    document["bytes"] = pair->bytes;
    document["transfer_seconds"] = pair->transfer_ns * 1e-9;
    document["residual_seconds"] = pair->residual_ns * 1e-9;
  }
  const double error = clock_error_ns(trace, messages.a, messages.b);
  document["clock_error_seconds"] = error < 0 ? Json() : Json(error * 1e-9);
  document["too_short"] = messages.too_short;
  document["every"] = messages.every;
  document["sizes"] = Json::array();
  for (const SizeMessages& size : messages.sizes)
    document["sizes"].push_back(
        {{"bytes", size.bytes},
         {"source", size.source},
         {"dest", size.dest},
         {"messages", size.messages},
         {"transfer_seconds", size.transfer_ns * 1e-9},
         {"median_seconds", size.median_ns * 1e-9},
         {"expected_seconds", expected_ns(pairs, size.bytes) * 1e-9},
         {"longest",
          {{"seconds", static_cast<double>(size.longest.transfer_ns()) * 1e-9},
           {"sent_seconds", static_cast<double>(size.longest.sent_ns) * 1e-9}}},
         {"send_site", sites.site(size.send_path)},
         {"receive_site", sites.site(size.receive_path)}});
  print_json(document);
}

Status write_messages(const std::string& path, const Trace& trace, const PairMessages& messages) {
  CallSites sites(trace);
  std::ostringstream file;
  file << "source,dest,bytes,sent_us,transfer_us,send_site,receive_site\n";
  file << std::fixed;
  file.precision(3);
  for (const PairMessage& one : messages.kept)
    file << one.source << "," << one.dest << "," << one.bytes << "," << microseconds(one.sent_ns)
         << "," << microseconds(one.transfer_ns()) << "," << csv_text(sites.site(one.send_path))
         << "," << csv_text(sites.site(one.receive_path)) << "\n";
  return write_new_file(path, file.str());
}

bool print_accounts(const Trace& trace, std::uint32_t a, std::uint32_t b,
                    const std::string& reason) {
  const std::vector<PairAccount> accounts = accounts_of(trace, a, b);
  if (accounts.empty()) return false;
  std::cout << "pair " << a << " - " << b << ": " << place_text(trace, a) << "; "
            << place_text(trace, b) << "\n"
            << "what receivers waited, by size; " << reason << "\n\n"
            << Style().strong(
                   "  from    to    messages      wait      mean   longest    in event  size")
            << "\n";
  for (const PairAccount& one : accounts) {
    const auto messages = static_cast<double>(std::max<std::uint64_t>(one.messages, 1));
    std::cout << padded(std::to_string(one.source), 6)
              << padded(std::to_string(trace.rank_of(one.stream)), 6)
              << padded(count_text(one.messages), 12)
              << padded(duration_text(static_cast<double>(one.ns)), 10)
              << padded(duration_text(static_cast<double>(one.ns) / messages), 10)
              << padded(duration_text(static_cast<double>(one.longest_ns)), 10)
              << padded(count_text(one.longest_event), 12) << "  " << size_range(one);
    if (trace.threads > 1) std::cout << ", thread " << trace.thread_of(one.stream);
    std::cout << "\n";
  }
  return true;
}

bool print_accounts_document(const Trace& trace, std::uint32_t a, std::uint32_t b) {
  const std::vector<PairAccount> accounts = accounts_of(trace, a, b);
  if (accounts.empty()) return false;
  Json document = json_document("pairs");
  document["a"] = a;
  document["b"] = b;
  document["accounts"] = Json::array();
  for (const PairAccount& one : accounts)
    document["accounts"].push_back({{"source", one.source},
                                    {"dest", trace.rank_of(one.stream)},
                                    {"thread", trace.thread_of(one.stream)},
                                    {"least_bytes", least_bytes(one)},
                                    {"messages", one.messages},
                                    {"wait_seconds", static_cast<double>(one.ns) * 1e-9},
                                    {"longest",
                                     {{"seconds", static_cast<double>(one.longest_ns) * 1e-9},
                                      {"event", one.longest_event}}}});
  print_json(document);
  return true;
}

}  // namespace chameleon::tools
