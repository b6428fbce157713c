// SPDX-License-Identifier: BSD-3-Clause
#include "signature/signature.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace chameleon::signature {

IntervalSignature::IntervalSignature(CallPathForm form) : form_(form) {}

IntervalSignature::Slot& IntervalSignature::Table::find(std::uint64_t key, std::uint32_t epoch) {
  const std::size_t mask = slots.size() - 1;
  for (std::size_t at = mix(key) & mask;; at = (at + 1) & mask)
    if (slots[at].epoch != epoch || slots[at].key == key) return slots[at];
}

/// Keeps the table at most half full.
void IntervalSignature::Table::added(std::uint32_t epoch) {
  if (2 * std::size_t{++used} <= slots.size()) return;
  std::vector<Slot> old(2 * slots.size());
  old.swap(slots);
  for (const Slot& slot : old)
    if (slot.epoch == epoch) find(slot.key, epoch) = slot;
}

/// Another symbol than followed the last one before.
void IntervalSignature::step(std::uint64_t symbol) {
  Slot& slot = symbols_.find(symbol, epoch_);
  std::uint32_t entry = slot.entry;
  if (slot.epoch != epoch_) {
    entry = static_cast<std::uint32_t>(entries_.size());
    slot = {symbol, epoch_, entry};
    entries_.push_back({symbol, 0, 0});
    order_ = combine(order_, symbol);
    symbols_.added(epoch_);
  }
  if (entry > last_) {
    Slot& transition = transitions_.find(std::uint64_t{last_} << 32 | entry, epoch_);
    if (transition.epoch != epoch_) {
      transition = {std::uint64_t{last_} << 32 | entry, epoch_, 0};
      transitions_sum_ += combine(entries_[last_].symbol, symbol);
      transitions_.added(epoch_);
    }
  }
  entries_[last_].next_symbol = symbol;
  entries_[last_].next = entry;
  last_ = entry;
}

std::uint64_t IntervalSignature::call_path() const {
  return form_ == CallPathForm::kOrdered ? combine(order_, transitions_sum_) : 0;
}

IntervalTotals IntervalSignature::take_totals() {
  IntervalTotals totals = std::exchange(totals_, {});
  totals.call_path = call_path();
  entries_.resize(1);
  entries_.front() = {};
  symbols_.used = transitions_.used = 0;
  if (++epoch_ == 0) {  // slots of 2^32 intervals ago would come back to life
    symbols_ = transitions_ = {};
    epoch_ = 1;
  }
  last_ = 0;
  order_ = transitions_sum_ = 0;
  return totals;
}

void IntervalTotals::append(const IntervalTotals& next) {
  call_path = combine(call_path, next.call_path);
  for (std::size_t i = 0; i < std::size(mixed); ++i) {
    const std::uint64_t more = next.parameters[i].count;
    if (more == 0) continue;
    const bool first = parameters[i].count == 0;
    mixed[i] = first ? next.mixed[i] : combine(mixed[i], combine(next.mixed[i], more));
    if (first || xored[i] == 0 || next.xored[i] == 0)
      xored[i] = first ? next.xored[i] : 0;
    else
      xored[i] = combine(xored[i], combine(next.xored[i], more));
  }
  for (std::size_t i = 0; i < kParameters; ++i) {
    ParameterTotal& total = parameters[i];
    const ParameterTotal& more = next.parameters[i];
    if (more.count == 0) continue;
    total.sum += more.sum;
    if (static_cast<Parameter>(i) == Parameter::kDataOperation)
      total.hash |= more.hash;
    else if (total.count == 0)
      total.hash = more.hash;
    else
      total.hash = combine(total.hash, combine(more.hash, more.count));
    total.count += more.count;
    total.special += more.special;
  }
}

SignatureVector IntervalTotals::signature() const {
  SignatureVector signature;
  signature.call_path = call_path;
  for (std::size_t i = 0; i < kParameters; ++i) {
    const ParameterTotal& total = parameters[i];
    if (total.count == 0) continue;
    SignatureVector::Summary& summary = signature.parameters[i];
    const std::uint64_t averaged = total.count - total.special;
    const double mean =
        averaged == 0 ? 0 : static_cast<double>(total.sum) / static_cast<double>(averaged);
    switch (static_cast<Parameter>(i)) {
      case Parameter::kDataOperation:
        summary = {static_cast<double>(std::popcount(total.hash)), total.hash};
        break;
      case Parameter::kCompute:
      case Parameter::kCommunication: {
        const auto microseconds = static_cast<std::uint64_t>(total.sum / 1000);
        summary = {mean / 1000, combine(mix(microseconds), total.count)};
        break;
      }
      case Parameter::kSequence: summary = {0, combine(total.hash, total.count)}; break;
      default: summary = {mean, combine(total.hash, total.count)};
    }
  }
  for (std::size_t i = 0; i < std::size(mixed); ++i)
    if (parameters[i].count != 0) {
      signature.mixed[i] = combine(mixed[i], parameters[i].count);
      if (xored[i] != 0) signature.xored[i] = combine(xored[i], parameters[i].count);
    }
  return signature;
}

namespace {

void add_events(std::span<const Node> nodes, std::uint64_t& sequence, std::uint64_t& signature) {
  for (const Node& node : nodes) {
    const bool executed = node.params.empty() || !node.params[0].values().empty();
    if (node.is_loop())
      add_events(node.body, sequence, signature);
    else if (executed)
      signature ^= (sequence++ % 10 + 1) * node.path;
  }
}

struct LoopLevel {
  double sum = 0;
  double visits = 0;
};

/// Adds up iterations by level; gives the nesting depth of `nodes`.
unsigned add_loops(std::span<const Node> nodes, LoopLevel (&levels)[4]) {
  unsigned depth = 0;
  for (const Node& node : nodes) {
    if (!node.is_loop()) continue;
    const unsigned below = add_loops(node.body, levels);
    LoopLevel& level = levels[std::min(below, 3U)];
    node.iterations.for_each_group({}, [&](const RankList&, EndPointForm, const auto& values) {
      for (ValueSequence::Cursor cursor(values); !cursor.done();) {
        const ValueSequence::Segment segment = cursor.segment();
        const auto count = static_cast<double>(segment.count);
        level.sum += count * (static_cast<double>(segment.start) +
                              static_cast<double>(segment.stride) * (count - 1) / 2);
        level.visits += count;
        cursor.skip(segment.count);
      }
    });
    if (node.current != 0) {
      level.sum += static_cast<double>(node.current);
      level.visits += 1;
    }
    depth = std::max(depth, below + 1);
  }
  return depth;
}

std::uint64_t hash_loops(std::span<const Node> nodes) {
  std::uint64_t hash = 0;
  for (const Node& node : nodes) {
    if (!node.is_loop()) continue;
    node.iterations.for_each_group({}, [&](const RankList&, EndPointForm, const auto& values) {
      hash = combine(hash, values.hash());
    });
    hash = combine(combine(hash, node.current), hash_loops(node.body) + 1);
  }
  return hash;
}

}  // namespace

std::uint64_t xor_signature(std::span<const Node> nodes) {
  std::uint64_t sequence = 0, signature = 0;
  add_events(nodes, sequence, signature);
  return signature;
}

std::int64_t loop_signature(std::span<const Node> nodes) {
  LoopLevel levels[4];
  add_loops(nodes, levels);
  std::uint64_t signature = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if (levels[i].visits == 0) continue;
    const double most = i == 3 ? 0x7fff : 0xffff;
    const double average = std::clamp(levels[i].sum / levels[i].visits, 0.0, most);
    signature |= static_cast<std::uint64_t>(average) << (16 * i);
  }
  return static_cast<std::int64_t>(signature);
}

ParameterTotal loop_total(std::span<const Node> nodes) {
  return {loop_signature(nodes), 1, hash_loops(nodes)};
}

}  // namespace chameleon::signature
