// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Stacks to unwind: `leaf(with)` called below `depth` + 2 frames of a few hundred bytes.

namespace chameleon::bench {

using Leaf = void (*)(void* with);

void call_without_frame_pointers(int depth, unsigned long ways, Leaf leaf, void* with);
void call_with_frame_pointers(int depth, unsigned long ways, Leaf leaf, void* with);

}  // namespace chameleon::bench
