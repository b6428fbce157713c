// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/thread_sharing.h"

#include <map>
#include <unordered_map>

#include "analysis/operations.h"

namespace chameleon {
namespace {

/// Of one rank: which thread used what first.
class Uses {
 public:
  explicit Uses(const Trace& trace) : trace_(trace) {}

  /// What the event shares with an earlier one of another thread, or an empty text.
  std::string add(const RankOperations& at) {
    thread_ = trace_.thread_of(at.stream());
    std::string shared;
    for (const Operation& operation : at.operations()) {
      if (!shared.empty()) break;
      if (operation.kind == Operation::Kind::kSend)
        shared = both(sends_, operation.channel, "send to world rank " +
                                                     std::to_string(operation.channel.dest) +
                                                     tag_text(operation.channel.tag));
      if (operation.kind == Operation::Kind::kBegin && !comes_last(at.plan()))
        shared = both(collectives_, operation.context,
                      "call collectives on the communicator of " + at.call().name);
    }
    if (shared.empty() && at.plan().source >= 0) shared = receive(at);
    if (shared.empty()) return shared;
    return stream_rank(at) + shared + " in event " + std::to_string(at.number()) + " of thread " +
           std::to_string(thread_);
  }

 private:
  /// Receives of a communicator that may compete for messages.
  struct Receives {
    std::map<std::int64_t, std::uint32_t> by_tag;  ///< the first thread
    bool several = false;                          ///< threads
    bool any_tag = false;
    std::uint32_t first = 0, other = 0;
  };

  /// After all others on its communicator, window or file, whichever thread calls it.
  static bool comes_last(const CallPlan& plan) {
    return plan.action == Action::kFinalize || plan.name == "Comm_free" ||
           plan.name == "Comm_disconnect" || plan.name == "Win_free" || plan.name == "File_close";
  }
  static std::string tag_text(std::int64_t tag) {
    return tag < 0 ? " with any tag" : " with tag " + std::to_string(tag);
  }
  static std::string stream_rank(const RankOperations& at) {
    return "rank " + std::to_string(at.rank()) + ": ";
  }
  std::string text(std::uint32_t one, std::uint32_t other, const std::string& what) const {
    return "threads " + std::to_string(one) + " and " + std::to_string(other) + " both " + what;
  }
  template <class Map, class Key>
  std::string both(Map& map, const Key& key, const std::string& what) {
    const auto [entry, fresh] = map.try_emplace(key, thread_);
    return fresh || entry->second == thread_ ? "" : text(entry->second, thread_, what);
  }

  std::string receive(const RankOperations& at) {
    const CallPlan& plan = at.plan();
    const Communicator* comm = at.message_comm();
    if (comm == nullptr || plan.recv_tag < 0) return "";
    const EndPoint end = at.event().end_point(static_cast<std::size_t>(plan.source));
    const bool any_source = end.special() == static_cast<std::int32_t>(SpecialRank::kAnySource);
    if (end.special() != 0 && !any_source) return "";  // from nobody
    const std::int64_t tag =
        std::max<std::int64_t>(at.event().values[static_cast<std::size_t>(plan.recv_tag)], -1);
    const std::uint64_t context = channel_context(plan, comm->context);
    Receives& here = receives_[context];
    if (here.by_tag.empty()) here.first = thread_;
    if (here.first != thread_) {
      here.several = true;
      here.other = thread_;
    }
    here.any_tag = here.any_tag || tag < 0;
    if (here.several && here.any_tag)
      return text(here.first, here.other, "receive on a communicator where one takes any tag");
    here.by_tag.try_emplace(tag, thread_);
    // Of a wildcard all receives with the tag are of one thread.
    const ChannelKey wild{context, UINT32_MAX, at.rank(), tag};
    if (any_source) wild_[wild] = true;
    const auto competes = both(of_tag_, wild, "receive" + tag_text(tag) + ", one from any source");
    if (!competes.empty()) {
      several_[wild] = true;
      first_[wild] = competes;
    }
    if (wild_.contains(wild) && several_.contains(wild)) return first_[wild];
    if (any_source) return "";
    const std::int32_t from = end.rank(comm->self, comm->peers().count);
    if (from < 0 || from >= comm->peers().count) return "";
    const auto source = static_cast<std::uint32_t>(comm->peers()[from]);
    return both(exact_, ChannelKey{context, source, at.rank(), tag},
                "receive from world rank " + std::to_string(source) + tag_text(tag));
  }

  const Trace& trace_;
  std::uint32_t thread_ = 0;
  std::unordered_map<ChannelKey, std::uint32_t, KeyHash> sends_, exact_, of_tag_;
  std::unordered_map<ChannelKey, bool, KeyHash> wild_, several_;
  std::unordered_map<ChannelKey, std::string, KeyHash> first_;
  std::map<std::uint64_t, std::uint32_t> collectives_;
  std::map<std::uint64_t, Receives> receives_;
};

}  // namespace

Result<std::string> shared_by_threads(const Trace& trace) {
  if (trace.threads <= 1) return std::string();
  const TracePlan plan = plan_trace(trace);
  const RankList ranks = trace.whole_ranks();
  for (const std::uint32_t rank : ranks.ranks()) {
    Result<RankOperations> at = RankOperations::make(trace, plan, rank);
    if (!at) return at.error();
    Uses uses(trace);
    while (at->next())
      if (std::string shared = uses.add(*at); !shared.empty()) return shared;
  }
  return std::string();
}

}  // namespace chameleon
