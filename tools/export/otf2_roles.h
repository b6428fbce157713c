// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The roles of calls in OTF2, from the MPI table.

#include <otf2/otf2.h>

#include "analysis/check_plan.h"

namespace chameleon::tools {

/// The role of a call's region.
OTF2_RegionRole role_of(const CallPlan& plan);

/// The operation of a collective; one that moves nothing is a barrier. `creates`: a communicator.
OTF2_CollectiveOp collective_of(const CallPlan& plan, bool creates);

}  // namespace chameleon::tools
