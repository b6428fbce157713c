// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// An event that was followed, as people write MPI: partners are ranks of the communicator that the
/// event or its request is on, where that is known.

#include <string>

#include "analysis/follow.h"
#include "value_text.h"

namespace chameleon::tools {

/// Without the call's name. The event is the follower's last, and of a call that the trace
/// describes.
std::string event_text(const Follower& follower, const FollowedEvent& event, const ValueText& text);

}  // namespace chameleon::tools
