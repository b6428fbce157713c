// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/communicators.h"

#include <algorithm>

#include "base/hash.h"
#include "mpi/call_meaning.h"

namespace chameleon::analysis {
namespace {

constexpr std::string_view kMpi = "MPI_";
constexpr std::uint64_t kWorldContext = 1;
constexpr std::uint64_t kSelfContext = 2;
constexpr std::uint64_t kNoParent = 3;

/// Names of the calls that free a communicator.
std::vector<std::string_view> freeing_calls() {
  std::vector<std::string_view> names;
  for (const mpi::CallInfo& call : mpi::all_calls())
    for (const mpi::ParamInfo& param : mpi::params(call))
      if (mpi::has(call, mpi::Attribute::kFrees) && param.kind == mpi::Kind::kComm)
        names.push_back(std::string_view(call.name).substr(kMpi.size()));
  return names;
}

bool frees(const CallDescription& call) {
  static const std::vector<std::string_view> names = freeing_calls();
  return std::find(names.begin(), names.end(), call.name) != names.end();
}

/// Only those who will be members call it: a tag tells it from others of the same group.
bool is_by_group(const CallDescription& call) {
  const mpi::CallInfo* info = mpi::find_call(call.name);
  return info != nullptr && mpi::meaning_of(*info).over_result;
}

bool has_members(const CallDescription& call) {
  return std::any_of(call.fields.rbegin(), call.fields.rend(),
                     [](const Field& field) { return field.kind == "members"; });
}

std::uint64_t hash_of(const WorldRanks& ranks) {
  std::uint64_t hash = static_cast<std::uint64_t>(ranks.count);
  for (std::int32_t i = 0; i < ranks.count; ++i)
    hash = combine(hash, static_cast<std::uint64_t>(ranks[i]));
  return hash;
}

}  // namespace

std::span<const std::int64_t> array_of(const Trace& trace, std::int64_t value) {
  const auto found = trace.arrays.find(static_cast<std::uint64_t>(value));
  if (found == trace.arrays.end()) return {};
  return found->second;
}

int field_index(const CallDescription& call, std::string_view name) {
  for (std::size_t i = 0; i < call.fields.size(); ++i)
    if (call.fields[i].name == name) return static_cast<int>(i);
  return -1;
}

std::int32_t WorldRanks::find(std::int64_t world_rank) const {
  if (listed.empty())
    return world_rank >= first && world_rank < first + count
               ? static_cast<std::int32_t>(world_rank - first)
               : -1;
  const auto found = std::find(listed.begin(), listed.end(), world_rank);
  return found == listed.end() ? -1 : static_cast<std::int32_t>(found - listed.begin());
}

Communicators::Communicators(std::uint32_t world_rank, std::uint32_t world_size,
                             std::uint32_t threads)
    : rank_(world_rank), threads_(threads) {
  world_ = std::make_shared<Communicator>();
  world_->context = kWorldContext;
  world_->self = static_cast<std::int32_t>(world_rank);
  world_->local = {{}, 0, static_cast<std::int32_t>(world_size)};
  self_ = std::make_shared<Communicator>();
  self_->context = combine(kSelfContext, world_rank);
  self_->self = 0;
  self_->local = {{}, world_rank, 1};
}

bool Communicators::changed_by(const CallDescription& call) {
  return frees(call) || has_members(call);
}

const Communicators::Members& Communicators::members(const Trace& trace, std::int64_t array) {
  const auto [entry, fresh] = known_.try_emplace(static_cast<std::uint64_t>(array));
  Members& members = entry->second;
  if (!fresh) return members;
  const std::span<const std::int64_t> all = array_of(trace, array);
  const auto bar = std::find(all.begin(), all.end(), -1);
  const auto locals = static_cast<std::size_t>(bar - all.begin());
  members.is_inter = bar != all.end();
  members.local = {all.first(locals), 0, static_cast<std::int32_t>(locals)};
  if (members.is_inter)
    members.remote = {all.subspan(locals + 1), 0,
                      static_cast<std::int32_t>(all.size() - locals - 1)};
  members.self = locals == 0 ? -1 : members.local.find(rank_);
  const std::uint64_t local = hash_of(members.local);
  const std::uint64_t remote = members.is_inter ? hash_of(members.remote) : 0;
  members.identity = combine(std::min(local, remote), std::max(local, remote));
  return members;
}

void Communicators::apply(const Trace& trace, const CallDescription& call, const EventView& event) {
  if (event.values.size() < call.fields.size() || event.values.empty()) return;
  std::int64_t first = -1, last = -1, array = 0, tag = -1;
  int comms = 0;
  bool creates = false;
  for (std::size_t i = 0; i < call.fields.size(); ++i) {
    const Field& field = call.fields[i];
    if (field.kind == "comm" && field.stored == FieldKind::kPlain) {
      if (comms++ == 0) first = event.values[i];
      last = event.values[i];
    } else if (field.kind == "tag") {
      tag = event.values[i];
    } else if (field.kind == "members") {
      creates = true;
      array = event.values[i];
    }
  }
  if (frees(call)) return release(first);
  // The new communicator is the last one in every prototype, the parent the first.
  if (!creates || last < 2) return;
  const Members& group = members(trace, array);
  if (group.self < 0) return;
  const Communicator* parent = comms > 1 ? find(first).get() : nullptr;
  const bool joins_strangers = group.is_inter && (parent == nullptr || !parent->is_inter);
  const std::uint64_t above = parent == nullptr || joins_strangers ? kNoParent : parent->context;
  // What a group makes is in no order with what all of the parent make, nor with another tag.
  std::uint64_t family = combine(above, group.identity);
  if (!joins_strangers && is_by_group(call))
    family = combine(family, static_cast<std::uint64_t>(tag) + 1);
  const std::uint64_t nth = created_[family]++;
  made_[last] = std::make_shared<Communicator>(Communicator{
      combine(family, nth), family, group.self, group.is_inter, group.local, group.remote, 0});
}

std::shared_ptr<Communicator> Communicators::known(const Trace& trace, std::int64_t array,
                                                   std::uint64_t kind) {
  const Members& group = members(trace, array);
  if (group.self < 0) return nullptr;
  const std::uint64_t family = combine(combine(kNoParent, group.identity), kind);
  const std::uint64_t nth = created_[family]++;
  return std::make_shared<Communicator>(
      Communicator{combine(family, nth), family, group.self, false, group.local, {}, 0});
}

}  // namespace chameleon::analysis
