// SPDX-License-Identifier: BSD-3-Clause
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace chameleon::inline base {

std::uint64_t hash_bytes(const void* data, std::size_t size) { return XXH3_64bits(data, size); }

}  // namespace chameleon::inline base
