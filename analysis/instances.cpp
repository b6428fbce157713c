// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/instances.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace chameleon::analysis {

InstanceBuilder::InstanceBuilder(const Trace& trace, SplitRule rule, ContextOf context,
                                 bool cut_at_collectives, Opened opened, Sink sink)
    : trace_(trace),
      rule_(rule),
      context_(std::move(context)),
      cut_at_collectives_(cut_at_collectives),
      opened_(std::move(opened)),
      sink_(std::move(sink)),
      ranks_(trace.whole_ranks()) {}

InstanceBuilder::Stream& InstanceBuilder::stream_of(std::uint32_t stream) {
  while (streams_.size() <= stream) streams_.emplace_back(rule_);
  return streams_[stream];
}

std::uint64_t InstanceBuilder::context_of(std::uint64_t path) {
  const auto found = contexts_.find(path);
  if (found != contexts_.end()) return found->second;
  return contexts_[path] = context_ ? context_(path) : 0;
}

void InstanceBuilder::add(const TimedEvent& event) {
  const RankOperations& at = *event.at;
  if (at.operations().empty()) return;
  Stream& stream = stream_of(event.stream());
  stream.event = at.number();
  if (cut_at_collectives_ && synchronizes(at)) {
    close(stream);
    ++stream.epoch;
  }
  const std::uint64_t context = context_of(at.event().path);
  if (stream.segmenter.ends_before(at, context)) close(stream);
  const bool ends = stream.segmenter.add(at, context);
  if (!stream.segmenter.is_open()) return;
  if (stream.slot == kNone) stream.slot = open(event, stream, context);
  slots_[stream.slot].segment.end_ns = event.end_ns;
  if (noted_) noted_(event, slots_[stream.slot].segment);
  for (const Operation& operation : at.operations()) begin(event, operation, stream.slot);
  if (ends) close(stream);
}

std::uint32_t InstanceBuilder::open(const TimedEvent& event, Stream& stream,
                                    std::uint64_t context) {
  std::uint32_t slot = static_cast<std::uint32_t>(slots_.size());
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Slot& made = slots_[slot];
  made = Slot{};
  made.parent = slot;
  made.members = {slot};
  made.pending = 1;
  made.epoch = stream.epoch;
  made.event = stream.event;
  Segment& segment = made.segment;
  segment.stream = event.stream();
  segment.rank = event.rank();
  segment.ordinal = stream.segments++;
  segment.context = context;
  segment.path = event.at->event().path;
  segment.begin_ns = event.begin_ns;
  facts_.segments += times_;
  if (opened_) opened_(segment.stream);
  return slot;
}

void InstanceBuilder::close(Stream& stream) {
  stream.segmenter.close();
  const std::uint32_t slot = std::exchange(stream.slot, kNone);
  if (slot == kNone) return;
  const std::uint32_t top = root(slot);
  --slots_[top].pending;
  settle(top);
}

void InstanceBuilder::begin(const TimedEvent& event, const Operation& operation,
                            std::uint32_t slot) {
  Symbol symbol;
  if (!symbol_of(*event.at, operation, symbol)) return;
  slots_[slot].segment.symbols.push_back(symbol.packed());
  facts_.events += times_;
  Slot& top = slots_[root(slot)];
  ++top.events;
  if (symbol.kind == Symbol::Kind::kCollective) {
    top.bytes += static_cast<double>(operation.sent + operation.received) / 2;
    return meet(event, operation, slot);
  }
  // What is sent is received: both ends of a message are half of twice its bytes.
  if (symbol.kind == Symbol::Kind::kSend) top.bytes += static_cast<double>(operation.bytes);
  if (operation.sequence == kNoSequence || symbol.what == Symbol::kNobody ||
      !ranks_.contains(symbol.what)) {
    top.whole = false;
    facts_.unmatched += times_;
    return;
  }
  message(message_id(operation), slot);
}

void InstanceBuilder::message(std::uint64_t id, std::uint32_t slot) {
  const auto [place, first] = messages_.try_emplace(id, slot);
  if (first) {
    ++slots_[root(slot)].pending;
    return;
  }
  const std::uint32_t other = place->second;
  messages_.erase(place);
  --slots_[root(other)].pending;
  settle(join(other, slot));
}

// Those who can come: the trace may hold some ranks only.
std::uint32_t InstanceBuilder::expected(const TimedEvent& event, const Operation& operation) const {
  const Communicator* comm = event.at->communicator();
  if (ranks_.size() >= trace_.world_size || comm == nullptr) return operation.members;
  std::uint32_t here = 0;
  for (const WorldRanks* members : {&comm->local, &comm->remote})
    for (std::int32_t i = 0; i < members->count; ++i)
      here += ranks_.contains(static_cast<std::uint32_t>((*members)[i])) ? 1 : 0;
  return here;
}

void InstanceBuilder::meet(const TimedEvent& event, const Operation& operation,
                           std::uint32_t slot) {
  const CollectiveKey key{operation.context, operation.number};
  Meeting& meeting = meetings_[key];
  if (meeting.arrived++ == 0) {
    meeting.expected = expected(event, operation);
    meeting.slot = slot;
    ++slots_[root(slot)].pending;
  } else {
    join(meeting.slot, slot);
  }
  if (meeting.arrived < meeting.expected) return;
  const std::uint32_t top = root(meeting.slot);
  meetings_.erase(key);
  --slots_[top].pending;
  settle(top);
}

// Whether no rank leaves the event before all have come.
bool InstanceBuilder::synchronizes(const RankOperations& at) const {
  for (const Operation& operation : at.operations())
    if (operation.kind == Operation::Kind::kBegin && operation.request == 0 &&
        operation.waits == Waits::kForAll && operation.members >= trace_.world_size)
      return true;
  return false;
}

std::uint32_t InstanceBuilder::root(std::uint32_t slot) {
  while (slots_[slot].parent != slot)
    slot = slots_[slot].parent = slots_[slots_[slot].parent].parent;
  return slot;
}

std::uint32_t InstanceBuilder::join(std::uint32_t a, std::uint32_t b) {
  a = root(a);
  b = root(b);
  if (a == b) return a;
  if (cut_at_collectives_ && slots_[a].epoch != slots_[b].epoch) {
    slots_[a].whole = slots_[b].whole = false;
    settle(a);
    return b;
  }
  if (slots_[a].members.size() < slots_[b].members.size()) std::swap(a, b);
  Slot& to = slots_[a];
  Slot& from = slots_[b];
  from.parent = a;
  to.members.insert(to.members.end(), from.members.begin(), from.members.end());
  to.pending += from.pending;
  to.bytes += from.bytes;
  to.events += from.events;
  to.whole = to.whole && from.whole;
  from.members = {};
  return a;
}

void InstanceBuilder::settle(std::uint32_t slot) {
  if (slots_[slot].pending == 0) emit(slot);
}

void InstanceBuilder::emit(std::uint32_t root) {
  PatternInstance instance;
  const std::vector<std::uint32_t> members = std::move(slots_[root].members);
  instance.bytes = slots_[root].bytes;
  instance.events = slots_[root].events;
  instance.whole = slots_[root].whole;
  instance.begin_ns = UINT64_MAX;
  for (const std::uint32_t slot : members) {
    Segment& segment = slots_[slot].segment;
    instance.begin_ns = std::min(instance.begin_ns, segment.begin_ns);
    instance.end_ns = std::max(instance.end_ns, segment.end_ns);
    instance.segments.push_back(std::move(segment));
  }
  free_.insert(free_.end(), members.begin(), members.end());
  std::sort(instance.segments.begin(), instance.segments.end(),
            [](const Segment& a, const Segment& b) {
              return std::pair(a.stream, a.ordinal) < std::pair(b.stream, b.ordinal);
            });
  if (instance.events > facts_.largest) {
    facts_.largest = instance.events;
    facts_.largest_segments = instance.segments.size();
    facts_.largest_ranks = 0;
    for (std::size_t i = 0; i < instance.segments.size(); ++i)
      facts_.largest_ranks +=
          i == 0 || instance.segments[i].rank != instance.segments[i - 1].rank ? 1 : 0;
  }
  sink_(std::move(instance));
}

void InstanceBuilder::state(std::vector<std::uint64_t>& state) {
  state.insert(state.end(), {slots_.size() - free_.size(), messages_.size(), meetings_.size()});
  for (const Stream& stream : streams_) {
    state.push_back(stream.segmenter.state());
    if (stream.slot == kNone) continue;
    const Slot& slot = slots_[stream.slot];
    const Slot& top = slots_[root(stream.slot)];
    const Segment& first = slots_[top.members.front()].segment;
    state.insert(state.end(),
                 {slot.segment.symbols.size(), stream.event - slot.event, stream.epoch - slot.epoch,
                  top.members.size(), top.pending, top.events, std::uint64_t{first.stream},
                  streams_[first.stream].segments - first.ordinal});
  }
}

void InstanceBuilder::finish() {
  for (Stream& stream : streams_) close(stream);
  std::vector<std::uint32_t> lacking;
  for (const auto& [id, slot] : messages_) lacking.push_back(slot);
  for (const auto& [key, meeting] : meetings_) lacking.push_back(meeting.slot);
  messages_.clear();
  meetings_.clear();
  std::sort(lacking.begin(), lacking.end());
  facts_.unmatched += lacking.size();
  for (const std::uint32_t slot : lacking) {
    const std::uint32_t top = root(slot);
    slots_[top].whole = false;
    --slots_[top].pending;
    settle(top);
  }
}

}  // namespace chameleon::analysis
