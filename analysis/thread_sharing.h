// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The operations that several threads of a rank share, so that the trace does not have their
/// order: collectives on one communicator, window or file (of more than this rank); communicators
/// made for one group; messages sent, or received, on one channel (communicator, source,
/// destination, tag); receives beside a wildcard that could take their message. A persistent
/// receive counts where it is started, and a probe that takes nothing does not; nor does making a
/// communicator. If nothing is shared,
/// each thread's own order is enough, provided that the objects are known. Exception: if another
/// thread reused an id, it is not known which object is meant. A reading of the trace each,
/// O(events); memory of the channels and objects of a rank.

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "analysis/check_state.h"
#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

struct SharedOperations {
  std::string first;  ///< as "rank 1: threads 1 and 2 both ..."; empty if nothing is shared
  std::unordered_set<ChannelKey, KeyHash> channels;
  std::set<std::pair<std::uint64_t, std::uint32_t>> receivers;  ///< by context: all to this rank
  std::set<std::uint64_t> collectives;                          ///< contexts
  std::set<std::uint64_t> contexts;  ///< of communicators of which any may be another

  bool has(const ChannelKey& channel) const {
    return channels.contains(channel) || receivers.contains({channel.context, channel.dest}) ||
           contexts.contains(channel.context);
  }
  bool has_collectives(std::uint64_t context) const {
    return collectives.contains(context) || contexts.contains(context);
  }
  std::uint64_t count() const {
    return channels.size() + receivers.size() + collectives.size() + contexts.size();
  }
};

/// The place of a call path, for people.
using SiteOf = std::function<std::string(std::uint64_t path)>;

/// All that is shared; communicators are named by the call that made them, and by its place if
/// `site` tells it. Error: the trace is damaged.
Result<SharedOperations> shared_by_threads(const Trace& trace, const SiteOf& site = {});

/// Why the object that a thread uses is not known: a communicator, window or file of another
/// thread, which gave its id to several, or a send that another thread posted and that need not
/// wait for its receive, since an MPI may give one handle to all of these that are complete. "rank
/// 1: thread 2 uses ..."; empty if there is none. Error: the trace is damaged.
/// Without `sends`, nothing is said of sends.
Result<std::string> doubted_between_threads(const Trace& trace, bool sends = true);

}  // namespace chameleon::analysis
