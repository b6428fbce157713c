// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A file, mostly a page of the documentation, of which a part is written by the code it
/// describes: for the programs that hold such files equal to the code, as tests, or write them
/// (target `approve`).

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "base/rooms.h"

namespace chameleon::inline base {

/// The lines around the part.
struct GeneratedMarks {
  const char* begin = "<!-- generated -->\n";
  const char* end = "<!-- end of generated -->\n";
};

/// Compares what stands between the page's two marks with `wanted`, or with `approve`
/// puts it there. `source`, with its article, names what the part is made from. The program's
/// exit status: 0 equal or written, 1 different, 2 a page without such a part.
inline int hold_generated_part(const char* path, const std::string& wanted, const char* source,
                               bool approve, const GeneratedMarks& marks = {}) {
  const std::string begin = marks.begin;
  std::ifstream in(path);
  std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::size_t from = page.find(begin);
  const std::size_t to = page.find(marks.end);
  if (from == std::string::npos || to == std::string::npos || to < from) {
    std::fprintf(stderr, "%s: no place for %s\n", path, source);
    return 2;
  }
  const std::size_t text = from + begin.size();
  if (page.compare(text, to - text, wanted) == 0) return 0;
  if (!approve) {
    std::fprintf(stderr, "%s: not %s; the target approve writes it\n", path, source);
    return 1;
  }
  page.replace(text, to - text, wanted);
  std::ofstream out(path);
  out << page;
  return out.flush() ? 0 : 2;
}

}  // namespace chameleon::inline base
