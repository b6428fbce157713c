// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/slack.h"

#include <algorithm>

#include "base/hash.h"

namespace chameleon::analysis {
namespace {

constexpr std::uint32_t kEnd = 1;  ///< of an event, not its begin
/// Iterations are gone through again for at most so many events.
constexpr std::uint64_t kMostAgain = std::uint64_t{1} << 24;

}  // namespace

void Slack::add(std::uint64_t ns, std::uint64_t times) {
  events += times;
  least_ns = std::min(least_ns, ns);
  sum_ns += static_cast<double>(ns) * static_cast<double>(times);
}

void Slack::add(const Slack& other) {
  events += other.events;
  least_ns = std::min(least_ns, other.least_ns);
  sum_ns += other.sum_ns;
}

std::uint32_t SlackBuilder::place_of(const StreamPlace& place) {
  const auto [found, is_new] =
      place_.try_emplace(place, static_cast<std::uint32_t>(slacks_.size()));
  if (is_new) slacks_.push_back({place, {}});
  return found->second;
}

void SlackBuilder::add(const TimedEvent& timed) {
  using Step = Operation::Kind;
  if (too_many_) return;
  edges_ += timed.at->operations().size();
  if (++events_ > most_ || edges_ > kMostEdges * most_) {
    too_many_ = true;
    blocks_.clear();
    return;
  }
  Block& block = blocks_.back();
  Event event;
  event.begin_ns = timed.begin_ns;
  event.end_ns = timed.end_ns;
  event.start_ns =
      timed.cause.is_later ? std::max(timed.begin_ns, timed.cause.begin_ns) : timed.begin_ns;
  event.stream = timed.stream();
  event.place = place_of({timed.stream(), timed.at->event().node->call, timed.at->event().path});
  event.first_edge = static_cast<std::uint32_t>(block.edges.size());
  for (const Operation& operation : timed.at->operations()) {
    Edge edge;
    switch (operation.kind) {
      case Step::kSend: edge.kind = Edge::Kind::kSends; break;
      case Step::kReceive: edge.kind = Edge::Kind::kReceives; break;
      case Step::kBegin: edge.kind = Edge::Kind::kComes; break;
      case Step::kEnd: edge.kind = Edge::Kind::kLeaves; break;
      case Step::kPost:
      case Step::kSendDone:
      case Step::kCancelled: continue;
    }
    if (edge.kind == Edge::Kind::kComes || edge.kind == Edge::Kind::kLeaves) {
      if (operation.waits == Waits::kForNobody) continue;
      edge.id = combine(operation.context, operation.number);
      edge.self = operation.self;
      edge.waits = operation.waits;
      edge.is_root = operation.root_world == timed.rank();
    } else {
      if (operation.sequence == kNoSequence) continue;
      edge.id = message_id(operation);
    }
    block.edges.push_back(edge);
  }
  event.edges = static_cast<std::uint32_t>(block.edges.size()) - event.first_edge;
  block.events.push_back(event);
}

void SlackBuilder::take(std::uint64_t times) {
  if (too_many_) return;
  if (!blocks_.back().events.empty()) blocks_.emplace_back();
  blocks_.back().times = times;
}

/// Begins and ends of the events, latest first: each is twice the number of its event, and kEnd.
/// What waits for another ends at least 1 ns after that began, so that among equal times begins are
/// later than the ends before them.
std::vector<std::uint32_t> SlackBuilder::backwards(const Block& block) {
  std::vector<std::uint32_t> order;
  order.reserve(2 * block.events.size());
  for (std::uint32_t i = 0; i < block.events.size(); ++i) {
    order.push_back(2 * i + kEnd);
    order.push_back(2 * i);
  }
  const auto ns = [&](std::uint32_t one) {
    const Event& event = block.events[one / 2];
    return (one & kEnd) != 0 ? event.end_ns : event.begin_ns;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t ns_a = ns(a), ns_b = ns(b);
    return ns_a != ns_b ? ns_a > ns_b : (a & kEnd) < (b & kEnd);
  });
  return order;
}

/// `slack_` of the stream stays that of the end until the begin.
void SlackBuilder::end(const Block& block, const Event& event) {
  const std::uint64_t latest = event.start_ns + slack_[event.stream];
  for (std::uint32_t i = 0; i < event.edges; ++i) {
    const Edge& edge = block.edges[event.first_edge + i];
    if (edge.kind == Edge::Kind::kReceives) receives_[edge.id] = latest;
    if (edge.kind != Edge::Kind::kLeaves) continue;
    if (edge.waits == Waits::kRootForAll && !edge.is_root) continue;
    Meeting& meeting = meetings_[edge.id];
    if (edge.waits == Waits::kForLower)
      meeting.of_rank[edge.self] = latest;
    else
      meeting.latest = std::min(meeting.latest, latest);
  }
}

void SlackBuilder::begin(const Block& block, const Event& event, std::uint64_t times) {
  std::uint64_t latest = event.start_ns + slack_[event.stream];
  for (std::uint32_t i = 0; i < event.edges; ++i) {
    const Edge& edge = block.edges[event.first_edge + i];
    if (edge.kind == Edge::Kind::kSends) {
      const auto receives = receives_.find(edge.id);
      if (receives == receives_.end()) continue;
      latest = std::min(latest, receives->second);
      receives_.erase(receives);
    }
    if (edge.kind != Edge::Kind::kComes) continue;
    if (edge.waits == Waits::kForRoot && !edge.is_root) continue;
    const auto meeting = meetings_.find(edge.id);
    if (meeting == meetings_.end()) continue;
    latest = std::min(latest, meeting->second.latest);
    const auto& of_rank = meeting->second.of_rank;
    for (auto rank = of_rank.upper_bound(edge.self); rank != of_rank.end(); ++rank)
      latest = std::min(latest, rank->second);
  }
  slack_[event.stream] = latest - std::min(latest, event.begin_ns);
  slacks_[event.place].slack.add(slack_[event.stream], times);
}

void SlackBuilder::pass(const Block& block, const std::vector<std::uint32_t>& order,
                        std::uint64_t times) {
  for (const std::uint32_t one : order) {
    const Event& event = block.events[one / 2];
    if ((one & kEnd) != 0)
      end(block, event);
    else
      begin(block, event, times);
  }
  receives_.clear();
  meetings_.clear();
}

void SlackBuilder::go_through(const Block& block) {
  const std::vector<std::uint32_t> order = backwards(block);
  const std::uint64_t most =
      std::max(kFewestPasses, kMostAgain / std::max<std::uint64_t>(block.events.size(), 1));
  std::vector<std::uint64_t> before;
  std::uint64_t left = block.times;
  for (std::uint64_t passes = 0; left > 0; ++passes) {
    const bool same = passes > 0 && slack_ == before;
    const std::uint64_t times = same || passes >= most ? left : 1;
    before = slack_;
    pass(block, order, times);
    left -= times;
  }
}

std::optional<std::vector<PlaceSlack>> SlackBuilder::finish() {
  if (too_many_) return std::nullopt;
  // After its last event a stream has until the run ends.
  std::uint64_t end_ns = 0;
  for (const Block& block : blocks_)
    for (const Event& event : block.events) {
      end_ns = std::max(end_ns, event.end_ns);
      if (slack_.size() <= event.stream) slack_.resize(event.stream + std::size_t{1});
      slack_[event.stream] = event.end_ns;
    }
  for (std::uint64_t& slack : slack_) slack = end_ns - slack;
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) go_through(*block);
  std::vector<PlaceSlack> found;
  for (const auto& [place, number] : place_) found.push_back(slacks_[number]);
  return found;
}

}  // namespace chameleon::analysis
