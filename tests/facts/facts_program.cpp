// SPDX-License-Identifier: BSD-3-Clause
// facts_program FOLDER, compiled with the rows of invented_facts.inc: two ranks say the invented
// facts in two parts of a trace. Each goes from rank to rank as bytes, is joined with the other's,
// and written: FOLDER/growing.cham has a delta, FOLDER/whole.cham is one commit. Prints what `info
// --json` says of facts after reading whole.cham.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "compress/append.h"
#include "compress/merge.h"
#include "format/codec.h"
#include "format/file.h"
#include "trace_facts.h"

using namespace chameleon;

namespace {

Trace part_of(std::uint32_t rank, bool later) {
  Trace trace;
  trace.world_size = 2;
  trace.ranks = RankList::single(rank);
  RankFacts& facts = trace.facts[rank];
  facts.events = 1;
  facts.shiver_ns = 100 * (rank + 1) + (later ? 7 : 0);
  facts.coldest = later ? -3 : -8;
  if (!later || rank == 1) facts.rack = "rack " + std::to_string(rank + (later ? 10 : 0));
  trace.power = later ? 60 : 50;
  trace.online.clustering = "off";
  trace.online.weather = later ? "snow" : "rain";
  return trace;
}

/// What rank 0 has after rank 1 sent its own.
Trace of_both(bool later) {
  Trace trace = part_of(0, later);
  auto received = format::decode_trace(format::encode_trace(part_of(1, later)));
  if (received) compress::merge(trace, std::move(*received));
  return trace;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  Trace online = of_both(false);
  auto writer = format::TraceWriter::create(folder + "/growing.cham", online);
  const Trace later = of_both(true);
  compress::append(online, later);
  if (!writer || !writer->append(later, online)) return 1;
  if (!format::create_trace_file(folder + "/whole.cham", online)) return 1;
  const auto read = format::read_trace(folder + "/whole.cham");
  if (!read) return 1;
  std::printf("%s\n", tools::facts_json(*read).dump().c_str());
  return 0;
}
