// SPDX-License-Identifier: BSD-3-Clause
#include "replay/results.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/reissue.h"
#include "base/plain_text.h"
#include "mpi/call_table.h"

namespace chameleon::replay {

void print_json(const Results& results) {
  const nlohmann::ordered_json original =
      results.original > 0 ? nlohmann::ordered_json(results.original) : nullptr;
  const nlohmann::ordered_json document = {
      {"schema", "chameleon.replay/1"}, {"events", results.events},
      {"ranks", results.ranks},         {"seconds", results.seconds},
      {"original_seconds", original},   {"left_out", results.left_out}};
  std::puts(
      document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

void print_text(const Results& results, bool with_scratch) {
  std::printf("replay: %llu events on %d ranks, %.6f s (",
              static_cast<unsigned long long>(results.events), results.ranks, results.seconds);
  if (results.original <= 0)
    std::printf("how long the original took is not known)\n");
  else
    std::printf("the original%s: %.6f s)\n", results.complete ? "" : ", up to its last marker",
                results.original);
  std::string calls;
  bool files = false;
  for (const auto& [name, count] : results.left_out) {
    calls += (calls.empty() ? "" : ", ") + name + " " + std::to_string(count);
    const CallInfo* call = find_call(name);
    files |= call != nullptr && needs_scratch(*call) && !with_scratch;
  }
  if (!calls.empty()) std::printf("left out: %s\n", plain_text(calls).c_str());
  if (files) std::printf("calls on files need --scratch=FOLDER, a folder for scratch files\n");
  std::fflush(stdout);
}

}  // namespace chameleon::replay
