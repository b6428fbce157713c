// SPDX-License-Identifier: BSD-3-Clause
#include "model/param_groups.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/read_budget.h"
#include "model/both_readings.h"

namespace chameleon::inline model {
namespace {

/// In the mean of a block: longer sequences would be decoded whenever one value is added, and lists
/// of more runs may be one in memory with others.
constexpr std::size_t kMostTerms = 16, kMostRuns = 2;
/// Blocks; more would take the memory that packing is to save.
constexpr std::size_t kMostOpen = 1024;

constexpr std::uint8_t kForm = 3, kSingle = 4, kBothReadings = 8;

void encode(ByteWriter& writer, const ParamGroup& group) {
  const auto both =
      group.form == EndPointForm::kBoth ? BothReadings::of(group.values) : std::nullopt;
  const bool single = is_single(group.ranks);
  const std::int64_t first = group.ranks.first();
  writer.u8(static_cast<std::uint8_t>(static_cast<int>(group.form) | (single ? kSingle : 0) |
                                      (both ? kBothReadings : 0)));
  if (single)
    writer.varint(group.ranks.first());
  else
    group.ranks.encode(writer);
  if (both) writer.svarint(both->self - first);
  (both ? both->values : group.values).encode(writer);
}

void decode(ByteReader& reader, ParamGroup& group) {
  const ReadBudget::Own own;
  const std::uint8_t flags = reader.u8();
  group.form = static_cast<EndPointForm>(flags & kForm);
  if ((flags & kSingle) != 0)
    group.ranks = RankList::single(static_cast<RankList::Rank>(reader.varint()));
  else
    RankList::decode(reader, group.ranks);
  BothReadings both;
  if ((flags & kBothReadings) != 0) both.self = reader.svarint() + group.ranks.first();
  ValueSequence::decode(reader, both.values);
  group.values = (flags & kBothReadings) != 0 ? both.undone() : std::move(both.values);
}

bool before(const ParamGroup& a, const ParamGroup& b) { return a.ranks.first() < b.ranks.first(); }

/// Whether a reader takes it.
bool can_be_read(const RankList& ranks) {
  return ranks.empty() || (ranks.runs().back().last() < RankList::kMaxRanks &&
                           ranks.intervals().size() <= RankList::kMaxIntervals);
}

bool is_worth_packing(const std::vector<ParamGroup>& groups) {
  std::size_t terms = 0, runs = 0;
  for (const ParamGroup& group : groups) {
    if (!can_be_read(group.ranks)) return false;
    terms += group.values.term_count();
    runs += group.ranks.runs().size();
  }
  return terms <= kMostTerms * groups.size() && runs <= kMostRuns * groups.size();
}

}  // namespace

ParamGroups::ParamGroups(std::vector<ParamGroup> groups)
    : rest_(std::move(groups)), ascending_(std::is_sorted(rest_.begin(), rest_.end(), before)) {
  const bool many = rest_.size() >= kFewestPacked;
  if (many && !ascending_) {
    std::stable_sort(rest_.begin(), rest_.end(), before);
    ascending_ = true;
  }
  if (!rest_.empty()) last_first_ = rest_.back().ranks.first();
  if (many) pack();
}

void ParamGroups::Block::bound() {
  first = UINT32_MAX;
  last = 0;
  for (const ParamGroup& group : plain) {
    first = std::min(first, group.ranks.first());
    if (!group.ranks.empty()) last = std::max(last, group.ranks.runs().back().last());
  }
}

void ParamGroups::Block::pack() {
  if (!bytes.empty() || !is_worth_packing(plain)) return;
  ByteWriter writer;
  for (const ParamGroup& group : plain) encode(writer, group);
  bytes = Bytes(writer.bytes());      // of its size, and no longer
  plain = std::vector<ParamGroup>();  // unlike {}, without what it had allocated
}

ParamGroups::Block ParamGroups::Block::of(std::vector<ParamGroup> groups) {
  Block block{0, 0, {}, std::move(groups)};
  block.bound();
  block.pack();
  return block;
}

std::vector<ParamGroup> ParamGroups::Block::unpacked() const {
  std::vector<ParamGroup> groups(kInBlock);
  ByteReader reader(bytes);
  for (ParamGroup& group : groups) decode(reader, group);
  return groups;
}

void ParamGroups::pack() {
  const std::size_t whole = rest_.size() / kInBlock * kInBlock;
  for (std::size_t from = 0; from < whole; from += kInBlock) {
    const auto begin = rest_.begin() + static_cast<std::ptrdiff_t>(from);
    std::vector<ParamGroup> groups(std::make_move_iterator(begin),
                                   std::make_move_iterator(begin + kInBlock));
    blocks_.push_back(Block::of(std::move(groups)));
  }
  rest_ = std::vector<ParamGroup>(
      std::make_move_iterator(rest_.begin() + static_cast<std::ptrdiff_t>(whole)),
      std::make_move_iterator(rest_.end()));
}

void ParamGroups::push(ParamGroup group) {
  const RankList::Rank first = group.ranks.first();
  rest_.push_back(std::move(group));
  ascending_ = ascending_ && last_first_ <= first;
  last_first_ = first;
  if (rest_.size() == (blocks_.empty() ? kFewestPacked : kInBlock)) pack();
}

std::vector<ParamGroup> ParamGroups::take() && {
  std::vector<ParamGroup> all;
  all.reserve(size());
  std::move(*this).consume([&](ParamGroup&& group) { all.push_back(std::move(group)); });
  return all;
}

ParamGroup& ParamGroups::open(std::size_t place) {
  const std::size_t packed = blocks_.size() * kInBlock;
  if (place >= packed) return rest_[place - packed];
  Block& block = blocks_[place / kInBlock];
  if (!block.bytes.empty()) {
    if (open_.size() == kMostOpen) settle();
    open_.push_back(place / kInBlock);
    block.plain = block.unpacked();
    block.bytes = Bytes();
  }
  return block.plain[place % kInBlock];
}

void ParamGroups::add_ranks(std::size_t place, const RankList& ranks) {
  ParamGroup& group = open(place);
  if (ranks.first() < group.ranks.first()) ascending_ = false;
  group.ranks.merge(ranks);
  if (const std::size_t block = place / kInBlock; block < blocks_.size()) blocks_[block].bound();
}

void ParamGroups::settle() {
  for (const std::size_t block : std::exchange(open_, {})) blocks_[block].pack();
}

ParamGroups ParamGroups::by_rank() && {
  if (ascending_) return std::move(*this);
  std::vector<ParamGroup> all = std::move(*this).take();
  std::stable_sort(all.begin(), all.end(), before);
  return all;
}

const ParamGroup* ParamGroups::find(RankList::Rank rank, ParamGroup& own) const {
  const auto in = [&](std::span<const ParamGroup> groups) -> const ParamGroup* {
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return group.ranks.contains(rank); });
    return found == groups.end() ? nullptr : &*found;
  };
  for (const Block& block : blocks_) {
    if (rank < block.first || rank > block.last) continue;
    if (const ParamGroup* found = in(block.plain)) return found;
    ByteReader reader(block.bytes);
    while (!reader.at_end()) {
      decode(reader, own);
      if (own.ranks.contains(rank)) return &own;
    }
  }
  return in(rest_);
}

std::size_t ParamGroups::memory_bytes() const {
  const auto bytes_of = [](std::span<const ParamGroup> groups) {
    std::size_t bytes = groups.size_bytes();
    for (const ParamGroup& group : groups)
      bytes += memory_of(group.ranks) + group.values.memory_bytes() - sizeof group.values;
    return bytes;
  };
  std::size_t bytes = bytes_of(rest_) + blocks_.size() * sizeof(Block);
  for (const Block& block : blocks_) bytes += block.bytes.size() + bytes_of(block.plain);
  return bytes;
}

void ParamGroups::Iterator::load() {
  const std::size_t before = groups_->blocks_.size() * kInBlock;
  if (place_ >= before) {
    plain_ = place_ - before < groups_->rest_.size() ? &groups_->rest_[place_ - before] : nullptr;
    return;
  }
  const Block& block = groups_->blocks_[place_ / kInBlock];
  plain_ = block.bytes.empty() ? &block.plain[place_ % kInBlock] : nullptr;
  if (plain_ != nullptr) return;
  if (place_ % kInBlock == 0) bytes_ = ByteReader(block.bytes);
  decode(bytes_, own_);
}

}  // namespace chameleon::inline model
