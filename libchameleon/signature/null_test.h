// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Tests of null requests. They succeed and say nothing, and how many there are is often chance, as
/// of unsuccessful ones: both are counted and no events. A few comparisons a call of the table.

#include "mpi/call_table.h"

namespace chameleon::signature {

/// The parameter of a test that is below 0 in the trace, or null or MPI_UNDEFINED in a program, if
/// there was nothing to test: the request of MPI_Test, the index of MPI_Testany, the count of
/// MPI_Testsome; the array of MPI_Testall, of which all elements are. -1: it is no such call. Calls
/// that wait are none: how often a program makes them is not chance, whether their requests are
/// null or not.
inline int null_test_param(const CallInfo& call) {
  if (!has(call, Attribute::kCompletes) || !has(call, Attribute::kTest)) return -1;
  int at = 0, list = -1;
  for (const ParamInfo& param : params(call)) {
    const bool one = !is_array(param);
    const bool out = param.direction == Direction::kOut;
    if (one && (param.kind == Kind::kRequest ||
                (out && (param.kind == Kind::kIndex || param.kind == Kind::kCount))))
      return at;
    if (!one && param.kind == Kind::kRequest) list = at;
    ++at;
  }
  return list;
}

}  // namespace chameleon::signature
