// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The options of verbs that cluster ranks: a paper's algorithm, and the axes on which it can be
/// moved. Their values are those of the environment.

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "cluster/options.h"
#include "signature/rules.h"

namespace chameleon::tools {

/// As given; empty: not given.
struct ClusterAxes {
  std::string algorithm = "chameleon";
  std::string clustering, format, steps, k, equality, tolerance, distance;
  std::string rules;  ///< a file or text
  std::uint64_t seed = 1;
};

/// `axes` must outlive the parser.
void add_cluster_axes(CLI::App& verb, ClusterAxes& axes);

/// The algorithm with the axes that were given. Error: one of them is malformed.
Result<cluster::ClusterOptions> cluster_options(const ClusterAxes& axes);

/// The rules that were given. Error: what is wrong with them.
Result<signature::Rules> cluster_rules(const ClusterAxes& axes);

}  // namespace chameleon::tools
