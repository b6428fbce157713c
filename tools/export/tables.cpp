// SPDX-License-Identifier: BSD-3-Clause
/// Tables as CSV, or as JSON arrays of records: events, calls, messages, matrix,
/// clusters, phases, series, efforts, samples, loops, sites, waits, each a file. pandas reads them
/// with read_csv and read_json. Events and messages are written as they come; the others are small.

#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analysis/effort_error.h"
#include "analysis/loop_frames.h"
#include "analysis/place_times.h"
#include "analysis/place_waits.h"
#include "analysis/stream_times.h"
#include "tools/common.h"
#include "tools/csv.h"
#include "tools/export/export.h"
#include "tools/export/loop_rows.h"
#include "tools/export/table_columns.h"
#include "tools/loop_places.h"
#include "tools/wait_table.h"

namespace chameleon::tools {
namespace {

/// A number is written as it is, a text quoted as the format wants it.
struct Cell {
  std::string text;
  bool quoted = false;
  Cell(std::string_view words) : text(words), quoted(true) {}    // NOLINT: cells are values
  Cell(const std::string& words) : text(words), quoted(true) {}  // NOLINT
  Cell(const char* words) : text(words), quoted(true) {}         // NOLINT
  Cell(std::uint64_t number) : text(std::to_string(number)) {}   // NOLINT
  Cell(std::int64_t number) : text(std::to_string(number)) {}    // NOLINT
  Cell(std::uint32_t number) : text(std::to_string(number)) {}   // NOLINT
  static Cell nothing() {
    Cell cell{std::uint64_t{0}};
    cell.text.clear();
    return cell;
  }
};

class Table {
 public:
  Table(const ExportRequest& request, const char* name, bool json, std::vector<const char*> columns)
      : json_(json),
        columns_(std::move(columns)),
        file_(request.output + "/" + name + (json ? ".json" : ".csv")) {
    if (json_) {
      file_ << "[";
      return;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) file_ << (i == 0 ? "" : ",") << columns_[i];
    file_ << "\n";
  }

  void row(const std::vector<Cell>& cells) {
    if (json_) file_ << (rows_ == 0 ? "\n{" : ",\n{");
    std::size_t i = 0;
    for (const Cell& cell : cells) {
      if (i > 0) file_ << ",";
      if (json_) file_ << "\"" << columns_[i] << "\":";
      if (cell.quoted)
        file_ << (json_ ? json_text(cell.text) : csv_text(cell.text));
      else
        file_ << (json_ && cell.text.empty() ? "null" : cell.text);
      ++i;
    }
    file_ << (json_ ? "}" : "\n");
    ++rows_;
  }

  Status close() {
    if (json_) file_ << "\n]\n";
    return file_.close();
  }

 private:
  const bool json_;
  const std::vector<const char*> columns_;
  TextFile file_;
  std::uint64_t rows_ = 0;
};

struct CallRow {
  std::uint64_t count = 0, sent = 0;
  double compute_ns = 0, call_ns = 0;
};

class Tables {
 public:
  Tables(const ExportRequest& request, bool json)
      : request_(request),
        json_(json),
        names_(request.names),
        threads_(request.trace.threads > 1),
        waits_(request.trace),
        events_(request, "events", json, event_columns(threads_)),
        messages_(request, "messages", json, message_columns(threads_)) {}

  void event(const TimedEvent& event) {
    const RankOperations& at = *event.at;
    if (tells_waits()) waits_.add(event);
    const std::string& site = names_.site(at.event().path);
    Cell peer = Cell::nothing(), tag = peer, bytes = peer, sent = peer, received = peer,
         root = peer;
    CallRow& row = calls_[{at.rank(), at.call().name, at.event().path}];
    std::int64_t all_sent = 0, all_received = 0;  // a Startall begins several
    for (std::size_t i = 0; i < at.operations().size(); ++i) {
      const Operation& operation = at.operations()[i];
      using Kind = Operation::Kind;
      if (operation.kind == Kind::kSend) {
        peer = operation.channel.dest;
        row.sent += static_cast<std::uint64_t>(operation.bytes);
        auto& [count, volume] = matrix_[{operation.channel.source, operation.channel.dest}];
        ++count;
        volume += static_cast<std::uint64_t>(operation.bytes);
      }
      if (operation.kind == Kind::kReceive && at.operations().size() == 1)
        peer = operation.channel.source;
      if (operation.kind == Kind::kSend ||
          (operation.kind == Kind::kReceive && at.operations().size() == 1)) {
        tag = operation.channel.tag;
        bytes = operation.bytes;
      }
      if (operation.kind == Kind::kReceive) message(event, operation, i);
      if (operation.kind == Kind::kBegin) {
        sent = all_sent += operation.sent;
        received = all_received += operation.received;
        row.sent += static_cast<std::uint64_t>(operation.sent);
        if (operation.root_world >= 0) root = operation.root_world;
      }
    }
    ++row.count;
    if (at.event().path != at.event().node->path) add_times(at, row);
    std::vector<Cell> cells = {at.rank(),
                               at.number(),
                               at.call().name,
                               event.begin_ns,
                               event.end_ns,
                               at.compute_ns(),
                               at.communication_ns(),
                               peer,
                               tag,
                               bytes,
                               sent,
                               received,
                               root,
                               site,
                               at.waiting_ns()};
    if (threads_) cells.emplace_back(thread_of(event.stream()));
    events_.row(cells);
  }

  Status finish(const TimelineFacts& facts) {
    Table calls(request_, "calls", json_, call_columns());
    if (const Status timed = time_calls(); !timed) return timed;
    for (const auto& [key, row] : calls_)
      calls.row({std::get<0>(key), std::get<1>(key), names_.site(std::get<2>(key)), row.count,
                 whole_ns(row.compute_ns), whole_ns(row.call_ns), row.sent});
    Table matrix(request_, "matrix", json_, matrix_columns());
    for (const auto& [pair, sums] : matrix_)
      matrix.row({pair.first, pair.second, sums.first, sums.second});
    Table clusters(request_, "clusters", json_, cluster_columns());
    std::uint64_t number = 0;
    for (const Cluster& cluster : request_.trace.online.clusters) {
      char path[20];
      std::snprintf(path, sizeof path, "%016llx",
                    static_cast<unsigned long long>(cluster.call_path));
      for (const std::uint32_t rank : cluster.ranks.ranks())
        clusters.row({number, "0x" + std::string(path), cluster.lead, rank});
      ++number;
    }
    Table phases(request_, "phases", json_, {"state", "first", "markers", "changed", "end_ns"});
    for (const Phase& phase : request_.trace.online.phases)
      phases.row({phase.state < kStates.size() ? kStates[phase.state] : "?", phase.first,
                  phase.markers, phase.changed, phase.end_ns});
    Table series(request_, "series", json_, series_columns());
    for (const SeriesSpan& span : request_.trace.series.spans()) series.row(series_cells(span));
    if (const Status written = write_efforts(); !written) return written;
    if (const Status written = write_outliers(); !written) return written;
    if (const Status written = write_pair_accounts(); !written) return written;
    Table loops(request_, "loops", json_, loop_columns());
    if (const Status written = write_loops(loops); !written) return written;
    Table sites(request_, "sites", json_, site_columns());
    write_sites(sites);
    Table waits(request_, "waits", json_, wait_columns());
    if (const Status written = write_waits(waits, facts); !written) return written;
    for (Table* table : {&events_, &messages_, &calls, &matrix, &clusters, &phases, &series, &loops,
                         &sites, &waits})
      if (const Status closed = table->close(); !closed) return closed;
    return Unit{};
  }

 private:
  static constexpr std::array<std::pair<const char*, RankExtent IntervalTally::*>, 4> kParts = {
      {{"compute", &IntervalTally::compute},
       {"call", &IntervalTally::communication},
       {"busy", &IntervalTally::busy},
       {"waiting", &IntervalTally::waiting}}};

  /// Of the slowest interval what the rank took that took most.
  static std::vector<Cell> series_cells(const SeriesSpan& span) {
    std::vector<Cell> cells = {span.first, span.intervals, span.end_ns, kStates[span.state & 3],
                               std::uint64_t{span.phase}};
    for (const auto& [name, part] : kParts) {
      const RankExtent& extent = span.all.*part;
      cells.insert(cells.end(), {extent.sum_ns, extent.least_ns, extent.least_rank, extent.most_ns,
                                 extent.most_rank});
    }
    cells.emplace_back(span.slowest);
    for (const auto& [name, part] : kParts) {
      cells.emplace_back((span.worst.*part).most_ns);
      cells.emplace_back((span.worst.*part).most_rank);
    }
    return cells;
  }

  /// Of each step of an effort window a row for all ranks, and one for each stratum, or a single
  /// row if the window was given up; and what sampled ranks computed. No files where there is no
  /// window.
  Status write_efforts() {
    if (request_.trace.efforts.empty()) return Unit{};
    Table efforts(request_, "efforts", json_, effort_columns());
    Table samples(request_, "samples", json_, sample_columns());
    for (const EffortWindow& window : request_.trace.efforts.windows()) {
      if (window.gap != EffortGap::kNone) write_gap(efforts, window);
      for (std::size_t i = 0; i < window.steps.size(); ++i) write_step(efforts, window, i);
      std::uint64_t number = 0;
      for (const EffortStratum& stratum : window.strata) {
        for (const SampledRank& sampled : stratum.sampled)
          for (std::size_t i = 0; i < sampled.ns.size(); ++i)
            samples.row(
                {window.first, window.steps[i].marker, number, sampled.rank, sampled.ns[i]});
        ++number;
      }
    }
    if (const Status closed = efforts.close(); !closed) return closed;
    return samples.close();
  }

  /// No file where there is none.
  Status write_outliers() {
    const Trace& trace = request_.trace;
    if (trace.outliers.all().empty()) return Unit{};
    Table table(request_, "outliers", json_, outlier_columns());
    for (const Outlier& one : trace.outliers.all())
      if (request_.ranks.contains(trace.rank_of(one.stream)))
        table.row({trace.rank_of(one.stream), trace.thread_of(one.stream), one.event,
                   one.in_call ? "call" : "compute", one.begin_ns, one.ns, one.usual_ns});
    return table.close();
  }

  /// Likewise.
  Status write_pair_accounts() {
    const Trace& trace = request_.trace;
    if (trace.pair_accounts.all().empty()) return Unit{};
    Table table(request_, "pair_accounts", json_, pair_account_columns());
    for (const PairAccount& one : trace.pair_accounts.all())
      if (request_.ranks.contains(trace.rank_of(one.stream)))
        table.row({one.source, trace.rank_of(one.stream), trace.thread_of(one.stream),
                   least_bytes(one), one.messages, one.ns, one.longest_ns, one.longest_event});
    return table.close();
  }

  static void write_step(Table& table, const EffortWindow& window, std::size_t at) {
    const EffortStep& step = window.steps[at];
    table.row({window.first, window.last, step.marker, Cell::nothing(), Cell::nothing(),
               window.ranks, sampled_ranks(window), step.sum_ns, step.deviation_ns, step.least_ns,
               step.most_ns, gap_name(window.gap)});
    std::uint64_t number = 0;
    for (const EffortStratum& stratum : window.strata)
      table.row({window.first, window.last, step.marker, number++, stratum.medoid, stratum.size,
                 std::uint64_t{stratum.sampled.size()}, stratum.steps[at].sum_ns,
                 stratum.steps[at].deviation_ns, Cell::nothing(), Cell::nothing(),
                 gap_name(window.gap)});
  }
  static void write_gap(Table& table, const EffortWindow& window) {
    std::vector<Cell> cells = {window.first, window.last};
    cells.resize(11, Cell::nothing());
    cells.emplace_back(gap_name(window.gap));
    table.row(cells);
  }

  Status write_loops(Table& table) {
    const Result<std::vector<LoopRow>> rows = loop_rows(request_.trace, request_.streams());
    if (!rows) return rows.error();
    CallSites sites(request_.trace);
    const LoopPlaces places(request_.trace, sites);
    std::uint64_t number = 0;
    for (const LoopRow& row : *rows)
      table.row({++number, row.parent == 0 ? Cell::nothing() : Cell(std::uint64_t{row.parent}),
                 row.depth, request_.trace.ranks_of(row.streams).to_string(),
                 iterations_of(*row.node, row.streams.first()), whole_ns(row.events),
                 whole_ns(row.compute_ns), whole_ns(row.call_ns), places.of(*row.node)});
    return Unit{};
  }

  /// They are told while the events of all ranks are read.
  bool tells_waits() const {
    return !lacks_times(request_.trace) && request_.ranks == request_.trace.whole_ranks();
  }

  Status write_waits(Table& table, const TimelineFacts& facts) {
    if (lacks_times(request_.trace)) return Unit{};
    Result<WaitReport> found =
        tells_waits() ? Result<WaitReport>(waits_.finish(facts)) : waits_of(request_.trace);
    if (!found) return found.error();
    for (const PlaceWait& place : found->places) {
      const auto call = request_.trace.calls.find(place.call);
      if (!request_.ranks.contains(place.stream) || call == request_.trace.calls.end()) continue;
      std::vector<Cell> cells = {place.stream, call->second.name, names_.site(place.path)};
      for (const std::uint64_t number : wait_numbers(place.times)) cells.emplace_back(number);
      table.row(cells);
    }
    return Unit{};
  }

  /// Call paths: the function and line of the place, and all functions, outermost first.
  void write_sites(Table& table) {
    CallSites sites(request_.trace);
    for (const auto& [path, frames] : request_.trace.paths) {
      const SourceLocation* at = sites.location(path);
      const bool known = at != nullptr && !at->file.empty();
      std::string stack;
      for (const std::string& frame : names_.frames(path))
        stack += (stack.empty() ? "" : ";") + std::string(function_of(frame));
      table.row({"0x" + hex_text(path), names_.site(path), sites.function(path),
                 known ? at->file : std::string(),
                 known ? Cell(static_cast<std::int64_t>(at->line)) : Cell::nothing(), stack});
    }
  }

  std::uint32_t thread_of(std::uint32_t stream) const { return request_.trace.thread_of(stream); }

  /// Halves go down, in whichever order they were summed: the Python reader writes the same.
  static std::uint64_t whole_ns(double ns) { return static_cast<std::uint64_t>(ns + 0.4999); }

  /// Of an event whose place is that of other call paths too.
  void add_times(const RankOperations& at, CallRow& row) {
    const EventView& event = at.event();
    if (is_time(at.call().fields.back())) {
      row.compute_ns += static_cast<double>(at.compute_ns());
      row.call_ns += static_cast<double>(at.communication_ns());
      return;
    }
    const StreamTimes& times =
        times_.try_emplace(at.stream(), request_.trace, at.stream()).first->second;
    const std::optional<MeanTimes> means = times.means(*event.node, event.predecessor);
    if (!means) return;
    row.compute_ns += means->compute_ns;
    row.call_ns += means->communication_ns;
  }

  /// Of the others not from the events, whose times are rounded.
  Status time_calls() {
    const Trace& trace = request_.trace;
    return each_place_time(trace, request_.streams(), [&](const PlaceTime& time) {
      const auto call = trace.calls.find(time.node.call);
      if (call == trace.calls.end()) return;
      const auto row = calls_.find({trace.rank_of(time.stream), call->second.name, time.node.path});
      if (row == calls_.end()) return;
      row->second.compute_ns += time.compute_ns();
      row->second.call_ns += time.call_ns();
    });
  }

  void message(const TimedEvent& event, const Operation& operation, std::size_t place) {
    if (!request_.ranks.contains(operation.channel.source)) return;
    std::vector<Cell> cells = {
        operation.channel.source,      operation.channel.dest, operation.channel.tag,
        "0x" + hex(operation.context), operation.sequence,     operation.bytes,
        event.since_ns[place],         event.end_ns,           event.at->number()};
    if (threads_) {
      cells.emplace_back(thread_of(event.since_stream[place]));
      cells.emplace_back(thread_of(event.stream()));
    }
    messages_.row(cells);
  }
  static std::string hex(std::uint64_t number) {
    char text[20];
    std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
    return text;
  }

  const ExportRequest& request_;
  const bool json_;
  PathNames& names_;
  const bool threads_;  ///< some rank has several
  PlaceWaits waits_;
  Table events_, messages_;
  std::map<std::tuple<std::uint32_t, std::string, std::uint64_t>, CallRow> calls_;
  std::unordered_map<std::uint32_t, StreamTimes> times_;  ///< by stream, of relaxed places
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>>
      matrix_;
};

Result<ExportReport> export_tables(const ExportRequest& request, bool json) {
  if (const Status made = make_folder(request.output); !made) return made.error();
  Tables tables(request, json);
  return export_timeline(
      request, [&](const TimedEvent& event) { tables.event(event); },
      [&](const TimelineFacts& facts) { return tables.finish(facts); });
}

}  // namespace

Result<ExportReport> export_csv(const ExportRequest& request) {
  return export_tables(request, false);
}

Result<ExportReport> export_json(const ExportRequest& request) {
  return export_tables(request, true);
}

}  // namespace chameleon::tools
