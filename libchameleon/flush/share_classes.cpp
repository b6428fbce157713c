// SPDX-License-Identifier: BSD-3-Clause
#include "flush/share_classes.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/hash.h"
#include "flush/node_params.h"
#include "format/packed_facts.h"

namespace chameleon::flush {
namespace {

std::uint64_t structure_hash(const std::vector<Node>& nodes) {
  std::uint64_t hash = nodes.size();
  for (const Node& node : nodes)
    hash = combine(hash, node.is_loop() ? structure_hash(node.body)
                                        : combine(node.symbol(), node.params.size()));
  return hash;
}

}  // namespace

bool of_first_stream(const Trace& trace) {
  return trace.ranks.size() <= 1 && trace.thread_of(trace.ranks.first()) == 0;
}

ShareClass classify(std::uint32_t rank, const Share& share) {
  ShareClass result;
  const bool large = share.trace.world_size > format::PackedFacts::kMostExact;
  result.events = large ? 0 : share.events;
  result.paused = share.paused;
  result.ranks = RankList::single(rank);
  if (!of_first_stream(share.trace)) {  // other threads are compared with nobody's
    result.structure = result.relative = result.mixed = mix(~std::uint64_t{rank});
    return result;
  }
  result.structure = structure_hash(share.trace.nodes);
  KindsSeen& kinds = result.kinds.emplace();
  each_param(
      share.trace.nodes, share.trace,
      [&](const Param& param, EndPointForm relative, EndPointForm mixed) {
        const std::uint64_t one = param.values().map_linear(ProjectEndPoint{relative}).hash();
        result.relative = combine(result.relative, one);
        result.mixed = combine(
            result.mixed,
            mixed == relative ? one : ~param.values().map_linear(ProjectEndPoint{mixed}).hash());
      },
      [&](const Param& param, ValueKind kind) {
        const std::uint64_t hash = param.values().hash();
        result.relative = combine(result.relative, hash);
        result.mixed = combine(result.mixed, hash);
        kinds.add(kind, hash);
      });
  return result;
}

namespace {

/// The first class of each structure in a list, which has its kinds.
class FirstClasses {
 public:
  explicit FirstClasses(const std::vector<ShareClass>& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].kinds) places_.emplace(list[i].structure, i);
  }
  /// A class is about to be joined to the list: what it knows of kinds goes to the first one, which
  /// it becomes itself if there is none.
  void meet(std::vector<ShareClass>& list, ShareClass& other) {
    if (!other.kinds) return;
    const auto [place, first] = places_.emplace(other.structure, list.size());
    if (first) return;
    list[place->second].kinds->join(*other.kinds);
    other.kinds.reset();
  }

 private:
  std::unordered_map<std::uint64_t, std::size_t> places_;
};

}  // namespace

namespace {

constexpr std::size_t kFewClasses = 32, kMostClasses = 512;
constexpr std::size_t kFewOfStructure = 16;
constexpr std::uint64_t kFewRanks = 16;  ///< as a part of all: one in so many

/// Classes become crowds.
class Crowds {
 public:
  explicit Crowds(std::vector<ShareClass>& list) : list_(list) {
    for (const ShareClass& one : list_) {
      ranks_ += one.ranks.size();
      has_crowds_ = has_crowds_ || one.is_crowd();
    }
  }

  /// Whether a crowd is there, or must be made.
  bool found() const { return has_crowds_ || too_many(list_.size()); }

  std::vector<ShareClass> gathered() {
    const Structures structures = structures_of(list_);
    const std::size_t most = too_many(list_.size()) ? kFewOfStructure : SIZE_MAX;
    std::vector<ShareClass> result = joined(list_, [&](const ShareClass& one) {
      const Structure& all = structures.at(key_of(one));
      const bool joins = all.crowded || all.classes > most;
      return joins && !one.is_crowd() ? Alike::kStructure : one.alike;
    });
    if (!too_many(result.size())) return result;
    const Structures left = structures_of(result);
    return joined(result, [&](const ShareClass& one) {
      return left.at(key_of(one)).ranks < ranks_ / kFewRanks ? Alike::kNothing : one.alike;
    });
  }

 private:
  struct Structure {
    std::size_t classes = 0;
    std::uint64_t ranks = 0;
    bool crowded = false;
  };
  /// Ranks of which tracing was paused are apart.
  using Key = std::pair<std::uint64_t, bool>;
  using Structures = std::map<Key, Structure>;

  static Key key_of(const ShareClass& one) { return {one.structure, one.paused}; }

  bool too_many(std::size_t classes) const {
    return classes > kMostClasses || (classes > kFewClasses && 2 * classes > ranks_);
  }

  static Structures structures_of(const std::vector<ShareClass>& list) {
    Structures all;
    for (const ShareClass& one : list) {
      Structure& here = all[key_of(one)];
      ++here.classes;
      here.ranks += one.ranks.size();
      here.crowded = here.crowded || one.is_crowd();
    }
    return all;
  }

  /// The list, each class joined to the crowd that `wanted` says it is to be in, if to any.
  template <class Wanted>
  static std::vector<ShareClass> joined(std::vector<ShareClass>& list, Wanted wanted) {
    std::vector<ShareClass> result;
    std::map<Key, std::size_t> crowds;
    for (ShareClass& one : list) {
      const Alike alike = wanted(one);
      if (alike == Alike::kAll) {
        result.push_back(std::move(one));
        continue;
      }
      make_crowd(one, alike);
      const auto [place, first] = crowds.emplace(key_of(one), result.size());
      if (first)
        result.push_back(std::move(one));
      else
        join_crowds(result[place->second], std::move(one));
    }
    return result;
  }

  static void make_crowd(ShareClass& one, Alike alike) {
    if (!one.is_crowd()) one.counts.push_back({one.events, one.ranks});
    one.alike = alike;
    one.relative = one.mixed = one.events = 0;
    one.relative_holds = one.mixed_holds = true;
    if (alike == Alike::kStructure) return;
    one.structure = 0;
    one.kinds.reset();
  }

  static void join_crowds(ShareClass& mine, ShareClass&& theirs) {
    mine.ranks.merge(theirs.ranks);
    if (theirs.kinds && mine.kinds)
      mine.kinds->join(*theirs.kinds);
    else if (theirs.kinds)
      mine.kinds = theirs.kinds;
    for (ShareClass::Count& count : theirs.counts) {
      const auto same = std::find_if(mine.counts.begin(), mine.counts.end(),
                                     [&](const auto& each) { return each.events == count.events; });
      if (same != mine.counts.end())
        same->ranks.merge(count.ranks);
      else
        mine.counts.push_back(std::move(count));
    }
  }

  std::vector<ShareClass>& list_;
  std::uint64_t ranks_ = 0;
  bool has_crowds_ = false;
};

}  // namespace

void join_classes(std::vector<ShareClass>& mine, std::vector<ShareClass>&& theirs) {
  std::unordered_map<std::uint64_t, std::size_t> index;
  const auto key = [](const ShareClass& one, bool relative) {
    return combine(combine(one.structure, relative ? one.relative : one.mixed),
                   (relative ? 1U : 0U) + (one.paused ? 2U : 0U));
  };
  const auto add = [&](std::size_t place) {
    if (mine[place].relative_holds) index.try_emplace(key(mine[place], true), place);
    if (mine[place].mixed_holds) index.try_emplace(key(mine[place], false), place);
  };
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (!mine[i].is_crowd()) add(i);
  FirstClasses firsts(mine);
  for (ShareClass& other : theirs) {
    firsts.meet(mine, other);
    if (other.is_crowd()) {
      mine.push_back(std::move(other));
      continue;
    }
    const auto find = [&](bool relative) -> ShareClass* {
      if (!(relative ? other.relative_holds : other.mixed_holds)) return nullptr;
      const auto found = index.find(key(other, relative));
      if (found == index.end()) return nullptr;
      ShareClass& candidate = mine[found->second];
      return (relative ? candidate.relative_holds : candidate.mixed_holds) ? &candidate : nullptr;
    };
    ShareClass* match = find(true);
    if (match == nullptr) match = find(false);
    if (match == nullptr) {
      mine.push_back(std::move(other));
      add(mine.size() - 1);
      continue;
    }
    match->relative_holds =
        match->relative_holds && other.relative_holds && match->relative == other.relative;
    match->mixed_holds = match->mixed_holds && other.mixed_holds && match->mixed == other.mixed;
    match->ranks.merge(other.ranks);
  }
  Crowds crowds(mine);
  if (crowds.found()) mine = crowds.gathered();
}

/// Beside the flags of a class on its way, when both readings of partners are one.
constexpr std::uint8_t kSameReadings = 64;

void ShareClass::encode(ByteWriter& writer) const {
  writer.u64(structure);
  writer.u8(static_cast<std::uint8_t>(
      (relative_holds ? 1 : 0) | (mixed_holds ? 2 : 0) | (paused ? 4 : 0) | (kinds ? 8 : 0) |
      (mixed == relative ? kSameReadings : 0) | static_cast<unsigned>(alike) << 4));
  if (is_crowd()) {
    writer.varint(counts.size());
    for (const Count& count : counts) {
      writer.varint(count.events);
      count.ranks.encode(writer);
    }
  } else {
    writer.u64(relative);
    if (mixed != relative) writer.u64(mixed);
    writer.varint(events);
    ranks.encode(writer);
  }
  if (kinds) kinds->encode(writer);
}

bool ShareClass::decode(ByteReader& reader, ShareClass& value) {
  value.structure = reader.u64();
  std::uint8_t flags = reader.u8();
  const bool same_readings = (flags & kSameReadings) != 0;
  flags = static_cast<std::uint8_t>(flags & ~kSameReadings);
  value.relative_holds = (flags & 1) != 0;
  value.mixed_holds = (flags & 2) != 0;
  value.paused = (flags & 4) != 0;
  if (flags >> 4 > static_cast<unsigned>(Alike::kNothing)) return false;
  value.alike = static_cast<Alike>(flags >> 4);
  if (value.is_crowd()) {
    value.counts.resize(reader.count(2));
    for (Count& count : value.counts) {
      count.events = reader.varint();
      if (!RankList::decode(reader, count.ranks)) return false;
      value.ranks.merge(count.ranks);
    }
  } else {
    value.relative = reader.u64();
    value.mixed = same_readings ? value.relative : reader.u64();
    value.events = reader.varint();
    if (!RankList::decode(reader, value.ranks)) return false;
  }
  if ((flags & 8) != 0) value.kinds = KindsSeen::decode(reader);
  return reader.ok();
}

}  // namespace chameleon::flush
