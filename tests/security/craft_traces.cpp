// SPDX-License-Identifier: BSD-3-Clause
/// craft_traces FOLDER SOURCE: traces as somebody would make them who means harm: small, with right
/// checksums, and as expensive to read, or as indiscreet to show, as they can be. Each is a few
/// kilobytes. SOURCE is the file that `sources.cham` wants lines of; its folder is the trace's. Of
/// `modules.cham` it is the program.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "base/hash.h"
#include "format/codec.h"
#include "format/commit.h"
#include "format/file.h"
#include "unit/trace_builder.h"

namespace chameleon {
namespace {

enum Call : std::uint16_t { kInit = 1, kBarrier, kAllreduce, kOpen, kFinalize };

constexpr std::int64_t kWorld = 0, kInt = -3, kSum = -2;
constexpr std::uint32_t kManyRanks = (1U << 24) - 1;

testing::TraceBuilder described(std::uint32_t ranks) {
  testing::TraceBuilder builder(ranks);
  builder.call(kInit, "Init", {});
  builder.call(kBarrier, "Barrier", {"comm:comm"});
  builder.call(kAllreduce, "Allreduce",
               {"sendbuf:buffer", "recvbuf:buffer", "count:count", "datatype:datatype", "op:op",
                "comm:comm"});
  builder.call(kOpen, "File_open",
               {"comm:comm", "filename:string:a", "amode:amode", "info:info", "fh:file"});
  builder.call(kFinalize, "Finalize", {});
  return builder;
}

/// Both ranks, with some iterations of a barrier and a reduction.
Trace small(std::uint32_t ranks = 2) {
  testing::TraceBuilder builder = described(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    builder.push(rank, kInit, {});
    for (int i = 0; i < 4; ++i) {
      builder.push(rank, kBarrier, {kWorld});
      builder.push(rank, kAllreduce, {1, 0, 1, kInt, kSum, kWorld});
    }
    builder.push(rank, kFinalize, {});
  }
  Trace trace = builder.build();
  trace.program = "crafted";
  trace.timing = "histogram";
  return trace;
}

void write(const std::string& path, const Trace& trace) {
  std::remove(path.c_str());
  if (const Status written = format::create_trace_file(path, trace); !written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    std::exit(1);
  }
}

void write_bytes(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

Node* loop_in(std::vector<Node>& nodes) {
  for (Node& node : nodes)
    if (node.is_loop()) return &node;
  std::fprintf(stderr, "no loop was folded\n");
  std::exit(1);
}

/// Gives what is in a loop a value for each time it is executed.
void cover(Node& node, std::uint64_t times) {
  for (Param& param : node.params) param = Param(ValueSequence(param.values().front(), times));
  for (Node& inner : node.body) cover(inner, times);
}

/// The loop, so many times.
Trace repeated(std::uint64_t times) {
  Trace trace = small();
  Node& loop = *loop_in(trace.nodes);
  loop.iterations = Param(ValueSequence(static_cast<std::int64_t>(times)));
  for (Node& node : loop.body) cover(node, times);
  return trace;
}

/// Loops in loops: 2^6 iterations each, so that there are 2^(6 * depth) calls.
Trace nested(int depth) {
  Trace trace = small();
  Node& outer = *loop_in(trace.nodes);
  Node node = outer;
  std::uint64_t visits = 1;
  for (Node& inner : node.body) cover(inner, std::uint64_t{1} << (6 * depth));
  std::vector<std::uint64_t> counts;
  for (int i = 0; i < depth; ++i, visits *= 64) counts.push_back(visits);
  for (int i = depth - 1; i >= 0; --i) {
    ValueSequence times;
    times.append(64, counts[static_cast<std::size_t>(i)]);
    node.iterations = Param(times);
    if (i == 0) break;
    Node around = outer;
    around.body.clear();
    around.body.push_back(node);
    node = around;
  }
  outer = node;
  return trace;
}

/// The loop, with times of its own for each instance of each call.
Trace with_full_times(std::uint64_t times) {
  Trace trace = repeated(times);
  trace.timing = "full";
  return trace;
}

/// So many ranks that do the same.
Trace many_ranks() {
  Trace trace = small();
  trace.world_size = kManyRanks;
  trace.ranks = RankList::range(0, kManyRanks - 1);
  for (Node& node : trace.nodes) node.ranks = RankList();
  trace.facts.clear();
  return trace;
}

/// Very many ranks wait for messages that nobody sends, one after another.
Trace unmatched() {
  constexpr std::uint16_t kReceive = 6;
  constexpr std::uint32_t kRanks = 1U << 16;
  testing::TraceBuilder builder(2);
  builder.call(kInit, "Init", {});
  builder.call(kReceive, "Recv");
  builder.call(kFinalize, "Finalize", {});
  const std::size_t values = testing::fields_of_call("Recv").size();
  builder.push(0, kInit, {});
  builder.push(0, kReceive, std::vector<std::int64_t>(values, 0));
  builder.push(0, kFinalize, {});
  builder.push(1, kInit, {});
  Trace trace = builder.build();
  trace.program = "crafted";
  trace.timing = "histogram";
  trace.world_size = kRanks;
  trace.ranks = RankList::range(0, kRanks - 1);
  Node receive;
  for (Node& node : trace.nodes) {
    node.ranks = RankList();
    if (node.call == kReceive) receive = node;
  }
  const auto last = trace.nodes.end() - 1;
  trace.nodes.insert(last, {receive, receive});
  return trace;
}

/// Two ranks of a job of very many.
Trace few_of_many() {
  constexpr std::uint32_t kRanks = 843'675;
  Trace trace = small();
  trace.world_size = kRanks;
  trace.ranks = RankList::single(0);
  trace.ranks.insert(kRanks - 1);
  for (Node& node : trace.nodes) node.ranks = RankList();
  return trace;
}

/// A thousand ranks that do the same.
Trace wide() {
  constexpr std::uint32_t kRanks = 1024;
  Trace trace = small();
  trace.world_size = kRanks;
  trace.ranks = RankList::range(0, kRanks - 1);
  for (Node& node : trace.nodes) node.ranks = RankList();
  trace.facts.clear();
  return trace;
}

/// A job of no rank that had clusters.
Trace nobody() {
  Trace trace = small();
  trace.world_size = 0;
  trace.complete = true;
  model::Cluster cluster;
  cluster.ranks = RankList::range(0, 1);
  trace.online.clusters.push_back(cluster);
  return trace;
}

/// More ranks than the job has.
Trace strays() {
  Trace trace = small();
  trace.ranks = RankList::range(0, 58'201);
  for (Node& node : trace.nodes) node.ranks = RankList();
  trace.facts.clear();
  return trace;
}

/// A place in SOURCE for each call, as interpreted programs have it.
Trace with_source(const std::string& file) {
  Trace trace = small();
  trace.directory = file.substr(0, file.rfind('/'));
  SourceFrame source{file, "step"};
  source.begin = 1;
  source.line = 2;
  const std::uint64_t id = source_id(source);
  trace.sources.emplace(id, source);
  for (std::uint16_t call = kInit; call <= kFinalize; ++call)
    trace.paths[100U + call] = {{{0, id}}};
  return trace;
}

/// SOURCE is the program, of which a debugger would read names and lines.
Trace with_module(const std::string& file) {
  Trace trace = small();
  trace.modules[77] = {std::string(40, 'a'), file};
  for (std::uint16_t call = kInit; call <= kFinalize; ++call)
    trace.paths[100U + call] = {{{77, 0x1000U + call}}};
  return trace;
}

/// Every text says what a terminal obeys.
Trace with_names() {
  const std::string hostile =
      "a\x1b[31mb\xc2\x9b"
      "31mc\nzqd\re\x07\xe2\x80\xae"
      "f\xe2\x81\xa6g\xffh\xc3";
  Trace trace = with_source("/nowhere/" + hostile);
  trace.program = trace.command_line = trace.directory = trace.mpi = trace.tool_version = hostile;
  trace.writer_host = hostile;
  trace.sources.clear();
  SourceFrame source{"/nowhere/" + hostile + ".py", hostile};
  source.line = 2;
  const std::uint64_t id = source_id(source);
  trace.sources.emplace(id, source);
  trace.modules[77] = {hostile, "/nowhere/" + hostile};
  for (std::uint16_t call = kInit; call <= kFinalize; ++call)
    trace.paths[100U + call] = {{{call % 2 == 0 ? 77U : 0U, call % 2 == 0 ? 0x1000U : id}}};
  trace.calls[kAllreduce].name = hostile;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    trace.facts[rank].host = hostile;
    trace.facts[rank].events = 10;
    trace.facts[rank].run_ns = 1'000'000;
    trace.facts[rank].no_energy = hostile;
  }
  trace.declarations.push_back({hostile, RankList::range(0, 1)});
  trace.online.clustering = trace.online.algorithm = hostile;
  return trace;
}

/// Names that a spreadsheet would take for formulas.
Trace with_formulas() {
  Trace trace = small();
  trace.calls[kAllreduce].name = "=cmd|' /C calc'!A0";
  trace.calls[kBarrier].name = "@SUM(1,2)";
  return trace;
}

/// A call of a known name without the values that it has.
Trace without_fields() {
  testing::TraceBuilder builder(2);
  builder.call(kInit, "Init", {});
  builder.call(kBarrier, "Send", {"comm:comm"});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    builder.push(rank, kInit, {});
    builder.push(rank, kBarrier, {kWorld});
  }
  return builder.build();
}

/// What a trace says of who made it.
Trace with_secrets() {
  testing::TraceBuilder builder = described(2);
  const std::string file = "/home/mallory/secret-project/input.dat";
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    builder.push(rank, kInit, {});
    builder.push(rank, kOpen, {kWorld, builder.array({file.begin(), file.end()}), 0, -1, 0});
    builder.push(rank, kBarrier, {kWorld});
    builder.push(rank, kFinalize, {});
  }
  Trace trace = builder.build();
  trace.program = "crafted";
  trace.timing = "none";
  trace.command_line = "/home/mallory/bin/crafted --input input.dat";
  trace.directory = "/home/mallory/secret-project";
  trace.rules = "";
  trace.writer_host = "node17.mallory.example";
  trace.writer_process = 4711;
  trace.modules[77] = {"", "/home/mallory/bin/crafted"};
  SourceFrame source{"/home/mallory/secret-project/solver.py", "solve"};
  source.line = 7;
  const std::uint64_t id = source_id(source);
  trace.sources.emplace(id, source);
  for (std::uint16_t call = kInit; call <= kFinalize; ++call)
    trace.paths[100U + call] = {{{0, id}, {77, 0x1000U + call}}};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    trace.facts[rank].host = "node1" + std::to_string(7 + rank) + ".mallory.example";
    trace.facts[rank].events = 4;
  }
  return trace;
}

/// A sound payload, and behind it a section of `tag` with `size` bytes, nearly all zeros: a file
/// may not claim to grow by more than 4,096 times.
Bytes with_section(std::uint64_t tag, std::uint64_t size) {
  Bytes payload = format::encode_trace(small());
  ByteWriter head;
  head.varint(tag);
  head.varint(size);
  payload.insert(payload.end(), head.bytes().begin(), head.bytes().end());
  const std::size_t begin = payload.size();
  payload.resize(begin + size);
  std::uint64_t random = 1;
  for (std::size_t at = begin + size - size / 4000; at < begin + size; ++at)
    payload[at] = static_cast<std::uint8_t>(random = mix(random));
  return payload;
}

/// Facts of 2^24 - 1 ranks in a few bytes.
Bytes many_facts() {
  const RankList ranks = RankList::range(0, kManyRanks - 1);
  ByteWriter out, facts;
  ranks.encode(facts);
  facts.varint(0);  // columns
  facts.varint(0);  // facts of the run
  Trace trace = small();
  trace.facts.clear();
  trace.ranks = ranks;
  trace.world_size = kManyRanks;
  for (Node& node : trace.nodes) node.ranks = RankList();
  out.raw(format::encode_trace(trace));
  constexpr std::uint64_t kFacts = 14;
  out.varint(kFacts);
  out.varint(facts.bytes().size());
  out.raw(facts.bytes());
  return out.take();
}

Bytes in_file(const Bytes& payload) {
  return format::commit::frame(format::commit::kWhole, payload, format::commit::kQuick, nullptr,
                               format::commit::header());
}

/// A call with many parameters of many groups each, whose last one has as many values as can be:
/// two of them cannot become one. Very many of them, in some hundred bytes.
Bytes many_groups(std::uint64_t repeats) {
  constexpr std::uint16_t kMany = 7;
  constexpr std::uint32_t kRanks = 254;
  constexpr std::size_t kParams = 15;
  constexpr std::uint64_t kMostValues = std::uint64_t{1} << 48;
  Trace trace = small(kRanks);
  Trace delta;
  delta.world_size = kRanks;
  delta.ranks = trace.ranks;
  CallDescription& call = delta.calls[kMany];
  call.name = "Many";
  Node node;
  node.call = kMany;
  node.path = 1;
  node.shape = Shape::of(node.symbol());
  for (std::size_t i = 0; i < kParams; ++i) {
    call.fields.push_back({"field" + std::to_string(i), "int", FieldKind::kPlain});
    std::vector<ParamGroup> groups;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      const ValueSequence once(rank ^ 5U, i + 1 < kParams ? 1 : kMostValues);
      groups.push_back({RankList::single(rank), EndPointForm::kBoth, once});
    }
    node.params.emplace_back().set_groups(std::move(groups));
  }
  delta.nodes.push_back(std::move(node));
  Bytes file = in_file(format::encode_trace(trace));
  for (const Bytes& commit :
       {format::commit::frame(format::commit::kDelta, format::encode_trace(delta)),
        format::commit::repeat_frame(repeats)})
    file.insert(file.end(), commit.begin(), commit.end());
  return file;
}

/// A trace, and deltas that have nothing but an array each: a million values in some bytes.
Bytes long_arrays() {
  constexpr std::uint64_t kArrays = 3, kValues = 1'000'000, kStrided = 2, kDeltas = 150;
  Bytes file = in_file(format::encode_trace(small()));
  for (std::uint64_t i = 0; i < kDeltas; ++i) {
    ByteWriter arrays, delta;
    arrays.varint(1);
    arrays.varint(kValues << 1 | 1);
    arrays.varint(1);
    arrays.varint(kValues << 2 | kStrided);
    arrays.svarint(static_cast<std::int64_t>(i));
    arrays.svarint(1);
    delta.varint(kArrays);
    delta.varint(arrays.bytes().size());
    delta.raw(arrays.bytes());
    const Bytes commit = format::commit::frame(format::commit::kDelta, delta.bytes());
    file.insert(file.end(), commit.begin(), commit.end());
  }
  return file;
}

/// The checksums of the first commit, right again.
void repair(Bytes& file) {
  std::uint8_t* const head = file.data() + format::commit::kHeaderSize;
  const std::uint64_t stored =
      file.size() - format::commit::kHeaderSize - format::commit::kFrameSize;
  std::memcpy(head + 8, &stored, 8);
  const std::uint64_t data = hash_bytes(head + format::commit::kFrameSize, stored);
  std::memcpy(head + 24, &data, 8);
  const std::uint64_t own = hash_bytes(head, 32);
  std::memcpy(head + 32, &own, 8);
}

}  // namespace
}  // namespace chameleon

int main(int argc, char** argv) {
  using namespace chameleon;
  if (argc != 3) return 2;
  const std::string folder = std::string(argv[1]) + "/";
  write(folder + "small.cham", small());
  write(folder + "sources.cham", with_source(argv[2]));
  write(folder + "modules.cham", with_module(argv[2]));
  write(folder + "names.cham", with_names());
  write(folder + "secrets.cham", with_secrets());
  write(folder + "formulas.cham", with_formulas());
  write(folder + "fields.cham", without_fields());
  write(folder + "barriers.cham", repeated(std::uint64_t{1} << 30));
  write(folder + "nested.cham", nested(6));
  write(folder + "full_times.cham", with_full_times(std::uint64_t{1} << 30));
  write(folder + "ranks.cham", many_ranks());
  constexpr std::uint64_t kUnknown = 1000, kDeclarations = 8, kMuch = std::uint64_t{200} << 20;
  write_bytes(folder + "unknown.cham", in_file(with_section(kUnknown, kMuch)));
  write_bytes(folder + "known.cham", in_file(with_section(kDeclarations, kMuch)));
  write_bytes(folder + "facts.cham", in_file(many_facts()));
  write_bytes(folder + "arrays.cham", long_arrays());
  write(folder + "unmatched.cham", unmatched());
  write(folder + "locations.cham", few_of_many());
  write(folder + "strays.cham", strays());
  write(folder + "nobody.cham", nobody());
  write(folder + "wide.cham", wide());
  write_bytes(folder + "groups.cham", many_groups(4000));
  write_bytes(folder + "fewer_groups.cham", many_groups(1500));
  Bytes two = in_file(format::encode_trace(small(64)));
  two.insert(two.end(), {0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4});  // a frame to be skipped
  repair(two);
  write_bytes(folder + "two_frames.cham", two);
  return 0;
}
