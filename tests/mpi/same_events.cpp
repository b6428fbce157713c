// SPDX-License-Identifier: BSD-3-Clause
// same_events FIRST SECOND: whether SECOND, the trace of a replay of FIRST, holds the same calls
// with the same values on every rank, in order. Call paths and times are ignored, and so are the
// substitutions of docs/reference/replay.md: a wildcard of FIRST is the source or tag it matched,
// the first call is the replay's own, requests that a Waitany, Waitsome or Test* did not complete
// are hidden, a persistent receive of any source is started as an Irecv (and requests after it
// may have other ids, so each id of FIRST stands for one of SECOND), files have other names,
// displacements in dynamic windows are other addresses, an Iprobe that found nothing may find a
// message, and where calls of FIRST failed on what is no object, and that had an id, those made
// later have lower ids. Passed over are tests that found nothing, on both sides, and in FIRST the
// calls that failed or that a replay leaves out. Prints the first difference of a rank; exit status
// 0, 1 or 3.
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/communicators.h"
#include "analysis/reissue.h"
#include "format/file.h"
#include "model/view.h"
#include "mpi/error_class.h"

namespace chameleon {
using namespace analysis;
using namespace format;
using namespace mpi;
namespace {

constexpr std::int64_t kAnyTag = -1;  // MPICH's
constexpr std::int64_t kNullBuffer = 3;

/// One rank of one trace, with end-points resolved.
class Side {
 public:
  Side(const Trace& trace, std::uint32_t rank, RankView view)
      : trace_(trace), view_(std::move(view)), communicators_(rank, trace.world_size) {}

  bool next() {
    if (call_ != nullptr && Communicators::changed_by(*call_))
      communicators_.apply(trace_, *call_, event_);
    const bool more = view_.next(event_);
    call_ = more ? &trace_.calls.at(event_.node->call) : nullptr;
    if (more && index("win") >= 0 && index("info") >= 0) {  // makes one
      const std::int64_t win = event_.values[static_cast<std::size_t>(index("win"))];
      dynamic_.erase(win);
      if (call_->name == "Win_create_dynamic") dynamic_.insert(win);
    }
    return more;
  }
  /// The next event that a replay must repeat.
  bool next_kept(bool first) {
    while (next()) {
      if (!(first && (did_nothing() || is_left_out())) && !found_nothing()) return true;
      if (first) note_named();
    }
    return false;
  }
  /// Whether calls that failed named objects of this kind.
  bool failed_on(const std::string& kind) const { return named_.contains(kind); }
  /// It failed, and did not do what it is for.
  bool did_nothing() const {
    const CallInfo* call = find_call(call_->name);
    return call == nullptr ? event_.values[0] != 0 : !took_place(*call, event_.values[0]);
  }
  bool is_left_out() const {
    const CallInfo* call = find_call(call_->name);
    return call != nullptr && why_not_reissued(*call) != nullptr &&
           !has(*call, Attribute::kInit | Attribute::kFinalize);
  }
  bool found_nothing() const {
    static const std::set<std::string> kTests = {"Test",    "Testall",  "Testany", "Testsome",
                                                 "Improbe", "Parrived", "Win_test"};
    const std::string& name = call_->name;
    if (!kTests.contains(name)) return false;
    if (const int flag = index("flag"); flag >= 0)
      return event_.values[static_cast<std::size_t>(flag)] == 0;
    const int count = index("outcount");
    return count >= 0 && event_.values[static_cast<std::size_t>(count)] == 0;
  }
  /// A probe that found nothing; when it is issued again a message may be there.
  bool missed() const {
    return call_->name == "Iprobe" && event_.values[static_cast<std::size_t>(index("flag"))] == 0;
  }
  /// On a window whose displacements are addresses.
  bool in_dynamic_window() const {
    const int win = index("win");
    return win >= 0 && dynamic_.contains(event_.values[static_cast<std::size_t>(win)]);
  }
  /// How many requests the event starts.
  std::size_t starts() const {
    if (call_->name == "Start") return 1;
    return call_->name == "Startall"
               ? array(static_cast<std::size_t>(index("array_of_requests"))).size()
               : 0;
  }
  const CallDescription& call() const { return *call_; }
  const EventView& event() const { return event_; }
  int index(const char* field) const { return field_index(*call_, field); }
  std::span<const std::int64_t> array(std::size_t i) const {
    return array_of(trace_, event_.values[i]);
  }
  /// A rank of the event's communicator, or -code of a SpecialRank.
  std::int64_t rank(std::size_t i) const {
    const EndPoint end = event_.end_point(i);
    if (end.special() != 0) return -end.special();
    const int comm = index("comm");
    if (comm < 0) return end.rank(0, 0);
    const Communicator* on =
        communicators_.find(event_.values[static_cast<std::size_t>(comm)]).get();
    return on == nullptr ? end.rank(0, 0) : end.rank(on->self, on->peers().count);
  }
  std::int64_t value(std::size_t i) const {
    return call_->fields[i].stored == FieldKind::kEndPoint ? rank(i) : event_.values[i];
  }

 private:
  void note_named() {
    for (std::size_t i = 0; i < call_->fields.size(); ++i)
      if (event_.values[i] >= 0) named_.insert(call_->fields[i].kind);
  }

  const Trace& trace_;
  RankView view_;
  Communicators communicators_;
  EventView event_;
  const CallDescription* call_ = nullptr;
  std::set<std::int64_t> dynamic_;
  std::set<std::string> named_;
};

constexpr auto kAnySource = -static_cast<std::int64_t>(SpecialRank::kAnySource);

bool is_status(const std::string& name) {
  for (const char* end : {".source", ".tag", ".bytes"})
    if (name.size() > std::string(end).size() && name.ends_with(end)) return true;
  return false;
}

/// What an Iprobe tells.
bool is_found(const std::string& name) { return name == "flag" || is_status(name); }

/// What a receive with a wildcard matched, by its own status; `nothing` without one.
std::int64_t matched(const Side& side, const char* status, std::int64_t nothing) {
  const int i = side.index(status);
  return i < 0 ? nothing : side.value(static_cast<std::size_t>(i));
}

/// Ids of requests in FIRST to those in SECOND, learned where they are made. Between its starts, a
/// persistent receive of any source is what Recv_init made.
struct Requests {
  std::map<std::int64_t, std::int64_t> made, started;

  void make(std::int64_t one, std::int64_t two) {
    made[one] = two;
    started.erase(one);
  }
  bool same(std::int64_t one, std::int64_t two) const {
    const auto maker = made.find(one);
    const auto starter = started.find(one);
    return (maker == made.end() ? one : maker->second) == two ||
           (starter != started.end() && starter->second == two);
  }
};

/// The same of other objects, by kind.
using Objects = std::map<std::string, std::map<std::int64_t, std::int64_t>>;

struct Ids {
  Requests requests;
  Objects others;

  bool same(const std::string& kind, std::int64_t one, std::int64_t two) const {
    if (kind == "request") return requests.same(one, two);
    const auto of_kind = others.find(kind);
    if (of_kind == others.end() || !of_kind->second.contains(one)) return one == two;
    return of_kind->second.at(one) == two;
  }
};

/// Whether an object that the call makes is in this field.
bool makes_object(const CallDescription& call, const Field& field) {
  const CallInfo* info = find_call(call.name);
  if (info == nullptr || !has(*info, Attribute::kCreates)) return false;
  for (const ParamInfo& param : params(*info))
    if (field.name == param.name)
      return is_object(param.kind) && param.direction == Direction::kOut;
  return false;
}

bool makes_request(const CallDescription& call) {
  const CallInfo* info = find_call(call.name);
  return info != nullptr && has(*info, Attribute::kNonblocking | Attribute::kPersistent);
}

bool same_array(const Side& first, const Side& second, std::size_t i, const Ids& ids) {
  const auto one = first.array(i);
  const auto two = second.array(i);
  if (one.size() != two.size()) return false;
  const bool of_requests = first.call().fields[i].kind == "request";
  const bool hides = of_requests && first.call().name != "Waitall";
  for (std::size_t j = 0; j < one.size(); ++j) {
    const bool same = ids.same(first.call().fields[i].kind, one[j], two[j]);
    if (!same && !(hides && two[j] == -1)) return false;
  }
  return true;
}

bool same_value(const Side& first, const Side& second, std::size_t i, Ids& ids) {
  const Field& field = first.call().fields[i];
  if (field.name == "filename") return true;
  if (field.name == "target_disp" && first.in_dynamic_window()) return true;
  // The statuses of FIRST tell more where it had wildcards; what they told was asked for here. A
  // receive that failed has no number of bytes: MPICH leaves that of an earlier request.
  if (is_status(field.name))
    return !field.name.ends_with(".bytes") || field.stored == FieldKind::kArray ||
           first.event().values[0] != 0 || first.value(i) == second.value(i);
  if (field.stored == FieldKind::kArray)
    return (field.kind != "request" && first.event().values[i] == second.event().values[i]) ||
           same_array(first, second, i, ids);
  const std::int64_t one = first.value(i);
  const std::int64_t two = second.value(i);
  if (field.kind == "request") {
    if (makes_request(first.call())) ids.requests.make(one, two);
    return ids.requests.same(one, two);
  }
  if (makes_object(first.call(), field)) {
    if (one != two && !(two < one && first.failed_on(field.kind))) return false;
    ids.others[field.kind][one] = two;
  }
  if (ids.same(field.kind, one, two)) return true;
  // Where a buffer is not significant (off the root) the replay has none.
  if (field.kind == "buffer") return one == 0 && two == kNullBuffer;
  if (field.kind == "source" && one == kAnySource)
    return first.index("status.source") < 0 || matched(first, "status.source", two) == two;
  if (field.kind == "tag" && one == kAnyTag)
    return first.index("status.tag") < 0 || matched(first, "status.tag", two) == two;
  return false;
}

std::string text(const Side& side, std::size_t i) {
  if (side.call().fields[i].stored != FieldKind::kArray) return std::to_string(side.value(i));
  std::string line = "[";
  for (const std::int64_t element : side.array(i)) line += std::to_string(element) + " ";
  return line + "]";
}

/// The first difference on a rank, or an empty string.
std::string difference(Side& first, Side& second) {
  Ids ids;
  for (std::uint64_t number = 0;; ++number) {
    const bool more = first.next_kept(true);
    if (second.next_kept(false) != more)
      return "event " + std::to_string(number) + ": one trace ends";
    if (!more) return "";
    if (number == 0) continue;  // MPI_Init or MPI_Init_thread: the replay's own
    const std::string where = "event " + std::to_string(number) + ": " + first.call().name;
    if (second.call().name != first.call().name && first.starts() > 0) {
      // One by one, those of any source as Irecv.
      std::size_t left = first.starts();
      const auto starts = [&second] {
        const std::string& name = second.call().name;
        return name == "Start" || name == "Irecv" || name == "Irecv_c";
      };
      const auto started =
          first.index("request") >= 0
              ? std::vector{first.value(static_cast<std::size_t>(first.index("request")))}
              : std::vector<std::int64_t>{};
      const auto list =
          first.index("array_of_requests") < 0
              ? std::span<const std::int64_t>(started)
              : first.array(static_cast<std::size_t>(first.index("array_of_requests")));
      while (starts()) {
        const std::int64_t one = list[list.size() - left];
        const std::int64_t two = second.value(static_cast<std::size_t>(second.index("request")));
        if (makes_request(second.call()))
          ids.requests.started[one] = two;
        else if (!ids.requests.same(one, two))
          return where + ": another request is started";
        if (--left == 0 || !second.next_kept(false)) break;
      }
      if (left > 0) return where + ": not all are started";
      continue;
    }
    if (first.call().name != second.call().name) return where + ", " + second.call().name;
    if (first.call().fields != second.call().fields) return where + ": other fields";
    for (std::size_t i = 0; i < first.call().fields.size(); ++i)
      if (!(first.missed() && is_found(first.call().fields[i].name)) &&
          !same_value(first, second, i, ids))
        return where + ": " + first.call().fields[i].name + " " + text(first, i) + ", " +
               text(second, i);
  }
}

int compare(const Trace& first, const Trace& second) {
  if (first.ranks.size() != second.ranks.size() || first.world_size != second.world_size) {
    std::fprintf(stderr, "same_events: other ranks\n");
    return 1;
  }
  int status = 0;
  for (std::uint32_t rank = 0; rank < first.world_size; ++rank) {
    auto one = RankView::make(first, rank);
    auto two = RankView::make(second, rank);
    if (!one || !two) {
      std::fprintf(stderr, "same_events: %s\n", (!one ? one : two).error().message.c_str());
      return 3;
    }
    Side left(first, rank, std::move(*one));
    Side right(second, rank, std::move(*two));
    const std::string found = difference(left, right);
    if (found.empty()) continue;
    std::fprintf(stderr, "same_events: rank %u: %s\n", rank, found.c_str());
    status = 1;
  }
  if (status == 0)
    std::printf("same: %llu events\n", static_cast<unsigned long long>(first.event_count()));
  return status;
}

}  // namespace
}  // namespace chameleon

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: same_events FIRST SECOND\n");
    return 2;
  }
  const auto first = chameleon::read_trace(argv[1]);
  const auto second = chameleon::read_trace(argv[2]);
  if (!first || !second) {
    std::fprintf(stderr, "same_events: %s\n", (!first ? first : second).error().message.c_str());
    return 3;
  }
  return chameleon::compare(*first, *second);
}
