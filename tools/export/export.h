// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Shared by the formats of `chameleon export`: the request, the report at the end, and
/// call paths as text. A format is one function in one file; none expands a trace in
/// memory.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/check.h"
#include "analysis/timeline.h"
#include "base/result.h"
#include "tools/call_sites.h"
#include "tools/common.h"
#include "tools/export/text_file.h"
#include "tools/progress.h"

namespace chameleon::tools {

class PathNames;

struct ExportRequest {
  const Trace& trace;
  PathNames& names;
  RankList ranks;      ///< of the trace, not empty; with all of their threads
  std::string output;  ///< a file, or a folder made if need be
  Progress* progress = nullptr;

  /// The lanes of a timeline: a rank's threads one after another.
  std::vector<std::uint32_t> lanes() const { return streams_by_rank(trace, ranks); }
  /// The same as a list.
  RankList streams() const;
};

struct ExportReport {
  explicit ExportReport(const ExportRequest& request) : progress(request.progress) {}

  Progress* progress;
  std::uint64_t events = 0;        ///< MPI calls written
  std::uint64_t messages = 0;      ///< sent by these ranks
  std::uint64_t bytes = 0;         ///< in these messages
  std::string output;              ///< the file that was written; empty: the one asked for
  std::string timing;              ///< what the times are; empty: the format has none
  std::vector<std::string> notes;  ///< what is left out or stands for something else
};

/// The state or function for waiting at markers for slower ranks, beside calls.
inline constexpr const char* kWaitingAtMarkers = "(waiting at markers)";

using Exporter = Result<ExportReport> (*)(const ExportRequest&);

Result<ExportReport> export_csv(const ExportRequest& request);
Result<ExportReport> export_json(const ExportRequest& request);
Result<ExportReport> export_folded(const ExportRequest& request);
Result<ExportReport> export_speedscope(const ExportRequest& request);
Result<ExportReport> export_chrome(const ExportRequest& request);
Result<ExportReport> export_perfetto(const ExportRequest& request);
Result<ExportReport> export_otf2(const ExportRequest& request);
Result<ExportReport> export_simgrid(const ExportRequest& request);
Result<ExportReport> export_paje(const ExportRequest& request);
Result<ExportReport> export_paraver(const ExportRequest& request);
Result<ExportReport> export_goal(const ExportRequest& request);

/// Call paths as words, each worked out once.
class PathNames {
 public:
  explicit PathNames(const Trace& trace) : sites_(trace) {}
  /// `stencil.cpp:88 exchange()`.
  const std::string& site(std::uint64_t path);
  /// Outermost first.
  const std::vector<std::string>& frames(std::uint64_t path);
  /// Where the function of a frame that `frames` gave is declared; null if that is not known.
  const NamedFrame* declared(const std::string& frame) const;

 private:
  CallSites sites_;
  std::unordered_map<std::string, NamedFrame> declared_;  ///< by the frame's text
  std::unordered_map<std::uint64_t, std::string> site_;
  std::unordered_map<std::uint64_t, std::vector<std::string>> frames_;
};

/// `exchange()` of `stencil.cpp:88 exchange()`.
std::string_view function_of(std::string_view frame);

/// How many outermost frames two paths have in common: the functions, not the lines.
std::size_t common_frames(const std::vector<std::string>& a, const std::vector<std::string>& b);

/// Properties of a call that viewers show beside its name and place: partners, bytes, and for
/// collectives the ranks, their bytes and the root.
struct CallArgument {
  std::string_view name;
  std::string text;  ///< empty: it is the number
  std::int64_t number = 0;
};
void call_arguments(const RankOperations& at, std::vector<CallArgument>& arguments);

/// Adds one event and its messages, and shows how far it is.
void count_event(const RankOperations& at, ExportReport& report);

/// Shared by formats of events in time: `event` for each, in order of each rank, then
/// `finish`, which completes the output; the events are counted, and notes about the whole are
/// collected.
Result<ExportReport> export_timeline(const ExportRequest& request,
                                     const std::function<void(const TimedEvent&)>& event,
                                     const std::function<Status(const TimelineFacts&)>& finish);

/// Paths by the symbol of their events.
std::unordered_map<std::uint64_t, std::uint64_t> paths_by_symbol(const Trace& trace);

}  // namespace chameleon::tools
