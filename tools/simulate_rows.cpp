// SPDX-License-Identifier: BSD-3-Clause
#include "simulate_rows.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "common.h"
#include "signature/signature.h"

namespace chameleon::tools::simulate_verb {

using world::Traffic;

void print_heads() {
  std::puts(
      "          clustering                                      merging                         "
      "  at the end                  Call-\n"
      "   ranks  critical  messages    bytes depth  largest   critical  messages    bytes depth  "
      "critical  largest   rank 0   Paths leads      trace      file    took");
}

void print_row(const Row& row, bool merged) {
  const auto bytes = [](std::uint64_t number) { return bytes_text(static_cast<double>(number)); };
  const Traffic& clustering = row.clustering;
  std::printf("%8u  %6.3f s %9llu %8s %5u %8s   ", row.ranks, row.clustering_seconds,
              static_cast<unsigned long long>(clustering.messages), bytes(clustering.bytes).c_str(),
              clustering.depth, bytes(clustering.largest).c_str());
  if (merged)
    std::printf("%6.3f s %9llu %8s %5u  %6.3f s %8s %8s", row.merging_seconds,
                static_cast<unsigned long long>(row.merging.messages),
                bytes(row.merging.bytes).c_str(), row.merging.depth,
                row.end.times_seconds + row.end.facts_seconds,
                bytes(std::max(row.end.times.largest, row.end.facts.largest)).c_str(),
                bytes(row.end.rank_0_bytes).c_str());
  else
    std::printf("%8s %9s %8s %5s  %8s %8s %8s", "-", "-", "-", "-", "-", "-", "-");
  std::printf("   %5zu %5zu %10s %9s  %6.1f s\n", row.call_paths, row.leads,
              merged ? bytes(row.trace_bytes).c_str() : "-",
              merged ? bytes(row.end.file_bytes).c_str() : "-", row.seconds);
  std::fflush(stdout);
}

nlohmann::ordered_json json_row(const Row& row, bool merged) {
  const auto traffic = [](const Traffic& t, double seconds) {
    return nlohmann::ordered_json{{"critical_seconds", seconds},
                                  {"messages", t.messages},
                                  {"bytes", t.bytes},
                                  {"largest_message", t.largest},
                                  {"depth", t.depth}};
  };
  nlohmann::ordered_json json = {{"ranks", row.ranks},
                                 {"vote", traffic(row.vote, row.vote_seconds)},
                                 {"clustering", traffic(row.clustering, row.clustering_seconds)}};
  if (merged) {
    json["merging"] = traffic(row.merging, row.merging_seconds);
    json["times"] = traffic(row.end.times, row.end.times_seconds);
    json["facts"] = traffic(row.end.facts, row.end.facts_seconds);
    json["rank_0_bytes"] = row.end.rank_0_bytes;
    json["file_bytes"] = row.end.file_bytes;
  }
  json["call_paths"] = row.call_paths;
  json["most_sub_clusters"] = row.largest;
  json["leads"] = row.leads;
  json["format"] = signature::format_text(row.format);
  if (merged) json["filtered"] = row.filtered;
  if (merged) json["trace_bytes"] = row.trace_bytes;
  json["seconds"] = row.seconds;
  return json;
}

}  // namespace chameleon::tools::simulate_verb
