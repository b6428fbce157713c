// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/instance_order.h"

#include <algorithm>
#include <utility>

namespace chameleon::analysis {

InstanceOrder::InstanceOrder(const RankList& streams, Sink sink) : sink_(std::move(sink)) {
  for (const std::uint32_t stream : streams.ranks()) {
    at(stream).named = true;
    ++blocking_;
  }
}

InstanceOrder::Stream& InstanceOrder::at(std::uint32_t stream) {
  if (streams_.size() <= stream) streams_.resize(stream + std::size_t{1});
  return streams_[stream];
}

void InstanceOrder::opened(std::uint32_t stream) {
  Stream& of = at(stream);
  const bool blocked = of.blocks();
  of.queue.emplace_back();
  if (!blocked && of.blocks()) ++blocking_;
}

void InstanceOrder::ended(std::uint32_t stream) {
  Stream& of = at(stream);
  const bool blocked = of.blocks();
  of.ended = true;
  if (blocked && !of.blocks()) --blocking_;
  drain();
}

void InstanceOrder::completed(PatternInstance&& instance) {
  const auto waiting = std::make_shared<Waiting>();
  waiting->instance = std::move(instance);
  ++waiting_;
  const std::vector<Segment>& segments = waiting->instance.segments;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Stream& of = at(segments[i].stream);
    const std::size_t place = segments[i].ordinal - of.first;
    of.queue[place] = waiting;
    const bool again = i > 0 && segments[i - 1].stream == segments[i].stream;
    if (place == 0) {
      --blocking_;
      in_front_.insert(key(*waiting));
    } else if (!again) {
      ++waiting->behind;
    }
  }
  if (waiting->behind == 0) ready_.insert(key(*waiting));
  drain();
}

void InstanceOrder::drain() {
  while (waiting_ > 0 && (blocking_ == 0 || waiting_ > kMostWaiting)) {
    Waiting* next = ready_.empty() ? forced() : std::get<Waiting*>(*ready_.begin());
    if (next == nullptr) return;
    put_out(*next);
  }
}

// Of those at the front of some stream the one that began first.
InstanceOrder::Waiting* InstanceOrder::forced() {
  if (in_front_.empty()) return nullptr;
  ++cycles_;
  return std::get<Waiting*>(*in_front_.begin());
}

void InstanceOrder::put_out(Waiting& waiting) {
  ready_.erase(key(waiting));
  in_front_.erase(key(waiting));
  // The queues hold it.
  const std::shared_ptr<Waiting> kept =
      at(waiting.instance.segments.front().stream)
          .queue[waiting.instance.segments.front().ordinal -
                 at(waiting.instance.segments.front().stream).first];
  kept->out = true;
  --waiting_;
  sink_(kept->instance);
  for (const Segment& segment : kept->instance.segments) advance(at(segment.stream));
}

void InstanceOrder::advance(Stream& stream) {
  while (!stream.queue.empty() && stream.queue.front() != nullptr && stream.queue.front()->out) {
    stream.queue.pop_front();
    ++stream.first;
    if (stream.blocks()) ++blocking_;
    if (stream.queue.empty() || stream.queue.front() == nullptr || stream.queue.front()->out)
      continue;
    // It is in front for the first time: else it would be out.
    Waiting& front = *stream.queue.front();
    in_front_.insert(key(front));
    if (--front.behind == 0) ready_.insert(key(front));
  }
}

void InstanceOrder::state(std::vector<std::uint64_t>& state) const {
  state.insert(state.end(), {waiting_, blocking_, ready_.size()});
  for (const Stream& stream : streams_) {
    state.push_back(stream.queue.size());
    for (const std::shared_ptr<Waiting>& waiting : stream.queue)
      state.push_back(waiting == nullptr ? 0 : waiting->out ? 1 : 2 + waiting->behind);
  }
}

void InstanceOrder::finish() {
  for (std::size_t stream = 0; stream < streams_.size(); ++stream)
    if (!streams_[stream].ended) ended(static_cast<std::uint32_t>(stream));
  drain();
}

}  // namespace chameleon::analysis
