// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/rank_streams.h"

#include <algorithm>

namespace chameleon::analysis {

namespace {

EventTimes spent_at(const CallDescription& call, const EventView& event, const StreamTimes& times) {
  const std::size_t fields = call.fields.size();
  if (fields >= 2 && is_time(call.fields[fields - 1]))
    return {time_ns(call.fields[fields - 2], event.values[fields - 2]),
            time_ns(call.fields[fields - 1], event.values[fields - 1])};
  const std::optional<MeanTimes> means = times.of(event);
  if (!means) return {};
  return {static_cast<std::uint64_t>(means->compute_ns + 0.5),
          static_cast<std::uint64_t>(means->communication_ns + 0.5),
          std::max<std::uint64_t>(means->least_communication_ns, 1)};
}

}  // namespace

EventTimes times_of(const CallDescription& call, const EventView& event, const StreamTimes& times) {
  EventTimes spent = spent_at(call, event, times);
  const MeanWait wait = times.wait({event.node->symbol(), event.predecessor});
  spent.waiting = static_cast<std::uint64_t>(wait.ns + 0.5);
  spent.ahead = std::min(static_cast<std::uint64_t>(wait.ahead_ns), spent.compute);
  return spent;
}

Result<RankStreams> RankStreams::make(const Trace& trace, const std::vector<CallPlan>& plans,
                                      std::uint32_t rank, const OutlierSums* sums) {
  RankStreams streams(trace, rank);
  std::vector<std::uint32_t> wanted = {rank};
  if (trace.threads > 1) wanted = trace.streams_of(rank);
  for (const std::uint32_t stream : wanted)
    if (const Status added = streams.add(stream, sums); !added) return added.error();
  if (!streams.several()) return streams;
  streams.roles_.emplace(trace, plans);
  for (Head& head : streams.heads_) {
    Result<HandOvers> handed = HandOvers::find(trace, *streams.roles_, head.view.rank());
    if (!handed) return handed.error();
    head.handed = std::move(*handed);
    streams.fetch(head);
  }
  return streams;
}

Result<RankStreams> RankStreams::make_one(const Trace& trace, std::uint32_t stream,
                                          const OutlierSums* sums) {
  RankStreams streams(trace, trace.rank_of(stream));
  if (const Status added = streams.add(stream, sums); !added) return added.error();
  return streams;
}

Status RankStreams::add(std::uint32_t stream, const OutlierSums* sums) {
  Result<RankView> view = RankView::make(*trace_, stream);
  if (!view) return Error{view.error().kind, "the trace is damaged: " + view.error().message, 0};
  heads_.push_back({std::move(*view), {}, {}, {}, StreamTimes(*trace_, stream, sums), 0, 0, false});
  return Unit{};
}

void RankStreams::fetch(Head& head) {
  const bool many = heads_.size() > kFewHeads;
  if (many) turns_.erase(turn_of(head));
  fetch_event(head);
  if (many && head.has) turns_.insert(turn_of(head));
}

void RankStreams::fetch_event(Head& head) {
  head.has = head.view.next(head.event);
  if (!head.has) return;
  ++head.number;
  const std::uint32_t stream = head.view.rank();
  roles_->find(head.event, stream, head.use);
  head.use.handed = head.handed.contains(head.number);
  const auto call = trace_->calls.find(head.event.node->call);
  if (call == trace_->calls.end() || call->second.fields.size() != head.event.values.size()) return;
  const EventTimes times = times_of(call->second, head.event, head.times);
  head.end += times.compute + times.waiting + times.communication;
}

/// The stream whose turn it is; null after the last turn.
RankStreams::Head* RankStreams::in_order() {
  while (turn_ < order_->size()) {
    const StreamTurn& turn = (*order_)[turn_];
    if (taken_ < turn.events) {
      ++taken_;
      const auto head = std::partition_point(heads_.begin(), heads_.end(), [&](const Head& one) {
        return one.view.rank() < turn.stream;
      });
      if (head != heads_.end() && head->has && head->view.rank() == turn.stream) return &*head;
    }
    ++turn_;
    taken_ = 0;
  }
  return nullptr;
}

RankStreams::Head* RankStreams::by_time() {
  if (heads_.size() > kFewHeads) return by_turns();
  // Without times, the thread that has done least.
  const auto before = [](const Head& a, const Head& b) {
    return a.end != b.end ? a.end < b.end : a.number < b.number;
  };
  Head* first = nullptr;
  Head* earliest = nullptr;
  for (Head& head : heads_) {
    if (!head.has) continue;
    if (earliest == nullptr || before(head, *earliest)) earliest = &head;
    if ((first == nullptr || before(head, *first)) && life_.may_go(head.use)) first = &head;
  }
  // Where events are not exact, objects may be missing: the earliest goes on regardless.
  return first == nullptr ? earliest : first;
}

/// The same of very many threads, which are not all looked at for each event.
RankStreams::Head* RankStreams::by_turns() {
  std::size_t looked = 0;
  for (const auto& [end, number, place] : turns_) {
    if (life_.may_go(heads_[place].use)) return &heads_[place];
    if (++looked == kMostLooked) break;
  }
  return turns_.empty() ? nullptr : &heads_[std::get<2>(*turns_.begin())];
}

bool RankStreams::next(EventView& event) {
  if (heads_.empty()) return false;
  if (!several()) {
    Head& only = heads_.front();
    stream_ = only.view.rank();
    if (!only.view.next(event)) return false;
    number_ = event.number;  // which counts what was left out
    return true;
  }
  Head* first = order_ != nullptr ? in_order() : nullptr;
  if (first == nullptr) first = by_time();
  if (first == nullptr) return false;
  life_.pass(first->use);
  std::swap(event, first->event);
  std::swap(use_, first->use);
  stream_ = first->view.rank();
  number_ = first->number;
  fetch(*first);
  return true;
}

}  // namespace chameleon::analysis
