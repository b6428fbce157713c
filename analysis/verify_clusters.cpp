// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_clusters.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/foreign_lines.h"
#include "cluster/by_signatures.h"
#include "world/virtual_world.h"

namespace chameleon::analysis {
namespace {

struct Election {
  ClusterOptions options;
  SignatureVector signature;
};

/// # elected OPTIONS CALL-PATH (MEAN EXACT)... MIXED... [XORED...]
std::optional<Election> parse(const std::string& line) {
  std::istringstream words(line);
  std::string hash, mark, number;
  Election one;
  words >> hash >> mark;
  if (!cluster::options_of(words, one.options)) return std::nullopt;
  words >> one.signature.call_path;
  for (SignatureVector::Summary& summary : one.signature.parameters) {
    words >> number >> summary.exact;
    char* end = nullptr;
    summary.mean = std::strtod(number.c_str(), &end);
    if (!words || end == number.c_str() || *end != 0) return std::nullopt;
  }
  for (std::uint64_t& mixed : one.signature.mixed)
    if (!(words >> mixed)) return std::nullopt;
  if (one.options.equality != cluster::Equality::kXor) return one;
  for (std::uint64_t& xored : one.signature.xored)
    if (!(words >> xored)) return std::nullopt;
  return one;
}

}  // namespace

Result<ClusterCheck> verify_clusters(const Trace& trace, const std::string& raw_directory) {
  ClusterCheck result;
  if (trace.online.clusters.empty() || !trace.complete || trace.world_size == 0) return result;
  ClusterOptions options;
  std::vector<SignatureVector> signatures;
  for (std::uint32_t rank = 0; rank < trace.world_size; ++rank) {
    const std::string path = raw_directory + "/rank." + std::to_string(rank) + ".raw";
    ForeignLines in(path);
    std::string line, last;
    while (std::getline(in, line))
      if (line.compare(0, 10, "# elected ") == 0) last = line;
    if (last.empty()) return result;
    const std::optional<Election> election = parse(last);
    if (!election)
      return Error{ErrorKind::kCorrupt, path + ": malformed '# elected' line: record again", 0};
    if (rank == 0) options = election->options;
    signatures.push_back(election->signature);
  }
  VirtualWorld world(trace.world_size);
  const Clustering expected = cluster::cluster(
      world, world.generate([&](std::uint32_t rank) { return signatures[rank]; }), options);
  result.done = result.equal = true;
  const auto& told = trace.online.clusters;
  for (const MainCluster& main : expected.main)
    for (const SubCluster& one : main.clusters) {
      const std::size_t at = result.leads++;
      result.equal = result.equal && at < told.size() && told[at].lead == one.lead &&
                     told[at].ranks == one.ranks && told[at].call_path == one.signature.call_path;
    }
  result.equal = result.equal && result.leads == told.size();
  // Clusters that serve several phases are parts of those of each phase.
  if (!result.equal && trace.online.clusterings > 1)
    result.equal = std::all_of(told.begin(), told.end(), [&](const model::Cluster& part) {
      const SubCluster* const whole = expected.find(part.lead);
      return whole != nullptr && part.ranks.contains(part.lead) &&
             part.ranks.minus(whole->ranks).empty();
    });
  return result;
}

}  // namespace chameleon::analysis
