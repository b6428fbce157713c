// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/event_layout.h"

#include <cstring>

namespace chameleon::mpi {

CallDescription describe_call(const CallInfo& call, const EventExtras& extras) {
  CallDescription description;
  description.name = call.name + std::strlen("MPI_");
  auto& fields = description.fields;
  fields.push_back({"return", "error", FieldKind::kPlain});
  for (const ParamInfo& param : params(call)) {
    if (stored_values(param) == 0) continue;
    const bool array = param.length.rule != Length::Rule::kScalar;
    if (param.kind == Kind::kStatus) {
      const std::string name = param.name;
      fields.push_back(
          {name + ".source", "source", array ? FieldKind::kArray : FieldKind::kEndPoint});
      fields.push_back({name + ".tag", "tag", array ? FieldKind::kArray : FieldKind::kPlain});
      fields.push_back({name + ".bytes", "bytes", array ? FieldKind::kArray : FieldKind::kPlain});
      continue;
    }
    FieldKind stored = FieldKind::kPlain;
    if (array || param.kind == Kind::kString) stored = FieldKind::kArray;
    if (is_end_point(call, param)) stored = FieldKind::kEndPoint;
    fields.push_back({param.name, kind_name(param.kind), stored});
  }
  if (creates_communicator(call)) fields.push_back({"members", "members", FieldKind::kArray});
  if (has_errors(call)) fields.push_back({"errors", "error", FieldKind::kArray});
  if (extras.path) fields.push_back({"call_path", "path", FieldKind::kPlain});
  if (extras.times) {
    fields.push_back({"compute", "ns", FieldKind::kPlain});
    fields.push_back({"communication", "ns", FieldKind::kPlain});
  }
  return description;
}

}  // namespace chameleon::mpi
