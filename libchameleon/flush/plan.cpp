// SPDX-License-Identifier: BSD-3-Clause
#include "flush/plan.h"

#include <algorithm>
#include <unordered_map>

#include "flush/node_params.h"

namespace chameleon::flush {

const char* fidelity_name(Fidelity fidelity) {
  return fidelity == Fidelity::kExact ? "exact" : fidelity == Fidelity::kLead ? "lead" : "checked";
}

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
  std::vector<std::uint64_t> sizes(plan.groups);
  for (const FlushPlan::Entry& entry : plan.entries) ++sizes[entry.group];
  for (const FlushPlan::Crowd& crowd : plan.crowds) sizes[crowd.group] += crowd.ranks.size();
  std::uint64_t several = 0;
  for (const std::uint64_t size : sizes) several += size > 1 ? size : 0;
  return several > ranks / 2;
}

class Planner {
 public:
  Planner(const std::vector<ShareClass>& classes, const Clustering& clustering,
          const FlushOptions& options, const std::vector<Comparison>& comparisons)
      : clustering_(clustering), options_(options), comparisons_(comparisons) {
    for (const ShareClass& one : classes) keepers_.merge(one.ranks);
  }

  void add(const ShareClass& one) {
    const std::uint32_t group = group_of(one);
    if (one.kinds) differ_[group] = one.kinds->differ;
    if (one.is_crowd())
      add_crowd(one, group);
    else
      add_entry(one, group);
  }

  FlushPlan take(std::uint32_t ranks) {
    plan_.groups = static_cast<std::uint32_t>(differ_.size());
    std::sort(plan_.entries.begin(), plan_.entries.end(),
              [](const auto& a, const auto& b) { return a.sender < b.sender; });
    plan_.filtered = filters(plan_, options_.filter, ranks);
    if (plan_.filtered) set_kinds();
    return std::move(plan_);
  }

 private:
  /// Classes of one structure are a group, and so is a crowd without one.
  std::uint32_t group_of(const ShareClass& one) {
    const auto next = static_cast<std::uint32_t>(differ_.size());
    const bool apart = one.alike == Alike::kNothing;
    const std::uint32_t group =
        apart ? next : groups_.try_emplace(one.structure, next).first->second;
    if (group == next) differ_.push_back(kAllValueKinds);
    return group;
  }

  void add_entry(const ShareClass& one, std::uint32_t group) {
    FlushPlan::Entry entry;
    entry.sender = one.ranks.first();
    entry.group = group;
    entry.relative = one.relative_holds;
    entry.ranks = one.ranks;
    if (options_.fidelity != Fidelity::kExact)
      represent(entry, one, keepers_, clustering_, options_, comparisons_);
    plan_.entries.push_back(std::move(entry));
  }

  /// Leads that stand for others have entries of their own.
  void add_crowd(const ShareClass& one, std::uint32_t group) {
    RankList leads;
    if (options_.fidelity != Fidelity::kExact)
      each_represented(one, keepers_, clustering_, [&](const SubCluster& cluster, const RankList&) {
        leads.merge(RankList::single(cluster.lead));
      });
    ShareClass single;
    leads.for_each([&](std::uint32_t rank) {
      single.ranks = RankList::single(rank);
      add_entry(single, group);
    });
    FlushPlan::Crowd crowd;
    crowd.group = group;
    crowd.whole = one.alike == Alike::kNothing;
    crowd.ranks = one.ranks.minus(leads);
    plan_.crowds.push_back(std::move(crowd));
  }

  void set_kinds() {
    // Leads with equal values may stand for ranks whose values rules tell apart.
    for (const FlushPlan::Entry& entry : plan_.entries)
      if (entry.by_rules) differ_[entry.group] = kAllValueKinds;
    for (FlushPlan::Entry& entry : plan_.entries) entry.kinds = differ_[entry.group];
    for (FlushPlan::Crowd& crowd : plan_.crowds) crowd.kinds = differ_[crowd.group];
  }

  const Clustering& clustering_;
  const FlushOptions& options_;
  const std::vector<Comparison>& comparisons_;
  RankList keepers_;
  std::unordered_map<std::uint64_t, std::uint32_t> groups_;  ///< by structure
  std::vector<ValueKinds> differ_;                           ///< by group
  FlushPlan plan_;
};

}  // namespace

FlushPlan make_plan(const std::vector<ShareClass>& classes, const Clustering& clustering,
                    FlushOptions options, std::uint32_t ranks,
                    const std::vector<Comparison>& comparisons) {
  Planner planner(classes, clustering, options, comparisons);
  for (const ShareClass& one : classes) planner.add(one);
  return planner.take(ranks);
}

const FlushPlan::Entry* FlushPlan::find_sender(std::uint32_t rank) const {
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), rank,
      [](const Entry& entry, std::uint32_t wanted) { return entry.sender < wanted; });
  return found != entries.end() && found->sender == rank ? &*found : nullptr;
}

std::optional<FlushPlan::Entry> FlushPlan::entry_of(std::uint32_t rank) const {
  if (const Entry* entry = find_sender(rank); entry != nullptr) return *entry;
  const auto found = std::find_if(crowds.begin(), crowds.end(),
                                  [&](const Crowd& crowd) { return crowd.ranks.contains(rank); });
  if (found == crowds.end()) return std::nullopt;
  Entry entry;
  entry.sender = rank;
  entry.group = found->group;
  entry.kinds = found->kinds;
  entry.ranks = RankList::single(rank);
  return entry;
}

bool FlushPlan::is_whole(std::uint32_t group) const {
  return std::any_of(crowds.begin(), crowds.end(),
                     [&](const Crowd& crowd) { return crowd.group == group && crowd.whole; });
}

RankList FlushPlan::differing() const {
  RankList all;
  for (const Entry& entry : entries)
    for (const Inexact& one : entry.inexact) all.merge(one.ranks);
  return all;
}

namespace {

/// What there is of an entry, behind what holds for it: 7 bits, which take a byte.
enum EntryPart : std::uint8_t { kOtherSender = 16, kSomeInexact = 32, kSomeKinds = 64 };

bool decode_single(ByteReader& reader, RankList& ranks) {
  const std::uint64_t rank = reader.varint();
  if (rank >= RankList::kMaxRanks) return false;
  ranks = RankList::single(static_cast<std::uint32_t>(rank));
  return true;
}

}  // namespace

void FlushPlan::Entry::encode(ByteWriter& writer) const {
  const bool single = is_single(ranks), other = sender != ranks.first();
  const bool some_kinds = kinds != kAllValueKinds;
  writer.u8(static_cast<std::uint8_t>((relative ? 1 : 0) | (single ? 2 : 0) | (by_xor ? 4 : 0) |
                                      (by_rules ? 8 : 0) | (other ? kOtherSender : 0) |
                                      (inexact.empty() ? 0 : kSomeInexact) |
                                      (some_kinds ? kSomeKinds : 0)));
  writer.varint(group);
  single ? writer.varint(ranks.first()) : ranks.encode(writer);
  if (some_kinds) writer.u8(kinds);
  if (other) writer.svarint(std::int64_t{sender} - ranks.first());
  if (!inexact.empty()) encode_inexact(writer, inexact);
}

bool FlushPlan::Entry::decode(ByteReader& reader, Entry& value) {
  const std::uint8_t flags = reader.u8();
  value.relative = (flags & 1) != 0;
  const bool single = (flags & 2) != 0;
  value.by_xor = (flags & 4) != 0;
  value.by_rules = (flags & 8) != 0;
  value.group = static_cast<std::uint32_t>(reader.varint());
  if (!(single ? decode_single(reader, value.ranks) : RankList::decode(reader, value.ranks)))
    return false;
  if ((flags & kSomeKinds) != 0) value.kinds = reader.u8() & kAllValueKinds;
  value.sender = value.ranks.first();
  if ((flags & kOtherSender) != 0) value.sender += static_cast<std::uint32_t>(reader.svarint());
  return (flags & kSomeInexact) == 0 || decode_inexact(reader, value.inexact);
}

void FlushPlan::Crowd::encode(ByteWriter& writer) const {
  writer.varint(group);
  writer.u8(static_cast<std::uint8_t>((whole ? 1 : 0) | kinds << 4));
  ranks.encode(writer);
}

bool FlushPlan::Crowd::decode(ByteReader& reader, Crowd& value) {
  value.group = static_cast<std::uint32_t>(reader.varint());
  const std::uint8_t flags = reader.u8();
  value.whole = (flags & 1) != 0;
  value.kinds = static_cast<ValueKinds>(flags >> 4);
  return RankList::decode(reader, value.ranks);
}

void FlushPlan::encode(ByteWriter& writer) const {
  writer.varint(groups);
  writer.u8(filtered ? 1 : 0);
  writer.varint(entries.size());
  for (const Entry& entry : entries) entry.encode(writer);
  writer.varint(crowds.size());
  for (const Crowd& crowd : crowds) crowd.encode(writer);
}

bool FlushPlan::decode(ByteReader& reader, FlushPlan& value) {
  value.groups = static_cast<std::uint32_t>(reader.varint());
  value.filtered = reader.u8() != 0;
  value.entries.resize(reader.count(3));
  for (Entry& entry : value.entries)
    if (!Entry::decode(reader, entry) || entry.group >= value.groups) return false;
  value.crowds.resize(reader.count(3));
  for (Crowd& crowd : value.crowds)
    if (!Crowd::decode(reader, crowd) || crowd.group >= value.groups) return false;
  return reader.ok();
}

}  // namespace chameleon::flush
