// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What a call does to receives, and which of its values say so: read once from the table of MPI
/// calls. Without mpi.h.

#include <cstdint>

#include "mpi/event_layout.h"

namespace chameleon::record {

struct ReceiveUse {
  enum class Step : std::uint8_t {
    kNothing,
    kReceive,       ///< receives at once
    kPost,          ///< makes the request of a receive
    kPostOther,     ///< makes another request
    kMatchedProbe,  ///< takes a message, which is received later
    kComplete,      ///< one request
    kCompleteAll,
    kCompleteAny,
    kCompleteSome,
    kStart,
    kEnd,  ///< frees a request
    kCancel,
    kMakeComm,
    kMakeType,
  };
  Step step = Step::kNothing;
  bool persistent = false;
  bool many = false;  ///< `request` is an array
  // Places among the event's values; -1: none.
  int comm = -1;  ///< that its partners are counted in, or that it makes
  int source = -1, message = -1;
  int type = -1;  ///< of what it receives, or that it makes
  int request = -1, flag = -1, index = -1, errors = -1, members = -1;
  int status = -1;  ///< source, tag, bytes

  bool completes() const { return step >= Step::kComplete && step <= Step::kCompleteSome; }
};

const ReceiveUse& receive_use(std::uint16_t call);

}  // namespace chameleon::record
