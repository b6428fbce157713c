// SPDX-License-Identifier: BSD-3-Clause
#include "cluster_axes.h"

#include "process/settings.h"

namespace chameleon::tools {

void add_cluster_axes(CLI::App& verb, ClusterAxes& axes) {
  std::vector<std::string> names;
  for (const cluster::Preset& preset : cluster::presets()) names.push_back(preset.name);
  verb.add_option("--algorithm", axes.algorithm,
                  "chameleon, callpath+parameter, reference, acurdion, dynamic")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  verb.add_option("--format", axes.format, "Signatures: all, adaptive[:LIST], or a list");
  verb.add_option("--steps", axes.steps, "double, single");
  verb.add_option("-k,--leads", axes.k, "Largest number of leads, or all");
  verb.add_option("--clustering", axes.clustering, "k-farthest, k-medoid, k-random, capek");
  verb.add_option("--equality", axes.equality, "exact, xor, packed");
  verb.add_option("--count-tolerance", axes.tolerance, "Share by which COUNTs may differ");
  verb.add_option("--distance", axes.distance, "manhattan, euclidean");
  verb.add_option("--rules", axes.rules, "Formulas for expected values: a file, or rules");
  verb.add_option("--seed", axes.seed, "Seed of random choices")->capture_default_str();
}

Result<cluster::ClusterOptions> cluster_options(const ClusterAxes& axes) {
  cluster::ClusterOptions wanted = cluster::find_preset(axes.algorithm)->options;
  wanted.seed = axes.seed;
  const auto bad = [](const std::string& option, const std::string& value,
                      const std::string& takes) {
    return Error{ErrorKind::kUsage, option + " takes " + takes + ", not '" + value + "'", 0};
  };
  if (!axes.clustering.empty() && !cluster::selection_of(axes.clustering, wanted.selection))
    return bad("--clustering", axes.clustering, "k-farthest, k-medoid, k-random or capek");
  if (!axes.format.empty() && !cluster::format_of(axes.format, wanted))
    return bad("--format", axes.format,
               "all, adaptive, or names of signatures separated by commas (callpath, src, dest, "
               "count, tag, key, color, comp, comm, loop, data, sequence)");
  if (!axes.steps.empty() && !cluster::steps_of(axes.steps, wanted.steps))
    return bad("--steps", axes.steps, "double or single");
  if (!axes.k.empty() && !cluster::k_of(axes.k, wanted.k))
    return bad("-k", axes.k, "1 to 65536, or all");
  if (!axes.equality.empty() && !cluster::equality_of(axes.equality, wanted.equality))
    return bad("--equality", axes.equality, "exact, xor or packed");
  if (!axes.tolerance.empty() && !cluster::tolerance_of(axes.tolerance, wanted.count_tolerance))
    return bad("--count-tolerance", axes.tolerance, "a share such as 5%");
  if (!axes.distance.empty() && !cluster::distance_of(axes.distance, wanted.distance))
    return bad("--distance", axes.distance, "manhattan or euclidean");
  return wanted;
}

Result<signature::Rules> cluster_rules(const ClusterAxes& axes) {
  process::Settings settings;
  settings.rules_given = axes.rules;
  if (const Status read = process::load_rules(settings); !read) {
    const std::string& why = read.error().message;
    return Error{ErrorKind::kUsage, "--rules" + why.substr(why.find(':')), 0};
  }
  return std::move(settings.rules);
}

}  // namespace chameleon::tools
