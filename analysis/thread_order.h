// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// In which order a rank can make the calls of its threads one after the other, so that nobody
/// waits for what comes later: that of the times at which each can go on, on a timeline
/// (timeline.h) on which collectives are synchronous. All who take part in one have the same time.
/// Sends must not wait for their receives: another thread may have made those. Where threads share
/// what the trace has no order of (thread_sharing.h), there is none. A few readings of the trace;
/// 24 bytes an event.

#include <cstdint>
#include <map>
#include <string>

#include "analysis/rank_streams.h"
#include "analysis/thread_sharing.h"
#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

struct ThreadOrders {
  std::map<std::uint32_t, StreamOrder> ranks;
  std::string why_none;  ///< not empty: there are none, in the user's words
};

/// Of a trace whose ranks have several threads. Error: the trace is damaged.
Result<ThreadOrders> order_threads(const Trace& trace, const SiteOf& site = {});

}  // namespace chameleon::analysis
