// SPDX-License-Identifier: BSD-3-Clause
// Encoding of a trace as bytes: one commit's payload. docs/reference/format.md
// describes it; both must change together, with the version.
#include <algorithm>

#include "trace/file.h"
#include "trace/trace.h"

namespace chameleon {
namespace {

constexpr unsigned kDeepestNesting = 200;
constexpr std::uint32_t kMostRanks = 1U << 24;

/// Sections, each a tag, a length and a body; unknown tags are skipped.
enum Section : std::uint64_t {
  kRun = 1,
  kCalls = 2,
  kArrays = 3,
  kModules = 4,
  kPaths = 5,
  kPredefined = 6,
  kFacts = 7,
  kDeclarations = 8,
  kNodes = 9,
};

// Arrays and paths are known by 64-bit hashes in memory. In the file, events
// name them by their place in the tables, so that small numbers are written.
template <class Table>
std::map<std::uint64_t, std::uint64_t> places(const Table& table) {
  std::map<std::uint64_t, std::uint64_t> result;
  for (const auto& [id, entry] : table) result.emplace(id, result.size());
  return result;
}

class NodeWriter {
 public:
  NodeWriter(ByteWriter& out, const Trace& trace)
      : out_(out), trace_(trace), paths_(places(trace.paths)) {
    collect(trace.nodes);
    out_.varint(symbols_.size());
    for (const auto& [symbol, identity] : symbols_) {
      symbol_places_.emplace(symbol, symbol_places_.size() + 1);
      out_.varint(identity.first);
      path(identity.second);
    }
  }

  void list(const std::vector<Node>& nodes) {
    out_.varint(nodes.size());
    for (const Node& node : nodes) write(node);
  }

 private:
  void collect(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      collect(node.body);
      if (!node.is_loop()) symbols_.try_emplace(node.symbol(), node.call, node.path);
    }
  }

  void path(std::uint64_t signature) {
    const auto found = paths_.find(signature);
    out_.varint(found == paths_.end() ? 0 : found->second + 1);
    if (found == paths_.end()) out_.u64(signature);
  }

  void write(const Node& node) {
    const bool own_ranks = !node.ranks.empty();
    out_.u8(static_cast<std::uint8_t>((node.is_loop() ? 1 : 0) | (own_ranks ? 2 : 0)));
    if (own_ranks) node.ranks.encode(out_);
    if (node.is_loop()) {
      param(node.iterations);
      list(node.body);
      return;
    }
    out_.varint(symbol_places_.at(node.symbol()) - 1);
    out_.varint(node.params.size());
    for (const Param& value : node.params) param(value);
    out_.varint(node.times.size());
    for (const TimeEntry& entry : node.times) {
      const auto before = symbol_places_.find(entry.predecessor);
      out_.varint(before == symbol_places_.end() ? 0 : before->second);
      out_.u8(entry.ranks.empty() ? 0 : 1);
      if (!entry.ranks.empty()) entry.ranks.encode(out_);
      entry.compute.encode(out_);
      entry.communication.encode(out_);
    }
  }

  // 0: one group. 1: groups. 2: every rank of its own with one value, written as
  // a rank set and the values in rank order, which compress as a sequence.
  void param(const Param& value) {
    if (!value.grouped()) {
      out_.u8(static_cast<std::uint8_t>(static_cast<int>(value.form()) << 2));
      value.values().encode(out_);
      return;
    }
    if (table(value)) return;
    out_.u8(1);
    out_.varint(value.groups().size());
    for (const ParamGroup& group : value.groups()) {
      group.ranks.encode(out_);
      out_.u8(static_cast<std::uint8_t>(group.form));
      group.values.encode(out_);
    }
  }

  bool table(const Param& value) {
    const ParamGroup& first = value.groups().front();
    std::map<std::uint32_t, std::int64_t> by_rank;
    for (const ParamGroup& group : value.groups()) {
      if (!group.values.is_constant() || group.form != first.form ||
          group.values.size() != first.values.size())
        return false;
      group.ranks.for_each(
          [&](std::uint32_t rank) { by_rank.emplace(rank, group.values.front()); });
    }
    RankList ranks;
    ValueSequence values;
    for (const auto& [rank, constant] : by_rank) {
      ranks.insert(rank);
      values.append(constant);
    }
    out_.u8(static_cast<std::uint8_t>(2 | (static_cast<int>(first.form) << 2)));
    out_.varint(first.values.size());
    ranks.encode(out_);
    values.encode(out_);
    return true;
  }

  ByteWriter& out_;
  const Trace& trace_;
  std::map<std::uint64_t, std::uint64_t> paths_;
  std::map<std::uint64_t, std::pair<std::uint16_t, std::uint64_t>> symbols_;
  std::map<std::uint64_t, std::uint64_t> symbol_places_;
};

/// No part of a trace can be about more ranks: keeps a few bytes from claiming millions.
std::uint64_t rank_count(const Trace& trace) {
  return std::max<std::uint64_t>(trace.ranks.size(), trace.world_size);
}

class NodeReader {
 public:
  NodeReader(ByteReader& in, std::vector<std::uint64_t> paths, const Trace& trace)
      : in_(in), paths_(std::move(paths)), calls_(trace.calls), most_ranks_(rank_count(trace)) {
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
    for (std::uint64_t i = 0; i < count && in_.ok(); ++i) nodes.push_back(read(depth));
    return nodes;
  }

 private:
  std::uint64_t path() {
    const std::uint64_t place = in_.varint();
    if (place == 0) return in_.u64();
    if (place > paths_.size()) return in_.fail();
    return paths_[place - 1];
  }

  Node read(unsigned depth) {
    Node node;
    const std::uint8_t flags = in_.u8();
    if (flags > 3) in_.fail();
    if ((flags & 2) != 0) ranks(node.ranks);
    if ((flags & 1) != 0) {
      node.iterations = param();
      node.body = list(depth + 1);
      if (node.body.empty()) in_.fail();
      node.shape = shape_of(node.body);
      return node;
    }
    const std::uint64_t symbol = in_.varint();
    if (symbol >= symbols_.size()) {
      in_.fail();
      return node;
    }
    node.call = symbols_[symbol].first;
    node.path = symbols_[symbol].second;
    node.shape = Shape::of(node.symbol());
    const std::uint64_t params = in_.count(2);
    const auto call = calls_.find(node.call);
    if (call == calls_.end() || params != call->second.fields.size()) in_.fail();
    for (std::uint64_t i = 0; i < params && in_.ok(); ++i) node.params.push_back(param());
    const std::uint64_t times = in_.count(4);
    for (std::uint64_t i = 0; i < times && in_.ok(); ++i) node.times.push_back(time_entry());
    return node;
  }

  TimeEntry time_entry() {
    TimeEntry entry;
    const std::uint64_t before = in_.varint();
    if (before > symbols_.size()) in_.fail();
    if (in_.ok() && before > 0) {
      const auto& [call, path] = symbols_[before - 1];
      entry.predecessor = Node::event_symbol(call, path);
    }
    if (in_.u8() != 0) ranks(entry.ranks);
    if (!Histogram::decode(in_, entry.compute) || !Histogram::decode(in_, entry.communication))
      in_.fail();
    return entry;
  }

  void ranks(RankList& list) {
    if (!RankList::decode(in_, list) || list.empty()) in_.fail();
  }

  EndPointForm form(std::uint64_t code) {
    if (code > 2) in_.fail();
    return static_cast<EndPointForm>(in_.ok() ? code : 0);
  }

  Param param() {
    Param result;
    const std::uint8_t flags = in_.u8();
    const unsigned layout = flags & 3U;
    if (layout == 0) {
      result.set_form(form(flags >> 2));
      if (!ValueSequence::decode(in_, result.values())) in_.fail();
    } else if (layout == 1) {
      std::vector<ParamGroup> groups(in_.count(3));
      for (ParamGroup& group : groups) {
        if (!in_.ok()) break;
        ranks(group.ranks);
        group.form = form(in_.u8());
        if (!ValueSequence::decode(in_, group.values)) in_.fail();
      }
      if (groups.empty()) in_.fail();
      if (in_.ok()) result.set_groups(std::move(groups));
    } else if (layout == 2) {
      table(result, form(flags >> 2));
    } else {
      in_.fail();
    }
    return result;
  }

  void table(Param& result, EndPointForm form) {
    const std::uint64_t repeats = in_.varint();
    RankList list;
    ValueSequence values;
    ranks(list);
    if (!ValueSequence::decode(in_, values) || values.size() != list.size() || repeats == 0 ||
        repeats > (1ULL << 48) || list.size() > most_ranks_)
      in_.fail();
    if (!in_.ok()) return;
    std::map<std::int64_t, RankList> by_value;
    ValueSequence::Cursor cursor(values);
    list.for_each([&](std::uint32_t rank) { by_value[cursor.next()].insert(rank); });
    std::vector<ParamGroup> groups;
    for (auto& [value, members] : by_value) {
      ValueSequence repeated;
      repeated.append(value, repeats);
      groups.push_back({std::move(members), form, std::move(repeated)});
    }
    result.set_groups(std::move(groups));
  }

  ByteReader& in_;
  std::vector<std::uint64_t> paths_;
  const std::map<std::uint16_t, CallDescription>& calls_;
  const std::uint64_t most_ranks_;
  std::vector<std::pair<std::uint16_t, std::uint64_t>> symbols_;
};

template <class F>
void section(ByteWriter& out, Section tag, F body) {
  ByteWriter inner;
  body(inner);
  out.varint(tag);
  out.varint(inner.bytes().size());
  out.raw(inner.bytes());
}

void write_tables(ByteWriter& out, const Trace& trace) {
  section(out, kCalls, [&](ByteWriter& w) {
    w.varint(trace.calls.size());
    for (const auto& [id, call] : trace.calls) {
      w.varint(id);
      w.text(call.name);
      w.varint(call.fields.size());
      for (const Field& field : call.fields) {
        w.text(field.name);
        w.text(field.kind);
        w.u8(static_cast<std::uint8_t>(field.stored));
      }
    }
  });
  section(out, kArrays, [&](ByteWriter& w) {
    w.varint(trace.arrays.size());
    for (const auto& [id, array] : trace.arrays) {
      ValueSequence values;
      for (const std::int64_t element : array) values.append(element);
      values.encode(w);
    }
  });
  section(out, kModules, [&](ByteWriter& w) {
    w.varint(trace.modules.size());
    for (const auto& [id, module] : trace.modules) {
      w.u64(id);
      w.text(module.build_id_hex);
      w.text(module.path);
    }
  });
  section(out, kPaths, [&](ByteWriter& w) {
    const auto modules = places(trace.modules);
    w.varint(trace.paths.size());
    for (const auto& [signature, path] : trace.paths) {
      w.u64(signature);
      w.varint(path.frames.size());
      for (const Frame& frame : path.frames) {
        const auto place = modules.find(frame.module);
        w.varint(place == modules.end() ? 0 : place->second + 1);
        if (place == modules.end()) w.u64(frame.module);
        w.varint(frame.offset);
      }
    }
  });
}

void read_calls(ByteReader& in, Trace& trace) {
  const std::uint64_t count = in.count(3);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t id = in.varint();
    if (id > UINT16_MAX) in.fail();
    CallDescription call;
    call.name = in.text();
    const std::uint64_t fields = in.count(3);
    for (std::uint64_t j = 0; j < fields && in.ok(); ++j) {
      Field field{in.text(), in.text(), FieldKind::kPlain};
      const std::uint8_t stored = in.u8();
      if (stored > 2) in.fail();
      field.stored = static_cast<FieldKind>(stored);
      call.fields.push_back(std::move(field));
    }
    trace.calls.emplace(static_cast<std::uint16_t>(id), std::move(call));
  }
}

void read_arrays(ByteReader& in, Trace& trace, std::uint64_t budget) {
  const std::uint64_t count = in.count(1);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    ValueSequence values;
    if (!ValueSequence::decode(in, values) || values.size() > budget) {
      in.fail();
      return;
    }
    budget -= values.size();
    std::vector<std::int64_t> array;
    array.reserve(values.size());
    for (ValueSequence::Cursor cursor(values); !cursor.done();) array.push_back(cursor.next());
    trace.intern(std::move(array));
  }
}

void read_paths(ByteReader& in, Trace& trace, std::vector<std::uint64_t>& order) {
  std::vector<std::uint64_t> modules;
  for (const auto& [id, module] : trace.modules) modules.push_back(id);
  const std::uint64_t count = in.count(9);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t signature = in.u64();
    CallPath path;
    const std::uint64_t frames = in.count(2);
    for (std::uint64_t j = 0; j < frames && in.ok(); ++j) {
      const std::uint64_t place = in.varint();
      if (place > modules.size()) in.fail();
      if (!in.ok()) break;
      const std::uint64_t module = place == 0 ? in.u64() : modules[place - 1];
      path.frames.push_back({module, in.varint()});
    }
    order.push_back(signature);
    trace.paths.emplace(signature, std::move(path));
  }
}

void write_run(ByteWriter& w, const Trace& trace) {
  trace.ranks.encode(w);
  w.varint(trace.world_size);
  w.u8(trace.complete ? 1 : 0);
  w.text(trace.program);
  w.text(trace.tool_version);
  w.text(trace.mpi);
  w.text(trace.timing);
  w.varint(trace.started_unix);
}

void read_run(ByteReader& in, Trace& trace) {
  if (!RankList::decode(in, trace.ranks)) in.fail();
  const std::uint64_t size = in.varint();
  if (size > kMostRanks) in.fail();
  trace.world_size = static_cast<std::uint32_t>(size);
  trace.complete = in.u8() != 0;
  trace.program = in.text();
  trace.tool_version = in.text();
  trace.mpi = in.text();
  trace.timing = in.text();
  trace.started_unix = in.varint();
}

// Facts of ranks are columns, which compress: events and times as sequences,
// hosts as runs.
void write_facts(ByteWriter& w, const Trace& trace) {
  RankList ranks;
  ValueSequence events, run, tool, paused, processors, hosts;
  std::map<std::string, std::int64_t> names;
  std::vector<std::string> order;
  for (const auto& [rank, fact] : trace.facts) {
    ranks.insert(rank);
    events.append(static_cast<std::int64_t>(fact.events));
    run.append(static_cast<std::int64_t>(fact.run_ns));
    tool.append(static_cast<std::int64_t>(fact.tool_ns));
    paused.append(static_cast<std::int64_t>(fact.paused));
    processors.append(fact.processor);
    const auto [name, added] = names.emplace(fact.host, static_cast<std::int64_t>(order.size()));
    if (added) order.push_back(fact.host);
    hosts.append(name->second);
  }
  ranks.encode(w);
  for (const ValueSequence* column : {&events, &run, &tool, &paused, &processors, &hosts})
    column->encode(w);
  w.varint(order.size());
  for (const std::string& name : order) w.text(name);
}

void read_facts(ByteReader& in, Trace& trace) {
  RankList ranks;
  if (!RankList::decode(in, ranks) || ranks.size() > rank_count(trace)) in.fail();
  std::vector<ValueSequence> columns(6);
  for (ValueSequence& column : columns)
    if (!ValueSequence::decode(in, column) || column.size() != ranks.size()) in.fail();
  std::vector<std::string> hosts(in.count(1));
  for (std::string& host : hosts) host = in.text();
  if (!in.ok()) return;
  std::vector<ValueSequence::Cursor> cursors;
  for (const ValueSequence& column : columns) cursors.emplace_back(column);
  ranks.for_each([&](std::uint32_t rank) {
    RankFacts fact;
    fact.events = static_cast<std::uint64_t>(cursors[0].next());
    fact.run_ns = static_cast<std::uint64_t>(cursors[1].next());
    fact.tool_ns = static_cast<std::uint64_t>(cursors[2].next());
    fact.paused = static_cast<std::uint64_t>(cursors[3].next());
    fact.processor = static_cast<std::uint32_t>(cursors[4].next());
    const std::int64_t host = cursors[5].next();
    if (host < 0 || static_cast<std::uint64_t>(host) >= hosts.size()) {
      in.fail();
      return;
    }
    fact.host = hosts[static_cast<std::size_t>(host)];
    trace.facts.emplace(rank, std::move(fact));
  });
}

}  // namespace

Bytes encode_trace(const Trace& trace) {
  ByteWriter out;
  section(out, kRun, [&](ByteWriter& w) { write_run(w, trace); });
  write_tables(out, trace);
  section(out, kPredefined, [&](ByteWriter& w) {
    w.varint(trace.predefined.size());
    for (const auto& [kind, objects] : trace.predefined) {
      w.text(kind);
      w.varint(objects.size());
      for (const Predefined& object : objects) {
        w.text(object.name);
        w.varint(object.size);
      }
    }
  });
  section(out, kFacts, [&](ByteWriter& w) { write_facts(w, trace); });
  section(out, kDeclarations, [&](ByteWriter& w) {
    w.varint(trace.declarations.size());
    for (const Declaration& declared : trace.declarations) {
      w.text(declared.what);
      declared.ranks.encode(w);
    }
  });
  section(out, kNodes, [&](ByteWriter& w) { NodeWriter(w, trace).list(trace.nodes); });
  return out.take();
}

Result<Trace> decode_trace(std::span<const std::uint8_t> bytes) {
  Trace trace;
  std::vector<std::uint64_t> paths;
  ByteReader in(bytes);
  std::uint64_t offset = 0;
  const auto corrupt = [&](const char* what) {
    return Error{ErrorKind::kCorrupt, std::string(what), offset};
  };
  while (in.ok() && !in.at_end()) {
    offset = in.position();
    const std::uint64_t tag = in.varint();
    const auto body = in.raw(in.varint());
    if (!in.ok()) return corrupt("a section is longer than the data");
    ByteReader part(body);
    switch (tag) {
      case kRun: read_run(part, trace); break;
      case kCalls: read_calls(part, trace); break;
      case kArrays: read_arrays(part, trace, 64 * bytes.size() + (1U << 20)); break;
      case kModules: {
        const std::uint64_t count = part.count(10);
        for (std::uint64_t i = 0; i < count && part.ok(); ++i) {
          const std::uint64_t id = part.u64();
          Module module{part.text(), part.text()};
          trace.modules.emplace(id, std::move(module));
        }
        break;
      }
      case kPaths: read_paths(part, trace, paths); break;
      case kPredefined: {
        const std::uint64_t kinds = part.count(2);
        for (std::uint64_t i = 0; i < kinds && part.ok(); ++i) {
          auto& objects = trace.predefined[part.text()];
          objects.resize(part.count(2));
          for (Predefined& object : objects) {
            object.name = part.text();
            object.size = static_cast<std::uint32_t>(part.varint());
          }
        }
        break;
      }
      case kFacts: read_facts(part, trace); break;
      case kDeclarations: {
        const std::uint64_t count = part.count(2);
        for (std::uint64_t i = 0; i < count && part.ok(); ++i) {
          Declaration declared{part.text(), {}};
          if (!RankList::decode(part, declared.ranks)) part.fail();
          trace.declarations.push_back(std::move(declared));
        }
        break;
      }
      case kNodes: trace.nodes = NodeReader(part, paths, trace).list(0); break;
      default: continue;  // of a newer minor version
    }
    if (!part.ok()) return corrupt("a section holds what cannot be");
  }
  if (!in.ok()) return corrupt("the sections do not end with the data");
  return trace;
}

}  // namespace chameleon
