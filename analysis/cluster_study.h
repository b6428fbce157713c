// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The result of a clustering for a run: its clusters, what the leads' traces would have kept, and
/// what it would have cost, from one trace with every rank.

#include <cstdint>
#include <vector>

#include "analysis/kept_values.h"
#include "analysis/rank_signatures.h"
#include "cluster/options.h"
#include "world/world.h"

namespace chameleon::analysis {

/// The average space of a rank in bytes, by the papers' formulas with T the mean size of a rank's
/// trace and S that of its signatures. Those of Table 3.7 count a main cluster's trace once and no
/// traces of its other leads; `counted` has them.
struct ClusterSpace {
  double trace = 0;        ///< T
  double signature = 0;    ///< S: eight bytes a signature of the format; whole sequences: eight an
                           ///< event and eight a parameter, which are not compressed
  double clustered = 0;    ///< Table 4.8
  double by_main = 0;      ///< Table 3.7: of main clusters and the most sub-clusters of one
  double unclustered = 0;  ///< when all ranks' traces are merged, in both tables
  double counted = 0;      ///< what clustering sent, and the traces of leads other than rank 0
};

struct ClusterStudy {
  cluster::ClusterOptions options;
  Clustering clustering;
  std::size_t main_clusters = 0, leads = 0;
  std::size_t largest = 0;  ///< most sub-clusters of a main cluster
  KeptShares kept{};
  world::Traffic traffic;  ///< of clustering, on virtual ranks: as in a job
  ClusterSpace space;
};

/// A trace's ranks, signed once, clustered as often as one likes.
class ClusterStudies {
 public:
  /// Ranks are signed by these rules. Trace and rules must outlive it. Error: the trace is damaged.
  static Result<ClusterStudies> make(const Trace& trace, const signature::Rules& rules);

  /// Error: the trace is damaged.
  Result<ClusterStudy> study(const cluster::ClusterOptions& options) const;
  /// Ranks that differ in any value of any event, however far away.
  std::size_t behaviours() const;
  const std::vector<RankSignature>& ranks() const { return ranks_; }

 private:
  ClusterStudies(const Trace& trace, FollowPlan plan, signature::CallRules rules)
      : trace_(&trace), plan_(std::move(plan)), rules_(std::move(rules)) {}
  ClusterSpace space_of(const ClusterStudy& study) const;

  const Trace* trace_;
  FollowPlan plan_;
  signature::CallRules rules_;
  std::vector<RankSignature> ranks_;
};

}  // namespace chameleon::analysis
