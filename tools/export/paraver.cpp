// SPDX-License-Identifier: BSD-3-Clause
/// Paraver (BSC, "Paraver trace-file generation", 2001): FILE.prv with states,
/// events and communications in order of time, FILE.pcf with their names, FILE.row
/// with those of the tasks. A rank is a task, on a processor of its own, of as many
/// threads as it has. Waiting at markers is synchronization outside calls. Event types are ours:
/// 91000001 the MPI call, 91000002 where it is called.

#include <cstdio>
#include <ctime>

#include "tools/export/export.h"
#include "tools/export/export_shape.h"
#include "tools/export/sorted_lines.h"

namespace chameleon::tools {
namespace {

constexpr const char* kCallType = "91000001";
constexpr const char* kSiteType = "91000002";

struct State {
  int value;
  const char* name;
};
constexpr int kRunning = 1, kSynchronization = 5;
constexpr State kStateNames[] = {{0, "Idle"},
                                 {kRunning, "Running"},
                                 {3, "Waiting a message"},
                                 {4, "Blocking Send"},
                                 {kSynchronization, "Synchronization"},
                                 {6, "Test/Probe"},
                                 {8, "Wait/WaitAll"},
                                 {10, "Immediate Send"},
                                 {11, "Immediate Receive"},
                                 {13, "Group Communication"},
                                 {15, "Others"}};

int state_of(const CallPlan& plan) {
  switch (plan.action) {
    case Action::kSend: return plan.request >= 0 ? 10 : 4;
    case Action::kSendrecv: return 4;
    case Action::kRecv:
    case Action::kMatchedRecv: return plan.request >= 0 ? 11 : 3;
    case Action::kProbe:
    case Action::kMatchedProbe: return 6;
    case Action::kComplete:
    case Action::kCompleteAll:
    case Action::kCompleteAny:
    case Action::kCompleteSome: return plan.flag >= 0 ? 6 : 8;
    case Action::kCollective: return plan.movement.moves() ? 13 : kSynchronization;
    default: return 15;
  }
}

class Paraver {
 public:
  explicit Paraver(const ExportRequest& request) : request_(request), names_(request.names) {
    last_.assign(std::size_t{world()} * std::max(request.trace.threads, 1U), 0);
    place_hosts();
  }

  std::uint32_t world() const {
    const RankList ranks = request_.trace.whole_ranks();
    return std::max(request_.trace.world_size, ranks.empty() ? 0 : ranks.runs().back().last() + 1);
  }

  void event(const TimedEvent& event) {
    const RankOperations& at = *event.at;
    const std::string object = objects_[at.stream()];
    std::uint64_t& last = last_[at.stream()];
    const auto runs = [&](std::uint64_t from, std::uint64_t to) {
      if (to > from) state(object, from, to, kRunning);
    };
    if (event.waits()) {
      runs(last, event.wait_begin_ns);
      state(object, event.wait_begin_ns, event.wait_end_ns, kSynchronization);
      last = event.wait_end_ns;
    }
    runs(last, event.begin_ns);
    state(object, event.begin_ns, event.end_ns, state_of(at.plan()));
    last = event.end_ns;
    const std::uint64_t path = at.event().path;
    const auto [site, fresh] = sites_.try_emplace(path, sites_.size() + 1);
    calls_.insert(at.event().node->call);
    lines_.add(event.begin_ns, "2:" + object + ":" + std::to_string(event.begin_ns) + ":" +
                                   kCallType + ":" + std::to_string(at.event().node->call + 1) +
                                   ":" + kSiteType + ":" + std::to_string(site->second) + "\n");
    lines_.add(event.end_ns, "2:" + object + ":" + std::to_string(event.end_ns) + ":" + kCallType +
                                 ":0:" + kSiteType + ":0\n");
    for (std::size_t i = 0; i < at.operations().size(); ++i) message(event, at.operations()[i], i);
  }

  /// What the names of the files begin with.
  std::string base() const {
    std::string base = request_.output;
    if (base.size() > 4 && base.substr(base.size() - 4) == ".prv") base.resize(base.size() - 4);
    return base;
  }

  Status write(const TimelineFacts& facts) {
    TextFile prv(base() + ".prv");
    prv << header(facts.end_ns);
    if (const Status sorted = lines_.write(prv); !sorted) return sorted;
    if (const Status closed = prv.close(); !closed) return closed;
    if (const Status closed = write_names(base() + ".pcf"); !closed) return closed;
    return write_rows(base() + ".row");
  }

 private:
  void place_hosts() {
    std::map<std::string, std::size_t> known;
    for (std::uint32_t rank = 0; rank < world(); ++rank) {
      const auto facts = request_.trace.facts.find(rank);
      const std::string host = facts == request_.trace.facts.end() || facts->second.host.empty()
                                   ? "node"
                                   : printable(facts->second.host);
      const auto [place, fresh] = known.try_emplace(host, hosts_.size());
      if (fresh) hosts_.push_back({host, 0});
      ++hosts_[place->second].second;
      node_of_.push_back(place->second + 1);
    }
    // Processors are numbered node by node.
    std::vector<std::uint64_t> next(hosts_.size(), 1);
    for (std::size_t i = 1; i < hosts_.size(); ++i) next[i] = next[i - 1] + hosts_[i - 1].second;
    objects_.resize(last_.size());
    for (std::uint32_t rank = 0; rank < world(); ++rank) {
      const std::string task =
          std::to_string(next[node_of_[rank] - 1]++) + ":1:" + std::to_string(rank + 1) + ":";
      threads_.push_back(std::max<std::size_t>(request_.trace.streams_of(rank).size(), 1));
      for (std::uint32_t thread = 0; thread < threads_.back(); ++thread)
        objects_[request_.trace.stream_of(rank, thread)] = task + std::to_string(thread + 1);
    }
  }
  void state(const std::string& object, std::uint64_t begin, std::uint64_t end, int value) {
    lines_.add(begin, "1:" + object + ":" + std::to_string(begin) + ":" + std::to_string(end) +
                          ":" + std::to_string(value) + "\n");
  }
  void message(const TimedEvent& event, const Operation& operation, std::size_t at) {
    if (operation.kind == Operation::Kind::kPost) posted_[key(operation)] = event.begin_ns;
    if (operation.kind == Operation::Kind::kCancelled) posted_.erase(key(operation));
    if (operation.kind != Operation::Kind::kReceive) return;
    std::uint64_t ready = event.begin_ns;
    if (operation.request != 0) {
      const auto found = posted_.find(key(operation));
      if (found != posted_.end()) {
        ready = found->second;
        posted_.erase(found);
      }
    }
    if (!request_.ranks.contains(operation.channel.source)) return;
    const std::string sent = std::to_string(event.since_ns[at]);
    lines_.add(event.since_ns[at], "3:" + objects_[event.since_stream[at]] + ":" + sent + ":" +
                                       sent + ":" + objects_[event.stream()] + ":" +
                                       std::to_string(ready) + ":" + std::to_string(event.end_ns) +
                                       ":" + std::to_string(operation.bytes) + ":" +
                                       std::to_string(operation.channel.tag) + "\n");
  }
  static std::pair<std::uint32_t, std::uint64_t> key(const Operation& operation) {
    return {operation.channel.dest, operation.request};
  }

  std::string header(std::uint64_t end_ns) const {
    const auto started = static_cast<std::time_t>(request_.trace.started_unix);
    std::tm utc{};
    char date[40] = "01/01/70 at 00:00";
    if (gmtime_r(&started, &utc) != nullptr)
      std::strftime(date, sizeof date, "%d/%m/%y at %H:%M", &utc);
    std::string text = "#Paraver (" + std::string(date) + "):" + std::to_string(end_ns) +
                       "_ns:" + std::to_string(hosts_.size()) + "(";
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(hosts_[i].second);
    text += "):1:" + std::to_string(world()) + "(";
    for (std::uint32_t rank = 0; rank < world(); ++rank)
      text += (rank == 0 ? "" : ",") + std::to_string(threads_[rank]) + ":" +
              std::to_string(node_of_[rank]);
    return text + ")\n";
  }

  Status write_names(const std::string& path) {
    TextFile pcf(path);
    pcf << "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\n"
        << "DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\nSTATES\n";
    for (const State& state : kStateNames)
      pcf << std::to_string(state.value) << "    " << state.name << "\n";
    pcf << "\nEVENT_TYPE\n9    " << kCallType << "    MPI call\nVALUES\n0      End\n";
    for (const std::uint16_t call : calls_)
      pcf << std::to_string(call + 1) << "      MPI_"
          << printable(request_.trace.calls.at(call).name) << "\n";
    pcf << "\nEVENT_TYPE\n9    " << kSiteType << "    Where it is called\nVALUES\n0      End\n";
    std::map<std::uint64_t, std::uint64_t> by_number;
    for (const auto& [path_id, number] : sites_) by_number[number] = path_id;
    for (const auto& [number, path_id] : by_number)
      pcf << std::to_string(number) << "      " << printable(names_.site(path_id)) << "\n";
    return pcf.close();
  }

  Status write_rows(const std::string& path) const {
    TextFile row(path);
    row << "LEVEL CPU SIZE " << std::to_string(world()) << "\n";
    for (const auto& [host, cpus] : hosts_)
      for (std::uint64_t i = 1; i <= cpus; ++i) row << std::to_string(i) << "." << host << "\n";
    row << "\nLEVEL NODE SIZE " << std::to_string(hosts_.size()) << "\n";
    for (const auto& [host, cpus] : hosts_) row << host << "\n";
    std::size_t threads = 0;
    for (const std::size_t some : threads_) threads += some;
    row << "\nLEVEL THREAD SIZE " << std::to_string(threads) << "\n";
    for (std::uint32_t rank = 0; rank < world(); ++rank)
      for (std::uint32_t thread = 0; thread < threads_[rank]; ++thread)
        row << stream_name(request_.trace, request_.trace.stream_of(rank, thread)) << "\n";
    return row.close();
  }

  const ExportRequest& request_;
  PathNames& names_;
  SortedLines lines_;
  std::vector<std::pair<std::string, std::uint64_t>> hosts_;  ///< and their processors
  std::vector<std::size_t> node_of_;                          ///< by rank, from 1
  std::vector<std::size_t> threads_;                          ///< of each rank, at least 1
  std::vector<std::string> objects_;                          ///< "cpu:appl:task:thread" by stream
  std::vector<std::uint64_t> last_;                           ///< end of the stream's last call
  std::set<std::uint16_t> calls_;
  std::map<std::uint64_t, std::uint64_t> sites_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> posted_;
};

}  // namespace

Result<ExportReport> export_paraver(const ExportRequest& request) {
  Paraver paraver(request);
  Result<ExportReport> report = export_timeline(
      request, [&](const TimedEvent& event) { paraver.event(event); },
      [&](const TimelineFacts& facts) { return paraver.write(facts); });
  if (report) report->output = paraver.base() + ".prv";
  return report;
}

ExportSize paraver_size(const ExportShape& shape) {
  constexpr double kHead = 2000, kRank = 80, kCall = 40, kState = 2;
  const double threads = digits_of(shape.request->trace.threads);
  const double object = 2 * (shape.rank + 1) + length("::1:") + threads;
  const double state = length("1::::\n") + object + 2 * shape.time + kState;
  const double event = length("2::::::\n") + object + shape.time + length(kCallType) +
                       length(kSiteType) + 4 +
                       digits_of(static_cast<double>(shape.request->trace.paths.size()));
  const double message = length("3::::::::\n") + 2 * object + 4 * shape.time + shape.tag;
  SortedSize lines;
  double names = 0;
  for (const CallShape& call : shape.calls) {
    lines.add(call.times, 2 * state);  // running, and the call
    lines.add(2 * call.times, event);
    lines.add(2 * call.waits, state);
    lines.add(call.receives, message + call.bytes);
    names += kCall + static_cast<double>(call.call->name.size() + call.site.size());
  }
  const Trace& trace = shape.request->trace;
  double hosts = 0;
  for (const auto& [stream, facts] : trace.facts) hosts += static_cast<double>(facts.host.size());
  const double ranks = std::max(shape.world, shape.lanes);
  return lines.size(kHead + names + 2 * hosts + kRank * ranks);
}

}  // namespace chameleon::tools
