// SPDX-License-Identifier: BSD-3-Clause
/// OTF2, the Open Trace Format 2 of Score-P, Scalasca and Vampir: a location a
/// rank (or thread of it), MPI calls and the frames around them as regions, messages,
/// requests and collectives as records, communicators as groups of locations. The anchor is
/// traces.otf2. Frames are entered and left at the calls beside the change: when
/// in between is not recorded. python3-otf2 3.0.2 cannot read the definition of an
/// intercommunicator: it is written as a communicator of both groups, with its
/// partners renumbered.

#include <otf2/otf2.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <filesystem>

#include "tools/export/export.h"
#include "tools/export/export_shape.h"
#include "tools/export/otf2_roles.h"

namespace chameleon::tools {
namespace {

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

OTF2_TimeStamp no_timestamp(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }

constexpr OTF2_FlushCallbacks kFlush = {flush_always, no_timestamp};

/// Strings, regions, communicators: defined when first met, written at the end.
struct Definitions {
  std::map<std::string, OTF2_StringRef> strings;
  struct Region {
    std::string name, file;
    OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;
    OTF2_Paradigm paradigm = OTF2_PARADIGM_COMPILER;
    std::uint32_t begin = 0;  ///< its first line; 0: not known
  };
  std::vector<Region> regions;
  std::map<std::string, OTF2_RegionRef> frames;
  std::map<std::uint16_t, OTF2_RegionRef> calls;
  struct Comm {
    std::string name;
    std::vector<std::uint64_t> members;  ///< world ranks
    bool is_inter = false;
    bool is_partial = false;  ///< with members outside of the trace, who are left out
  };
  std::vector<Comm> comms;  ///< 0: the world, 1: self
  std::unordered_map<std::uint64_t, OTF2_CommRef> comm_of;

  OTF2_StringRef string(const std::string& text) {
    return strings.try_emplace(text, static_cast<OTF2_StringRef>(strings.size())).first->second;
  }
};

class Archive {
 public:
  Archive(const ExportRequest& request)
      : request_(request), names_(request.names), folder_(request.output) {}
  ~Archive() {
    if (archive_ != nullptr) OTF2_Archive_Close(archive_);
    OTF2_Error_RegisterCallback(nullptr, nullptr);
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  Status open() {
    if (const Status made = folder_.make(); !made) return made;
    OTF2_Error_RegisterCallback(hear, this);
    archive_ = OTF2_Archive_Open(folder_.path().c_str(), "traces", OTF2_FILEMODE_WRITE,
                                 kBytesOfOtf2Chunk, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                                 OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) return failure();
    ok(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
    ok(OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr));
    ok(OTF2_Archive_SetCreator(archive_, "chameleon"));
    const std::string about =
        printable(request_.trace.program) + "; " + timeline_text(request_.trace);
    ok(OTF2_Archive_SetDescription(archive_, about.c_str()));
    ok(OTF2_Archive_OpenEvtFiles(archive_));
    find_locations();
    for (auto& [stream, location] : locations_) {
      location.writer = OTF2_Archive_GetEvtWriter(archive_, stream);
      if (location.writer == nullptr) return failure();
    }
    definitions_.comms.resize(2);
    definitions_.comms[0].name = "MPI_COMM_WORLD";
    definitions_.comms[1].name = "MPI_COMM_SELF";
    return Unit{};
  }

  void event(const TimedEvent& event) {
    const RankOperations& at = *event.at;
    Location& location = locations_[at.stream()];
    if (!location.known) {
      location.known = true;
      definitions_.comm_of.emplace(at.world().context, 0);
      definitions_.comm_of.emplace(at.self().context, 1);
    }
    const bool creates = at.plan().members >= 0;
    learn(at.made());
    if (event.waits()) wait(location, event);
    walk_to(location, at.event().path, event.begin_ns);
    const OTF2_RegionRef region = region_of(at);
    enter(location, event.begin_ns, region);
    for (const Operation& operation : at.operations())
      at_begin(location, operation, event.begin_ns);
    for (const Operation& operation : at.operations())
      at_end(location, operation, event.end_ns, creates);
    leave(location, event.end_ns, region);
    location.last = event.end_ns;
  }

  Status finish(const TimelineFacts& facts) {
    for (auto& [stream, location] : locations_) {
      while (!location.stack.empty()) {
        leave(location, location.last, location.stack.back().second);
        location.stack.pop_back();
      }
      OTF2_EvtWriter_GetNumberOfEvents(location.writer, &location.events);
      ok(OTF2_Archive_CloseEvtWriter(archive_, location.writer));
    }
    ok(OTF2_Archive_CloseEvtFiles(archive_));
    ok(OTF2_Archive_OpenDefFiles(archive_));
    for (const auto& [stream, location] : locations_) {
      OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive_, stream);
      ok(OTF2_Archive_CloseDefWriter(archive_, writer));
    }
    ok(OTF2_Archive_CloseDefFiles(archive_));
    write_definitions(facts);
    OTF2_Archive* archive = archive_;
    archive_ = nullptr;
    ok(OTF2_Archive_Close(archive));
    return error_ != OTF2_SUCCESS ? failure() : folder_.commit();
  }

 private:
  struct Location {
    OTF2_EvtWriter* writer = nullptr;
    std::vector<std::pair<std::string, OTF2_RegionRef>> stack;  ///< frames entered
    std::uint64_t last = 0;
    std::uint64_t events = 0;
    bool known = false;
  };

  void find_locations() {
    for (std::uint32_t rank = 0; rank < world(); ++rank) {
      const std::vector<std::uint32_t> threads = request_.trace.streams_of(rank);
      if (threads.empty()) locations_[rank];  // not in the trace: a rank without events
      for (const std::uint32_t stream : threads) locations_[stream];
    }
  }

  /// What the library says of an error, instead of its own lines.
  static OTF2_ErrorCode hear(void* self, const char*, std::uint64_t, const char*,
                             OTF2_ErrorCode code, const char*, va_list) {
    static_cast<Archive*>(self)->ok(code);
    return code;
  }

  std::uint32_t world() const {
    const RankList ranks = request_.trace.whole_ranks();
    return std::max(request_.trace.world_size, ranks.empty() ? 0 : ranks.runs().back().last() + 1);
  }
  void ok(OTF2_ErrorCode code) {
    if (code > OTF2_SUCCESS && error_ == OTF2_SUCCESS) error_ = code;
  }
  Error failure() const {
    std::string text = request_.output + ": OTF2 cannot write it";
    if (error_ != OTF2_SUCCESS) text += std::string(": ") + OTF2_Error_GetDescription(error_);
    return {ErrorKind::kSystem, text, 0};
  }
  void enter(Location& location, std::uint64_t ns, OTF2_RegionRef region) {
    ok(OTF2_EvtWriter_Enter(location.writer, nullptr, ns, region));
  }
  void leave(Location& location, std::uint64_t ns, OTF2_RegionRef region) {
    ok(OTF2_EvtWriter_Leave(location.writer, nullptr, ns, region));
  }

  /// A region of its own inside the frames of the call before.
  void wait(Location& location, const TimedEvent& event) {
    const auto [entry, fresh] = definitions_.frames.try_emplace(
        kWaitingAtMarkers, static_cast<OTF2_RegionRef>(definitions_.regions.size()));
    if (fresh)
      definitions_.regions.push_back(
          {kWaitingAtMarkers, "", OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_MEASUREMENT_SYSTEM});
    enter(location, event.wait_begin_ns, entry->second);
    leave(location, event.wait_end_ns, entry->second);
    location.last = event.wait_end_ns;
  }

  // Leaves the frames that the next call is not in, and enters those it is.
  void walk_to(Location& location, std::uint64_t path, std::uint64_t begin) {
    const std::vector<std::string>& frames = names_.frames(path);
    auto& stack = location.stack;
    std::size_t shared = 0;
    while (shared < stack.size() && shared < frames.size() &&
           function_of(stack[shared].first) == function_of(frames[shared])) {
      ++shared;
      if (stack[shared - 1].first != frames[shared - 1]) break;
    }
    while (stack.size() > shared) {
      leave(location, location.last, stack.back().second);
      stack.pop_back();
    }
    for (std::size_t i = 0; i < shared; ++i) stack[i].first = frames[i];
    for (std::size_t i = shared; i < frames.size(); ++i) {
      const OTF2_RegionRef region = region_of_frame(frames[i]);
      enter(location, begin, region);
      stack.emplace_back(frames[i], region);
    }
  }

  OTF2_RegionRef region_of_frame(const std::string& frame) {
    const std::string name(function_of(frame));
    const auto [entry, fresh] = definitions_.frames.try_emplace(
        name, static_cast<OTF2_RegionRef>(definitions_.regions.size()));
    if (fresh) {
      definitions_.regions.push_back({name, ""});
      if (const NamedFrame* declared = names_.declared(frame)) {
        definitions_.regions.back().file = declared->file;
        definitions_.regions.back().begin = static_cast<std::uint32_t>(declared->begin);
      }
    }
    return entry->second;
  }
  OTF2_RegionRef region_of(const RankOperations& at) {
    const auto [entry, fresh] = definitions_.calls.try_emplace(
        at.event().node->call, static_cast<OTF2_RegionRef>(definitions_.regions.size()));
    if (fresh)
      definitions_.regions.push_back(
          {"MPI_" + at.call().name, "", role_of(at.plan()), OTF2_PARADIGM_MPI});
    return entry->second;
  }

  void learn(const Communicator* comm) {
    if (comm == nullptr) return;
    const auto [entry, fresh] = definitions_.comm_of.try_emplace(
        comm->context, static_cast<OTF2_CommRef>(definitions_.comms.size()));
    if (!fresh) return;
    Definitions::Comm made;
    made.name = "communicator " + std::to_string(entry->second);
    made.is_inter = comm->is_inter;
    // Processes outside of the trace have no location.
    std::vector<std::uint64_t> local, remote;
    const auto add = [&](const WorldRanks& ranks, std::vector<std::uint64_t>& members) {
      for (std::int32_t i = 0; i < ranks.count; ++i) {
        if (ranks[i] >= 0) members.push_back(static_cast<std::uint64_t>(ranks[i]));
        made.is_partial = made.is_partial || ranks[i] < 0;
      }
    };
    add(comm->local, local);
    if (comm->is_inter) add(comm->remote, remote);
    if (remote < local) std::swap(local, remote);  // the same on both sides
    made.members = std::move(local);
    made.members.insert(made.members.end(), remote.begin(), remote.end());
    definitions_.comms.push_back(std::move(made));
  }
  OTF2_CommRef comm_of(const Operation& operation) const {
    const auto found = definitions_.comm_of.find(operation.context);
    return found == definitions_.comm_of.end() ? OTF2_UNDEFINED_COMM : found->second;
  }

  /// A partner's rank in the communicator as it is defined here.
  std::uint32_t rank_in(const Operation& operation, std::int32_t rank, std::int64_t world) const {
    const OTF2_CommRef ref = comm_of(operation);
    if (ref == OTF2_UNDEFINED_COMM ||
        !(definitions_.comms[ref].is_inter || definitions_.comms[ref].is_partial))
      return static_cast<std::uint32_t>(rank);
    const std::vector<std::uint64_t>& members = definitions_.comms[ref].members;
    const auto found = std::find(members.begin(), members.end(), static_cast<std::uint64_t>(world));
    return static_cast<std::uint32_t>(found - members.begin());
  }

  void at_begin(Location& location, const Operation& operation, std::uint64_t ns) {
    OTF2_EvtWriter* writer = location.writer;
    const std::uint32_t peer = rank_in(operation, operation.peer, operation.channel.dest);
    const auto tag = static_cast<std::uint32_t>(operation.channel.tag);
    const auto bytes = static_cast<std::uint64_t>(operation.bytes);
    switch (operation.kind) {
      case Operation::Kind::kSend:
        if (operation.request == 0)
          ok(OTF2_EvtWriter_MpiSend(writer, nullptr, ns, peer, comm_of(operation), tag, bytes));
        else
          ok(OTF2_EvtWriter_MpiIsend(writer, nullptr, ns, peer, comm_of(operation), tag, bytes,
                                     operation.request));
        break;
      case Operation::Kind::kPost:
        ok(OTF2_EvtWriter_MpiIrecvRequest(writer, nullptr, ns, operation.request));
        break;
      case Operation::Kind::kBegin:
        if (!recorded(operation)) break;
        if (operation.request == 0)
          ok(OTF2_EvtWriter_MpiCollectiveBegin(writer, nullptr, ns));
        else
          ok(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer, nullptr, ns, operation.request));
        break;
      default: break;
    }
  }

  bool recorded(const Operation& operation) const {
    return !operation.on_object && comm_of(operation) != OTF2_UNDEFINED_COMM &&
           operation.collective != nullptr && operation.collective->action != Action::kFinalize &&
           (operation.moves_data || operation.waits == Waits::kForAll);
  }

  void at_end(Location& location, const Operation& operation, std::uint64_t ns, bool creates) {
    OTF2_EvtWriter* writer = location.writer;
    switch (operation.kind) {
      case Operation::Kind::kReceive: {
        const std::uint32_t peer = rank_in(operation, operation.peer, operation.channel.source);
        const auto tag = static_cast<std::uint32_t>(operation.channel.tag);
        const auto bytes = static_cast<std::uint64_t>(operation.bytes);
        if (operation.request == 0)
          ok(OTF2_EvtWriter_MpiRecv(writer, nullptr, ns, peer, comm_of(operation), tag, bytes));
        else
          ok(OTF2_EvtWriter_MpiIrecv(writer, nullptr, ns, peer, comm_of(operation), tag, bytes,
                                     operation.request));
        break;
      }
      case Operation::Kind::kSendDone:
        ok(OTF2_EvtWriter_MpiIsendComplete(writer, nullptr, ns, operation.request));
        break;
      case Operation::Kind::kCancelled:
        ok(OTF2_EvtWriter_MpiRequestCancelled(writer, nullptr, ns, operation.request));
        break;
      case Operation::Kind::kEnd: {
        if (!recorded(operation)) break;
        const OTF2_CollectiveOp op = collective_of(*operation.collective, creates);
        const std::uint32_t root = operation.root_world < 0
                                       ? OTF2_UNDEFINED_UINT32
                                       : rank_in(operation, operation.root, operation.root_world);
        const auto sent = static_cast<std::uint64_t>(operation.sent);
        const auto received = static_cast<std::uint64_t>(operation.received);
        if (operation.request == 0)
          ok(OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, ns, op, comm_of(operation), root,
                                             sent, received));
        else
          ok(OTF2_EvtWriter_NonBlockingCollectiveComplete(writer, nullptr, ns, op,
                                                          comm_of(operation), root, sent, received,
                                                          operation.request));
        break;
      }
      default: break;
    }
  }

  void write_definitions(const TimelineFacts& facts) {
    OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive_);
    if (writer == nullptr) {
      ok(OTF2_ERROR_MEM_FAULT);
      return;
    }
    constexpr std::uint64_t kNanoseconds = 1'000'000'000;
    ok(OTF2_GlobalDefWriter_WriteClockProperties(writer, kNanoseconds, 0, facts.end_ns + 1,
                                                 request_.trace.started_unix * kNanoseconds));
    std::size_t written = 0;
    const auto text = [&](const std::string& name) {
      const std::string words = printable(name);
      const OTF2_StringRef ref = definitions_.string(words);
      if (ref >= written) {
        ok(OTF2_GlobalDefWriter_WriteString(writer, ref, words.c_str()));
        written = ref + std::size_t{1};
      }
      return ref;
    };
    const OTF2_StringRef nothing = text("");
    ok(OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, text("MPI"),
                                          OTF2_PARADIGM_CLASS_PROCESS));
    for (std::size_t i = 0; i < definitions_.regions.size(); ++i) {
      const Definitions::Region& region = definitions_.regions[i];
      const OTF2_StringRef name = text(region.name);
      ok(OTF2_GlobalDefWriter_WriteRegion(
          writer, static_cast<OTF2_RegionRef>(i), name, name, nothing, region.role, region.paradigm,
          OTF2_REGION_FLAG_NONE, region.file.empty() ? nothing : text(region.file), region.begin,
          0));
    }
    write_system_tree(writer, text);
    write_communicators(writer, text, nothing);
    ok(OTF2_Archive_CloseGlobalDefWriter(archive_, writer));
  }

  template <class Text>
  void write_system_tree(OTF2_GlobalDefWriter* writer, Text text) {
    ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, text("machine"), text("machine"),
                                                OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
    for (std::uint32_t rank = 0; rank < world(); ++rank) {
      const auto facts = request_.trace.facts.find(rank);
      const std::string host = facts == request_.trace.facts.end() ? "" : facts->second.host;
      const auto [node, fresh] =
          hosts.try_emplace(host, static_cast<OTF2_SystemTreeNodeRef>(hosts.size() + 1));
      if (fresh)
        ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(
            writer, node->second, text(host.empty() ? "node" : host), text("node"), 0));
      const OTF2_StringRef name = text("rank " + std::to_string(rank));
      ok(OTF2_GlobalDefWriter_WriteLocationGroup(writer, rank, name,
                                                 OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second,
                                                 OTF2_UNDEFINED_LOCATION_GROUP));
      for (std::uint32_t thread = 0; thread < std::max(request_.trace.threads, 1U); ++thread) {
        const std::uint32_t stream = request_.trace.stream_of(rank, thread);
        const auto location = locations_.find(stream);
        if (location == locations_.end()) continue;
        ok(OTF2_GlobalDefWriter_WriteLocation(
            writer, stream, text(stream_name(request_.trace, stream)),
            OTF2_LOCATION_TYPE_CPU_THREAD, location->second.events, rank));
      }
    }
  }

  template <class Text>
  void write_communicators(OTF2_GlobalDefWriter* writer, Text text, OTF2_StringRef nothing) {
    std::vector<std::uint64_t> all(world());
    for (std::uint32_t rank = 0; rank < world(); ++rank) all[rank] = rank;
    OTF2_GroupRef next = 0;
    const auto group = [&](OTF2_GroupType type, OTF2_StringRef name,
                           const std::vector<std::uint64_t>& members) {
      ok(OTF2_GlobalDefWriter_WriteGroup(
          writer, next, name, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
          static_cast<std::uint32_t>(members.size()), members.data()));
      return next++;
    };
    group(OTF2_GROUP_TYPE_COMM_LOCATIONS, text("MPI locations"), all);
    const OTF2_GroupRef self = group(OTF2_GROUP_TYPE_COMM_SELF, nothing, {});
    std::map<std::vector<std::uint64_t>, OTF2_GroupRef> known;
    const auto group_of = [&](const std::vector<std::uint64_t>& members) {
      const auto found = known.find(members);
      if (found != known.end()) return found->second;
      return known[members] = group(OTF2_GROUP_TYPE_COMM_GROUP, nothing, members);
    };
    definitions_.comms[0].members = all;
    for (std::size_t i = 0; i < definitions_.comms.size(); ++i) {
      const Definitions::Comm& comm = definitions_.comms[i];
      const auto ref = static_cast<OTF2_CommRef>(i);
      const OTF2_StringRef name = text(comm.name);
      const OTF2_CommRef parent = i < 2 ? OTF2_UNDEFINED_COMM : 0;
      ok(OTF2_GlobalDefWriter_WriteComm(writer, ref, name, i == 1 ? self : group_of(comm.members),
                                        parent, OTF2_COMM_FLAG_NONE));
    }
  }

  const ExportRequest& request_;
  PathNames& names_;
  FolderBeside folder_;  ///< the library writes its files by itself
  OTF2_Archive* archive_ = nullptr;
  std::map<OTF2_LocationRef, Location> locations_;  ///< by stream
  Definitions definitions_;
  OTF2_ErrorCode error_ = OTF2_SUCCESS;  ///< the first one
};

}  // namespace

Result<ExportReport> export_otf2(const ExportRequest& request) {
  Archive archive(request);
  if (const Status opened = archive.open(); !opened) return opened.error();
  return export_timeline(
      request, [&](const TimedEvent& event) { archive.event(event); },
      [&](const TimelineFacts& facts) { return archive.finish(facts); });
}

}  // namespace chameleon::tools
