// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/reissue.h"

namespace chameleon::analysis {

const char* why_not_reissued(const CallInfo& call) {
  switch (static_cast<CallId>(call.id)) {
    // Local, but with work of their own.
    case CallId::kPack:
    case CallId::kPackC:
    case CallId::kUnpack:
    case CallId::kUnpackC:
    case CallId::kPackExternal:
    case CallId::kPackExternalC:
    case CallId::kUnpackExternal:
    case CallId::kUnpackExternalC:
    case CallId::kReduceLocal:
    case CallId::kReduceLocalC: return nullptr;
    case CallId::kCommSpawn:
    case CallId::kCommSpawnMultiple:
    case CallId::kCommAccept:
    case CallId::kCommConnect:
    case CallId::kCommJoin:
    case CallId::kOpenPort:
    case CallId::kClosePort:
    case CallId::kPublishName:
    case CallId::kUnpublishName:
    case CallId::kLookupName: return "it needs other processes";
    case CallId::kRegisterDatarep:
    case CallId::kRegisterDatarepC: return "its conversions are functions of the program";
    case CallId::kPcontrol: return "it is no event: it switches recording";
    default: break;
  }
  if (has(call, Attribute::kMpit)) return "it is not recorded";
  if (has(call, Attribute::kLocal)) return "it asks or converts, without effect";
  if (has(call, Attribute::kInit | Attribute::kFinalize)) return "the replay has its own";
  if (has(call, Attribute::kAbort)) return "it would end the replay";
  return nullptr;
}

bool needs_scratch(const CallInfo& call) {
  if (!has(call, Attribute::kIo)) return false;
  for (const ParamInfo& param : params(call))
    if (param.kind == Kind::kFile || std::string_view(param.name) == "filename") return true;
  return false;
}

LeftOut find_left_out(const CheckReport& report, bool with_scratch) {
  LeftOut left_out;
  for (const auto& [name, count] : report.calls) {
    const CallInfo* call = find_call(name);
    if (call == nullptr) {
      left_out["it is not known"][name] = count;
      continue;
    }
    const char* why = why_not_reissued(*call);
    const auto failed = report.failed.find(name);
    const std::uint64_t failures = failed == report.failed.end() ? 0 : failed->second;
    if (why != nullptr) {
      // What is the replay's own, and what changes nothing, is no loss.
      if (!has(*call, Attribute::kLocal | Attribute::kInit | Attribute::kFinalize))
        left_out[why][name] = count;
      continue;
    }
    if (failures > 0) left_out["it failed in the traced run"][name] = failures;
    if (needs_scratch(*call) && !with_scratch && count > failures)
      left_out["it is on a file, and needs --scratch"][name] = count - failures;
  }
  return left_out;
}

}  // namespace chameleon::analysis
