// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Joining traces of different ranks, and the final form of what was joined.

#include "model/trace.h"

namespace chameleon::compress {

/// Inter-node compression: joins `other`, of other ranks, into `trace`. Equal
/// structure is joined in one walk; otherwise the top-level nodes (and, between
/// matches, the bodies of loops that run equally often) are aligned by a
/// shortest edit script (Myers 1986, O((n + m) d) for d differences).
void merge(Trace& trace, Trace other);

/// Puts a merged trace into its final form: one reading per end-point, ranks
/// only where they differ from the enclosing node's. Lossless, idempotent.
void canonicalize(Trace& trace);

/// The half of it that a trace needs which others are appended to: end-points keep every reading
/// they have, since what comes next may have another one only.
void drop_ranks(Trace& trace);

}  // namespace chameleon::compress
