// SPDX-License-Identifier: BSD-3-Clause
/// Paje (B. de Oliveira Stein, J. Chassin de Kergommeaux, G. Mounie: "Paje trace
/// file format", 2010): a container a rank (or thread of it) under one of the program, MPI calls
/// and waiting at markers as a stack of states, messages as links. In order of time, as pj_dump
/// wants it.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>

#include "tools/export/export.h"
#include "tools/export/export_shape.h"
#include "tools/export/sorted_lines.h"

namespace chameleon::tools {
namespace {

constexpr const char* kDefinitionsOfEvents = R"(%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineLinkType 2
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 9
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 3
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 4
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajePushState 5
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajePopState 6
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeStartLink 7
% Time date
% Type string
% Container string
% StartContainer string
% Value string
% Key string
%EndEventDef
%EventDef PajeEndLink 8
% Time date
% Type string
% Container string
% EndContainer string
% Value string
% Key string
%EndEventDef
)";
constexpr const char* kTypes = R"(0 R P Rank
1 S R "MPI call"
2 M P R R Message
)";

std::string seconds(std::uint64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%llu.%09llu", static_cast<unsigned long long>(ns / 1000000000),
                static_cast<unsigned long long>(ns % 1000000000));
  return text;
}

/// Paje has no way to write a quote in a text.
std::string in_quotes(std::string_view text) {
  std::string inside = printable(text);
  std::replace(inside.begin(), inside.end(), '"', '\'');
  return "\"" + inside + "\"";
}

std::string call_name(const std::string& call) {
  const std::string name = "MPI_" + call;
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return std::all_of(name.begin(), name.end(), is_word) ? name : in_quotes(name);
}

/// Red, green and blue of a call: ViTE draws states without one in black. Hues a golden angle
/// apart, so that neighbours in the list differ most.
std::string colour(std::size_t index) {
  const double hue = std::fmod(0.58 + 0.618034 * static_cast<double>(index), 1);
  const auto part = [hue](double shift) {
    const double at = std::abs(std::fmod(hue + shift, 1) * 6 - 3) - 1;
    return 0.35 + 0.6 * std::clamp(at, 0.0, 1.0);
  };
  char text[40];
  std::snprintf(text, sizeof text, "\"%.2f %.2f %.2f\"", part(0), part(2.0 / 3), part(1.0 / 3));
  return text;
}

class Paje {
 public:
  Paje(const ExportRequest& request, SortedLines& lines) : request_(request), lines_(lines) {}

  void event(const TimedEvent& event) {
    const std::string on = " r" + std::to_string(event.stream());
    if (event.waits()) {
      lines_.add(event.wait_begin_ns, "5 " + seconds(event.wait_begin_ns) + " S" + on + " " +
                                          *calls_.insert(in_quotes(kWaitingAtMarkers)).first +
                                          "\n");
      lines_.add(event.wait_end_ns, "6 " + seconds(event.wait_end_ns) + " S" + on + "\n");
    }
    const std::string& call = *calls_.insert(call_name(event.at->call().name)).first;
    lines_.add(event.begin_ns, "5 " + seconds(event.begin_ns) + " S" + on + " " + call + "\n");
    const auto operations = event.at->operations();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& operation = operations[i];
      if (!request_.ranks.contains(operation.channel.source) ||
          !request_.ranks.contains(operation.channel.dest))
        continue;
      const bool starts = operation.kind == Operation::Kind::kSend;
      if (!starts && operation.kind != Operation::Kind::kReceive) continue;
      const std::uint64_t time = starts ? event.begin_ns : event.end_ns;
      char key[24];
      std::snprintf(key, sizeof key, "%llx",
                    static_cast<unsigned long long>(message_id(operation)));
      lines_.add(time, (starts ? "7 " : "8 ") + seconds(time) + " M p" + on + " " +
                           in_quotes(std::to_string(operation.bytes) + " bytes") + " " + key +
                           "\n");
    }
    lines_.add(event.end_ns, "6 " + seconds(event.end_ns) + " S" + on + "\n");
  }

  void values(TextFile& file) const {
    std::size_t index = 0;
    for (const std::string& call : calls_) {
      file << "9 " << call << " S " << call << " " << colour(index) << "\n";
      ++index;
    }
  }

 private:
  const ExportRequest& request_;
  SortedLines& lines_;
  std::set<std::string> calls_;  ///< as they are written
};

}  // namespace

Result<ExportReport> export_paje(const ExportRequest& request) {
  SortedLines lines;
  Paje paje(request, lines);
  const auto write = [&](const TimelineFacts& facts) -> Status {
    TextFile file(request.output);
    // ViTE takes no comments: the outermost type says what the times are.
    file << kDefinitionsOfEvents << "0 P 0 "
         << in_quotes("Program, " + timeline_text(request.trace)) << "\n"
         << kTypes;
    paje.values(file);
    file << "3 " << seconds(0) << " p P 0 " << in_quotes(request.trace.program) << "\n";
    const std::vector<std::uint32_t> lanes = request.lanes();
    for (const std::uint32_t lane : lanes)
      file << "3 " << seconds(0) << " r" << std::to_string(lane) << " R p "
           << in_quotes(stream_name(request.trace, lane)) << "\n";
    if (const Status sorted = lines.write(file); !sorted) return sorted;
    const std::string end = seconds(facts.end_ns);
    for (const std::uint32_t lane : lanes)
      file << "4 " << end << " R r" << std::to_string(lane) << "\n";
    file << "4 " << end << " P p\n";
    return file.close();
  };
  return export_timeline(
      request, [&](const TimedEvent& event) { paje.event(event); }, write);
}

ExportSize paje_size(const ExportShape& shape) {
  constexpr double kHead = 2000, kLane = 160, kCall = 60;
  const double seconds = std::max(shape.time, 10U) + 1;
  const double at = length("5 ") + seconds + length(" S r") + shape.rank + 1;
  SortedSize lines;
  for (const CallShape& call : shape.calls) {
    const double name = 1 + static_cast<double>(call_name(call.call->name).size());
    lines.add(call.times, at + name);
    lines.add(call.times, at);
    lines.add(call.waits, at + 3 + length(kWaitingAtMarkers));
    lines.add(call.waits, at);
    lines.add(call.messages(), at + length(" p \" bytes\" ") + call.bytes + 16);
  }
  const double program = static_cast<double>(shape.request->trace.program.size());
  return lines.size(kHead + program + kLane * shape.lanes +
                    kCall * static_cast<double>(shape.calls.size()));
}

}  // namespace chameleon::tools
