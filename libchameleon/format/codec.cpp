// SPDX-License-Identifier: BSD-3-Clause
// Encoding of a trace as bytes: one commit's payload. docs/reference/format.md
// describes it; both must change together, with the version.
#include "format/codec.h"

#include <algorithm>

#include "base/read_budget.h"
#include "format/efforts_codec.h"
#include "format/facts_codec.h"
#include "format/file.h"
#include "format/node_codec.h"
#include "format/outliers_codec.h"
#include "format/pair_accounts_codec.h"
#include "format/series_codec.h"
#include "format/times_codec.h"
#include "format/totals_codec.h"
#include "format/waits_codec.h"
#include "model/trace.h"
#include "model/value_list.h"

namespace chameleon::format {
namespace {

constexpr std::uint32_t kMostRanks = 1U << 24;

/// Sections, each a tag, a length and a body; unknown tags are skipped. Facts of ranks were in
/// three of them before 1.4.
enum Section : std::uint64_t {
  kRun = 1,
  kCalls = 2,
  kArrays = 3,
  kModules = 4,
  kPaths = 5,
  kPredefined = 6,
  kFormerFacts = 7,
  kDeclarations = 8,
  kNodes = 9,
  kOnline = 10,
  kStateTimes = 11,
  kClocks = 12,
  kThreads = 13,
  kFacts = 14,
  kTimes = 15,
  kSeries = 16,
  kTotals = 17,
  kWaits = 18,
  kFormerEfforts = 19,  ///< without ranges of strata: skipped
  kSources = 20,
  kOutliers = 21,
  kEfforts = 22,
  kPairAccounts = 23,
};

/// Offsets of module 0 from here on are places in the section of source frames; those below are
/// the special frames.
constexpr std::uint64_t kFirstSourcePlace = 4;

/// The body is written in place, and its head put before it: a large one is not there twice.
template <class F>
void section(ByteWriter& out, Section tag, F body) {
  const std::size_t begin = out.bytes().size();
  body(out);
  ByteWriter head;
  head.varint(tag);
  head.varint(out.bytes().size() - begin);
  out.insert(begin, head.bytes());
}

void write_source(ByteWriter& w, const SourceFrame& source) {
  w.text(source.file);
  w.text(source.function);
  for (const std::uint32_t number :
       {source.begin, source.line, source.column, source.end_line, source.end_column})
    w.varint(number);
}

/// How a field is stored, beside the kinds of `FieldKind`: an array as its place in section 3.
constexpr std::uint8_t kArrayPlace = 3;

/// `by_hash`: the fields of arrays of which hashes are written.
void write_tables(ByteWriter& out, const Trace& trace, const CallFields& by_hash) {
  section(out, kCalls, [&](ByteWriter& w) {
    w.varint(trace.calls.size());
    for (const auto& [id, call] : trace.calls) {
      w.varint(id);
      w.text(call.name);
      w.varint(call.fields.size());
      for (std::size_t i = 0; i < call.fields.size(); ++i) {
        const Field& field = call.fields[i];
        w.text(field.name);
        w.text(field.kind);
        const bool by_place = field.stored == FieldKind::kArray && !by_hash.contains({id, i});
        w.u8(by_place ? kArrayPlace : static_cast<std::uint8_t>(field.stored));
      }
    }
  });
  section(out, kArrays, [&](ByteWriter& w) {
    w.varint(trace.arrays.size());
    std::uint64_t left = kListValuesBeside;
    for (const auto& [id, array] : trace.arrays) encode_list(w, array, left);
  });
  section(out, kModules, [&](ByteWriter& w) {
    w.varint(trace.modules.size());
    for (const auto& [id, module] : trace.modules) {
      w.u64(id);
      w.text(module.build_id_hex);
      w.text(module.path);
    }
  });
  if (!trace.sources.empty())
    section(out, kSources, [&](ByteWriter& w) {
      w.varint(trace.sources.size());
      for (const auto& [id, source] : trace.sources) write_source(w, source);
    });
  section(out, kPaths, [&](ByteWriter& w) {
    const auto modules = places(trace.modules);
    const auto sources = places(trace.sources);
    w.varint(trace.paths.size());
    for (const auto& [signature, path] : trace.paths) {
      w.u64(signature);
      w.varint(path.frames.size());
      for (const Frame& frame : path.frames) {
        if (is_source(frame)) {
          const auto source = sources.find(frame.offset);
          w.varint(0);
          w.u64(0);
          w.varint(source == sources.end() ? kUnknownFrame.offset
                                           : kFirstSourcePlace + source->second);
          continue;
        }
        const auto place = modules.find(frame.module);
        w.varint(place == modules.end() ? 0 : place->second + 1);
        if (place == modules.end()) w.u64(frame.module);
        w.varint(frame.offset);
      }
    }
  });
}

void read_calls(ByteReader& in, Trace& trace, CallFields& by_place) {
  const std::uint64_t count = in.count(3);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t id = in.varint();
    if (id > UINT16_MAX) in.fail();
    CallDescription call;
    call.name = in.text();
    const std::uint64_t fields = in.count(3);
    ReadBudget::take(2 * fields + 1, sizeof(Field) + sizeof call);
    for (std::uint64_t j = 0; j < fields && in.ok(); ++j) {
      Field field{in.text(), in.text(), FieldKind::kPlain};
      const std::uint8_t stored = in.u8();
      if (stored > kArrayPlace) in.fail();
      if (stored == kArrayPlace) by_place.emplace(static_cast<std::uint16_t>(id), j);
      field.stored = stored == kArrayPlace ? FieldKind::kArray : static_cast<FieldKind>(stored);
      call.fields.push_back(std::move(field));
    }
    trace.calls.emplace(static_cast<std::uint16_t>(id), std::move(call));
  }
}

void read_arrays(ByteReader& in, Trace& trace, std::uint64_t budget,
                 std::vector<std::int64_t>& order) {
  const std::uint64_t count = in.count(1);
  ReadBudget::take(count,
                   ReadBudget::kMapNode + sizeof(std::vector<std::int64_t>) + 2 * sizeof order[0]);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    std::vector<std::int64_t> array;
    if (!decode_list(in, budget, array)) return;
    budget -= array.size();
    order.push_back(static_cast<std::int64_t>(trace.intern(std::move(array))));
  }
}

/// Ids of the source frames, in the order of the section.
std::vector<std::uint64_t> read_sources(ByteReader& in, Trace& trace) {
  std::vector<std::uint64_t> order;
  const std::uint64_t count = in.count(7);
  ReadBudget::take(count, ReadBudget::kMapNode + sizeof(SourceFrame));
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    SourceFrame source{in.text(), in.text()};
    for (std::uint32_t* number :
         {&source.begin, &source.line, &source.column, &source.end_line, &source.end_column}) {
      const std::uint64_t value = in.varint();
      if (value > INT32_MAX) in.fail();
      *number = static_cast<std::uint32_t>(value);
    }
    order.push_back(source_id(source));
    trace.sources.emplace(order.back(), std::move(source));
  }
  return order;
}

void read_paths(ByteReader& in, const std::vector<std::uint64_t>& sources, Trace& trace,
                std::vector<std::uint64_t>& order) {
  std::vector<std::uint64_t> modules;
  for (const auto& [id, module] : trace.modules) modules.push_back(id);
  const std::uint64_t count = in.count(9);
  ReadBudget::take(count, ReadBudget::kMapNode + sizeof(CallPath) + 2 * sizeof order[0]);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t signature = in.u64();
    CallPath path;
    const std::uint64_t frames = in.count(2);
    ReadBudget::take(frames, 2 * sizeof(Frame));
    for (std::uint64_t j = 0; j < frames && in.ok(); ++j) {
      const std::uint64_t place = in.varint();
      if (place > modules.size()) in.fail();
      if (!in.ok()) break;
      const std::uint64_t module = place == 0 ? in.u64() : modules[place - 1];
      std::uint64_t offset = in.varint();
      if (module == 0 && offset >= kFirstSourcePlace) {
        if (offset - kFirstSourcePlace >= sources.size()) {
          in.fail();
          break;
        }
        offset = sources[offset - kFirstSourcePlace];
      }
      path.frames.push_back({module, offset});
    }
    order.push_back(signature);
    trace.paths.emplace(signature, std::move(path));
  }
}

void write_run(ByteWriter& w, const Trace& trace) {
  trace.ranks.encode(w);
  w.varint(trace.world_size);
  w.u8(trace.complete ? 1 : 0);
  write_run_facts(w, trace);
}

void read_run(ByteReader& in, Trace& trace) {
  if (!RankList::decode(in, trace.ranks)) in.fail();
  const std::uint64_t size = in.varint();
  if (size > kMostRanks) in.fail();
  trace.world_size = static_cast<std::uint32_t>(size);
  trace.complete = in.u8() != 0;
  read_run_facts(in, trace);
}

void write_online(ByteWriter& w, const OnlineFacts& online) {
  write_online_facts(w, online);
  w.varint(online.clusters.size());
  for (const Cluster& cluster : online.clusters) {
    w.u64(cluster.call_path);
    w.varint(cluster.lead);
    cluster.ranks.encode(w);
  }
  w.varint(online.phases.size());
  for (const Phase& phase : online.phases) {
    w.u8(phase.state);
    for (const std::uint64_t number : {phase.first, phase.markers, phase.changed, phase.end_ns})
      w.varint(number);
  }
}

void read_online(ByteReader& in, OnlineFacts& online) {
  read_online_facts(in, online);
  const std::uint64_t clusters = in.count(10);
  ReadBudget::take(clusters, 2 * sizeof(Cluster));
  for (std::uint64_t i = 0; i < clusters && in.ok(); ++i) {
    Cluster cluster;
    cluster.call_path = in.u64();
    cluster.lead = static_cast<std::uint32_t>(in.varint());
    if (!RankList::decode(in, cluster.ranks)) in.fail();
    online.clusters.push_back(std::move(cluster));
  }
  const std::uint64_t phases = in.count(5);
  if (phases > OnlineFacts::kMostPhases) in.fail();
  for (std::uint64_t i = 0; i < phases && in.ok(); ++i) {
    Phase phase;
    phase.state = in.u8();
    if (phase.state > 3) in.fail();
    for (std::uint64_t* number : {&phase.first, &phase.markers, &phase.changed, &phase.end_ns})
      *number = in.varint();
    online.phases.push_back(phase);
  }
}

/// How the declaration of why a rank ended ends.
std::string end_of(std::uint32_t rank) { return " on rank " + std::to_string(rank); }

/// Why a rank ended is no property of its events.
void add_declaration(Trace& trace, Declaration declared) {
  if (declared.ranks.size() == 1) {
    const std::uint32_t rank = declared.ranks.first();
    const std::string end = end_of(rank);
    if (declared.what.ends_with(end)) {
      declared.what.resize(declared.what.size() - end.size());
      trace.ends.insert_or_assign(rank, std::move(declared.what));
      return;
    }
  }
  trace.declarations.push_back(std::move(declared));
}

}  // namespace

Bytes encode_trace(const Trace& trace) { return encode_trace(trace, PackedFacts(trace.facts)); }

Bytes encode_trace(const Trace& trace, const PackedFacts& of_ranks) {
  ByteWriter out;
  CallFields by_hash;
  section(out, kNodes, [&](ByteWriter& w) { by_hash = write_nodes(w, trace); });
  const std::size_t nodes = out.bytes().size();
  section(out, kRun, [&](ByteWriter& w) { write_run(w, trace); });
  // Before anything that counts streams; a trace of one thread a rank has none.
  if (trace.threads > 1) section(out, kThreads, [&](ByteWriter& w) { w.varint(trace.threads); });
  write_tables(out, trace, by_hash);
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
  section(out, kFacts, [&](ByteWriter& w) { write_facts(w, trace, of_ranks); });
  section(out, kOnline, [&](ByteWriter& w) { write_online(w, trace.online); });
  if (!trace.series.empty())
    section(out, kSeries, [&](ByteWriter& w) { write_series(w, trace.series); });
  if (!trace.efforts.empty())
    section(out, kEfforts, [&](ByteWriter& w) { write_efforts(w, trace.efforts); });
  if (!trace.totals.empty())
    section(out, kTotals, [&](ByteWriter& w) { write_totals(w, trace.totals); });
  section(out, kDeclarations, [&](ByteWriter& w) {
    w.varint(trace.declarations.size() + trace.ends.size());
    for (const Declaration& declared : trace.declarations) {
      w.text(declared.what);
      declared.ranks.encode(w);
    }
    for (const auto& [rank, what] : trace.ends) {
      w.text(what + end_of(rank));
      RankList::single(rank).encode(w);
    }
  });
  out.move_back(nodes);  // readers need the tables first
  if (!trace.times.empty()) section(out, kTimes, [&](ByteWriter& w) { write_times(w, trace); });
  if (!trace.times.waits().empty())
    section(out, kWaits, [&](ByteWriter& w) { write_waits(w, trace.times); });
  if (trace.outliers.known())
    section(out, kOutliers, [&](ByteWriter& w) { write_outliers(w, trace.outliers); });
  if (!trace.pair_accounts.empty() && trace.world_size > 0)
    section(out, kPairAccounts,
            [&](ByteWriter& w) { write_pair_accounts(w, trace.pair_accounts, trace.world_size); });
  return out.take();
}

bool is_known_section(std::uint64_t tag) {
  return tag >= kRun && tag <= kPairAccounts && tag != kFormerEfforts;
}

Result<Trace> decode_trace(std::span<const std::uint8_t> bytes) {
  Trace trace;
  TableOrder order;
  std::vector<std::uint64_t> sources;
  ByteReader in(bytes);
  std::uint64_t offset = 0;
  const auto corrupt = [&](const std::string& what) {
    return Error{ErrorKind::kCorrupt, what, offset};
  };
  while (in.ok() && !in.at_end()) {
    offset = in.position();
    const std::uint64_t tag = in.varint();
    const auto body = in.raw(in.varint());
    if (!in.ok()) return corrupt("a section is longer than the data");
    ByteReader part(body);
    switch (tag) {
      case kRun: read_run(part, trace); break;
      case kThreads: {
        const std::uint64_t threads = part.varint();
        if (threads < 2 || trace.world_size == 0 || threads > kMostRanks / trace.world_size)
          part.fail();
        else
          trace.threads = static_cast<std::uint32_t>(threads);
        break;
      }
      case kCalls: read_calls(part, trace, order.by_place); break;
      case kArrays:
        read_arrays(part, trace, kListValuesPerByte * bytes.size() + kListValuesBeside,
                    order.arrays);
        break;
      case kModules: {
        const std::uint64_t count = part.count(10);
        ReadBudget::take(count, ReadBudget::kMapNode + sizeof(Module));
        for (std::uint64_t i = 0; i < count && part.ok(); ++i) {
          const std::uint64_t id = part.u64();
          Module module{part.text(), part.text()};
          trace.modules.emplace(id, std::move(module));
        }
        break;
      }
      case kSources: sources = read_sources(part, trace); break;
      case kPaths: read_paths(part, sources, trace, order.paths); break;
      case kPredefined: {
        const std::uint64_t kinds = part.count(2);
        for (std::uint64_t i = 0; i < kinds && part.ok(); ++i) {
          auto& objects = trace.predefined[part.text()];
          const std::uint64_t count = part.count(2);
          ReadBudget::take(count + 1, ReadBudget::kMapNode + sizeof(Predefined));
          objects.resize(count);
          for (Predefined& object : objects) {
            object.name = part.text();
            object.size = static_cast<std::uint32_t>(part.varint());
          }
        }
        break;
      }
      case kFormerFacts: read_former_facts(part, trace, 0); break;
      case kStateTimes: read_former_facts(part, trace, 1); break;
      case kClocks: read_former_facts(part, trace, 2); break;
      case kFacts: read_facts(part, trace); break;
      case kOnline: read_online(part, trace.online); break;
      case kSeries: read_series(part, trace.series); break;
      case kEfforts: read_efforts(part, trace.efforts); break;
      case kTotals: read_totals(part, trace.totals); break;
      case kDeclarations: {
        const std::uint64_t count = part.count(2);
        ReadBudget::take(count, 2 * sizeof(Declaration));
        for (std::uint64_t i = 0; i < count && part.ok(); ++i) {
          Declaration declared{part.text(), {}};
          if (!RankList::decode(part, declared.ranks)) part.fail();
          add_declaration(trace, std::move(declared));
        }
        break;
      }
      case kNodes: read_nodes(part, order, trace); break;
      case kTimes: read_times(part, trace); break;
      case kWaits: read_waits(part, trace.times); break;
      case kOutliers: read_outliers(part, trace.outliers); break;
      case kPairAccounts: read_pair_accounts(part, trace.world_size, trace.pair_accounts); break;
      default: continue;  // of a newer minor version
    }
    if (!part.ok()) return corrupt("section " + std::to_string(tag) + " holds what cannot be");
  }
  if (!in.ok()) return corrupt("the sections do not end with the data");
  return trace;
}

}  // namespace chameleon::format
