// SPDX-License-Identifier: BSD-3-Clause
/// Perfetto's own format, protocol buffers of track events: what `--chrome` has in
/// less than a third of the bytes, for traces whose JSON a browser does not load.
/// A track a rank (or thread of it) under one of the program, a slice a call, a flow a
/// message. Names, places and arguments' names are interned: written once, when first
/// used, in the one packet sequence there is; memory is that of the names. Packets are
/// in order of each track; the reader sorts.
///
/// Field numbers are those of Perfetto's protos/perfetto/trace/: trace.proto,
/// trace_packet.proto, interned_data/interned_data.proto, profiling/profile_common.proto
/// and track_event/{track_event,track_descriptor,debug_annotation}.proto, all part of
/// the interface that perfetto.dev/docs/reference/synthetic-track-event documents.

#include <cmath>

#include "tools/export/export.h"
#include "tools/export/export_shape.h"
#include "tools/export/wire_message.h"

namespace chameleon::tools {
namespace {

namespace trace_field {
constexpr std::uint32_t kPacket = 1;
}
namespace packet_field {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60, kFirstOnSequence = 87;
}
namespace descriptor_field {
constexpr std::uint32_t kUuid = 1, kName = 2, kParent = 5, kChildOrdering = 11, kOrderRank = 12,
                        kDescription = 14;
}
namespace event_field {
constexpr std::uint32_t kCategoryIid = 3, kAnnotation = 4, kType = 9, kNameIid = 10,
                        kTrackUuid = 11, kFlow = 47, kTerminatingFlow = 48;
}
namespace annotation_field {
constexpr std::uint32_t kNameIid = 1, kInt = 4, kString = 6, kStringIid = 17;
}
namespace interned_field {
constexpr std::uint32_t kCategories = 1, kEventNames = 2, kAnnotationNames = 3, kStringValues = 29;
constexpr std::uint32_t kIid = 1, kText = 2;  // of each entry
}  // namespace interned_field

constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;   // SequenceFlags
constexpr std::uint64_t kSliceBegin = 1, kSliceEnd = 2;       // TrackEvent.Type
constexpr std::uint64_t kExplicitOrder = 3;                   // ChildTracksOrdering
constexpr std::uint64_t kTheSequence = 1, kProgramTrack = 1;  // ours; 0 means none
constexpr std::uint64_t kFirstLaneTrack = 2;

/// Texts of one kind that packets name by number, in UTF-8, as protocol buffers want it.
class Interned {
 public:
  explicit Interned(std::uint32_t field) : field_(field) {}
  /// The number of `text`, which is added to `fresh` when it is new.
  std::uint64_t iid(std::string_view text, WireMessage& fresh) {
    const auto found = iids_.find(std::string(text));
    if (found != iids_.end()) return found->second;
    const std::uint64_t iid = iids_.size() + 1;
    iids_.emplace(text, iid);
    WireMessage entry;
    entry.number(interned_field::kIid, iid);
    entry.text(interned_field::kText, printable(text));
    fresh.message(field_, entry);
    return iid;
  }

 private:
  std::uint32_t field_;
  std::unordered_map<std::string, std::uint64_t> iids_;
};

class Perfetto {
 public:
  Perfetto(const ExportRequest& request, TextFile& file)
      : request_(request), file_(file), names_(request.names) {}

  void head() {
    WireMessage program;
    program.number(descriptor_field::kUuid, kProgramTrack);
    program.text(descriptor_field::kName, printable(request_.trace.program));
    program.number(descriptor_field::kChildOrdering, kExplicitOrder);
    program.text(descriptor_field::kDescription, timeline_text(request_.trace));
    packet_.clear();
    packet_.number(packet_field::kSequence, kTheSequence);
    packet_.number(packet_field::kSequenceFlags, kStateCleared);
    packet_.number(packet_field::kFirstOnSequence, 1);
    packet_.message(packet_field::kTrackDescriptor, program);
    write();
    const bool threads = request_.trace.threads > 1;
    std::uint64_t place = 0;
    for (const std::uint32_t lane : request_.lanes()) {
      WireMessage track;
      track.number(descriptor_field::kUuid, kFirstLaneTrack + lane);
      track.number(descriptor_field::kParent, kProgramTrack);
      track.text(descriptor_field::kName, stream_name(request_.trace, lane));
      track.number(descriptor_field::kOrderRank, threads ? place++ : lane);
      packet_.clear();
      packet_.number(packet_field::kSequence, kTheSequence);
      packet_.message(packet_field::kTrackDescriptor, track);
      write();
    }
  }

  void event(const TimedEvent& event) {
    const RankOperations& at = *event.at;
    fresh_.clear();
    if (event.waits()) wait(event);
    start_event(kSliceBegin, at.stream());
    event_.number(event_field::kCategoryIid, categories_.iid("mpi", fresh_));
    event_.number(event_field::kNameIid,
                  event_names_.iid("MPI_" + std::string(at.call().name), fresh_));
    arguments(at);
    flows(at, Operation::Kind::kSend, event_field::kFlow);
    write_event(event.begin_ns, kNeedsState);
    start_event(kSliceEnd, at.stream());
    // A receive may begin before its message is sent; at its end the message was.
    flows(at, Operation::Kind::kReceive, event_field::kTerminatingFlow);
    write_event(event.end_ns, 0);
  }

 private:
  void wait(const TimedEvent& event) {
    start_event(kSliceBegin, event.stream());
    event_.number(event_field::kCategoryIid, categories_.iid("marker", fresh_));
    event_.number(event_field::kNameIid, event_names_.iid(kWaitingAtMarkers, fresh_));
    write_event(event.wait_begin_ns, kNeedsState);
    start_event(kSliceEnd, event.stream());
    write_event(event.wait_end_ns, 0);
  }
  void start_event(std::uint64_t type, std::uint32_t lane) {
    event_.clear();
    event_.number(event_field::kType, type);
    event_.number(event_field::kTrackUuid, kFirstLaneTrack + lane);
  }
  void write_event(std::uint64_t ns, std::uint64_t flags) {
    packet_.clear();
    packet_.number(packet_field::kTimestamp, ns);
    packet_.number(packet_field::kSequence, kTheSequence);
    if (!fresh_.empty()) packet_.message(packet_field::kInternedData, fresh_);
    if (flags != 0) packet_.number(packet_field::kSequenceFlags, flags);
    packet_.message(packet_field::kTrackEvent, event_);
    write();
    fresh_.clear();
  }
  void write() {
    framed_.clear();
    framed_.message(trace_field::kPacket, packet_);
    file_ << framed_.bytes();
  }

  void arguments(const RankOperations& at) {
    annotation_.clear();
    annotation_.number(annotation_field::kNameIid, argument_names_.iid("at", fresh_));
    annotation_.number(annotation_field::kStringIid,
                       places_.iid(names_.site(at.event().path), fresh_));
    event_.message(event_field::kAnnotation, annotation_);
    call_arguments(at, arguments_);
    for (const CallArgument& argument : arguments_) {
      annotation_.clear();
      annotation_.number(annotation_field::kNameIid, argument_names_.iid(argument.name, fresh_));
      if (argument.text.empty())
        annotation_.number(annotation_field::kInt, static_cast<std::uint64_t>(argument.number));
      else
        annotation_.text(annotation_field::kString, argument.text);
      event_.message(event_field::kAnnotation, annotation_);
    }
  }
  void flows(const RankOperations& at, Operation::Kind kind, std::uint32_t field) {
    for (const Operation& operation : at.operations())
      if (operation.kind == kind && request_.ranks.contains(operation.channel.source) &&
          request_.ranks.contains(operation.channel.dest))
        event_.fixed64(field, message_id(operation));
  }

  const ExportRequest& request_;
  TextFile& file_;
  PathNames& names_;
  Interned categories_{interned_field::kCategories};
  Interned event_names_{interned_field::kEventNames};
  Interned argument_names_{interned_field::kAnnotationNames};
  Interned places_{interned_field::kStringValues};
  std::vector<CallArgument> arguments_;
  // Kept for their memory.
  WireMessage fresh_, event_, annotation_, packet_, framed_;
};

}  // namespace

Result<ExportReport> export_perfetto(const ExportRequest& request) {
  TextFile file(request.output);
  Perfetto perfetto(request, file);
  perfetto.head();
  return export_timeline(
      request, [&](const TimedEvent& event) { perfetto.event(event); },
      [&](const TimelineFacts&) { return file.close(); });
}

ExportSize perfetto_size(const ExportShape& shape) {
  constexpr double kHead = 1000, kLane = 60, kInterned = 20;
  // Seven bits a byte.
  const auto number = [](unsigned digits) { return std::ceil(digits * std::log2(10) / 7); };
  const double frame = 3, lane = number(shape.rank + 1), flow = 2 + 8, annotation = 6;
  const double begin = frame + 1 + number(shape.time) + 2 + 2 + 3 + 2 + 1 + lane;
  const double end = frame + 1 + number(shape.time) + 2 + 3 + 2 + 1 + lane;
  const double name = 2 + 3, place = annotation + 5;
  double bytes = kHead + static_cast<double>(shape.request->trace.program.size()) +
                 (kLane + 2 * lane) * shape.lanes;
  for (const CallShape& call : shape.calls) {
    bytes += kInterned + static_cast<double>(call.call->name.size() + call.site.size());
    bytes += call.times * (begin + name + place + end);
    bytes += call.waits * (begin + name + end);
    bytes += call.messages() * (flow + 2 * annotation + shape.rank + 2 + number(call.bytes));
    bytes += call.collectives *
             (3 * annotation + 2 * number(call.bytes) + number(digits_of(call.members)) +
              (call.plan->root >= 0 ? annotation + lane : 0));
  }
  return {bytes, 0};
}

}  // namespace chameleon::tools
