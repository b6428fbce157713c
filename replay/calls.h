// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The calls that can be re-issued, from the generated list: each a function that takes its
/// arguments as words, and the width of what every argument is or points to. A new MPI call needs
/// no line here. Look-up is one load.

#include "mpi/call_table.h"
#include "replay/word.h"

namespace chameleon::replay {

struct CallEntry {
  int (*invoke)(const Word* arguments) = nullptr;
  const std::uint8_t* widths = nullptr;  ///< bytes of an element, an argument each
};

/// The entry of a call that a replay re-issues (analysis/reissue.h), or null.
const CallEntry* find_entry(const CallInfo& call);

/// Whether the MPI that this is built with lacks a call that a replay would issue.
bool is_lacking(const CallInfo& call);

}  // namespace chameleon::replay
