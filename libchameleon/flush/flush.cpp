// SPDX-License-Identifier: BSD-3-Clause
#include "flush/flush.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/hash.h"
#include "compress/merge.h"
#include "format/codec.h"
#include "format/file.h"
#include "format/node_codec.h"
#include "model/xor_reading.h"

namespace chameleon::flush {
namespace {

/// A partner that is rank 0 every time is taken for a root, which ranks share.
bool always_rank_zero(const Param& param) {
  return param.values().is_constant() && packed_absolute(param.values().front()) == 0;
}

/// Calls f(param, reading of `relative`, reading of `mixed`) on every end-point
/// of nodes of one rank, and g(param) on everything else.
template <class Nodes, class F, class G>
void each_param(Nodes& nodes, const Trace& trace, F end_point, G other) {
  for (auto& node : nodes) {
    if (node.is_loop()) {
      other(node.iterations);
      each_param(node.body, trace, end_point, other);
      continue;
    }
    const auto call = trace.calls.find(node.call);
    for (std::size_t i = 0; i < node.params.size(); ++i) {
      auto& param = node.params[i];
      const bool known = call != trace.calls.end() && i < call->second.fields.size();
      if (!known || call->second.fields[i].stored != FieldKind::kEndPoint) {
        other(param);
        continue;
      }
      const bool root = call->second.fields[i].kind == "root";
      end_point(
          param, root ? EndPointForm::kAbsolute : EndPointForm::kRelative,
          root || always_rank_zero(param) ? EndPointForm::kAbsolute : EndPointForm::kRelative);
    }
  }
}

std::uint64_t structure_hash(const std::vector<Node>& nodes) {
  std::uint64_t hash = nodes.size();
  for (const Node& node : nodes)
    hash = combine(hash, node.is_loop() ? structure_hash(node.body)
                                        : combine(node.symbol(), node.params.size()));
  return hash;
}

void encode_inexact(ByteWriter& writer, const std::vector<Inexact>& list) {
  writer.varint(list.size());
  for (const Inexact& one : list) {
    writer.varint(one.kinds);
    one.ranks.encode(writer);
  }
}

bool decode_inexact(ByteReader& reader, std::vector<Inexact>& list) {
  list.resize(reader.count(2));
  for (Inexact& one : list) {
    one.kinds = static_cast<std::uint32_t>(reader.varint());
    if (!RankList::decode(reader, one.ranks)) return false;
  }
  return reader.ok();
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
  each_param(
      share.trace.nodes, share.trace,
      [&](const Param& param, EndPointForm relative, EndPointForm mixed) {
        const std::uint64_t one = param.values().map_linear(ProjectEndPoint{relative}).hash();
        result.relative = combine(result.relative, one);
        result.mixed = combine(
            result.mixed,
            mixed == relative ? one : ~param.values().map_linear(ProjectEndPoint{mixed}).hash());
      },
      [&](const Param& param) {
        result.relative = combine(result.relative, param.values().hash());
        result.mixed = combine(result.mixed, param.values().hash());
      });
  return result;
}

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
  for (ShareClass& other : theirs) {
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
                                      (paused ? 4 : 0)));
  writer.varint(events);
  ranks.encode(writer);
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
  return RankList::decode(reader, value.ranks);
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

/// Of a plan: how many unsuccessful polls there were, and nothing else. The nodes of the calls that
/// poll say that their events are inexact.
constexpr std::uint32_t kInexactPolls = kInexactAll + 1;

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
               const Clustering& clustering, const std::vector<Comparison>& comparisons) {
  bool mixed = false;
  each_represented(one, keepers, clustering, [&](const SubCluster& cluster, const RankList&) {
    entry.by_xor = one.ranks.size() == 1 && cluster.by_xor();
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

FlushPlan make_plan(const std::vector<ShareClass>& classes, const Clustering& clustering,
                    Fidelity fidelity, const std::vector<Comparison>& comparisons) {
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
    if (fidelity != Fidelity::kExact) represent(entry, one, keepers, clustering, comparisons);
    entry.alone = entry.ranks.size() == 1;
    plan.entries.push_back(std::move(entry));
  }
  plan.groups = static_cast<std::uint32_t>(groups.size());
  std::sort(plan.entries.begin(), plan.entries.end(),
            [](const auto& a, const auto& b) { return a.sender < b.sender; });
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
  writer.u8(static_cast<std::uint8_t>((relative ? 1 : 0) | (alone ? 2 : 0) | (by_xor ? 4 : 0)));
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
  if (!RankList::decode(reader, value.ranks)) return false;
  return decode_inexact(reader, value.inexact);
}

void FlushPlan::encode(ByteWriter& writer) const {
  writer.varint(groups);
  writer.varint(entries.size());
  for (const Entry& entry : entries) entry.encode(writer);
}

bool FlushPlan::decode(ByteReader& reader, FlushPlan& value) {
  value.groups = static_cast<std::uint32_t>(reader.varint());
  value.entries.resize(reader.count(4));
  for (Entry& entry : value.entries)
    if (!Entry::decode(reader, entry) || entry.group >= value.groups) return false;
  return reader.ok();
}

namespace {

/// Gives each of `ranks` partners that follow from those of `lead` by XOR, if all can have such.
bool move_to(Param& param, std::uint32_t lead, const RankList& ranks, std::uint32_t size) {
  std::vector<ParamGroup> groups;
  for (const std::uint32_t rank : ranks.ranks()) {
    auto values = move_by_xor(param.values(), lead, rank, size);
    if (!values) return false;
    groups.push_back({RankList::single(rank), EndPointForm::kAbsolute, std::move(*values)});
  }
  param.set_groups(std::move(groups));
  return true;
}

}  // namespace

Shipment prepare(const FlushPlan::Entry& entry, Share& share) {
  Shipment shipment;
  shipment.trace = std::move(share.trace);
  if (shipment.trace.ranks.size() <= 1) shipment.trace.ranks = entry.ranks;
  shipment.values_only = true;
  if (!entry.alone)
    each_param(
        shipment.trace.nodes, shipment.trace,
        [&](Param& param, EndPointForm relative, EndPointForm mixed) {
          const bool by_xor = entry.by_xor && relative == EndPointForm::kRelative;
          if (by_xor && move_to(param, entry.sender, entry.ranks, shipment.trace.world_size))
            return;
          param.canonicalize((entry.relative ? relative : mixed) == EndPointForm::kRelative);
        },
        [](Param&) {});
  shipment.inexact = entry.inexact;
  declare(shipment.trace, entry.inexact);
  return shipment;
}

namespace {

/// Declares that of the calls that poll nobody knows how often they came for these ranks.
void declare_polls(std::vector<Node>& nodes, const Trace& trace, const RankList& ranks) {
  for (Node& node : nodes) {
    declare_polls(node.body, trace, ranks);
    const auto call = trace.calls.find(node.call);
    if (node.is_loop() || call == trace.calls.end()) continue;
    for (const Field& field : call->second.fields)
      if (field.name == "flag") merge_inexact(node.inexact, {{ranks, kInexactEvents}});
  }
}

}  // namespace

void declare(Trace& trace, const std::vector<Inexact>& inexact) {
  for (const Inexact& one : inexact) {
    if ((one.kinds & kInexactPolls) != 0) declare_polls(trace.nodes, trace, one.ranks);
    const std::uint32_t kinds = one.kinds & kInexactAll;
    if (kinds == 0) continue;
    for (Node& node : trace.nodes) merge_inexact(node.inexact, {{one.ranks, kinds}});
  }
}

void Shipment::encode(ByteWriter& writer) const {
  writer.u8(values_only ? 1 : 0);
  if (!values_only) return writer.raw(encode_trace(trace));
  trace.ranks.encode(writer);
  writer.varint(trace.arrays.size());
  for (const auto& [id, array] : trace.arrays) {
    ValueSequence values;
    for (const std::int64_t element : array) values.append(element);
    values.encode(writer);
  }
  encode_inexact(writer, inexact);
  write_values(writer, trace);
}

bool Shipment::decode(ByteReader& reader, Shipment& value) {
  value.values_only = reader.u8() != 0;
  const auto rest = reader.raw(reader.remaining());
  if (value.values_only) {
    value.received.assign(rest.begin(), rest.end());
    return reader.ok();
  }
  auto trace = decode_trace(rest);
  if (!trace) return false;
  value.trace = std::move(*trace);
  return reader.ok();
}

namespace {

void clear_inexact(std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    node.inexact.clear();
    clear_inexact(node.body);
  }
}

/// Values of a trace of the same structure as `mine`.
bool unpack(const Trace& mine, Shipment& theirs) {
  ByteReader reader(theirs.received);
  Trace& trace = theirs.trace;
  if (!RankList::decode(reader, trace.ranks)) return false;
  const std::uint64_t arrays = reader.count(1);
  for (std::uint64_t i = 0; i < arrays && reader.ok(); ++i) {
    ValueSequence values;
    if (!ValueSequence::decode(reader, values)) return false;
    std::vector<std::int64_t> array;
    for (ValueSequence::Cursor cursor(values); !cursor.done();) array.push_back(cursor.next());
    trace.intern(std::move(array));
  }
  trace.world_size = mine.world_size;  // tables may follow from it by a formula
  trace.calls = mine.calls;
  trace.nodes = mine.nodes;
  if (!decode_inexact(reader, theirs.inexact)) return false;
  clear_inexact(trace.nodes);
  declare(trace, theirs.inexact);
  return read_values(reader, trace);
}

}  // namespace

void join_shipments(Shipment& mine, Shipment&& theirs) {
  if (!theirs.received.empty() && !unpack(mine.trace, theirs)) return;
  merge_inexact(mine.inexact, theirs.inexact);  // goes on with the values of both
  merge(mine.trace, std::move(theirs.trace));
}

Trace finish_flush(Trace merged, const std::vector<ShareClass>& classes, const FlushPlan& plan) {
  drop_ranks(merged);
  RankList paused;
  for (const ShareClass& one : classes) {
    if (!merged.ranks.contains(one.ranks.first())) continue;  // lost on the way here
    plan.find_sender(one.ranks.first())->ranks.for_each([&](std::uint32_t rank) {
      merged.facts[rank].events = one.events;
    });
    if (one.paused) paused.merge(one.ranks);
  }
  if (!paused.empty()) merged.declarations.push_back({kPausedDeclaration, paused});
  return merged;
}

}  // namespace chameleon::flush
