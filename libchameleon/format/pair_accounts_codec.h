// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The section of pair accounts (docs/reference/format.md).

#include "base/bytes.h"
#include "model/pair_accounts.h"

namespace chameleon::format {

/// `world_size`: ranks of the job, which streams and sources are numbered by.
void write_pair_accounts(ByteWriter& out, const PairAccounts& accounts, std::uint32_t world_size);
/// Fails the reader on what `write_pair_accounts` did not write.
void read_pair_accounts(ByteReader& in, std::uint32_t world_size, PairAccounts& accounts);

}  // namespace chameleon::format
