// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/thread_sharing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/operations.h"

namespace chameleon::analysis {
namespace {

/// Communicators by context, in the user's words: as what they are predefined, or by the call that
/// made them and its place.
class CommNames {
 public:
  explicit CommNames(const SiteOf& site) : site_(site) {}

  void learn(const RankOperations& at) {
    if (known_.empty()) {
      known_[at.world().context] = "MPI_COMM_WORLD";
      known_[at.self().context] = "MPI_COMM_SELF";
    }
    if (const Communicator* made = at.made(); made != nullptr) {
      const std::string place = site_ ? " at " + site_(at.event().path) : "";
      known_.try_emplace(made->context,
                         "the communicator that " + at.call().name + place + " made");
    }
  }
  std::string of(std::uint64_t context) const {
    const auto found = known_.find(context);
    return found == known_.end() ? "one communicator" : found->second;
  }

 private:
  const SiteOf& site_;
  std::unordered_map<std::uint64_t, std::string> known_;
};

/// The threads that use one thing, and when first by the recorded times.
class Users {
 public:
  /// When a thread uses it, in which event.
  struct Use {
    std::uint32_t thread = 0;
    std::uint64_t begin_ns = 0, event = 0;
  };

  void note(const Use& use) {
    for (const Use& one : uses_)
      if (one.thread == use.thread) return;
    uses_.push_back(use);
  }
  bool several() const { return uses_.size() > 1; }
  const Use& first() const { return uses_[0]; }
  const Use& second() const { return uses_[1]; }

 private:
  std::vector<Use> uses_;  ///< in the order in which they were met
};

/// Of one rank: which threads used what.
class Uses {
 public:
  Uses(const Trace& trace, CommNames& names, SharedOperations& found)
      : trace_(trace), names_(names), found_(found) {}

  void add(const RankOperations& at) {
    at_ = &at;
    std::uint64_t& clock = clocks_[at.stream()];
    now_.thread = trace_.thread_of(at.stream());
    now_.event = at.number();
    now_.begin_ns = clock + at.compute_ns() + at.waiting_ns();
    clock = now_.begin_ns + at.communication_ns();
    names_.learn(at);
    for (const Operation& operation : at.operations()) {
      if (operation.kind == Operation::Kind::kSend) sends_[operation.channel].note(now_);
      // What is made is used afterwards.
      const bool makes = at.made() != nullptr && at.made()->context == operation.context;
      if (operation.kind == Operation::Kind::kBegin && !comes_last(at.plan()) && !makes &&
          operation.members > 1) {
        Collectives& here = collectives_[operation.context];
        here.users.note(now_);
        const CallPlan& plan = at.plan();
        if (plan.comm < 0 && plan.object >= 0)
          here.on =
              (plan.object_is_file ? " on the file of " : " on the window of ") + at.call().name;
      }
      if (operation.kind == Operation::Kind::kPost && at.plan().action == Action::kStart)
        receive({operation.channel.context, operation.any_source, operation.channel.source,
                 operation.any_tag ? -1 : operation.channel.tag});
    }
    receive();
    make();
  }

  /// After the last event.
  void end() {
    for (const auto& [channel, users] : sends_)
      judge(users,
            "send to world rank " + std::to_string(channel.dest) + tag_text(channel.tag) +
                on(channel.context),
            [&, &key = channel] { found_.channels.insert(key); });
    for (const auto& [context, here] : collectives_)
      judge(here.users, "call collectives" + (here.on.empty() ? on(context) : here.on),
            [&, &key = context] { found_.collectives.insert(key); });
    for (const auto& [context, here] : receives_)
      if (here.any_tag)
        judge(here.users, "receive" + on(context) + ", where one takes any tag",
              [&, &key = context] {
                found_.receivers.insert({key, at_->rank()});
              });
    for (const auto& [key, of_tag] : of_tag_)
      if (of_tag.wild && !found_.receivers.contains({key.first, at_->rank()}))
        judge(of_tag.users,
              "receive" + tag_text(key.second) + on(key.first) + ", one from any source",
              [&, &context = key.first] {
                found_.receivers.insert({context, at_->rank()});
              });
    for (const auto& [channel, users] : exact_)
      if (!found_.receivers.contains({channel.context, at_->rank()}))
        judge(users,
              "receive from world rank " + std::to_string(channel.source) + tag_text(channel.tag) +
                  on(channel.context),
              [&, &key = channel] { found_.channels.insert(key); });
    keep(found_.first, shared_);
  }

 private:
  using Told = std::multimap<std::uint64_t, std::string>;  ///< by time

  struct Receives {  ///< of a communicator
    Users users;
    bool any_tag = false;
  };
  struct OfTag {  ///< and with one tag
    Users users;
    bool wild = false;
  };
  struct Collectives {
    Users users;
    std::string on;  ///< a file or window
  };
  struct Family {  ///< communicators made for one group
    std::uint32_t thread = 0;
    bool shared = false;
    std::vector<std::uint64_t> contexts;
  };

  static std::string tag_text(std::int64_t tag) {
    return tag < 0 ? " with any tag" : " with tag " + std::to_string(tag);
  }
  std::string on(std::uint64_t context) const { return " on " + names_.of(context); }
  std::string text(std::uint32_t one, const Users::Use& other, const std::string& what) const {
    return "rank " + std::to_string(at_->rank()) + ": threads " + std::to_string(one) + " and " +
           std::to_string(other.thread) + " both " + what + " in event " +
           std::to_string(other.event) + " of thread " + std::to_string(other.thread);
  }
  /// Of all ranks the first only.
  static void keep(std::string& kept, const Told& told) {
    if (kept.empty() && !told.empty()) kept = told.begin()->second;
  }
  template <class Share>
  void judge(const Users& users, const std::string& what, Share share) {
    if (!users.several()) return;
    share();
    const Users::Use& second = users.second();
    shared_.emplace(second.begin_ns, text(users.first().thread, second, what));
  }

  // Where all of a group make them, their own order tells: as of Comm_create_group. What is made of
  // one that may be another is in doubt as well.
  void make() {
    const Communicator* const made = at_->made();
    if (made == nullptr || made->size() + made->remote_size() <= 1) return;
    const Communicator* const parent = at_->followed().comm;
    if (parent != nullptr && found_.contexts.contains(parent->context))
      found_.contexts.insert(made->context);
    const auto [entry, fresh] = families_.try_emplace(made->family);
    Family& family = entry->second;
    if (fresh) family.thread = now_.thread;
    family.contexts.push_back(made->context);
    if (!family.shared && family.thread == now_.thread) return;
    family.shared = true;
    found_.contexts.insert(family.contexts.begin(), family.contexts.end());
    shared_.emplace(
        now_.begin_ns,
        text(family.thread, now_, "make communicators of one group with " + at_->call().name));
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
  void receive() {
    const RankOperations& at = *at_;
    const CallPlan& plan = at.plan();
    const bool found = plan.flag < 0 || at.event().values[static_cast<std::size_t>(plan.flag)] != 0;
    const bool takes = plan.action == Action::kRecv || plan.action == Action::kSendrecv ||
                       (plan.action == Action::kMatchedProbe && found);
    if (!takes || plan.persistent || plan.source < 0 || plan.recv_tag < 0) return;
    const Communicator* comm = at.followed().comm;
    if (comm == nullptr) return;
    const Partner& source = at.followed().source;
    Posted posted;
    posted.any_source = source.is(SpecialRank::kAnySource);
    posted.context = channel_context(plan, comm->context);
    posted.tag =
        std::max<std::int64_t>(at.event().values[static_cast<std::size_t>(plan.recv_tag)], -1);
    if (posted.any_source) return receive(posted);
    if (!source.is_member()) return;  // from nobody
    posted.source = static_cast<std::uint32_t>(source.world);
    receive(posted);
  }

  void receive(const Posted& posted) {
    Receives& here = receives_[posted.context];
    here.users.note(now_);
    here.any_tag = here.any_tag || posted.tag < 0;
    // Of a wildcard all receives with the tag are of one thread.
    OfTag& of_tag = of_tag_[{posted.context, posted.tag}];
    of_tag.users.note(now_);
    of_tag.wild = of_tag.wild || posted.any_source;
    if (!posted.any_source)
      exact_[{posted.context, posted.source, at_->rank(), posted.tag}].note(now_);
  }

  const Trace& trace_;
  CommNames& names_;
  SharedOperations& found_;
  const RankOperations* at_ = nullptr;
  Users::Use now_;
  std::unordered_map<std::uint32_t, std::uint64_t> clocks_;  ///< by stream
  std::unordered_map<ChannelKey, Users, KeyHash> sends_, exact_;
  std::map<std::pair<std::uint64_t, std::int64_t>, OfTag> of_tag_;  ///< by context and tag
  std::map<std::uint64_t, Collectives> collectives_;
  std::map<std::uint64_t, Family> families_;
  std::map<std::uint64_t, Receives> receives_;
  Told shared_;
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
  std::string doubt(bool sends) const {
    for (const auto& [key, object] : objects_) {
      if (!object.used || object.made == 0) continue;
      const std::string user = std::to_string(object.user), maker = std::to_string(object.maker);
      if (sends && (object.handed || object.posted))
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

Result<SharedOperations> shared_by_threads(const Trace& trace, const SiteOf& site) {
  SharedOperations found;
  if (trace.threads <= 1) return found;
  const TracePlan plan = plan_trace(trace);
  const RankList ranks = trace.whole_ranks();
  for (const std::uint32_t rank : ranks.ranks()) {
    Result<RankOperations> at = RankOperations::make(trace, plan, rank);
    if (!at) return at.error();
    CommNames names(site);
    Uses uses(trace, names, found);
    while (at->next()) uses.add(*at);
    uses.end();
  }
  return found;
}

Result<std::string> doubted_between_threads(const Trace& trace, bool sends) {
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
    if (const std::string doubt = objects.doubt(sends); !doubt.empty())
      return "rank " + std::to_string(rank) + ": thread " + doubt;
  }
  return std::string();
}

}  // namespace chameleon::analysis
