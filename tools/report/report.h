// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The data of `chameleon report`: one JSON object, read by the page that is built into the command
/// (page/). A part of it is a function in a file here. Numbers are those of `info` and `stats`;
/// nothing grows with the number of events, and data that grow with ranks are combined beyond a
/// bound, so that a page stays within some megabytes.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/critical_path.h"
#include "analysis/load.h"
#include "analysis/matrix.h"
#include "analysis/place_waits.h"
#include "base/result.h"
#include "format/file.h"
#include "tools/call_sites.h"
#include "tools/source_folders.h"
#include "tools/statistics.h"

namespace chameleon::tools::report {

using Json = nlohmann::ordered_json;

struct Request {
  const Trace& trace;
  const FileFacts& file;
  std::string name;               ///< of the file, for the title
  const SourceFolders* sources;   ///< of lines of the program around each call; null: none
  std::uint64_t most_events = 0;  ///< beyond, no timeline and no matrix
  RankList wanted = {};           ///< shown call by call; empty: those that say most
};

/// All of it. Error: the trace is damaged.
Result<Json> document(const Request& request);

/// Call paths as the page has them: an index into `sites`, whose frames are indices into
/// `frames`, with the lines of the program around the innermost.
class Sites {
 public:
  Sites(const Trace& trace, const SourceFolders* sources) : names_(trace), sources_(sources) {}
  std::size_t index(std::uint64_t path);
  CallSites& names() { return names_; }
  void write(Json& document);

 private:
  std::size_t frame(const std::string& text);
  void add_source(Json& site, const SourceLocation& location);

  CallSites names_;
  const SourceFolders* const sources_;
  std::unordered_map<std::uint64_t, std::size_t> known_;
  std::unordered_map<std::string, std::size_t> frame_index_;
  std::map<std::string, std::vector<std::string>> files_;
  Json sites_ = Json::array(), frames_ = Json::array();
};

/// The folded trace: `tree`, with times and counts of every node.
Json tree(const Trace& trace, const Statistics& statistics, Sites& sites);
/// Distributions of times by call.
Json times(const Trace& trace, const Statistics& statistics);
/// Computing and MPI time by rank, and where ranks differ.
Json load(const Trace& trace, const Load& load, Sites& sites);
/// The behaviour of one cluster's ranks that others do not have.
Json differences(const Trace& trace, Sites& sites);

/// The results of the verbs of these names: `stats --waits`, `critical`, ... (answers.cpp).
Json waits(const Trace& trace, const WaitReport& found, Sites& sites);
Json critical(const Trace& trace, const CriticalPath& path, Sites& sites);
Result<Json> efficiency(const Trace& trace);
Result<Json> patterns(const Trace& trace, Sites& sites);
Result<Json> pairs(const Trace& trace);

/// The results of one reading of all events in time: the matrix, sizes, the timeline, and if the
/// trace has them, waits and the critical path.
struct Events {
  CommunicationMatrix matrix;
  Json sizes, timeline, waits, critical;
};
Result<Events> events(const Request& request, const Load& load, Sites& sites);
/// The matrix by ranks (or equal numbers of ranks) and by clusters.
Json matrix(const Trace& trace, const CommunicationMatrix& matrix);

/// `send`, `receive`, `wait`, `collective` or `other`.
const char* call_kind(const CallDescription& call);
inline constexpr std::size_t kCallKinds = 5;
std::size_t call_kind_index(const CallDescription& call);

/// The page with this data in it: complete, without references to anything outside.
std::string page(const Json& document);
/// The same for `chameleon serve`: it asks its server for `state`, and loads itself again when that
/// has another `version`.
std::string live_page(const Json& document, const Json& state);

}  // namespace chameleon::tools::report
