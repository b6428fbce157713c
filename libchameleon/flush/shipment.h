// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The second half of a flush: traces on their way to rank 0, joined at each rank that they pass.

#include <vector>

#include "base/bytes.h"
#include "flush/plan.h"

namespace chameleon::flush {

/// A trace on its way: whole, or only its values, to a rank of the same structure.
struct Shipment {
  Trace trace;
  bool values_only = false;
  ValueKinds kinds = kAllValueKinds;  ///< of values, if these alone
  std::vector<Inexact> inexact;       ///< of the nodes, which say so already
  Bytes received;                     ///< values not read yet

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, Shipment& value);
};

/// Declares, at the nodes of a trace, what a plan's entry finds inexact.
void declare(Trace& trace, const std::vector<Inexact>& inexact);

/// Makes a sender's trace that of its whole class.
Shipment prepare(const FlushPlan::Entry& entry, Share& share);
void join_shipments(Shipment& mine, Shipment&& theirs);

}  // namespace chameleon::flush
