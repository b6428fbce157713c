// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/thread_sharing.h"

#include <map>
#include <unordered_map>

#include "analysis/operations.h"

namespace chameleon::analysis {
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
        shared = both(sends_, operation.channel,
                      "send to world rank " + std::to_string(operation.channel.dest) +
                          tag_text(operation.channel.tag));
      if (operation.kind == Operation::Kind::kBegin && !comes_last(at.plan()) &&
          operation.members > 1)
        shared = both(collectives_, operation.context,
                      "call collectives on the communicator of " + at.call().name);
      if (operation.kind == Operation::Kind::kPost && at.plan().action == Action::kStart)
        shared = receive(at.rank(),
                         {operation.channel.context, operation.any_source, operation.channel.source,
                          operation.any_tag ? -1 : operation.channel.tag});
    }
    if (shared.empty()) shared = receive(at);
    // Where all of a group make them, their own order tells: as of Comm_create_group.
    if (const Communicator* made = at.made();
        made != nullptr && shared.empty() && made->size() + made->remote_size() > 1)
      shared =
          both(families_, made->family, "make communicators of one group with " + at.call().name);
    if (shared.empty()) return shared;
    return stream_rank(at) + shared + " in event " + std::to_string(at.number()) + " of thread " +
           std::to_string(thread_);
  }

 private:
  /// Which threads receive: the first, and another if there are several.
  struct Threads {
    bool used = false, several = false;
    std::uint32_t first = 0, other = 0;

    void note(std::uint32_t thread) {
      if (!used) first = thread;
      used = true;
      if (thread == first) return;
      several = true;
      other = thread;
    }
  };
  struct Receives : Threads {  ///< of a communicator
    bool any_tag = false;
  };
  struct OfTag : Threads {  ///< and with one tag
    bool wild = false;
  };

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

  /// A receive as it was posted.
  struct Posted {
    std::uint64_t context = 0;
    bool any_source = false;
    std::uint32_t source = 0;  ///< world rank
    std::int64_t tag = 0;      ///< -1: any
  };

  // What the event receives by its arguments: a blocking receive, or one whose request is in force
  // at once, or a matched probe.
  std::string receive(const RankOperations& at) {
    const CallPlan& plan = at.plan();
    const bool found = plan.flag < 0 || at.event().values[static_cast<std::size_t>(plan.flag)] != 0;
    const bool takes = plan.action == Action::kRecv || plan.action == Action::kSendrecv ||
                       (plan.action == Action::kMatchedProbe && found);
    if (!takes || plan.persistent || plan.source < 0 || plan.recv_tag < 0) return "";
    const Communicator* comm = at.followed().comm;
    if (comm == nullptr) return "";
    const Partner& source = at.followed().source;
    Posted posted;
    posted.any_source = source.is(SpecialRank::kAnySource);
    posted.context = channel_context(plan, comm->context);
    posted.tag =
        std::max<std::int64_t>(at.event().values[static_cast<std::size_t>(plan.recv_tag)], -1);
    if (posted.any_source) return receive(at.rank(), posted);
    if (!source.is_member()) return "";  // from nobody
    posted.source = static_cast<std::uint32_t>(source.world);
    return receive(at.rank(), posted);
  }

  std::string receive(std::uint32_t rank, const Posted& posted) {
    const std::int64_t tag = posted.tag;
    Receives& here = receives_[posted.context];
    here.note(thread_);
    here.any_tag = here.any_tag || tag < 0;
    if (here.several && here.any_tag)
      return text(here.first, here.other, "receive on a communicator where one takes any tag");
    // Of a wildcard all receives with the tag are of one thread.
    OfTag& of_tag = of_tag_[{posted.context, UINT32_MAX, rank, tag}];
    of_tag.note(thread_);
    of_tag.wild = of_tag.wild || posted.any_source;
    if (of_tag.wild && of_tag.several)
      return text(of_tag.first, of_tag.other, "receive" + tag_text(tag) + ", one from any source");
    if (posted.any_source) return "";
    return both(exact_, ChannelKey{posted.context, posted.source, rank, tag},
                "receive from world rank " + std::to_string(posted.source) + tag_text(tag));
  }

  const Trace& trace_;
  std::uint32_t thread_ = 0;
  std::unordered_map<ChannelKey, std::uint32_t, KeyHash> sends_, exact_;
  std::unordered_map<ChannelKey, OfTag, KeyHash> of_tag_;
  std::map<std::uint64_t, std::uint32_t> collectives_, families_;
  std::map<std::uint64_t, Receives> receives_;
};

/// Of one rank: objects by key, who made them and whether another thread uses them. Events come
/// stream by stream.
class Objects {
 public:
  void add(const ObjectUse& use, const CallPlan& plan, std::uint32_t thread) {
    const bool eager = completes_at_once(plan);
    for (const std::uint64_t key : use.makes) {
      Object& object = objects_[key];
      object.handed = object.handed || object.posted;  // its maker did not complete it
      object.posted = eager;
      ++object.made;
      object.maker = thread;
    }
    for (const std::uint64_t key : use.needs) {
      Object& object = objects_[key];
      object.used = true;
      object.user = thread;
    }
    for (const std::uint64_t key : use.ends)
      if (const auto object = objects_.find(key);
          object != objects_.end() && object->second.made != 0 && object->second.maker == thread)
        object->second.posted = false;
  }

  /// The first that is not told; without "thread ". Empty if there is none.
  std::string doubt() const {
    for (const auto& [key, object] : objects_) {
      if (!object.used || object.made == 0) continue;
      const std::string user = std::to_string(object.user), maker = std::to_string(object.maker);
      if (object.handed || object.posted)
        return user + " completes a send that thread " + maker + " posted";
      if (orders_calls(key) && object.made > 1)
        return user + " uses what thread " + maker + " made " + std::to_string(object.made) +
               " times with the same id";
    }
    return "";
  }

 private:
  struct Object {
    std::uint64_t made = 0;
    std::uint32_t maker = 0, user = 0;
    bool used = false;    ///< by another thread
    bool posted = false;  ///< a send that need not wait for its receive, not completed by its maker
    bool handed = false;  ///< there was such a one that it never completed
  };

  static bool completes_at_once(const CallPlan& plan) {
    return plan.action == Action::kSend && plan.request >= 0 && !plan.persistent &&
           plan.info != nullptr && !has(*plan.info, Attribute::kSynchronous);
  }

  std::map<std::uint64_t, Object> objects_;
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

Result<std::string> doubted_between_threads(const Trace& trace) {
  if (trace.threads <= 1) return std::string();
  const FollowPlan plan(trace);
  const ObjectRoles roles(trace, plan.calls);
  const RankList ranks = trace.whole_ranks();
  for (const std::uint32_t rank : ranks.ranks()) {
    Objects objects;
    for (const std::uint32_t stream : trace.streams_of(rank)) {
      Result<Follower> follower = Follower::of_stream(plan, stream);
      if (!follower) return follower.error();
      FollowedEvent event;
      ObjectUse use;
      while (follower->next(event)) {
        roles.find(event.view, stream, use);
        objects.add(use, plan.calls[event.view.node->call], trace.thread_of(stream));
      }
    }
    if (const std::string doubt = objects.doubt(); !doubt.empty())
      return "rank " + std::to_string(rank) + ": thread " + doubt;
  }
  return std::string();
}

}  // namespace chameleon::analysis
