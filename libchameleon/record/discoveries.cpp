// SPDX-License-Identifier: BSD-3-Clause
#include "record/discoveries.h"

namespace chameleon::record {

std::vector<Discovery> discover(Objects& objects, bool ok) {
  std::vector<Discovery> found;
  Slots& comms = objects.slots(Kind::kComm);
  Slots& types = objects.slots(Kind::kDatatype);
  if (ok) {
    for (const Slots::TakenUp& one : comms.taken_up()) {
      if (comms.is_free(one.id)) continue;  // the call was its last
      const auto members = communicator_members(handle_of<MPI_Comm>(one.handle));
      const auto array = static_cast<std::int64_t>(objects.intern(members));
      found.push_back({CallId::kCommKnown, one.handle, 0, {0, one.id, array}});
    }
    const std::int64_t unit = types.find(handle_bits(MPI_BYTE));
    for (const Slots::TakenUp& one : types.taken_up()) {
      if (types.is_free(one.id)) continue;
      MPI_Count bytes = 0;
      PMPI_Type_size_x(handle_of<MPI_Datatype>(one.handle), &bytes);
      found.push_back({CallId::kTypeKnown, one.handle, bytes, {0, bytes, unit, one.id}});
    }
  }
  comms.settle(ok);
  types.settle(ok);
  return found;
}

}  // namespace chameleon::record
