// SPDX-License-Identifier: BSD-3-Clause
/// Bytes that the tables of tables.cpp take at most.

#include <algorithm>
#include <cmath>
#include <functional>

#include "tools/common.h"
#include "tools/csv.h"
#include "tools/export/export_shape.h"
#include "tools/export/table_columns.h"
#include "tools/wait_table.h"

namespace chameleon::tools {
namespace {

class TableSizes {
 public:
  TableSizes(const ExportShape& shape, bool json)
      : shape_(shape),
        trace_(shape.request->trace),
        json_(json),
        threads_(trace_.threads > 1),
        rank_(shape.rank),
        event_(shape.event),
        time_(shape.time) {}

  ExportSize all() {
    events();
    messages();
    of_places();
    of_markers();
    of_structure();
    return {bytes_, 0};
  }

 private:
  double text(const std::string& words) const {
    return static_cast<double>((json_ ? json_text(words) : csv_text(words)).size());
  }
  /// A text in quotes only where the format has them.
  double word(double letters) const { return letters + (json_ ? 2 : 0); }

  /// A table of so many rows, whose cells have so many bytes, all of them together; `empty`: cells
  /// without a value.
  void table(const Columns& columns, double rows, double cells, double empty = 0) {
    double names = 0;
    for (const char* name : columns) names += static_cast<double>(std::string_view(name).size());
    const auto many = static_cast<double>(columns.size());
    constexpr double kAroundName = 3, kBraces = 4, kNull = 4;  // "x":  {},\n  null
    bytes_ += json_ ? 8 : names + many;
    bytes_ += rows * many + cells;
    if (json_) bytes_ += rows * (names + kAroundName * many + kBraces) + kNull * empty;
  }

  void events() {
    const double thread = threads_ ? digits_of(trace_.threads) : 0;
    double cells = 0, empty = 0;
    for (const CallShape& call : shape_.calls) {
      const double bytes = call.bytes;
      const bool peer = call.messages() > 0 || call.completes();
      const bool rooted = call.collectives > 0 && call.plan->root >= 0;
      double row =
          rank_ + event_ + 4 * time_ + 1 + text(call.call->name) + text(call.site) + thread;
      if (peer) row += rank_ + shape_.tag + (call.completes() ? kBytes : bytes);
      if (call.collectives > 0) row += 2 * bytes;
      if (rooted) row += rank_;
      cells += call.times * row + call.waits * time_;
      empty += call.times * ((peer ? 0 : 3) + (call.collectives > 0 ? 0 : 2) + (rooted ? 0 : 1));
    }
    table(event_columns(threads_), shape_.events, cells, empty);
  }

  void messages() {
    const double thread = threads_ ? 2.0 * digits_of(trace_.threads) : 0;
    constexpr double kContext = 18;
    double cells = 0;
    for (const CallShape& call : shape_.calls)
      cells += call.receives * (2 * rank_ + shape_.tag + word(kContext) + 2 * event_ + 2 * time_ +
                                thread + call.bytes);
    table(message_columns(threads_), shape_.receives, cells);
    const double pairs = std::min(shape_.sends, shape_.lanes * shape_.world);
    table(matrix_columns(), pairs, pairs * (2 * rank_ + event_ + event_ + kBytes));
  }

  /// Rows of each stream, call and place.
  void of_places() {
    double calls = 0, waits = 0;
    const double numbers = static_cast<double>(wait_columns().size()) - 3;
    for (const CallShape& call : shape_.calls) {
      const double name = rank_ + text(call.call->name) + text(call.site) + event_;
      calls += call.streams * (name + 2 * time_ + kBytes);
      waits += call.streams * (name + numbers * (time_ + 1));
    }
    table(call_columns(), shape_.places, calls);
    const bool timed = !lacks_times(trace_);
    table(wait_columns(), timed ? shape_.places : 0, timed ? waits : 0);
  }

  void of_markers() {
    constexpr double kHash = 18;
    double members = 0;
    for (const Cluster& cluster : trace_.online.clusters)
      members += static_cast<double>(cluster.ranks.size());
    table(cluster_columns(), members, members * (3 * rank_ + word(kHash) + 1));
    const double marker = digits_of(static_cast<double>(trace_.online.acted + 1));
    const auto phases = static_cast<double>(trace_.online.phases.size());
    table({"state", "first", "markers", "changed", "end_ns"}, phases,
          phases * (word(2) + 2 * marker + rank_ + 1 + kNs));
    const double sum = time_ + rank_ + 1;
    const auto spans = static_cast<double>(trace_.series.spans().size());
    table(series_columns(), spans,
          spans * (3 * marker + kNs + word(2) + 4 * (sum + 2 * time_ + 2 * rank_ + 3) +
                   4 * (time_ + rank_)));
    double steps = 0, samples = 0;
    for (const EffortWindow& window : trace_.efforts.windows()) {
      steps += 1 + static_cast<double>(window.steps.size() * (1 + window.strata.size()));
      for (const EffortStratum& stratum : window.strata)
        for (const SampledRank& sampled : stratum.sampled)
          samples += static_cast<double>(sampled.ns.size());
    }
    table(effort_columns(), steps, steps * (4 * marker + 3 * rank_ + 4 * sum + word(20)),
          8 * steps);
    table(sample_columns(), samples, samples * (3 * marker + rank_ + time_ + 2));
    const auto outliers = static_cast<double>(trace_.outliers.all().size());
    table(outlier_columns(), outliers, outliers * (2 * rank_ + event_ + word(7) + 3 * (time_ + 1)));
    const auto pairs = static_cast<double>(trace_.pair_accounts.all().size());
    table(pair_account_columns(), pairs,
          pairs * (3 * rank_ + kBytes + 2 * event_ + 2 * (time_ + 1)));
  }

  /// Loops and call paths.
  void of_structure() {
    table(loop_columns(), 0, 0);
    add_loops(trace_.nodes, letters_of(trace_.ranks));
    PathNames& names = shape_.request->names;
    double cells = 0;
    for (const auto& [path, frames] : trace_.paths) {
      double stack = 0;
      for (const std::string& frame : names.frames(path))
        stack += static_cast<double>(function_of(frame).size()) + 1;
      // The function and its file are in the names of the place and of the frames, or near them.
      cells += 2 * text(names.site(path)) + 2 * word(stack) + kFile;
    }
    table(site_columns(), static_cast<double>(trace_.paths.size()), cells);
  }
  void add_loops(const std::vector<Node>& nodes, double around) {
    for (const Node& node : nodes) {
      if (!node.is_loop()) continue;
      const double ranks = node.ranks.empty() ? around : letters_of(node.ranks);
      table(loop_columns(), 1,
            ranks + 3 * static_cast<double>(shape_.longest_site) + kFile + 4 * (event_ + rank_) +
                2 * (time_ + rank_));
      add_loops(node.body, ranks);
    }
  }
  double letters_of(const RankList& streams) const {
    return static_cast<double>(trace_.ranks_of(streams).to_string().size());
  }

  static constexpr double kBytes = 13, kNs = 19, kFile = 120;

  const ExportShape& shape_;
  const Trace& trace_;
  const bool json_, threads_;
  const double rank_, event_, time_;
  double bytes_ = 0;
};

}  // namespace

ExportSize csv_size(const ExportShape& shape) { return TableSizes(shape, false).all(); }
ExportSize json_size(const ExportShape& shape) { return TableSizes(shape, true).all(); }

}  // namespace chameleon::tools
