// SPDX-License-Identifier: BSD-3-Clause
#include "tools/export/export.h"

#include <algorithm>

namespace chameleon::tools {

RankList ExportRequest::streams() const {
  if (trace.threads <= 1) return trace.ranks.intersection(ranks);
  RankList all;
  for (const std::uint32_t lane : lanes()) all.insert(lane);
  return all;
}

const std::string& PathNames::site(std::uint64_t path) {
  const auto [entry, fresh] = site_.try_emplace(path);
  if (fresh) entry->second = sites_.site(path);
  return entry->second;
}

const std::vector<std::string>& PathNames::frames(std::uint64_t path) {
  const auto [entry, fresh] = frames_.try_emplace(path);
  if (fresh) {
    std::vector<NamedFrame> named = sites_.named_frames(path);
    for (auto frame = named.rbegin(); frame != named.rend(); ++frame) {
      entry->second.push_back(frame->text);
      if (!frame->file.empty()) declared_.try_emplace(frame->text, std::move(*frame));
    }
  }
  return entry->second;
}

const NamedFrame* PathNames::declared(const std::string& frame) const {
  const auto found = declared_.find(frame);
  return found == declared_.end() ? nullptr : &found->second;
}

std::string_view function_of(std::string_view frame) {
  const auto space = frame.find(' ');
  return space == std::string_view::npos ? frame : frame.substr(space + 1);
}

std::size_t common_frames(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && function_of(a[n]) == function_of(b[n])) {
    ++n;
    // Below a frame left at another line, even equal names are other calls.
    if (a[n - 1] != b[n - 1]) break;
  }
  return n;
}

void call_arguments(const RankOperations& at, std::vector<CallArgument>& arguments) {
  arguments.clear();
  std::string to, from;
  std::int64_t bytes_sent = 0, bytes_received = 0, ranks = 0, sent = 0, received = 0, root = -1;
  const auto list = [](std::string& names, std::uint32_t rank) {
    names += (names.empty() ? "" : ",") + std::to_string(rank);
  };
  for (const Operation& operation : at.operations()) {
    if (operation.kind == Operation::Kind::kSend) {
      list(to, operation.channel.dest);
      bytes_sent += operation.bytes;
    } else if (operation.kind == Operation::Kind::kReceive) {
      list(from, operation.channel.source);
      bytes_received += operation.bytes;
    } else if (operation.kind == Operation::Kind::kEnd) {
      // A call may complete several: their bytes in sum, the rest of the last.
      ranks = operation.members;
      sent += operation.sent;
      received += operation.received;
      root = operation.root_world;
    }
  }
  if (ranks > 0) {
    arguments.push_back({"ranks", {}, ranks});
    arguments.push_back({"sent", {}, sent});
    arguments.push_back({"received", {}, received});
    if (root >= 0) arguments.push_back({"root", {}, root});
  }
  if (!to.empty()) {
    arguments.push_back({"to", std::move(to)});
    arguments.push_back({"bytes_sent", {}, bytes_sent});
  }
  if (!from.empty()) {
    arguments.push_back({"from", std::move(from)});
    arguments.push_back({"bytes_received", {}, bytes_received});
  }
}

void count_event(const RankOperations& at, ExportReport& report) {
  ++report.events;
  if (report.progress != nullptr) report.progress->step();
  for (const Operation& operation : at.operations())
    if (operation.kind == Operation::Kind::kSend) {
      ++report.messages;
      report.bytes += static_cast<std::uint64_t>(operation.bytes);
    }
}

namespace {

void note_timeline(const Trace& trace, const TimelineFacts& facts, ExportReport& report) {
  report.timing = timeline_text(trace);
  if (facts.unmatched > 0)
    report.notes.push_back(std::to_string(facts.unmatched) +
                           " receives or collectives are unmatched; their order is not known");
  if (trace.threads > 1)
    report.notes.push_back(
        "where threads of a rank share a channel, messages are paired by timestamp");
  for (const auto& [call, count] : facts.unmodelled)
    report.notes.push_back(call + " x" + std::to_string(count) +
                           ": calls are shown; what they move is not known");
}

}  // namespace

Result<ExportReport> export_timeline(const ExportRequest& request,
                                     const std::function<void(const TimedEvent&)>& event,
                                     const std::function<Status(const TimelineFacts&)>& finish) {
  ExportReport report(request);
  const Result<TimelineFacts> facts =
      run_timeline(request.trace, request.ranks, [&](const TimedEvent& one) {
        event(one);
        count_event(*one.at, report);
      });
  if (!facts) return facts.error();
  if (const Status finished = finish(*facts); !finished) return finished.error();
  note_timeline(request.trace, *facts, report);
  return report;
}

std::unordered_map<std::uint64_t, std::uint64_t> paths_by_symbol(const Trace& trace) {
  std::unordered_map<std::uint64_t, std::uint64_t> paths;
  const std::function<void(const std::vector<Node>&)> walk = [&](const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (node.is_loop())
        walk(node.body);
      else
        paths[node.symbol()] = node.path;
    }
  };
  walk(trace.nodes);
  return paths;
}

}  // namespace chameleon::tools
