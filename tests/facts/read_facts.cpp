// SPDX-License-Identifier: BSD-3-Clause
// read_facts TRACE: what the C++ reader says of facts, a line each: NAME VALUE of the run, and
// RANK NAME VALUE; `other` before those that its version does not know.
#include <chameleon/trace_reader.h>

#include <iostream>

int main(int argc, char** argv) {
  using namespace chameleon::reader;
  Error error;
  const auto trace = TraceReader::open(argc == 2 ? argv[1] : "", error);
  if (!trace) {
    std::cerr << error.message << "\n";
    return 1;
  }
  const auto other = [](const OtherFact& fact) {
    std::cout << "other " << fact.name << " ";
    if (fact.is_text)
      std::cout << fact.text << "\n";
    else
      std::cout << fact.number << " " << fact.unit << "\n";
  };
  const Run& run = trace->run();
  const Markers& markers = trace->markers();
#define CHAMELEON_RUN_FACT(type, name, unit, join, since, meaning) \
  std::cout << #name " " << run.name << "\n";
#define CHAMELEON_ONLINE_FACT(type, name, unit, join, since, meaning) \
  std::cout << #name " " << markers.name << "\n";
#include <chameleon/facts.inc>
  for (const OtherFact& fact : run.other_facts) other(fact);
  for (const RankFacts& facts : trace->facts()) {
#define CHAMELEON_RANK_FACT(type, name, unit, join, since, meaning) \
  std::cout << facts.rank << " " #name " " << facts.name << "\n";
#include <chameleon/facts.inc>
    for (const OtherFact& fact : facts.others) {
      std::cout << facts.rank << " ";
      other(fact);
    }
  }
  return 0;
}
