// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The messages between two ranks, as `chameleon pairs --pair A,B` shows them.

#include <string>
#include <vector>

#include "analysis/pair_messages.h"
#include "analysis/pairs.h"

namespace chameleon::tools {

/// Sizes of messages, the longest sums first and at most `limit`, with times and call sites.
void print_messages(const Trace& trace, const PairMessages& messages, const RankPairs& pairs,
                    std::size_t limit);
void print_messages_document(const Trace& trace, const PairMessages& messages,
                             const RankPairs& pairs);
/// A line for each message that is kept.
Status write_messages(const std::string& path, const Trace& trace, const PairMessages& messages);
/// The three plots as SVG: size over time, transfer over size, transfer over time. Transfers and
/// sizes are logarithmic; the two directions differ in colour.
Status write_message_plots(const std::string& path, const PairMessages& messages);

/// The times that receivers waited, by size, from accounts: for traces without times of single
/// messages. `reason`: why these are
/// missing. False: there are none of the pair.
bool print_accounts(const Trace& trace, std::uint32_t a, std::uint32_t b,
                    const std::string& reason);
bool print_accounts_document(const Trace& trace, std::uint32_t a, std::uint32_t b);

}  // namespace chameleon::tools
