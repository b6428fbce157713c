// SPDX-License-Identifier: BSD-3-Clause
/// Chrome's trace events as JSON, which Perfetto and chrome://tracing read: a
/// track a rank (or thread of it), a slice a call or a wait at markers, an arrow a message, and a
/// counter of what the time steps between markers took. Times are microseconds with three decimals,
/// so nanoseconds are exact. Events are written as they come, so that memory does not grow with
/// them.

#include <algorithm>
#include <cstdio>

#include "base/time_between.h"
#include "tools/export/export.h"
#include "tools/export/export_shape.h"

namespace chameleon::tools {
namespace {

std::string microseconds(std::uint64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(ns / 1000),
                static_cast<unsigned>(ns % 1000));
  return text;
}

class Chrome {
 public:
  Chrome(const ExportRequest& request, TextFile& file)
      : request_(request), file_(file), names_(request.names) {}

  void head() {
    file_ << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"chameleon\",\"program\":"
          << json_text(request_.trace.program)
          << ",\"times\":" << json_text(timeline_text(request_.trace)) << "},\"traceEvents\":[\n"
          << "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":"
          << json_text(request_.trace.program) << "}}";
    const bool threads = request_.trace.threads > 1;
    std::size_t place = 0;
    for (const std::uint32_t lane : request_.lanes()) {
      const std::string of = ",\"pid\":0,\"tid\":" + std::to_string(lane) + ",\"args\":{";
      file_ << ",\n{\"ph\":\"M\",\"name\":\"thread_name\"" << of
            << "\"name\":" << json_text(stream_name(request_.trace, lane)) << "}}"
            << ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\"" << of
            << "\"sort_index\":" << std::to_string(threads ? place++ : lane) << "}}";
    }
    series();
  }

  void event(const TimedEvent& event) {
    const RankOperations& at = *event.at;
    const std::string track = ",\"pid\":0,\"tid\":" + std::to_string(event.stream());
    if (event.waits())
      file_ << ",\n{\"ph\":\"X\",\"cat\":\"marker\",\"name\":\"" << kWaitingAtMarkers << "\""
            << track << ",\"ts\":" << microseconds(event.wait_begin_ns)
            << ",\"dur\":" << microseconds(time_between(event.wait_begin_ns, event.wait_end_ns))
            << "}";
    file_ << ",\n{\"ph\":\"X\",\"cat\":\"mpi\",\"name\":" << name_of(at) << track
          << ",\"ts\":" << microseconds(event.begin_ns)
          << ",\"dur\":" << microseconds(time_between(event.begin_ns, event.end_ns))
          << ",\"args\":{\"at\":" << json_text(names_.site(at.event().path)) << arguments(at)
          << "}}";
    for (const Operation& operation : at.operations()) {
      if (operation.kind == Operation::Kind::kSend && arrow(operation))
        flow("\"ph\":\"s\"", operation, track, event.begin_ns);
      // The last instant inside the slice; that of the send is before it.
      if (operation.kind == Operation::Kind::kReceive && arrow(operation))
        flow("\"ph\":\"f\",\"bp\":\"e\"", operation, track, event.end_ns - 1);
    }
  }

 private:
  /// A counter of what time steps took, a rank on average: which of them were slow, and what ranks
  /// waited at markers, the means of calls do not tell. On the timeline, which is without the
  /// tool's work, a step is as long as that.
  void series() {
    const double ranks = std::max<double>(request_.trace.world_size, 1);
    double at = 0;
    const auto count = [&](double compute, double in_mpi, double waiting) {
      char text[240];
      std::snprintf(text, sizeof text,
                    ",\n{\"ph\":\"C\",\"name\":\"time step (us)\",\"pid\":0,\"ts\":%.3f,\"args\":{"
                    "\"computing\":%.3f,\"in MPI\":%.3f,\"waiting at the marker\":%.3f}}",
                    at / 1e3, compute / 1e3, in_mpi / 1e3, waiting / 1e3);
      file_ << text;
    };
    for (const SeriesSpan& span : request_.trace.series.spans()) {
      const double instances = ranks * static_cast<double>(span.intervals);
      const auto mean = [&](const RankExtent& extent) {
        return static_cast<double>(extent.sum_ns) / instances;
      };
      count(mean(span.all.compute), mean(span.all.communication), mean(span.all.waiting));
      at += (mean(span.all.busy) + mean(span.all.waiting)) * static_cast<double>(span.intervals);
    }
    if (at > 0) count(0, 0, 0);
  }

  /// The call's, in JSON.
  const std::string& name_of(const RankOperations& at) {
    const auto [entry, fresh] = calls_.try_emplace(at.event().node->call);
    if (fresh) entry->second = json_text("MPI_" + at.call().name);
    return entry->second;
  }
  bool arrow(const Operation& operation) const {
    return request_.ranks.contains(operation.channel.source) &&
           request_.ranks.contains(operation.channel.dest);
  }
  void flow(const char* phase, const Operation& operation, const std::string& track,
            std::uint64_t ns) {
    char id[24];
    std::snprintf(id, sizeof id, "0x%llx", static_cast<unsigned long long>(message_id(operation)));
    file_ << ",\n{" << phase << ",\"cat\":\"message\",\"name\":\"message\",\"id\":\"" << id << "\""
          << track << ",\"ts\":" << microseconds(ns) << "}";
  }
  std::string arguments(const RankOperations& at) {
    std::string text;
    call_arguments(at, arguments_);
    for (const CallArgument& argument : arguments_) {
      (text += ",\"").append(argument.name) += "\":";
      text += argument.text.empty() ? std::to_string(argument.number) : "\"" + argument.text + "\"";
    }
    return text;
  }

  const ExportRequest& request_;
  TextFile& file_;
  PathNames& names_;
  std::vector<CallArgument> arguments_;
  std::unordered_map<std::uint16_t, std::string> calls_;
};

}  // namespace

Result<ExportReport> export_chrome(const ExportRequest& request) {
  TextFile file(request.output);
  Chrome chrome(request, file);
  chrome.head();
  return export_timeline(
      request, [&](const TimedEvent& event) { chrome.event(event); },
      [&](const TimelineFacts&) {
        file << "\n]}\n";
        return file.close();
      });
}

ExportSize chrome_size(const ExportShape& shape) {
  constexpr double kHead = 1000, kLane = 200, kSpan = 240;
  const double ids = length(R"(,"pid":0,"tid":)") + shape.rank;
  const double us = std::max(shape.time, 4U) + 1;
  const double slice = length(",\n") +
                       length(R"({"ph":"X","cat":"mpi","name":,"ts":,"dur":,"args":{"at":}})") + 1 +
                       ids + 2 * us;
  const double wait = slice + length("\"marker\"") + length(kWaitingAtMarkers);
  const double flow =
      length(",\n") +
      length(R"({"ph":"f","bp":"e","cat":"message","name":"message","id":"0x","ts":})") + 16 + ids +
      us;
  const double ends = shape.rank + 1 + length(R"(,"from":"","bytes_received":)");
  double bytes = kHead + 3 * static_cast<double>(json_text(shape.request->trace.program).size()) +
                 kLane * shape.lanes +
                 kSpan * static_cast<double>(shape.request->trace.series.spans().size() + 1);
  for (const CallShape& call : shape.calls) {
    const auto names = static_cast<double>(json_text("MPI_" + call.call->name).size() +
                                           json_text(call.site).size());
    bytes += call.times * (slice + names) + call.waits * wait +
             call.messages() * (flow + ends + call.bytes);
    const double root = call.plan->root >= 0 ? length(R"(,"root":)") + shape.rank : 0;
    bytes += call.collectives * (length(R"(,"ranks":,"sent":,"received":)") +
                                 digits_of(call.members) + 2 * call.bytes + root);
  }
  return {bytes, 0};
}

}  // namespace chameleon::tools
