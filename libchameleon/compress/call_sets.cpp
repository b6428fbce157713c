// SPDX-License-Identifier: BSD-3-Clause
#include "compress/call_sets.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hash.h"
#include "compress/rounds.h"

namespace chameleon::compress {
namespace {

/// Whether a list of calls in any order may hold the node.
bool may_hold(const Node& node) {
  return node.shape.length <= CallSets::kMostInRun && node.role != CallRole::kCollective &&
         !node.optional && !has_inexact({&node, 1}) &&
         (is_call_set(node) || std::all_of(node.body.begin(), node.body.end(), may_hold));
}

bool same_call(const Node& a, const Node& b) {
  return a.call == b.call && a.path == b.path && a.params.size() == b.params.size();
}

/// The different events in nodes that were executed, ascending by symbol.
std::vector<const Node*> calls_in(std::span<const Node> nodes) {
  std::vector<const Node*> calls;
  const auto add = [&](const auto& self, std::span<const Node> list) -> void {
    for (const Node& node : list) {
      if (node.is_loop())
        self(self, node.body);
      else if (!node.params.empty() && !node.params[0].values().empty())
        calls.push_back(&node);
    }
  };
  add(add, nodes);
  const auto before = [](const Node* a, const Node* b) { return a->symbol() < b->symbol(); };
  const auto same = [](const Node* a, const Node* b) { return same_call(*a, *b); };
  std::sort(calls.begin(), calls.end(), before);
  calls.erase(std::unique(calls.begin(), calls.end(), same), calls.end());
  return calls;
}

/// Makes the loop of a set.
class SetMaker {
 public:
  explicit SetMaker(std::span<const Node> calls) {
    for (const Node& call : calls) {
      set_.body.push_back(optional_loop(hollow({&call, 1}), Param(ValueSequence())));
      symbols_.push_back(call.symbol());
    }
    set_.shape = shape_of(set_.body);
  }

  bool take(const Node& event, std::vector<ValueSequence::Cursor>& values) {
    const std::size_t at = place(event);
    Node& call = set_.body[at];
    for (std::size_t i = 0; i < values.size(); ++i)
      call.body.front().params[i].values().append(values[i].next());
    if (at + 1 == next_) {
      ++call.current;
      return true;
    }
    if (next_ == 0) {
      begin_visit(set_);
    } else if (at < next_) {
      end_visit();
      ++set_.current;
    }
    for (; next_ < at; ++next_) skip_visit(set_.body[next_]);
    begin_visit(call);
    next_ = at + 1;
    return true;
  }

  void end_visit() {
    for (; next_ < set_.body.size(); ++next_) skip_visit(set_.body[next_]);
    next_ = 0;
  }

  Node loop() && { return std::move(set_); }

 private:
  std::size_t place(const Node& event) const {
    return static_cast<std::size_t>(
        std::lower_bound(symbols_.begin(), symbols_.end(), event.symbol()) - symbols_.begin());
  }

  std::vector<std::uint64_t> symbols_;
  Node set_;
  std::size_t next_ = 0;  ///< 1 + the place of the call before in this iteration; 0: none
};

}  // namespace

void Replay::add(std::span<const Node> nodes) {
  for (const Node& node : nodes) {
    const std::size_t at = entries_.size();
    Entry& entry = entries_.emplace_back(Entry{&node, {}, 0});
    if (node.is_loop()) {
      entry.values.emplace_back(node.iterations.values());
      add(node.body);
    } else {
      for (const Param& param : node.params) entry.values.emplace_back(param.values());
    }
    entries_[at].end = entries_.size();
  }
}

bool has_inexact(std::span<const Node> nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    return !node.inexact.empty() || has_inexact(node.body);
  });
}

std::uint64_t executions(std::span<const Node> nodes) {
  std::uint64_t count = 0;
  for (const Node& node : nodes)
    count += node.is_loop() ? executions(node.body)
                            : (node.params.empty() ? 0 : node.params[0].values().size());
  return count;
}

bool is_call_set(const Node& node) {
  return node.is_loop() && std::all_of(node.body.begin(), node.body.end(), [](const Node& call) {
           return call.optional && call.body.size() == 1 && !call.body.front().is_loop();
         });
}

std::size_t CallSets::run_at_end(std::span<const Node> nodes) {
  std::size_t count = 0;
  std::uint64_t length = 0;
  while (count < nodes.size()) {
    const Node& node = nodes[nodes.size() - 1 - count];
    if (!may_hold(node)) break;
    length += node.shape.length;
    if (length > kMostInRun) return 0;
    ++count;
  }
  return count;
}

bool CallSets::learn(std::span<const Node> run, std::uint64_t after) {
  for (Set& set : sets_) {
    if (set.after != after) continue;
    const std::size_t size = set.calls.size();
    const auto [first, end] = part_of(run, set);
    for (const Node* call : calls_in(run.subspan(first, end - first))) add(*call, set);
    return set.calls.size() != size;
  }
  if (run.size() < 2 || sets_.size() == kMostSets) return false;
  std::vector<const Node*> text;
  Run now;
  std::uint64_t same = after;
  const bool whole = Replay(run).once([&](const Node& event, const auto&) {
    text.push_back(&event);
    now.push_back({event.symbol(), event.role});
    same += mix(event.symbol());
    return text.size() < kMostInRun;
  });
  if (!whole) return false;
  if (seen_.size() >= kMostSeen && seen_.count(same) == 0) {
    seen_.clear();
    changes_.clear();
  }
  auto& [last, before] = seen_[same];
  const auto differs = [&](const Run& other) {
    return now != other && !(folded_alone(now) == folded_alone(other));
  };
  const bool changes = !before.empty() && now != last && differs(before) && differs(last);
  before = std::exchange(last, std::move(now));
  if (!changes || ++changes_[after] < 2) return false;
  // What is alike at the beginning and at the end of both orders is in none of the set.
  const auto [from, unused] = std::mismatch(last.begin(), last.end(), before.begin(), before.end());
  const auto [to, also_unused] =
      std::mismatch(last.rbegin(), last.rend(), before.rbegin(), before.rend());
  Set& set = sets_.emplace_back(Set{after, {}});
  for (auto at = from; at < to.base(); ++at)
    add(*text[static_cast<std::size_t>(at - last.begin())], set);
  return true;
}

/// Adds a call, if the set does not have it and may have more.
void CallSets::add(const Node& call, Set& set) {
  const auto at =
      std::lower_bound(set.calls.begin(), set.calls.end(), call.symbol(),
                       [](const Node& one, std::uint64_t symbol) { return one.symbol() < symbol; });
  if (set.calls.size() < kMostCalls && (at == set.calls.end() || at->symbol() != call.symbol()))
    set.calls.insert(at, std::move(hollow({&call, 1}).front()));
}

const Node* CallSets::Set::find(const Node& call) const {
  const auto at = std::find_if(calls.begin(), calls.end(),
                               [&](const Node& one) { return same_call(one, call); });
  return at != calls.end() ? &*at : nullptr;
}

/// The nodes from the first to the last one with calls of the set: [first, end).
std::pair<std::size_t, std::size_t> CallSets::part_of(std::span<const Node> run, const Set& set) {
  const auto has = [&](const Node& node) {
    const std::vector<const Node*> calls = calls_in({&node, 1});
    return std::any_of(calls.begin(), calls.end(),
                       [&](const Node* call) { return set.find(*call) != nullptr; });
  };
  const auto first = std::find_if(run.begin(), run.end(), has);
  if (first == run.end()) return {0, 0};
  const auto last = std::find_if(run.rbegin(), run.rend(), has);
  return {static_cast<std::size_t>(first - run.begin()),
          static_cast<std::size_t>(last.base() - run.begin())};
}

CallSets::Part CallSets::find(std::span<const Node> run, std::uint64_t after) const {
  if (sets_.empty() || run.empty() || executions(run) > 4 * kMostInRun) return {};
  for (const Set& set : sets_) {
    if (after != 0 && set.after != after) continue;
    const auto [first, end] = part_of(run, set);
    const std::span<const Node> part = run.subspan(first, end - first);
    const std::vector<const Node*> calls = calls_in(part);
    if (calls.empty() || !std::all_of(calls.begin(), calls.end(),
                                      [&](const Node* call) { return set.find(*call) != nullptr; }))
      continue;
    const bool joined =
        part.size() == 1 && is_call_set(part[0]) && part[0].body.size() == set.calls.size();
    return joined ? Part{} : Part{first, end, &set};
  }
  return {};
}

Node CallSets::join(std::span<const Node> part, const Set& set) {
  SetMaker maker(set.calls);
  Replay(part).once([&](const Node& event, auto& values) { return maker.take(event, values); });
  maker.end_visit();
  return std::move(maker).loop();
}

}  // namespace chameleon::compress
