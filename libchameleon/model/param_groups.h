// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The groups of a parameter. There are as many as ranks where each rank has values of its own, as
/// partners by chance: of many, those with few values are kept encoded, 32 at a time, in some 25
/// bytes each instead of 500. So they are read one after another, and changed through functions.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "model/end_point.h"
#include "model/rank_list.h"
#include "model/value_sequence.h"

namespace chameleon::inline model {

/// The values of some ranks.
struct ParamGroup {
  RankList ranks;
  EndPointForm form = EndPointForm::kBoth;
  ValueSequence values;
};

class ParamGroups {
  struct Block;

 public:
  static constexpr std::size_t kFewestPacked = 256, kInBlock = 32;

  ParamGroups() = default;
  /// Many are put in the order of their first ranks: a rank is then found in one block.
  // NOLINTNEXTLINE(google-explicit-constructor): what has few groups makes a vector of them
  ParamGroups(std::vector<ParamGroup> groups);

  std::size_t size() const { return blocks_.size() * kInBlock + rest_.size(); }
  bool empty() const { return size() == 0; }
  /// Whether each begins no lower than the one before.
  bool ascending() const { return ascending_; }
  std::size_t memory_bytes() const;

  void push(ParamGroup group);
  /// The group of this rank, in `own` if it is packed, or null. O(groups) at worst, O(blocks) where
  /// they ascend.
  const ParamGroup* find(RankList::Rank rank, ParamGroup& own) const;

  /// The group at this place, for a change of its values: unpacked, with those beside it, until
  /// `settle`. Valid until the next call.
  ParamGroup& open(std::size_t place);
  /// More ranks for the group at this place, which is open.
  void add_ranks(std::size_t place, const RankList& ranks);
  /// Packs what is open.
  void settle();
  /// Calls `f(group)` for each, which may change its values.
  template <class F>
  void change_each(F f) {
    const auto each = [&](std::vector<ParamGroup>& groups) {
      for (ParamGroup& group : groups) f(group);
    };
    for (Block& block : blocks_) {
      if (block.bytes.empty()) {
        each(block.plain);
        continue;
      }
      std::vector<ParamGroup> groups = block.unpacked();
      each(groups);
      block = Block::of(std::move(groups));
    }
    each(rest_);
  }
  /// In the order of their first ranks.
  ParamGroups by_rank() &&;
  /// Calls `f(ParamGroup&&)` for each; no block is kept longer than that takes.
  template <class F>
  void consume(F f) && {
    open_.clear();
    for (Block& block : std::exchange(blocks_, {})) {
      Block now = std::exchange(block, {});
      if (!now.bytes.empty()) now.plain = now.unpacked();
      for (ParamGroup& group : now.plain) f(std::move(group));
    }
    for (ParamGroup& group : std::exchange(rest_, {})) f(std::move(group));
  }
  /// All of them.
  std::vector<ParamGroup> take() &&;

  /// One after another; what it refers to may be gone when it moves on.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = ParamGroup;
    using difference_type = std::ptrdiff_t;
    using pointer = const ParamGroup*;
    using reference = const ParamGroup&;

    explicit Iterator(const ParamGroups& groups) : groups_(&groups) { load(); }
    reference operator*() const { return plain_ != nullptr ? *plain_ : own_; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      ++place_;
      load();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return place_ == groups_->size(); }
    /// Whether it refers to a group that stays.
    bool stays() const { return plain_ != nullptr; }

   private:
    void load();

    const ParamGroups* groups_;
    std::size_t place_ = 0;
    const ParamGroup* plain_ = nullptr;
    ByteReader bytes_{{}};  ///< the rest of a packed block
    ParamGroup own_;
  };
  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  /// kInBlock of them: encoded, or as they are where that would not be shorter.
  struct Block {
    RankList::Rank first = 0, last = 0;  ///< of any
    Bytes bytes;
    std::vector<ParamGroup> plain;

    static Block of(std::vector<ParamGroup> groups);
    std::vector<ParamGroup> unpacked() const;
    void bound();  ///< `first` and `last`, of what is not packed
    void pack();   ///< if that makes it shorter; as it was, if memory is lacking
  };
  void pack();

  std::vector<Block> blocks_;
  std::vector<ParamGroup> rest_;
  std::vector<std::size_t> open_;  ///< blocks
  RankList::Rank last_first_ = 0;  ///< of the last group
  bool ascending_ = true;
};

}  // namespace chameleon::inline model
