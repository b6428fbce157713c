// SPDX-License-Identifier: BSD-3-Clause
#include "record/discoveries.h"

#include <utility>

namespace chameleon::record {
namespace {

/// Of a window; 0 if MPI does not say it.
template <class Number>
std::int64_t attribute(MPI_Win win, int key) {
  void* value = nullptr;
  int found = 0;
  PMPI_Win_get_attr(win, key, &value, &found);
  return found != 0 && value != nullptr ? static_cast<std::int64_t>(*static_cast<Number*>(value))
                                        : 0;
}

/// Fills in the members, and says how many and which.
void put_members(Objects& objects, MPI_Group group, Discovery& object) {
  object.members = group_members(group);
  object.values.push_back(static_cast<std::int64_t>(object.members.size()));
  object.values.push_back(static_cast<std::int64_t>(objects.intern(object.members)));
}

void describe_window(Objects& objects, MPI_Win win, Discovery& object) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Win_get_group(win, &group);
  put_members(objects, group, object);
  PMPI_Group_free(&group);
  const bool dynamic = attribute<int>(win, MPI_WIN_CREATE_FLAVOR) == MPI_WIN_FLAVOR_DYNAMIC;
  object.values.push_back(dynamic ? 0 : attribute<MPI_Aint>(win, MPI_WIN_SIZE));
  object.values.push_back(attribute<int>(win, MPI_WIN_DISP_UNIT));
  object.values.push_back(dynamic ? 1 : 0);
}

void describe_file(Objects& objects, MPI_File file, Discovery& object) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_File_get_group(file, &group);
  put_members(objects, group, object);
  PMPI_Group_free(&group);
  int mode = 0;
  PMPI_File_get_amode(file, &mode);
  object.values.push_back(mode);
}

/// The values of its event between what the call returned and the object.
void describe(Objects& objects, Kind kind, Discovery& object) {
  const std::uint64_t handle = object.handle;
  switch (kind) {
    case Kind::kDatatype: {
      MPI_Count bytes = 0;
      PMPI_Type_size_x(handle_of<MPI_Datatype>(handle), &bytes);
      object.bytes = bytes;
      object.values.push_back(bytes);
      object.values.push_back(objects.slots(kind).find(handle_bits(MPI_BYTE)));
      break;
    }
    case Kind::kGroup: put_members(objects, handle_of<MPI_Group>(handle), object); break;
    case Kind::kOp: {
      int commutes = 0;
      PMPI_Op_commutative(handle_of<MPI_Op>(handle), &commutes);
      object.values.push_back(commutes != 0);
      break;
    }
    case Kind::kWin: describe_window(objects, handle_of<MPI_Win>(handle), object); break;
    case Kind::kFile: describe_file(objects, handle_of<MPI_File>(handle), object); break;
    default: break;
  }
}

constexpr std::pair<Kind, CallId> kAsked[] = {
    {Kind::kComm, CallId::kCommKnown},   {Kind::kDatatype, CallId::kTypeKnown},
    {Kind::kGroup, CallId::kGroupKnown}, {Kind::kOp, CallId::kOpKnown},
    {Kind::kWin, CallId::kWinKnown},     {Kind::kFile, CallId::kFileKnown},
    {Kind::kInfo, CallId::kInfoKnown},   {Kind::kErrhandler, CallId::kErrhandlerKnown}};
static_assert([] {
  for (const auto& [kind, call] : kAsked)
    if (!is_asked_for(kind)) return false;
  return true;
}());

}  // namespace

std::vector<Discovery> discover(Objects& objects, bool ok) {
  std::vector<Discovery> found;
  for (const auto& [kind, call] : kAsked) {
    Slots& slots = objects.slots(kind);
    if (slots.taken_up().empty()) continue;
    if (ok) {
      for (const Slots::TakenUp& one : slots.taken_up()) {
        if (slots.is_free(one.id)) continue;  // the call was its last
        Discovery& object = found.emplace_back();
        object.call = call;
        object.handle = one.handle;
        object.values.push_back(0);
        describe(objects, kind, object);
        object.values.push_back(one.id);
        if (kind != Kind::kComm) continue;
        object.members = communicator_members(handle_of<MPI_Comm>(one.handle));
        object.values.push_back(static_cast<std::int64_t>(objects.intern(object.members)));
      }
    }
    slots.settle(ok);
  }
  return found;
}

}  // namespace chameleon::record
