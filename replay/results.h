// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The results that a replay prints at its end. Rank 0 only.

#include <cstdint>
#include <map>
#include <string>

namespace chameleon::replay {

struct Results {
  int ranks = 0;
  std::uint64_t events = 0;  ///< of all ranks
  double seconds = 0;        ///< of the longest rank
  double original = 0;       ///< s, of the longest rank in the traced run; 0: not known
  bool complete = true;      ///< the traced run reached its end
  std::map<std::string, std::uint64_t> left_out;  ///< how often, by call
};

/// One JSON object of one line.
void print_json(const Results& results);
/// Lines for people; `with_scratch`: there was a folder for files.
void print_text(const Results& results, bool with_scratch);

}  // namespace chameleon::replay
