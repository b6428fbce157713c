// SPDX-License-Identifier: BSD-3-Clause
#include "tools/export/export_shape.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/arrivals.h"
#include "analysis/communicators.h"
#include "analysis/datatype_size.h"
#include "analysis/run_length.h"
#include "analysis/work.h"

namespace chameleon::tools {
namespace {

/// Digits of more than any message has, and of a time in ns.
constexpr unsigned kMostBytes = 13, kMostTime = 19;
/// Of the size of a datatype that the program made.
constexpr unsigned kTypeDigits = 7;
/// Values of a parameter looked at; what has more may have any.
constexpr std::uint64_t kMostValues = 1 << 16;

/// Calls `f(value)` for the ends of each progression that a parameter has; false if there are too
/// many to look at.
template <class F>
bool each_value(const Param& param, const RankList& ranks, F f) {
  std::uint64_t looked = 0;
  param.for_each_group(ranks, [&](const RankList&, EndPointForm, const ValueSequence& values) {
    for (ValueSequence::Cursor cursor(values); !cursor.done() && ++looked <= kMostValues;) {
      const ValueSequence::Segment segment = cursor.segment();
      f(segment.start);
      if (segment.count > 1)
        f(static_cast<std::int64_t>(static_cast<std::uint64_t>(segment.start) +
                                    static_cast<std::uint64_t>(segment.stride) *
                                        (segment.count - 1)));
      cursor.skip(segment.count);
    }
  });
  return looked <= kMostValues;
}

const Param* param_at(const Node& node, int field) {
  const auto at = static_cast<std::size_t>(field);
  return field >= 0 && at < node.params.size() ? &node.params[at] : nullptr;
}

class Shaper {
 public:
  Shaper(const ExportRequest& request, ExportShape& shape)
      : request_(request), trace_(request.trace), shape_(shape), streams_(request.streams()) {}

  Status run(ExportShape::Looks looks) {
    shape_.request = &request_;
    if (!trace_.calls.empty()) shape_.plans.resize(trace_.calls.rbegin()->first + std::size_t{1});
    for (const auto& [id, call] : trace_.calls) shape_.plans[id] = analysis::plan_call(call);
    paths_ = paths_by_symbol(trace_);
    shape_.lanes = static_cast<double>(streams_.size());
    shape_.world = std::max<double>(trace_.world_size, 1);
    look_at_nodes(trace_.nodes);
    if (looks == ExportShape::Looks::kExact)
      if (const Status read = count_arrivals(); !read) return read;
    analysis::each_visited(trace_, streams_, [&](const Node& node, double streams, double events) {
      add(node, streams, events, looks);
    });
    finish();
    return Unit{};
  }

 private:
  /// What is the same for all calls: tags, and sizes of communicators by their ids.
  void look_at_nodes(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      look_at_nodes(node.body);
      if (node.is_loop() || node.call >= shape_.plans.size()) continue;
      const CallPlan& plan = shape_.plans[node.call];
      for (const int field : {plan.send_tag, plan.recv_tag})
        if (const Param* tag = param_at(node, field))
          shape_.tag = std::max(shape_.tag, digits(*tag, kMostTag));
      learn_communicator(node, plan);
      persistent_collectives_ =
          persistent_collectives_ || (plan.persistent && plan.action == Action::kCollective);
    }
  }

  void learn_communicator(const Node& node, const CallPlan& plan) {
    const Param *made = param_at(node, plan.new_comm), *members = param_at(node, plan.members);
    if (made == nullptr || members == nullptr) return;
    double most = 0;
    const bool all = each_value(*members, trace_.ranks, [&](std::int64_t id) {
      most = std::max(most, static_cast<double>(analysis::array_of(trace_, id).size()));
    });
    if (!all) most = shape_.world;
    if (!each_value(*made, trace_.ranks,
                    [&](std::int64_t id) { members_[id] = std::max(members_[id], most); }))
      many_communicators_ = true;
  }

  Status count_arrivals() {
    return analysis::each_arrival(
        trace_, streams_,
        [&](const Node& node, std::uint32_t, std::span<const analysis::Arrival> arrivals) {
          auto& of = arrivals_[&node];
          for (const analysis::Arrival& one : arrivals)
            of[one.predecessor] += static_cast<double>(one.count);
        });
  }

  void add(const Node& node, double streams, double times, ExportShape::Looks looks) {
    const auto call = trace_.calls.find(node.call);
    if (call == trace_.calls.end()) return;
    CallShape one;
    one.call = &call->second;
    one.plan = &shape_.plans[node.call];
    one.id = node.call;
    one.path = node.path;
    one.streams = streams;
    one.times = times;
    one.site = request_.names.site(node.path);
    const std::vector<std::string>& frames = request_.names.frames(node.path);
    shape_.longest_site = std::max(shape_.longest_site, one.site.size());
    shape_.deepest = std::max(shape_.deepest, frames.size());
    const MarkerWaits::Places& waits = trace_.times.waits().places();
    if (looks == ExportShape::Looks::kShort) {
      const auto place = waits.lower_bound({node.symbol(), 0});
      if (place != waits.end() && place->first.symbol == node.symbol()) one.waits = times;
      one.frames = 2 * times * static_cast<double>(frames.size());
      one.befores = static_cast<double>(frames.size());
    } else {
      one.befores = static_cast<double>(arrivals_[&node].size());
      for (const auto& [before, count] : arrivals_[&node]) {
        if (waits.contains({node.symbol(), before})) one.waits += count;
        one.frames += count * static_cast<double>(frames_between(before, frames));
      }
    }
    add_operations(node, one);
    shape_.calls.push_back(std::move(one));
  }

  std::size_t frames_between(std::uint64_t symbol, const std::vector<std::string>& frames) {
    const auto before = paths_.find(symbol);
    if (before == paths_.end()) return frames.size();
    const std::vector<std::string>& left = request_.names.frames(before->second);
    return left.size() + frames.size() - 2 * common_frames(left, frames);
  }

  void add_operations(const Node& node, CallShape& one) {
    const CallPlan& plan = *one.plan;
    one.requests = plan.request >= 0 || plan.requests >= 0;
    one.members = members_of(node, one);
    const bool now = !plan.persistent;
    const double to = now ? one.times * share_of_ranks(node, plan.dest) : 0;
    const double from = now ? one.times * share_of_ranks(node, plan.source) : 0;
    switch (plan.action) {
      case Action::kSend: one.sends = to; break;
      case Action::kRecv: one.receives = from; break;
      case Action::kSendrecv:
        one.sends = to;
        one.receives = from;
        break;
      case Action::kMatchedRecv: one.receives = one.times; break;
      case Action::kStart:  // of either kind
        one.sends = one.receives = one.times * longest_array(node, plan.requests);
        if (persistent_collectives_) one.collectives = one.sends;
        break;
      case Action::kCollective:
      case Action::kFinalize: one.collectives = now ? one.times : 0; break;
      default: break;
    }
    one.bytes = bytes_of(node, one);
  }

  double longest_array(const Node& node, int field) const {
    const Param* arrays = param_at(node, field);
    if (arrays == nullptr) return 1;
    std::size_t longest = 0;
    const auto look = [&](std::int64_t id) {
      longest = std::max(longest, analysis::array_of(trace_, id).size());
    };
    if (!each_value(*arrays, trace_.ranks, look))
      for (const auto& [id, array] : trace_.arrays) longest = std::max(longest, array.size());
    return static_cast<double>(longest);
  }

  /// Of the ranks that make a call those whose partner is a rank, at most.
  double share_of_ranks(const Node& node, int field) const {
    const Param* partner = param_at(node, field);
    if (partner == nullptr || !partner->grouped() || partner->spread() != nullptr) return 1;
    double all = 0, some = 0;
    partner->for_each_group({}, [&](const RankList& of, EndPointForm form, const auto& values) {
      const auto ranks = static_cast<double>(of.intersection(streams_).size());
      const bool nobody =
          values.is_constant() && EndPoint{form, values.front()}.special() ==
                                      static_cast<std::int32_t>(SpecialRank::kProcNull);
      all += ranks;
      some += nobody ? 0 : ranks;
    });
    return all > 0 ? some / all : 1;
  }

  double members_of(const Node& node, CallShape& one) const {
    const Param* comm = param_at(node, one.plan->comm);
    if (comm == nullptr) return shape_.world;
    double most = 1;
    const bool all = each_value(*comm, trace_.ranks, [&](std::int64_t id) {
      const auto known = members_.find(id);
      one.on_world = one.on_world && id == 0;
      most = std::max(most, id == 0 || known == members_.end() ? shape_.world : known->second);
    });
    if (all && !many_communicators_) return most;
    one.on_world = false;
    return shape_.world;
  }

  unsigned bytes_of(const Node& node, const CallShape& one) const {
    const CallPlan& plan = *one.plan;
    unsigned most = 1;
    const auto side = [&](int count, int type, bool many) {
      const Param *counts = param_at(node, count), *types = param_at(node, type);
      if (counts == nullptr || types == nullptr) return;
      unsigned each = 1;
      const bool all = each_value(*types, trace_.ranks, [&](std::int64_t id) {
        const std::int64_t size = analysis::predefined_size(trace_, id);
        each = std::max(each, size < 0 ? kTypeDigits : digits_of(static_cast<double>(size)));
      });
      if (many || !all || plan.many_types) each = kTypeDigits;
      const unsigned items = many ? kTypeDigits : digits(*counts, kMostBytes);
      most = std::max(most, items + each);
    };
    side(plan.send_count, plan.send_type, plan.many_sent);
    side(plan.recv_count, plan.recv_type, plan.many_received);
    if (plan.partitions >= 0 || plan.action == Action::kStart ||
        plan.action == Action::kMatchedRecv)
      return kTypeDigits;
    if (one.collectives > 0) most += digits_of(one.members);
    return std::min(most, kMostBytes);
  }

  unsigned digits(const Param& param, unsigned most) const {
    double highest = 0;
    const bool all = each_value(param, trace_.ranks, [&](std::int64_t value) {
      highest = std::max(highest, static_cast<double>(value));
    });
    return all ? std::min(digits_of(highest), most) : most;
  }

  void finish() {
    double longest = 1;
    std::map<std::pair<std::uint64_t, std::string>, double> places;
    for (const CallShape& call : shape_.calls) {
      shape_.events += call.times;
      shape_.sends += call.sends;
      shape_.receives += call.receives;
      shape_.waits += call.waits;
      shape_.places += call.streams;
      longest += call.streams > 0 ? call.times / call.streams : 0;
    }
    shape_.event = digits_of(longest);
    double highest = shape_.world;
    for (const RankList::Interval& interval : trace_.ranks.intervals())
      highest = std::max<double>(highest, interval.last);
    shape_.rank = digits_of(highest);
    const std::uint64_t run = analysis::run_length_ns(trace_);
    shape_.time = trace_.timing == "none" ? shape_.event + 3
                  : run == 0              ? kMostTime
                                          : digits_of(1.1 * static_cast<double>(run));
  }

  static constexpr unsigned kMostTag = 10;

  const ExportRequest& request_;
  const Trace& trace_;
  ExportShape& shape_;
  RankList streams_;
  std::unordered_map<std::uint64_t, std::uint64_t> paths_;
  std::unordered_map<const Node*, std::map<std::uint64_t, double>> arrivals_;
  std::unordered_map<std::int64_t, double> members_;  ///< most, of communicators with this id
  bool many_communicators_ = false, persistent_collectives_ = false;
};

}  // namespace

bool CallShape::completes() const {
  return plan->action == Action::kComplete || plan->action == Action::kCompleteAll ||
         plan->action == Action::kCompleteAny || plan->action == Action::kCompleteSome;
}

unsigned digits_of(double number) {
  unsigned digits = 1;
  for (; number >= 10; number /= 10) ++digits;
  return digits;
}

StepCount step_count(const CallPlan& plan, double members) {
  const Movement& movement = plan.movement;
  const bool blocks = movement.part == Movement::Part::kBlock;
  const double rounds = std::ceil(std::log2(std::max(members, 1.0)));
  if (!movement.moves()) return {0, plan.waits == Waits::kForAll ? rounds : 0};
  if (movement.from_root() || movement.to_root()) return {2, 0};
  if (movement.from != Movement::From::kAll) return {2, 0};  // a scan
  if (plan.combines && !blocks) return {4, 0};
  return {0, members - 1};
}

Result<ExportShape> ExportShape::make(const ExportRequest& request, Looks looks) {
  ExportShape shape;
  if (const Status shaped = Shaper(request, shape).run(looks); !shaped) return shaped.error();
  return shape;
}

}  // namespace chameleon::tools
