// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The ranks of a job on one host, when one of them ends early. A launcher kills all ranks as soon
/// as it sees one end, so the one that ends asks the others for their last words, and waits until
/// all have left theirs, shortly. They know each other by a page of memory that they share: a file
/// in /dev/shm with a name of this job's own, which is removed as soon as all have it. Where there
/// is none, a rank is alone, and waits half a second for those it does not know.
///
/// Everything but `join` and `close` may be called in a handler of a signal. Cost: a page, and a
/// few system calls at the start.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::process {

/// How long a rank that ends waits for the words of others, which a busy host has to let run.
inline constexpr int kPatienceForOthersMs = 2000;

/// By every rank, with a number that is this job's own; before a barrier of all.
void join_host_ranks(std::uint64_t job);
/// After it: the page has no name any more.
void close_host_ranks();

/// The rank is about to end: wakes the watchers of all. Whether it is the first on the host.
bool ask_host_ranks();
/// Whether another one of them asked.
bool is_asked_by_host_rank();
/// Sleeps until somebody wakes the watchers, at most `ms` (0: without end), unless somebody did
/// since `word` was read.
std::uint32_t host_ranks_word();
void sleep_until_woken(std::uint32_t word, int ms);
/// Wakes the watchers.
void wake_host_ranks();

/// A rank has looked at what it does: whether calls began or ended since it last did, and whether
/// it is inside of one for all that time. Then how long, in ms, no rank of the host has made
/// progress; 0 if none is inside of a call.
std::int64_t note_activity(bool progress, bool inside);

/// This rank has left its last words, or no rank needs to wait for them. Counts once.
void note_words_left();
/// Waits until all have left theirs, for at most `ms`. Gives when all are to end together: soon
/// after the last one left its own, in ns since 1970; 0 if it is at once.
std::int64_t wait_for_host_ranks(int ms);

}  // namespace chameleon::process
