// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What a datatype is made of, as far as a message's two sides must agree (MPI-4.0, section 3.3.1):
/// a basic datatype, if all its parts are of one. Types of other parts, and what is not known,
/// agree with everything. Names of a basic type in other languages, or by its size, are the same to
/// this: programs of several languages may send MPI_INT to MPI_INTEGER.

#include <cstdint>
#include <string>

#include "model/trace.h"

namespace chameleon::analysis {

/// The place of a basic datatype in the trace's list of predefined ones.
using Element = std::int32_t;
inline constexpr Element kMixed = -1;

/// Whether data of one may be received as the other. O(1), a few comparisons of names.
bool elements_agree(const Trace& trace, Element sent, Element received);
/// "MPI_INT"
std::string element_name(const Trace& trace, Element element);

}  // namespace chameleon::analysis
