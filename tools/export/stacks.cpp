// SPDX-License-Identifier: BSD-3-Clause
/// Folded stacks (`main;exchange;MPI_Send 1234`, a line a stack: flame graphs) and
/// speedscope's JSON. Weights are nanoseconds. Compute time between two calls
/// belongs to the frames both have in common: that it was spent deeper is not told.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/place_times.h"
#include "tools/export/export.h"
#include "tools/export/export_shape.h"

namespace chameleon::tools {
namespace {

constexpr const char* kNote =
    "compute time is given to the frames that the calls before and after it share";

struct Stacks {
  std::map<std::vector<std::string>, double> ns;  ///< by frames, outermost first
  /// Where a function is declared, by its name: of several, the one seen first.
  std::map<std::string, NamedFrame> declared;
};

Result<Stacks> stacks_of(const ExportRequest& request, ExportReport& report) {
  const Trace& trace = request.trace;
  PathNames& names = request.names;
  const auto paths = paths_by_symbol(trace);
  Stacks stacks;
  double events = 0;
  const auto functions = [&](const std::vector<std::string>& frames, std::size_t n) {
    std::vector<std::string> stack;
    for (std::size_t i = 0; i < n; ++i) {
      stack.emplace_back(function_of(frames[i]));
      const NamedFrame* declared = names.declared(frames[i]);
      if (declared != nullptr && !declared->file.empty())
        stacks.declared.try_emplace(stack.back(), *declared);
    }
    return stack;
  };
  const Status walked = each_place_time(trace, request.streams(), [&](const PlaceTime& time) {
    const Node& node = time.node;
    const std::vector<std::string>& frames = names.frames(node.path);
    std::vector<std::string> stack = functions(frames, frames.size());
    const auto call = trace.calls.find(node.call);
    stack.push_back("MPI_" +
                    (call == trace.calls.end() ? std::to_string(node.call) : call->second.name));
    stacks.ns[stack] += time.call_ns();
    events += time.events;
    const auto before = paths.find(time.predecessor);
    if (time.compute_ns() <= 0) return;
    const std::size_t shared =
        before == paths.end() ? 1 : common_frames(names.frames(before->second), frames);
    stacks.ns[functions(frames, std::min(shared, frames.size()))] += time.compute_ns();
  });
  if (!walked) return walked.error();
  // A rank that waits at a marker would have waited at its next communication.
  double waiting = 0;
  for (const std::uint32_t lane : request.lanes())
    if (const auto facts = trace.facts.find(lane); facts != trace.facts.end())
      waiting += static_cast<double>(facts->second.waiting_ns);
  if (waiting > 0) stacks.ns[{kWaitingAtMarkers}] += waiting;
  report.events = static_cast<std::uint64_t>(std::llround(events));
  report.timing = trace.timing == "none" ? "no times recorded" : "sums over the ranks";
  report.notes.push_back(kNote);
  return stacks;
}

std::string in_folded(std::string_view frame) {
  std::string text = printable(frame);
  std::replace(text.begin(), text.end(), ';', ' ');
  return text;
}

}  // namespace

Result<ExportReport> export_folded(const ExportRequest& request) {
  ExportReport report(request);
  const Result<Stacks> stacks = stacks_of(request, report);
  if (!stacks) return stacks.error();
  TextFile file(request.output);
  for (const auto& [stack, ns] : stacks->ns) {
    std::string line;
    for (const std::string& frame : stack) line += (line.empty() ? "" : ";") + in_folded(frame);
    if (line.empty()) line = "(outside)";
    file << line << " " << static_cast<std::uint64_t>(std::llround(ns)) << "\n";
  }
  if (const Status closed = file.close(); !closed) return closed.error();
  return report;
}

Result<ExportReport> export_speedscope(const ExportRequest& request) {
  ExportReport report(request);
  const Result<Stacks> stacks = stacks_of(request, report);
  if (!stacks) return stacks.error();
  using Json = nlohmann::ordered_json;
  std::map<std::string, std::size_t> places;
  Json frames = Json::array(), samples = Json::array(), weights = Json::array();
  std::uint64_t total = 0;
  for (const auto& [stack, ns] : stacks->ns) {
    Json sample = Json::array();
    for (const std::string& frame : stack) {
      const auto [place, fresh] = places.try_emplace(frame, places.size());
      if (fresh) {
        frames.push_back({{"name", frame}});
        if (const auto at = stacks->declared.find(frame); at != stacks->declared.end()) {
          frames.back()["file"] = at->second.file;
          if (at->second.begin > 0) frames.back()["line"] = at->second.begin;
        }
      }
      sample.push_back(place->second);
    }
    const auto weight = static_cast<std::uint64_t>(std::llround(ns));
    samples.push_back(std::move(sample));
    weights.push_back(weight);
    total += weight;
  }
  const std::string name = request.trace.program + ", ranks " + request.ranks.to_string();
  const Json profile = {{"type", "sampled"},
                        {"name", name},
                        {"unit", "nanoseconds"},
                        {"startValue", 0},
                        {"endValue", total},
                        {"samples", std::move(samples)},
                        {"weights", std::move(weights)}};
  const Json document = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                         {"exporter", "chameleon"},
                         {"name", name},
                         {"activeProfileIndex", 0},
                         {"shared", {{"frames", std::move(frames)}}},
                         {"profiles", Json::array({profile})}};
  TextFile file(request.output);
  file << document.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  if (const Status closed = file.close(); !closed) return closed.error();
  return report;
}

namespace {

/// The distinct stacks that there may be: of each call, and of what is computed before it.
struct StackShape {
  double stacks = 0, frames = 0, letters = 0;

  explicit StackShape(const ExportShape& shape) {
    std::map<std::pair<std::uint16_t, std::uint64_t>, double> befores;
    std::map<std::pair<std::uint16_t, std::uint64_t>, const CallShape*> calls;
    for (const CallShape& call : shape.calls) {
      befores[{call.id, call.path}] += call.befores;
      calls.emplace(std::pair{call.id, call.path}, &call);
    }
    for (const auto& [key, call] : calls) {
      const std::vector<std::string>& path = shape.request->names.frames(call->path);
      double own = 0;
      for (const std::string& frame : path) own += length(function_of(frame)) + 1;
      const auto depth = static_cast<double>(path.size());
      const double above = std::min(befores[key], depth + 1);
      stacks += 1 + above;
      frames += depth + 1 + above * depth;
      letters += own + length("MPI_") + length(call->call->name) + above * own;
    }
    ++stacks;
    ++frames;
    letters += length(kWaitingAtMarkers) + length("(outside)");
  }
};

}  // namespace

ExportSize folded_size(const ExportShape& shape) {
  const StackShape all(shape);
  return {all.letters + all.stacks * (shape.time + shape.rank + 3), 0};
}

ExportSize speedscope_size(const ExportShape& shape) {
  constexpr double kHead = 400, kFrame = 40;
  const StackShape all(shape);
  std::map<std::string, double> frames;  // each function and call once, with where it is declared
  for (const CallShape& call : shape.calls) {
    frames.emplace("MPI_" + call.call->name, 0);
    for (const std::string& frame : shape.request->names.frames(call.path)) {
      const NamedFrame* declared = shape.request->names.declared(frame);
      frames.emplace(function_of(frame), declared == nullptr ? 0 : length(declared->file) + 20);
    }
  }
  double bytes = kHead + 2 * length(shape.request->trace.program) +
                 2 * length(shape.request->ranks.to_string());
  for (const auto& [name, place] : frames)
    bytes += length(nlohmann::json(name).dump(-1, ' ', false,
                                              nlohmann::json::error_handler_t::replace)) +
             kFrame + place;
  bytes += all.frames * (digits_of(static_cast<double>(frames.size())) + 1);
  return {bytes + all.stacks * (shape.time + shape.rank + 4), 0};
}

}  // namespace chameleon::tools
