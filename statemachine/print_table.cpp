// SPDX-License-Identifier: BSD-3-Clause
// Holds a page equal to the state table: between its lines `<!-- generated -->` and
// `<!-- end of generated -->` stand the table and the graph.
//
//     print_table FILE            exit status 1 where the page says something else
//     print_table --approve FILE  writes them into the page

#include <cstdio>
#include <set>
#include <string>

#include "base/generated_part.h"
#include "statemachine/state_machine.h"

namespace chameleon::statemachine {
namespace {

const char* word(When when) {
  return when == When::kAny ? "any" : when == When::kYes ? "yes" : "no";
}

const char* word(Strays strays) {
  switch (strays) {
    case Strays::kAny: return "any";
    case Strays::kNone: return "none";
    case Strays::kFew: return "few";
    case Strays::kMany: return "many";
  }
  return "?";
}

std::string markdown_table() {
  std::string text =
      "| finalize | stopped | halt | first | changed | astray | recluster | flush due | seen | "
      "known | action | state | recluster then |\n|" +
      std::string(" --- | --- | --- | --- |") +
      " --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const TableRow& row : kStateTable) {
    for (const char* const cell :
         {word(row.finalize), word(row.stopped), word(row.halt), word(row.first), word(row.changed),
          word(row.astray), word(row.recluster), word(row.flush_due), word(row.seen),
          word(row.known)})
      text += std::string("| ") + cell + ' ';
    const char* then = row.then == Recluster::kStays   ? "as it was"
                       : row.then == Recluster::kClear ? "no"
                                                       : "yes";
    text += std::string("| ") + action_name(row.action) + " | " + state_name(row.state) + " | " +
            then + " |\n";
  }
  return text;
}

/// What of a machine's memory a vertex of the graph stands for.
struct Vertex {
  const char* name;
  bool first, recluster;
};
constexpr Vertex kVertices[] = {
    {"start", true, true}, {"AT", false, true}, {"C", false, false}, {"L", false, false}};

std::string mermaid_graph() {
  std::string text =
      "```mermaid\nstateDiagram-v2\n    [*] --> start\n"
      "    stopped : AT, no more votes\n";
  std::set<std::string> drawn;
  const auto draw = [&](std::string line) {
    if (drawn.insert(line).second) text += "    " + line + '\n';
  };
  for (const Vertex& from : kVertices) {
    for (const TableRow& row : kStateTable) {
      if (!TableRow::fits(row.stopped, false) || !TableRow::fits(row.first, from.first) ||
          !TableRow::fits(row.recluster, from.recluster))
        continue;
      const char* to = row.action == Action::kStop ? "stopped" : state_name(row.state);
      draw(std::string(from.name) + " --> " + to + " : " + action_name(row.action));
    }
  }
  draw(std::string("stopped --> F : ") + action_name(Action::kFinish));
  return text + "    F --> [*]\n```\n";
}

}  // namespace
}  // namespace chameleon::statemachine

int main(int argc, char** argv) {
  const bool approve = argc == 3 && std::string(argv[1]) == "--approve";
  if (argc != 2 && !approve) {
    std::fprintf(stderr, "usage: print_table [--approve] FILE\n");
    return 2;
  }
  const std::string wanted = "\n" + chameleon::statemachine::markdown_table() + "\n" +
                             chameleon::statemachine::mermaid_graph() + "\n";
  return chameleon::hold_generated_part(argv[argc - 1], wanted, "the state table", approve);
}
