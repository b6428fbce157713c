// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The signatures of each rank's whole run, from a trace: those that the tracer would have made of
/// the run as one interval. For a rank with several threads the first one counts, as in the tracer.
/// O(events) time; memory of one rank's folded events, and of 240 bytes a rank.

#include <vector>

#include "analysis/follow.h"
#include "signature/call_rules.h"
#include "signature/call_sites.h"
#include "signature/signature.h"

namespace chameleon::analysis {

struct RankSignature {
  SignatureVector signature;
  std::uint64_t events = 0;
  std::uint64_t parameters = 0;   ///< of its events, as they were recorded
  std::uint64_t trace_bytes = 0;  ///< of its folded events, encoded and not compressed
};

/// Those of all ranks; values that rules give are signed as theirs. Times are those of the
/// trace; without any, of no signature. Error: the trace is damaged, or lacks ranks or
/// events.
Result<std::vector<RankSignature>> rank_signatures(const FollowPlan& plan,
                                                   const signature::CallRules& rules);

/// The rule, from 1, that gives a value of an event; 0: none. `sites` are those of the rank up to
/// there.
std::uint32_t rule_of(const signature::CallRules& rules, signature::CallSites& sites,
                      const FollowedEvent& event, const signature::SignedValue& value);

}  // namespace chameleon::analysis
