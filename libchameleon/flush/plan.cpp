// SPDX-License-Identifier: BSD-3-Clause
#include "flush/plan.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/hash.h"
#include "flush/node_params.h"
#include "format/codec.h"
#include "format/node_codec.h"
#include "model/xor_reading.h"

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

const char* fidelity_name(Fidelity fidelity) {
  return fidelity == Fidelity::kExact ? "exact" : fidelity == Fidelity::kLead ? "lead" : "checked";
}

ShareClass classify(std::uint32_t rank, const Share& share) {
  ShareClass result;
  result.events = share.events;
  result.paused = share.paused;
  result.ranks = RankList::single(rank);
  if (share.trace.ranks.size() > 1) {  // several streams, which are compared with nobody's
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
  for (std::size_t i = 0; i < mine.size(); ++i) add(i);
  FirstClasses firsts(mine);
  for (ShareClass& other : theirs) {
    firsts.meet(mine, other);
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
}

void ShareClass::encode(ByteWriter& writer) const {
  writer.u64(structure);
  writer.u64(relative);
  writer.u64(mixed);
  writer.u8(static_cast<std::uint8_t>((relative_holds ? 1 : 0) | (mixed_holds ? 2 : 0) |
                                      (paused ? 4 : 0) | (kinds ? 8 : 0)));
  writer.varint(events);
  ranks.encode(writer);
  if (kinds) kinds->encode(writer);
}

bool ShareClass::decode(ByteReader& reader, ShareClass& value) {
  value.structure = reader.u64();
  value.relative = reader.u64();
  value.mixed = reader.u64();
  const std::uint8_t flags = reader.u8();
  value.relative_holds = (flags & 1) != 0;
  value.mixed_holds = (flags & 2) != 0;
  value.paused = (flags & 4) != 0;
  value.events = reader.varint();
  if (!RankList::decode(reader, value.ranks)) return false;
  if ((flags & 8) != 0) value.kinds = KindsSeen::decode(reader);
  return reader.ok();
}

void Comparison::encode(ByteWriter& writer) const {
  writer.varint(lead);
  for (const std::uint64_t hash : hashes) writer.u64(hash);
  ranks.encode(writer);
}

bool Comparison::decode(ByteReader& reader, Comparison& value) {
  value.lead = static_cast<std::uint32_t>(reader.varint());
  for (std::uint64_t& hash : value.hashes) hash = reader.u64();
  return RankList::decode(reader, value.ranks);
}

void join_comparisons(std::vector<Comparison>& mine, std::vector<Comparison>&& theirs) {
  std::map<std::pair<std::uint32_t, StreamHashes>, std::size_t> index;
  for (std::size_t i = 0; i < mine.size(); ++i)
    index.emplace(std::pair(mine[i].lead, mine[i].hashes), i);
  for (Comparison& other : theirs) {
    const auto [place, added] = index.emplace(std::pair(other.lead, other.hashes), mine.size());
    if (added)
      mine.push_back(std::move(other));
    else
      mine[place->second].ranks.merge(other.ranks);
  }
}

namespace {

/// The kinds in which a rank's hashes differ from its lead's.
std::uint32_t kinds_between(const StreamHashes& rank, const StreamHashes& lead) {
  std::uint32_t kinds = 0;
  for (std::size_t kind = 0; kind < kPollsHash; ++kind)
    if (rank[kind] != lead[kind]) kinds |= 1U << kind;
  if (rank[kPollPlacesHash] != lead[kPollPlacesHash]) kinds |= kInexactEvents;
  if ((kinds & kInexactEvents) != 0) return kInexactAll;
  return rank[kPollsHash] == lead[kPollsHash] ? kinds : kinds | kInexactPolls;
}

/// Kinds in which each represented rank of `lead` is inexact. `otherwise`: end-points are read as
/// no rank compared them.
std::vector<Inexact> judge(std::uint32_t lead, const RankList& represented,
                           const std::vector<Comparison>& comparisons, bool otherwise) {
  std::vector<Inexact> result;
  const StreamHashes* own = nullptr;
  for (const Comparison& one : comparisons)
    if (one.lead == lead && one.ranks.contains(lead)) own = &one.hashes;
  if (own == nullptr) return {{represented, kInexactAll}};  // nobody compared
  RankList compared;
  for (const Comparison& one : comparisons) {
    if (one.lead != lead) continue;
    std::uint32_t kinds = kinds_between(one.hashes, *own);
    if (otherwise) kinds |= kInexactSource | kInexactDest;
    RankList ranks = one.ranks.intersection(represented);
    compared.merge(ranks);
    if (kinds != 0 && !ranks.empty()) merge_inexact(result, {{std::move(ranks), kinds}});
  }
  RankList lost = represented.minus(compared);  // on the way here
  if (!lost.empty()) merge_inexact(result, {{std::move(lost), kInexactAll}});
  return result;
}

}  // namespace

namespace {

/// Calls f(cluster, ranks that its lead stands for) for each cluster led by a rank of the class.
template <class F>
void each_represented(const ShareClass& one, const RankList& keepers, const Clustering& clustering,
                      F f) {
  for (const MainCluster& main : clustering.main)
    for (const SubCluster& cluster : main.clusters) {
      if (!one.ranks.contains(cluster.lead)) continue;
      const RankList represented = cluster.ranks.minus(keepers);
      if (!represented.empty()) f(cluster, represented);
    }
}

/// Adds to a class's entry the ranks that its leads stand for. Where partners of a cluster agree by
/// XOR alone, they are moved to its ranks by that. Where partners of a cluster are not
/// at the same distances from its ranks, those that are always rank 0 are taken for a root.
void represent(FlushPlan::Entry& entry, const ShareClass& one, const RankList& keepers,
               const Clustering& clustering, const FlushOptions& options,
               const std::vector<Comparison>& comparisons) {
  bool mixed = false;
  each_represented(one, keepers, clustering, [&](const SubCluster& cluster, const RankList&) {
    entry.by_xor = one.ranks.size() == 1 && cluster.by_xor();
    entry.by_rules = options.rules && one.ranks.size() == 1 && options.fidelity == Fidelity::kLead;
    mixed = mixed || (one.mixed_holds && !cluster.same_distances);
  });
  if (mixed) entry.relative = false;
  const bool compared = !mixed && !entry.by_xor;
  each_represented(
      one, keepers, clustering, [&](const SubCluster& cluster, const RankList& represented) {
        merge_inexact(entry.inexact, judge(cluster.lead, represented, comparisons, !compared));
        entry.ranks.merge(represented);
      });
}

}  // namespace

namespace {

/// Whether kinds of values in which nobody differs stay at home: if it is asked for, or if more
/// than half of the job's ranks are leads of a structure that others have too.
bool filters(const FlushPlan& plan, Filter filter, std::uint32_t ranks) {
  if (filter != Filter::kAuto) return filter == Filter::kOn;
  std::vector<std::uint32_t> sizes(plan.groups);
  for (const FlushPlan::Entry& entry : plan.entries) ++sizes[entry.group];
  std::uint64_t several = 0;
  for (const std::uint32_t size : sizes) several += size > 1 ? size : 0;
  return several > ranks / 2;
}

void set_kinds(FlushPlan& plan, const std::vector<ShareClass>& classes) {
  std::vector<ValueKinds> differ(plan.groups, kAllValueKinds);
  for (const ShareClass& one : classes)
    if (one.kinds) differ[plan.find_sender(one.ranks.first())->group] = one.kinds->differ;
  // Leads with equal values may stand for ranks whose values rules tell apart.
  for (const FlushPlan::Entry& entry : plan.entries)
    if (entry.by_rules) differ[entry.group] = kAllValueKinds;
  for (FlushPlan::Entry& entry : plan.entries) entry.kinds = differ[entry.group];
}

}  // namespace

FlushPlan make_plan(const std::vector<ShareClass>& classes, const Clustering& clustering,
                    FlushOptions options, std::uint32_t ranks,
                    const std::vector<Comparison>& comparisons) {
  FlushPlan plan;
  std::unordered_map<std::uint64_t, std::uint32_t> groups;
  RankList keepers;
  for (const ShareClass& one : classes) keepers.merge(one.ranks);
  for (const ShareClass& one : classes) {
    FlushPlan::Entry entry;
    entry.sender = one.ranks.first();
    entry.group =
        groups.try_emplace(one.structure, static_cast<std::uint32_t>(groups.size())).first->second;
    entry.relative = one.relative_holds;
    entry.ranks = one.ranks;
    if (options.fidelity != Fidelity::kExact)
      represent(entry, one, keepers, clustering, options, comparisons);
    entry.alone = entry.ranks.size() == 1;
    plan.entries.push_back(std::move(entry));
  }
  plan.groups = static_cast<std::uint32_t>(groups.size());
  std::sort(plan.entries.begin(), plan.entries.end(),
            [](const auto& a, const auto& b) { return a.sender < b.sender; });
  plan.filtered = filters(plan, options.filter, ranks);
  if (plan.filtered) set_kinds(plan, classes);
  return plan;
}

const FlushPlan::Entry* FlushPlan::find_sender(std::uint32_t rank) const {
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), rank,
      [](const Entry& entry, std::uint32_t wanted) { return entry.sender < wanted; });
  return found != entries.end() && found->sender == rank ? &*found : nullptr;
}

RankList FlushPlan::differing() const {
  RankList all;
  for (const Entry& entry : entries)
    for (const Inexact& one : entry.inexact) all.merge(one.ranks);
  return all;
}

Senders senders_of(const FlushPlan& plan) {
  Senders result;
  result.groups.resize(plan.groups);
  for (const FlushPlan::Entry& entry : plan.entries)  // by sender
    result.groups[entry.group].push_back(entry.sender);
  result.firsts.reserve(plan.groups);
  result.leave_out({});
  return result;
}

void Senders::leave_out(const Absent& absent) {
  firsts.clear();
  for (std::vector<std::uint32_t>& group : groups) {
    std::erase_if(group, [&](std::uint32_t rank) { return absent.names(rank); });
    if (!group.empty()) firsts.push_back(group.front());
  }
  std::sort(firsts.begin(), firsts.end());
}

void FlushPlan::Entry::encode(ByteWriter& writer) const {
  writer.varint(sender);
  writer.varint(group);
  writer.u8(static_cast<std::uint8_t>((relative ? 1 : 0) | (alone ? 2 : 0) | (by_xor ? 4 : 0) |
                                      (by_rules ? 8 : 0) | kinds << 4));
  ranks.encode(writer);
  encode_inexact(writer, inexact);
}

bool FlushPlan::Entry::decode(ByteReader& reader, Entry& value) {
  value.sender = static_cast<std::uint32_t>(reader.varint());
  value.group = static_cast<std::uint32_t>(reader.varint());
  const std::uint8_t flags = reader.u8();
  value.relative = (flags & 1) != 0;
  value.alone = (flags & 2) != 0;
  value.by_xor = (flags & 4) != 0;
  value.by_rules = (flags & 8) != 0;
  value.kinds = static_cast<ValueKinds>(flags >> 4);
  if (!RankList::decode(reader, value.ranks)) return false;
  return decode_inexact(reader, value.inexact);
}

void FlushPlan::encode(ByteWriter& writer) const {
  writer.varint(groups);
  writer.u8(filtered ? 1 : 0);
  writer.varint(entries.size());
  for (const Entry& entry : entries) entry.encode(writer);
}

bool FlushPlan::decode(ByteReader& reader, FlushPlan& value) {
  value.groups = static_cast<std::uint32_t>(reader.varint());
  value.filtered = reader.u8() != 0;
  value.entries.resize(reader.count(4));
  for (Entry& entry : value.entries)
    if (!Entry::decode(reader, entry) || entry.group >= value.groups) return false;
  return reader.ok();
}

}  // namespace chameleon::flush
