// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How the values of a call enter signatures and hashes: read once from the table of MPI calls,
/// and looked up for each distinct event.

#include <cstdint>
#include <vector>

#include "model/event.h"
#include "signature/call_parameters.h"

namespace chameleon::record {

/// How one value of a call is used.
struct ValueUse {
  std::uint8_t kind = 5;  ///< bit of Inexactness it belongs to
  bool end_point = false;
  bool root = false;
};

struct CallUse {
  std::vector<ValueUse> values;
  std::vector<SignedValue> signed_values;
  int flag = -1;  ///< value that says whether a Test or Iprobe succeeded
  bool creates = false;
  CallRole role = CallRole::kOther;
};

const CallUse& call_use(std::uint16_t call);

}  // namespace chameleon::record
