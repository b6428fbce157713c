// SPDX-License-Identifier: BSD-3-Clause
#include "unit/scripted_job.h"

template class chameleon::online::Online<chameleon::world::VirtualWorld>;
template class chameleon::online::Online<chameleon::testing::LosingWorld>;
template class chameleon::testing::JobIn<chameleon::world::VirtualWorld>;
