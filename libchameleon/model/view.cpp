// SPDX-License-Identifier: BSD-3-Clause
#include "model/view.h"

#include <algorithm>

namespace chameleon::inline model {
namespace {

Error corrupt(std::uint32_t rank, const char* what) {
  return {ErrorKind::kCorrupt, "rank " + std::to_string(rank) + ": " + what, 0};
}

/// More pieces than any run has visits with counts of their own; a damaged trace may claim them.
constexpr std::uint64_t kMostSegments = 1ULL << 27;

}  // namespace

Iterations sum_iterations(const ValueSequence& counts) {
  Iterations all;
  if (counts.is_constant()) {
    all.idle_visit = counts.front() == 0;
    all.in_range = counts.front() >= 0 &&
                   !__builtin_mul_overflow(counts.size(),
                                           static_cast<std::uint64_t>(counts.front()), &all.total);
    return all;
  }
  std::uint64_t segments = 0;
  for (ValueSequence::Cursor cursor(counts); !cursor.done();) {
    const ValueSequence::Segment segment = cursor.segment();
    const auto count = static_cast<__int128>(segment.count);
    const __int128 last = segment.start + (count - 1) * segment.stride;
    const __int128 sum = count * (segment.start + last) / 2 + all.total;
    if (segment.start < 0 || last < 0 || sum > INT64_MAX || ++segments > kMostSegments) return all;
    // None below 0, so that a progression is 0 at an end of it.
    all.idle_visit = all.idle_visit || segment.start == 0 || last == 0;
    all.total = static_cast<std::uint64_t>(sum);
    cursor.skip(segment.count);
  }
  all.in_range = true;
  return all;
}

Result<RankView> RankView::make(const Trace& trace, std::uint32_t rank) {
  if (!trace.ranks.contains(rank))
    return Error{ErrorKind::kUsage,
                 "rank " + std::to_string(rank) + " is not in this trace, which holds ranks " +
                     trace.ranks.to_string(),
                 0};
  RankView view;
  view.rank_ = rank;
  const Status planned = view.plan(view.items_, trace.nodes, 1, trace);
  if (!planned) return planned.error();
  return view;
}

/// The same values, for as long as the view is there.
const ValueSequence& RankView::kept(const ValueSequence& values, ValueSequence& own) {
  if (&values != &own || own.is_constant()) return values;  // a cursor has a copy of a constant
  owned_.push_back(std::make_shared<const ValueSequence>(std::move(own)));
  return *owned_.back();
}

Status RankView::plan(std::vector<Item>& items, const std::vector<Node>& nodes,
                      std::uint64_t visits, const Trace& trace) {
  for (const Node& node : nodes) {
    if (!node.ranks.empty() && !node.ranks.contains(rank_)) continue;
    Item item{&node, false, trace.path_field(node.call), {}, {}, {}};
    EndPointForm form{};
    ValueSequence own;
    if (node.is_loop()) {
      const ValueSequence* iterations = node.iterations.find(rank_, form, own);
      if (iterations == nullptr || iterations->size() != visits)
        return corrupt(rank_, "a loop's iteration counts do not cover its visits");
      const auto [in_range, total, idle_visit] = sum_iterations(*iterations);
      if (!in_range) return corrupt(rank_, "a loop's iteration counts are out of range");
      item.values.emplace_back(kept(*iterations, own));
      if (const Status body = plan(item.body, node.body, total, trace); !body) return body;
      // What is never executed is left out, or going round it would take as long as a trace claims.
      if (item.body.empty() || total == 0) continue;
    } else {
      for (const Param& param : node.params) {
        const ValueSequence* values = param.find(rank_, form, own);
        if (values == nullptr || values->size() != visits)
          return corrupt(rank_, "a parameter's values do not cover its events");
        item.values.emplace_back(kept(*values, own));
        item.forms.push_back(form);
      }
    }
    items.push_back(std::move(item));
  }
  return Unit{};
}

void RankView::watch(std::vector<Item>& items, const std::unordered_set<const Node*>& loops) {
  for (Item& item : items) {
    item.watched = loops.contains(item.node);
    watch(item.body, loops);
  }
}

std::size_t RankView::loop_between() const {
  for (std::size_t i = stack_.size(); i-- > 1;) {
    if (stack_[i].at < stack_[i].items->size()) return 0;
    if (stack_[i].left > 0) return i;
  }
  return 0;
}

RankView::Round RankView::round() const {
  const std::size_t at = loop_between();
  if (at == 0 || !loop_at(at).watched) return {};
  return {loop_at(at).node, stack_[at].iteration + 1, stack_[at].left};
}

template <class Items, class F>
void RankView::each_cursor(Items& items, F f) {
  for (auto& item : items) {
    for (auto& cursor : item.values) f(cursor);
    each_cursor(item.body, f);
  }
}

void RankView::values_left(std::vector<std::uint64_t>& left) const {
  if (const std::size_t at = loop_between(); at > 0)
    each_cursor(loop_at(at).body,
                [&](const ValueSequence::Cursor& cursor) { left.push_back(cursor.left()); });
}

std::uint64_t RankView::times_alike(std::span<const std::uint64_t> left) const {
  const std::size_t at = loop_between();
  if (at == 0) return 0;
  std::uint64_t times = stack_[at].left;
  std::size_t next = 0;
  each_cursor(loop_at(at).body, [&](const ValueSequence::Cursor& cursor) {
    const std::uint64_t period = left[next++] - cursor.left();
    if (period > 0) times = std::min(times, cursor.alike(period) / period);
  });
  return times;
}

void RankView::leave_out(std::uint64_t times, std::uint64_t rounds,
                         std::span<const std::uint64_t> left, std::uint64_t events) {
  const std::size_t at = loop_between();
  if (at == 0 || times * rounds >= stack_[at].left) return;
  std::size_t next = 0;
  each_cursor((*stack_[at - 1].items)[stack_[at - 1].at - 1].body,
              [&](ValueSequence::Cursor& cursor) {
                const std::uint64_t period = left[next++] - cursor.left();
                if (period > 0) cursor.skip_alike(times * period, period);
              });
  stack_[at].left -= times * rounds;
  stack_[at].iteration += times * rounds;
  events_ += times * (events_ - events);
}

bool RankView::next(EventView& event) {
  if (stack_.empty()) {
    if (items_.empty()) return false;
    stack_.push_back({&items_, 0, 0, 0});
  }
  for (;;) {
    Level& level = stack_.back();
    if (level.at == level.items->size()) {
      if (level.left > 0) {
        --level.left;
        ++level.iteration;
        level.at = 0;
        continue;
      }
      if (stack_.size() == 1) return false;
      stack_.pop_back();
      continue;
    }
    Item& item = (*level.items)[level.at++];
    if (item.node->is_loop()) {
      const auto count = static_cast<std::uint64_t>(item.values[0].next());
      if (count > 0) stack_.push_back({&item.body, 0, count - 1, 0});
      continue;
    }
    event.node = item.node;
    event.predecessor = last_symbol_;
    event.number = ++events_;
    event.values.clear();
    for (ValueSequence::Cursor& cursor : item.values) event.values.push_back(cursor.next());
    event.path =
        item.path < 0
            ? item.node->path
            : static_cast<std::uint64_t>(event.values[static_cast<std::size_t>(item.path)]);
    event.forms = item.forms;
    event.iteration.clear();
    for (std::size_t i = 1; i < stack_.size(); ++i) event.iteration.push_back(stack_[i].iteration);
    last_symbol_ = item.node->symbol();
    return true;
  }
}

}  // namespace chameleon::inline model
