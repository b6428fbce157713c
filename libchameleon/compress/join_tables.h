// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Everything in a trace but its nodes, joined: what a merge across ranks and an
/// append in time have in common. Tables are maps by id, of which the present
/// entry stays; facts of a rank in both traces add up. O(size of `other`'s tables).

#include "model/trace.h"

namespace chameleon::compress {

/// Takes `other`'s tables, facts and declarations into `trace`, leaving `other`'s nodes.
void join_tables(Trace& trace, Trace& other);

}  // namespace chameleon::compress
