// SPDX-License-Identifier: BSD-3-Clause
// Holds equal to the table of facts what cannot include it: a page of the documentation, and the
// module of the Python reader.
//
//     print_facts [--approve] page FILE
//     print_facts [--approve] python FILE
//
// Exit status 1 where the file says something else; with --approve it is written.

#include <cstdio>
#include <cstring>
#include <string>

#include "base/generated_part.h"
#include "model/facts.h"

namespace chameleon {
namespace {

template <std::size_t n>
std::string markdown_table(const char* title, const Fact (&rows)[n]) {
  std::string text = std::string("\n## ") + title +
                     "\n\n| name | unit | joined by | since | meaning |\n"
                     "| --- | --- | --- | --- | --- |\n";
  for (const Fact& row : rows)
    text += std::string("| `") + row.name + "` | " + (row.is_text ? "text" : row.unit) + " | " +
            kJoinNames[static_cast<int>(row.join)] + " | " + row.since + " | " + row.meaning +
            " |\n";
  return text;
}

template <std::size_t n>
std::string python_table(const char* name, const Fact (&rows)[n]) {
  std::string text = std::string(name) + " = (\n";
  for (const Fact& row : rows)
    text += std::string("    Fact(\"") + row.name + "\", \"" + row.unit + "\", \"" +
            kJoinNames[static_cast<int>(row.join)] + "\", \"" + row.since + "\", " +
            (row.is_text ? "True" : "False") + ",\n         \"" + row.meaning + "\"),\n";
  return text + ")\n";
}

int hold(const char* kind, const char* path, bool approve) {
  if (std::strcmp(kind, "page") == 0)
    return hold_generated_part(path,
                               markdown_table("Of a rank", kRankFacts) +
                                   markdown_table("Of the run", kRunFacts) +
                                   markdown_table("Of the run, on line", kOnlineFacts) + "\n",
                               "the table of facts", approve);
  return hold_generated_part(
      path,
      python_table("RANK_FACTS", kRankFacts) + python_table("RUN_FACTS", kRunFacts) +
          python_table("ONLINE_FACTS", kOnlineFacts),
      "the table of facts", approve, {"# generated\n", "# end of generated\n"});
}

}  // namespace
}  // namespace chameleon

int main(int argc, char** argv) {
  const bool approve = argc == 4 && std::strcmp(argv[1], "--approve") == 0;
  const char* kind = argc >= 3 ? argv[argc - 2] : "";
  if ((argc != 3 && !approve) || (std::strcmp(kind, "page") != 0 && std::strcmp(kind, "python"))) {
    std::fprintf(stderr, "usage: print_facts [--approve] page|python FILE\n");
    return 2;
  }
  return chameleon::hold(kind, argv[argc - 1], approve);
}
