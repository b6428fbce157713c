// SPDX-License-Identifier: BSD-3-Clause
#include "record/raw.h"

#include <cstring>

namespace chameleon::record {
namespace {

std::string status_text(const MPI_Status* status, bool may_be_cancelled) {
  if (status == MPI_STATUS_IGNORE || status == nullptr) return "(?)";
  int cancelled = 0;
  if (may_be_cancelled) PMPI_Test_cancelled(status, &cancelled);
  return "(" + std::to_string(status->MPI_SOURCE) + "," + std::to_string(status->MPI_TAG) + "," +
         std::to_string(cancelled != 0 ? 0 : status_bytes(*status)) + "," +
         std::to_string(cancelled) + ")";
}

std::string element_text(const RawArgument& argument, std::int64_t i, bool may_be_cancelled) {
  switch (argument.form) {
    case RawArgument::Form::kInts:
      return std::to_string(
          translated(argument.names, static_cast<const std::int32_t*>(argument.data)[i], true));
    case RawArgument::Form::kLongs:
      return std::to_string(static_cast<const std::int64_t*>(argument.data)[i]);
    case RawArgument::Form::kText:
      return std::to_string(static_cast<int>(static_cast<const char*>(argument.data)[i]));
    default:
      return status_text(static_cast<const MPI_Status*>(argument.data) + i, may_be_cancelled);
  }
}

std::string raw_text(const RawArgument& argument, bool may_be_cancelled) {
  if (argument.form == RawArgument::Form::kInsignificant) return "?";
  if (argument.form == RawArgument::Form::kNumber) return std::to_string(argument.number);
  if (!argument.list) return element_text(argument, 0, may_be_cancelled);
  std::int64_t length = argument.number;
  if (argument.form == RawArgument::Form::kText && argument.data != nullptr)
    length = static_cast<std::int64_t>(std::strlen(static_cast<const char*>(argument.data)));
  std::string text = "[";
  for (std::int64_t i = 0; i < length; ++i) {
    if (i > 0) text += ",";
    text += element_text(argument, i, may_be_cancelled);
  }
  return text + "]";
}

}  // namespace

RawTexts::RawTexts(const CallInfo& call) : call_(call), texts_(call.param_count) {}
RawTexts::~RawTexts() = default;

void RawTexts::put(int param, const RawArgument& argument) {
  std::string& text = texts_[static_cast<std::size_t>(param)];
  // Only a request is cancelled; elsewhere (Mprobe) MPICH leaves that bit of a status as it was.
  if (text.empty())
    text = raw_text(argument, has(call_, Attribute::kCompletes | Attribute::kLocal));
}

void RawTexts::write(std::FILE* file, int code, std::span<const std::int64_t> members,
                     std::span<const MPI_Status> failed, std::uint64_t number) const {
  if (file == nullptr) return;
  std::string line = number == 0 ? "" : "@" + std::to_string(number) + " ";
  line += call_.name + std::strlen("MPI_");
  line += " return=" + std::to_string(error_number(code));
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const ParamInfo& param = params(call_)[i];
    if (stored_values(param) != 0) line += std::string(" ") + param.name + "=" + texts_[i];
  }
  if (creates_communicator(call_)) {
    line += " members=[";
    for (const std::int64_t member : members)
      line += (line.back() == '[' ? "" : ",") + std::to_string(member);
    line += "]";
  }
  if (has_errors(call_)) {
    line += " errors=[";
    for (const MPI_Status& status : failed)
      line += (line.back() == '[' ? "" : ",") + std::to_string(error_number(status.MPI_ERROR));
    line += "]";
  }
  line += "\n";
  std::fputs(line.c_str(), file);
}

void write_raw(std::FILE* file, const Discovery& object, std::uint64_t number) {
  using Form = RawArgument::Form;
  const CallInfo& call = *find_call(object.call);
  RawTexts texts(call);
  std::size_t at = 1;
  for (int i = 0; i < call.param_count; ++i, ++at) {
    const ParamInfo& param = params(call)[static_cast<std::size_t>(i)];
    RawArgument argument{Form::kNumber, false, object.values[at], nullptr};
    if (is_array(param))
      argument = {Form::kLongs, true, static_cast<std::int64_t>(object.members.size()),
                  object.members.data()};
    else if (param.kind == Kind::kDatatype && param.direction == Direction::kIn)
      argument.number = static_cast<std::int64_t>(handle_bits(MPI_BYTE));
    else if (is_object(param.kind))
      argument.number = static_cast<std::int64_t>(object.handle);
    texts.put(i, argument);
  }
  texts.write(file, 0, object.members, {}, number);
}

}  // namespace chameleon::record
