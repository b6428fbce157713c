// SPDX-License-Identifier: BSD-3-Clause
#include "flush/shipment.h"

#include <optional>
#include <set>

#include "base/attempt.h"
#include "base/memory.h"
#include "compress/merge.h"
#include "flush/node_params.h"
#include "flush/ruled.h"
#include "format/codec.h"
#include "format/file.h"
#include "format/node_codec.h"
#include "model/value_list.h"
#include "model/xor_reading.h"

namespace chameleon::flush {
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

namespace {

/// Kinds of which a rank's own trace has distributions only.
std::uint32_t limited_kinds(const std::vector<Node>& nodes) {
  std::uint32_t kinds = 0;
  for (const Node& node : nodes) {
    for (const Inexact& one : node.inexact) kinds |= one.kinds;
    kinds |= limited_kinds(node.body);
  }
  return kinds;
}

}  // namespace

Shipment prepare(const FlushPlan::Entry& entry, Share& share) {
  Shipment shipment;
  shipment.trace = std::move(share.trace);
  if (of_first_stream(shipment.trace)) shipment.trace.ranks = entry.ranks;
  shipment.values_only = true;
  shipment.kinds = entry.kinds;
  if (entry.by_rules && share.rules != nullptr)
    apply_rules(shipment.trace, entry, *share.rules, share.sites);
  if (!is_single(entry.ranks))  // of one rank, both readings stay
    each_param(
        shipment.trace.nodes, shipment.trace,
        [&](Param& param, EndPointForm relative, EndPointForm mixed) {
          if (param.grouped()) return;
          const bool by_xor = entry.by_xor && relative == EndPointForm::kRelative;
          if (by_xor && move_to(param, entry.sender, entry.ranks, shipment.trace.world_size))
            return;
          param.canonicalize((entry.relative ? relative : mixed) == EndPointForm::kRelative);
        },
        [](Param&, ValueKind) {});
  shipment.inexact = entry.inexact;
  // Of whoever the trace stands for, and of all nodes: values may travel without theirs.
  if (const std::uint32_t kinds = limited_kinds(shipment.trace.nodes); kinds != 0)
    merge_inexact(shipment.inexact, {{entry.ranks, kinds}});
  declare(shipment.trace, shipment.inexact);
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

namespace {

/// Arrays of values that stay at home: where they stay, others have them too.
std::set<std::uint64_t> arrays_at_home(const Trace& trace, ValueKinds kinds) {
  std::set<std::uint64_t> ids;
  if (kinds == kAllValueKinds) return ids;
  const auto add = [&](const auto& self, const std::vector<Node>& nodes) -> void {
    for (const Node& node : nodes) {
      self(self, node.body);
      const auto call = trace.calls.find(node.call);
      if (node.is_loop() || call == trace.calls.end()) continue;
      for (std::size_t i = 0; i < node.params.size(); ++i) {
        if (i >= call->second.fields.size() || travels(trace, node, i, kinds) ||
            call->second.fields[i].stored != FieldKind::kArray)
          continue;
        node.params[i].for_each_group({}, [&](const RankList&, EndPointForm, const auto& values) {
          static_cast<void>(values.map_each([&](std::int64_t id) {
            ids.insert(static_cast<std::uint64_t>(id));
            return id;
          }));
        });
      }
    }
  };
  add(add, trace.nodes);
  return ids;
}

}  // namespace

void Shipment::encode(ByteWriter& writer) const {
  writer.u8(static_cast<std::uint8_t>((values_only ? 1 : 0) | kinds << 1));
  if (!values_only) return writer.raw(encode_trace(trace));
  trace.ranks.encode(writer);
  const std::set<std::uint64_t> at_home = arrays_at_home(trace, kinds);
  std::vector<std::int64_t> sent;
  for (const auto& [id, array] : trace.arrays)
    if (at_home.count(id) == 0) sent.push_back(static_cast<std::int64_t>(id));
  writer.varint(sent.size());
  std::uint64_t left = UINT64_MAX;
  for (const std::int64_t id : sent)
    encode_list(writer, trace.arrays.at(static_cast<std::uint64_t>(id)), left);
  encode_inexact(writer, inexact);
  write_values(writer, trace, sent, [this](const Node& node, std::size_t param) {
    return travels(trace, node, param, kinds);
  });
}

/// A trace for which there is no memory is left out, and its ranks are missing: rank 0, and any
/// other node of the tree, has what it holds itself and no more than a bound for all others. Of
/// less than kLeastBounded bytes, encoded, it takes little memory in any case.
template <class Take>
static Failure within_memory(std::size_t bytes, Take take) {
  constexpr std::size_t kLeastBounded = std::size_t{16} << 10;
  return attempt([&] {
    std::optional<MergeBound> bound;
    if (bytes >= kLeastBounded) bound.emplace();
    take();
  });
}

bool Shipment::decode(ByteReader& reader, Shipment& value) {
  const std::uint8_t how = reader.u8();
  value.values_only = (how & 1) != 0;
  value.kinds = static_cast<ValueKinds>(how >> 1 & kAllValueKinds);
  const auto rest = reader.raw(reader.remaining());
  if (value.values_only) {
    value.received.assign(rest.begin(), rest.end());
    return reader.ok();
  }
  Result<Trace> trace = Trace();
  const Failure failure = within_memory(rest.size(), [&] { trace = decode_trace(rest); });
  if (failure == Failure::kMemory) return value = Shipment(), reader.ok();
  if (failure != Failure::kNone || !trace) return false;
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
  std::vector<std::int64_t> arrays;
  for (std::uint64_t left = reader.count(1); left != 0 && reader.ok(); --left) {
    std::vector<std::int64_t> array;
    if (!decode_list(reader, UINT64_MAX, array)) return false;
    arrays.push_back(static_cast<std::int64_t>(trace.intern(std::move(array))));
  }
  trace.world_size = mine.world_size;  // tables may follow from it by a formula
  trace.calls = mine.calls;
  trace.nodes = mine.nodes;
  if (!decode_inexact(reader, theirs.inexact)) return false;
  clear_inexact(trace.nodes);
  declare(trace, theirs.inexact);
  return read_values(reader, trace, arrays, [&](const Node& node, std::size_t param) {
    return travels(trace, node, param, theirs.kinds);
  });
}

}  // namespace

void join_shipments(Shipment& mine, Shipment&& theirs) {
  if (mine.trace.ranks.empty()) {  // values alone belong to a trace that was lost
    if (!theirs.values_only) mine = std::move(theirs);
    return;
  }
  bool good = true;
  if (!theirs.received.empty()) {
    const Failure failure =
        within_memory(theirs.received.size(), [&] { good = unpack(mine.trace, theirs); });
    good = good && failure == Failure::kNone;
  }
  if (!good || theirs.trace.ranks.empty()) return;  // left out
  merge_inexact(mine.inexact, theirs.inexact);      // goes on with the values of both
  merge(mine.trace, std::move(theirs.trace));
}

}  // namespace chameleon::flush
