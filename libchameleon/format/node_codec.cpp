// SPDX-License-Identifier: BSD-3-Clause
#include "format/node_codec.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/read_budget.h"
#include "format/rank_formula.h"
#include "format/value_parts.h"
#include "format/value_table.h"
#include "model/both_readings.h"
#include "model/coded_values.h"

namespace chameleon::format {
namespace {

constexpr unsigned kDeepestNesting = 200;
constexpr int kBothReadings = 3;  ///< in place of a form: both, as fewer bytes
/// A node takes many times its bytes in a file: what a file claims is believed up to here.
constexpr std::uint64_t kMostReserved = 256;

using Symbols = std::map<std::uint64_t, std::pair<std::uint16_t, std::uint64_t>>;

void collect(const std::vector<Node>& nodes, Symbols& symbols) {
  for (const Node& node : nodes) {
    collect(node.body, symbols);
    if (!node.is_loop()) symbols.try_emplace(node.symbol(), node.call, node.path);
  }
}

class NodeWriter {
 public:
  NodeWriter(ByteWriter& out, const Trace& trace, bool small = false)
      : out_(out),
        small_(small),
        size_(trace.world_size),
        calls_(trace.calls),
        paths_(places(trace.paths)) {
    collect(trace.nodes, symbols_);
    for (const auto& [symbol, identity] : symbols_)
      symbol_places_.emplace(symbol, symbol_places_.size() + 1);
  }

  /// Fields of arrays are written as places in the table, but for those of `by_hash`; to these a
  /// field is added that has another array.
  void name_arrays(const std::vector<std::int64_t>& ids, CallFields& by_hash) {
    for (const std::int64_t id : ids) arrays_.emplace(id, arrays_.size());
    by_hash_ = &by_hash;
  }

  void symbols() {
    out_.varint(symbols_.size());
    for (const auto& [symbol, identity] : symbols_) {
      out_.varint(identity.first);
      path(identity.second);
    }
  }

  void list(const std::vector<Node>& nodes) {
    out_.varint(nodes.size());
    for (const Node& node : nodes) write(node);
  }

  void values(const std::vector<Node>& nodes, const WrittenParam& written) {
    for (const Node& node : nodes) {
      out_.u8(node.ranks.empty() ? 0 : 1);
      if (!node.ranks.empty()) node.ranks.encode(out_);
      if (node.is_loop() && written(node, 0)) param(node.iterations);
      for (std::size_t i = 0; i < node.params.size(); ++i)
        if (written(node, i)) field(node, i);
      times(node);
      values(node.body, written);
    }
  }

 private:
  using Place = std::function<std::int64_t(std::int64_t)>;

  void path(std::uint64_t signature) {
    const auto found = paths_.find(signature);
    out_.varint(found == paths_.end() ? 0 : found->second + 1);
    if (found == paths_.end()) out_.u64(signature);
  }

  void write(const Node& node) {
    const bool own_ranks = !node.ranks.empty();
    out_.u8(static_cast<std::uint8_t>((node.is_loop() ? 1 : 0) | (own_ranks ? 2 : 0) |
                                      (node.inexact.empty() ? 0 : 4)));
    if (own_ranks) node.ranks.encode(out_);
    if (!node.inexact.empty()) {
      out_.varint(node.inexact.size());
      for (const Inexact& entry : node.inexact) {
        out_.varint(entry.kinds);
        entry.ranks.encode(out_);
      }
    }
    if (node.is_loop()) {
      param(node.iterations);
      list(node.body);
      return;
    }
    out_.varint(symbol_places_.at(node.symbol()) - 1);
    out_.varint(node.params.size());
    for (std::size_t i = 0; i < node.params.size(); ++i) field(node, i);
    times(node);
  }

  void field(const Node& node, std::size_t i) {
    const std::pair of(node.call, i);
    found_all_ = true;
    param(node.params[i], is_by_place(of) ? &place_ : nullptr);
    if (!found_all_) by_hash_->insert(of);
  }

  bool is_by_place(const std::pair<std::uint16_t, std::size_t>& field) const {
    if (by_hash_ == nullptr || by_hash_->contains(field)) return false;
    const auto call = calls_.find(field.first);
    return call != calls_.end() && field.second < call->second.fields.size() &&
           call->second.fields[field.second].stored == FieldKind::kArray;
  }

  std::int64_t place_of(std::int64_t array) {
    const auto found = arrays_.find(array);
    found_all_ = found_all_ && found != arrays_.end();
    return found == arrays_.end() ? 0 : static_cast<std::int64_t>(found->second);
  }

  // A predecessor may stand in an earlier commit only: then its symbol is written.
  void times(const Node& node) {
    out_.varint(node.times.size());
    for (const TimeEntry& entry : node.times) {
      const auto before = symbol_places_.find(entry.predecessor);
      const bool here = before != symbol_places_.end();
      out_.varint(entry.predecessor == 0 ? 0 : here ? before->second : symbols_.size() + 1);
      if (entry.predecessor != 0 && !here) out_.u64(entry.predecessor);
      out_.u8(entry.ranks.empty() ? 0 : 1);
      if (!entry.ranks.empty()) entry.ranks.encode(out_);
      entry.compute.encode(out_);
      entry.communication.encode(out_);
    }
  }

  // 0: one group. 1: groups. 2: every rank of its own with one value, written as
  // a rank set and the values in rank order, which compress as a sequence. 3: the same, where a
  // formula gives the values. 1 with a form: the parts of ValueParts.
  void param(const Param& value, const Place* place = nullptr) {
    if (!value.grouped()) return in_form(value.form(), value.values(), place, 2);
    if (const auto table = ValueTable::of(value, size_, place == nullptr)) {
      table->encode_head(out_);
      return table->formula ? table->formula->encode(out_) : write(table->values, place);
    }
    if (const auto split = ValueParts::of(value.groups())) {
      out_.u8(static_cast<std::uint8_t>(1 | ((static_cast<int>(split->form) + 1) << 2)));
      return split->encode(out_, [&](const ValueSequence& values) { write(values, place); });
    }
    out_.u8(1);
    out_.varint(value.groups().size());
    for (const ParamGroup& group : value.groups()) {
      group.ranks.encode(out_);
      in_form(group.form, group.values, place, 0);
    }
  }

  /// The form in a byte, moved by some bits, and values in it.
  void in_form(EndPointForm form, const ValueSequence& values, const Place* place, int bits) {
    const auto both =
        form == EndPointForm::kBoth && place == nullptr ? BothReadings::of(values) : std::nullopt;
    out_.u8(static_cast<std::uint8_t>((both ? kBothReadings : static_cast<int>(form)) << bits));
    if (!both) return write(values, place);
    out_.svarint(both->self);
    write(both->values, nullptr);
  }

  void write(const ValueSequence& values, const Place* place) {
    if (small_)
      values.encode_small(out_, coded_left_, place);
    else
      values.encode(out_, place);
  }

  ByteWriter& out_;
  const bool small_;  ///< values may be coded
  std::uint64_t coded_left_ = CodedValues::kMostWork;
  const std::uint32_t size_;
  const std::map<std::uint16_t, CallDescription>& calls_;
  std::map<std::uint64_t, std::uint64_t> paths_;
  std::unordered_map<std::int64_t, std::size_t> arrays_;  ///< places
  CallFields* by_hash_ = nullptr;                         ///< null: all are
  bool found_all_ = true;                                 ///< arrays of the field at hand
  const Place place_ = [this](std::int64_t array) { return place_of(array); };
  Symbols symbols_;
  std::map<std::uint64_t, std::uint64_t> symbol_places_;
};

class NodeReader {
 public:
  NodeReader(ByteReader& in, const TableOrder& order, const Trace& trace)
      : in_(in),
        order_(order),
        calls_(trace.calls),
        most_ranks_(rank_count(trace)),
        size_(trace.world_size) {}

  void symbols() {
    const std::uint64_t count = in_.count(2);
    for (std::uint64_t i = 0; i < count && in_.ok(); ++i) {
      const std::uint64_t call = in_.varint();
      if (call > UINT16_MAX) in_.fail();
      symbols_.emplace_back(static_cast<std::uint16_t>(call), path());
    }
  }

  std::vector<Node> list(unsigned depth) {
    std::vector<Node> nodes;
    if (depth > kDeepestNesting) in_.fail();
    const std::uint64_t count = in_.count(3);
    ReadBudget::take(count, 2 * sizeof(Node));
    nodes.reserve(std::min(count, kMostReserved));
    for (std::uint64_t i = 0; i < count && in_.ok(); ++i) read(nodes.emplace_back(), depth);
    return nodes;
  }

  /// The symbols of nodes already known, in the order `NodeWriter` gives them.
  void symbols_of(const std::vector<Node>& nodes) {
    Symbols known;
    collect(nodes, known);
    for (const auto& [symbol, identity] : known) symbols_.push_back(identity);
  }

  void values(std::vector<Node>& nodes, const WrittenParam& written) {
    for (Node& node : nodes) {
      if (!in_.ok()) return;
      node.ranks = RankList();
      if (in_.u8() != 0) ranks(node.ranks);
      if (node.is_loop() && written(node, 0)) param(node.iterations = Param());
      for (std::size_t i = 0; i < node.params.size(); ++i)
        if (written(node, i)) param(node.params[i] = Param(), arrays_of({node.call, i}));
      node.times.clear();
      times(node);
      values(node.body, written);
    }
  }

 private:
  std::uint64_t path() {
    const std::uint64_t place = in_.varint();
    if (place == 0) return in_.u64();
    if (place > order_.paths.size()) return in_.fail();
    return order_.paths[place - 1];
  }

  void read(Node& node, unsigned depth) {
    const std::uint8_t flags = in_.u8();
    if (flags > 7) in_.fail();
    if ((flags & 2) != 0) ranks(node.ranks);
    if ((flags & 4) != 0) inexact(node.inexact);
    if ((flags & 1) != 0) {
      param(node.iterations);
      node.body = list(depth + 1);
      if (node.body.empty()) in_.fail();
      node.shape = shape_of(node.body);
      return;
    }
    const std::uint64_t symbol = in_.varint();
    if (symbol >= symbols_.size()) {
      in_.fail();
      return;
    }
    node.call = symbols_[symbol].first;
    node.path = symbols_[symbol].second;
    node.shape = Shape::of(node.symbol());
    const std::uint64_t params = in_.count(2);
    const auto call = calls_.find(node.call);
    if (call == calls_.end() || params != call->second.fields.size()) in_.fail();
    ReadBudget::take(params, 2 * sizeof(Param));
    if (in_.ok()) node.params.reserve(std::min(params, kMostReserved));
    for (std::uint64_t i = 0; i < params && in_.ok(); ++i)
      param(node.params.emplace_back(), arrays_of({node.call, i}));
    times(node);
  }

  /// The table whose places a field has instead of hashes, or null.
  const std::vector<std::int64_t>* arrays_of(
      const std::pair<std::uint16_t, std::size_t>& field) const {
    return order_.by_place.contains(field) ? &order_.arrays : nullptr;
  }

  void times(Node& node) {
    const std::uint64_t count = in_.count(4);
    ReadBudget::take(count, 2 * sizeof(TimeEntry));
    node.times.reserve(std::min(count, kMostReserved));
    for (std::uint64_t i = 0; i < count && in_.ok(); ++i) time_entry(node.times.emplace_back());
  }

  void time_entry(TimeEntry& entry) {
    const std::uint64_t before = in_.varint();
    if (before > symbols_.size() + 1) in_.fail();
    if (in_.ok() && before > symbols_.size()) {
      entry.predecessor = in_.u64();
    } else if (in_.ok() && before > 0) {
      const auto& [call, path] = symbols_[before - 1];
      entry.predecessor = Node::event_symbol(call, path);
    }
    if (in_.u8() != 0) ranks(entry.ranks);
    if (!Histogram::decode(in_, entry.compute) || !Histogram::decode(in_, entry.communication))
      in_.fail();
  }

  /// Most lists are like one before, and one in memory with it.
  void ranks(RankList& list) {
    if (!RankList::decode(in_, list) || list.empty()) in_.fail();
    if (list.runs().size() < 2) return;
    const RankList& before = lists_.try_emplace(list.hash(), list).first->second;
    if (before == list) list = before;
  }

  void inexact(std::vector<Inexact>& list) {
    const std::uint64_t count = in_.count(2);
    ReadBudget::take(count, 2 * sizeof(Inexact));
    for (std::uint64_t i = 0; i < count && in_.ok(); ++i) {
      Inexact entry;
      const std::uint64_t kinds = in_.varint();
      if (kinds == 0 || kinds > kInexactAll) in_.fail();
      entry.kinds = static_cast<std::uint32_t>(kinds);
      ranks(entry.ranks);
      list.push_back(std::move(entry));
    }
  }

  EndPointForm form(std::uint64_t code) {
    if (code > 2) in_.fail();
    return static_cast<EndPointForm>(in_.ok() ? code : 0);
  }

  EndPointForm in_form(std::uint64_t code, ValueSequence& values,
                       const std::vector<std::int64_t>* names) {
    BothReadings both;
    const bool is_both = code == kBothReadings && names == nullptr;
    if (is_both) both.self = in_.svarint();
    const EndPointForm read = is_both ? EndPointForm::kBoth : form(code);
    if (!ValueSequence::decode(in_, both.values, names)) in_.fail();
    values = is_both ? both.undone() : std::move(both.values);
    return read;
  }

  /// Reads into one that is new.
  void param(Param& result, const std::vector<std::int64_t>* names = nullptr) {
    const std::uint8_t flags = in_.u8();
    const unsigned layout = flags & 3U;
    if (layout == 0) {
      result.set_form(in_form(flags >> 2, result.values(), names));
    } else if (layout == 1 && flags != 1) {
      ValueParts parts;
      parts.form = form((flags >> 2) - 1U);
      if (ValueParts::decode(in_, most_ranks_, names, parts)) result.set_groups(parts.groups());
    } else if (layout == 1) {
      ParamGroups groups;
      for (std::uint64_t left = in_.count(3); left != 0 && in_.ok(); --left) {
        ReadBudget::take(2, sizeof(ParamGroup));
        ParamGroup group;
        ranks(group.ranks);
        group.form = in_form(in_.u8(), group.values, names);
        groups.push(std::move(group));
      }
      if (groups.empty()) in_.fail();
      if (in_.ok()) result.set_groups(std::move(groups));
    } else {
      table(result, form(flags >> 2), layout == 3, names);
    }
  }

  void table(Param& result, EndPointForm form, bool by_formula,
             const std::vector<std::int64_t>* names) {
    const std::uint64_t repeats = in_.varint();
    RankList list;
    ranks(list);
    if ((by_formula && names != nullptr) || repeats == 0 || repeats > (1ULL << 48) ||
        list.size() > most_ranks_)
      in_.fail();
    std::map<std::int64_t, RankList> by_value;
    std::int64_t before = 0;
    const auto add = [&](std::int64_t value, std::uint32_t rank) {
      const auto [entry, fresh] = by_value.try_emplace(value);
      if (fresh)
        ReadBudget::take(1, ReadBudget::kMapNode + sizeof(RankList) + 2 * sizeof(ParamGroup));
      if (fresh || value != before) ReadBudget::take(2, sizeof(RankRun));
      before = value;
      entry->second.insert(rank);
    };
    if (by_formula) {
      RankFormula formula;
      if (!RankFormula::decode(in_, formula) || !in_.ok()) return;
      list.for_each([&](std::uint32_t rank) { add(formula.stored(rank, form, size_), rank); });
    } else {
      ValueSequence values;
      if (!ValueSequence::decode(in_, values, names) || values.size() != list.size()) in_.fail();
      if (!in_.ok()) return;
      if (auto spread = ParamSpread::of(list, form, values, repeats))
        return result.set_spread(std::move(*spread));
      ValueSequence::Cursor cursor(values);
      list.for_each([&](std::uint32_t rank) { add(cursor.next(), rank); });
    }
    std::vector<ParamGroup> groups;
    for (auto& [value, members] : by_value) {
      ValueSequence repeated;
      repeated.append(value, repeats);
      groups.push_back({std::move(members), form, std::move(repeated)});
    }
    result.set_groups(std::move(groups));
  }

  ByteReader& in_;
  const TableOrder& order_;
  const std::map<std::uint16_t, CallDescription>& calls_;
  const std::uint64_t most_ranks_;
  const std::uint32_t size_;
  std::map<std::uint64_t, RankList> lists_;  ///< by their hashes
  std::vector<std::pair<std::uint16_t, std::uint64_t>> symbols_;
};

}  // namespace

std::vector<std::uint64_t> node_symbols(const std::vector<Node>& nodes) {
  Symbols symbols;
  collect(nodes, symbols);
  std::vector<std::uint64_t> all;
  for (const auto& [symbol, identity] : symbols) all.push_back(symbol);
  return all;
}

CallFields write_nodes(ByteWriter& out, const Trace& trace) {
  CallFields by_hash;
  std::vector<std::int64_t> arrays;
  for (const auto& [id, array] : trace.arrays) arrays.push_back(static_cast<std::int64_t>(id));
  for (;;) {
    const std::size_t known = by_hash.size();
    ByteWriter nodes;
    NodeWriter writer(nodes, trace, trace.complete);  // others are written while ranks wait
    writer.name_arrays(arrays, by_hash);
    writer.symbols();
    writer.list(trace.nodes);
    if (by_hash.size() != known) continue;
    if (out.bytes().empty())
      out = std::move(nodes);
    else
      out.raw(nodes.bytes());
    return by_hash;
  }
}

void read_nodes(ByteReader& in, const TableOrder& order, Trace& trace) {
  NodeReader reader(in, order, trace);
  reader.symbols();
  trace.nodes = reader.list(0);
}

void write_values(ByteWriter& out, const Trace& trace, const std::vector<std::int64_t>& arrays,
                  const WrittenParam& written) {
  CallFields by_hash;
  for (;;) {
    const std::size_t known = by_hash.size();
    ByteWriter values;
    NodeWriter writer(values, trace);
    writer.name_arrays(arrays, by_hash);
    writer.values(trace.nodes, written);
    if (by_hash.size() != known) continue;
    out.varint(by_hash.size());
    for (const auto& [call, field] : by_hash) {
      out.varint(call);
      out.varint(field);
    }
    return out.raw(values.bytes());
  }
}

bool read_values(ByteReader& in, Trace& trace, const std::vector<std::int64_t>& arrays,
                 const WrittenParam& written) {
  TableOrder order{{}, arrays, {}};
  for (const auto& [id, call] : trace.calls)
    for (std::size_t i = 0; i < call.fields.size(); ++i)
      if (call.fields[i].stored == FieldKind::kArray) order.by_place.insert({id, i});
  for (std::uint64_t left = in.count(2); left != 0 && in.ok(); --left) {
    const auto call = static_cast<std::uint16_t>(in.varint());
    order.by_place.erase({call, in.varint()});
  }
  NodeReader reader(in, order, trace);
  reader.symbols_of(trace.nodes);
  reader.values(trace.nodes, written);
  return in.ok();
}

}  // namespace chameleon::format
