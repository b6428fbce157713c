// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/leaks.h"

#include <algorithm>
#include <array>

namespace chameleon::analysis {
namespace {

struct Named {
  Kind kind;
  const char* one;
};
constexpr std::array<Named, 7> kFreed{{{Kind::kComm, "communicator"},
                                       {Kind::kDatatype, "datatype"},
                                       {Kind::kGroup, "group"},
                                       {Kind::kOp, "operator"},
                                       {Kind::kWin, "window"},
                                       {Kind::kFile, "file"},
                                       {Kind::kRequest, "request"}}};

bool is_to_be_freed(Kind kind) {
  return std::any_of(kFreed.begin(), kFreed.end(),
                     [kind](const Named& one) { return one.kind == kind; });
}

/// What these give is MPI's own, or may be.
bool need_not_be_freed(std::string_view call) {
  return call == "MPI_Comm_get_parent" || call == "MPI_File_get_view" ||
         call.starts_with("MPI_Type_create_f90_");
}

}  // namespace

void ObjectLedger::note(const FollowedEvent& event) {
  if (event.plan == nullptr || event.plan->info == nullptr) return;
  const CallInfo& info = *event.plan->info;
  const bool makes = has(info, Attribute::kCreates | Attribute::kPersistent);
  const bool frees = has(info, Attribute::kFrees);
  if (!makes && !frees) return;
  // What a discovery names, another than the program has made.
  if (is_discovery(info) || need_not_be_freed(info.name)) return;
  for (const ParamInfo& param : params(info)) {
    if (is_array(param) || !is_to_be_freed(param.kind)) continue;
    const int field = field_index(*event.call, param.name);
    if (field < 0 || event.view.values[static_cast<std::size_t>(field)] < 0) continue;
    const std::pair key{param.kind, event.value(field)};
    const bool made = param.kind == Kind::kRequest ? has(info, Attribute::kPersistent)
                                                   : has(info, Attribute::kCreates);
    if (makes && made && param.direction == Direction::kOut)
      made_.insert_or_assign(key, Made{event.view.node->call, event.view.path});
    else if (frees && param.direction == Direction::kInOut)
      made_.erase(key);
  }
}

void ObjectLedger::add_to(std::vector<Leak>& leaks, std::uint32_t rank, const Trace& trace) const {
  for (const auto& [key, made] : made_) {
    const auto call = trace.calls.find(made.call);
    if (call == trace.calls.end()) continue;
    auto known = std::find_if(leaks.begin(), leaks.end(), [&](const Leak& leak) {
      return leak.kind == key.first && leak.path == made.path && leak.call == call->second.name;
    });
    if (known == leaks.end())
      known = leaks.insert(known, {key.first, call->second.name, made.path, 0, RankList()});
    ++known->count;
    known->ranks.insert(rank);
  }
}

std::string leak_text(const Leak& leak) {
  const auto named = std::find_if(kFreed.begin(), kFreed.end(),
                                  [&](const Named& one) { return one.kind == leak.kind; });
  return std::to_string(leak.count) + " " + named->one + (leak.count == 1 ? "" : "s") +
         " made by " + leak.call + (leak.count == 1 ? " is" : " are") + " never freed, on rank" +
         (leak.ranks.size() == 1 ? " " : "s ") + leak.ranks.to_string();
}

}  // namespace chameleon::analysis
