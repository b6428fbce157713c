// SPDX-License-Identifier: BSD-3-Clause
#include "tools/wait_table.h"

namespace chameleon::tools {

std::vector<const char*> wait_columns() {
  return {"rank",
          "call",
          "site",
          "count",
          "call_ns",
          "late_sender_ns",
          "late_receiver_ns",
          "late_root_ns",
          "early_root_ns",
          "all_to_all_ns",
          "barrier_ns",
          "marker_ns",
          "transfer_ns",
          "excess_ns"};
}

std::vector<std::uint64_t> wait_numbers(const analysis::WaitTimes& times) {
  const auto whole = [](double value) { return static_cast<std::uint64_t>(value + 0.4999); };
  std::vector<std::uint64_t> numbers = {whole(times.events), whole(times.call_ns)};
  for (const double ns : times.waited_ns) numbers.push_back(whole(ns));
  numbers.push_back(whole(times.transfer_ns));
  numbers.push_back(whole(times.excess_ns()));
  return numbers;
}

}  // namespace chameleon::tools
