// SPDX-License-Identifier: BSD-3-Clause
// The tables that go with the nodes of a share.
#include <unordered_map>

#include "mpi/event_layout.h"
#include "record/recorder.h"

namespace chameleon::record {
namespace {

using PredefinedTables = decltype(Trace::predefined);

PredefinedTables describe_predefined() {
  PredefinedTables all;
  for (const PredefinedHandle& object : predefined_handles()) {
    if (object.id > -2) continue;
    auto& list = all[kind_name(object.kind)];
    const auto place = static_cast<std::size_t>(-2 - object.id);
    if (list.size() <= place) list.resize(place + 1);
    list[place].name = object.name;
    if (object.kind == Kind::kDatatype) {
      int bytes = 0;
      PMPI_Type_size(handle_of<MPI_Datatype>(object.handle), &bytes);
      list[place].size = static_cast<std::uint32_t>(bytes);
    }
  }
  return all;
}

void used_paths(const std::vector<Node>& nodes, std::unordered_map<std::uint64_t, bool>& used) {
  for (const Node& node : nodes) {
    if (!node.is_loop()) used.emplace(node.path, true);
    used_paths(node.body, used);
  }
}

}  // namespace

void describe_calls(Trace& trace, const std::array<bool, kCallIdEnd>& seen,
                    const RecordOptions& options) {
  const EventExtras extras{.path = !options.frames.all(), .times = options.timing == Timing::kFull};
  for (const CallInfo& call : all_calls())
    if (seen[call.id]) trace.calls.emplace(call.id, describe_call(call, extras));
}

void complete_share(Share& share) {
  static const PredefinedTables predefined = describe_predefined();
  Trace& trace = share.trace;
  trace.predefined = predefined;
  std::unordered_map<std::uint64_t, bool> used;
  used_paths(trace.nodes, used);
  callpath::Engine::for_each_path(
      [&](std::uint64_t signature, std::uint64_t relaxed, std::span<const Frame> frames) {
        if (used.count(signature) != 0 || used.count(relaxed) != 0)
          trace.paths[signature].frames.assign(frames.begin(), frames.end());
      });
  trace.modules = callpath::Engine::modules();
  const std::map<std::uint64_t, SourceFrame> sources = callpath::Engine::sources();
  for (const auto& [signature, path] : trace.paths)
    for (const Frame& frame : path.frames)
      if (is_source(frame))
        if (const auto found = sources.find(frame.offset); found != sources.end())
          trace.sources.insert(*found);
}

}  // namespace chameleon::record
