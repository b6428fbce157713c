// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/operations.h"

#include <algorithm>

namespace chameleon::analysis {
namespace {

/// Size of a datatype that was not made yet.
constexpr std::int64_t kNoType = kUnknownSize - 1;
/// Pieces of a value sequence looked at before a wildcard is taken for possible.
constexpr std::uint64_t kMostSegments = 1 << 16;

bool is_any(EndPointForm form, std::int64_t value) {
  return EndPoint{form, value}.special() == static_cast<std::int32_t>(SpecialRank::kAnySource);
}

/// Whether some value of the parameter is one that `test` looks for.
template <class Test>
bool some_value(const Param& param, const RankList& ranks, Test test) {
  bool found = false;
  param.for_each_group(ranks, [&](const RankList&, EndPointForm form, const ValueSequence& values) {
    ValueSequence::Cursor cursor(values);
    std::uint64_t segments = 0;
    while (!found && !cursor.done()) {
      const auto segment = cursor.segment();
      const auto last = static_cast<std::int64_t>(static_cast<std::uint64_t>(segment.start) +
                                                  static_cast<std::uint64_t>(segment.stride) *
                                                      (segment.count - 1));
      found = test(form, segment.start) || test(form, last) || ++segments > kMostSegments;
      cursor.skip(segment.count);
    }
  });
  return found;
}

bool has_wildcards(const Trace& trace, const std::vector<Node>& nodes,
                   const std::vector<CallPlan>& plans) {
  for (const Node& node : nodes) {
    if (node.is_loop()) {
      if (has_wildcards(trace, node.body, plans)) return true;
      continue;
    }
    if (node.call >= plans.size()) continue;
    const CallPlan& plan = plans[node.call];
    if (plan.action == Action::kCancel) return true;
    if (plan.action != Action::kRecv || plan.request < 0) continue;
    const auto param = [&](int field) -> const Param* {
      return field >= 0 && static_cast<std::size_t>(field) < node.params.size()
                 ? &node.params[static_cast<std::size_t>(field)]
                 : nullptr;
    };
    if (const Param* source = param(plan.source))
      if (some_value(*source, trace.ranks, is_any)) return true;
    if (const Param* tag = param(plan.recv_tag))
      if (some_value(*tag, trace.ranks, [](EndPointForm, std::int64_t v) { return v < 0; }))
        return true;
  }
  return false;
}

}  // namespace

TracePlan plan_trace(const Trace& trace, bool compares) {
  TracePlan plan;
  plan.calls = plan_calls(trace);
  plan.compares = compares;
  const bool types = std::any_of(plan.calls.begin(), plan.calls.end(), [](const CallPlan& call) {
    return call.action == Action::kDatatype;
  });
  plan.reads_twice =
      (compares && trace.threads > 1 && types) || has_wildcards(trace, trace.nodes, plan.calls);
  return plan;
}

RankOperations::RankOperations(const Trace& trace, const TracePlan& plan, RankStreams streams)
    : trace_(&trace),
      trace_plan_(&plan),
      streams_(std::move(streams)),
      comms_(streams_.rank(), std::max(trace.world_size, streams_.rank() + 1), trace.threads) {}

Result<RankOperations> RankOperations::make(const Trace& trace, const TracePlan& plan,
                                            std::uint32_t rank) {
  Result<RankStreams> streams = RankStreams::make(trace, plan.calls, rank);
  if (!streams) return streams.error();
  RankOperations operations(trace, plan, std::move(*streams));
  if (!plan.reads_twice) return operations;
  Result<RankStreams> first = RankStreams::make(trace, plan.calls, rank);
  if (!first) return first.error();
  RankOperations reader(trace, plan, std::move(*first));
  reader.collecting_ = true;
  while (reader.next()) {
  }
  operations.matches_ = std::move(reader.matches_);
  operations.shifting_ = std::move(reader.shifting_);
  return operations;
}

bool RankOperations::next() {
  now_.operations.clear();
  now_.contributions.clear();
  now_.has_comm = now_.has_made = now_.has_matched = false;
  for (;;) {
    if (!streams_.next(now_.event)) return false;
    now_.stream = streams_.stream();
    now_.number = streams_.number();
    const std::uint16_t id = now_.event.node->call;
    const auto described = trace_->calls.find(id);
    if (described == trace_->calls.end() || now_.event.values.empty() ||
        described->second.fields.size() != now_.event.values.size()) {
      ++unmodelled_["call " + std::to_string(id)];
      continue;
    }
    now_.call = &described->second;
    now_.plan = &trace_plan_->calls[id];
    if (!collecting_) now_.times = times_of(call(), event(), stream());
    act();
    return true;
  }
}

void RankOperations::act() {
  const CallPlan& plan = *now_.plan;
  if (plan.changes_communicators && plan.members >= 0) {
    comms_.apply(*trace_, call(), event());
    const Communicator* made = plan.new_comm < 0 ? nullptr : comms_.find(value(plan.new_comm));
    now_.has_made = made != nullptr;
    if (made != nullptr) now_.made = *made;
  }
  switch (plan.action) {
    case Action::kNothing:
    case Action::kProbe: break;
    case Action::kUnchecked: ++unmodelled_[now_.call->name]; break;
    case Action::kSend: send(); break;
    case Action::kSendrecv:
      send();
      receive();
      break;
    case Action::kRecv: receive(); break;
    case Action::kMatchedProbe: matched_probe(); break;
    case Action::kMatchedRecv: matched_receive(); break;
    case Action::kComplete:
    case Action::kCompleteAll:
    case Action::kCompleteAny:
    case Action::kCompleteSome: complete_many(); break;
    case Action::kStart:
      if (plan.request >= 0) {
        start(value(plan.request));
      } else if (plan.requests >= 0) {
        for (const std::int64_t slot : array_of(*trace_, value(plan.requests))) start(slot);
      }
      break;
    case Action::kRequestFree:
      if (plan.request >= 0) free_request(value(plan.request));
      break;
    case Action::kCancel:
      if (plan.request >= 0) cancel(value(plan.request));
      break;
    case Action::kFinalize:
    case Action::kCollective: collective(); break;
    case Action::kDatatype: follow_datatype(); break;
    case Action::kOtherRequest:
      ++unmodelled_[now_.call->name];
      if (plan.request >= 0 && value(plan.request) >= 0)
        make_request(value(plan.request), Open::Kind::kOther).persistent = plan.persistent;
      break;
  }
  if (plan.changes_communicators && plan.members < 0) comms_.apply(*trace_, *now_.call, now_.event);
}

std::int64_t RankOperations::type_size(std::int64_t type) const {
  if (type <= -2) return predefined_size(*trace_, type);
  const std::int64_t place = place_of_object(type, trace_->threads);
  if (place < 0 || static_cast<std::size_t>(place) >= type_sizes_.size()) return kUnknownSize;
  // Which of the maker's types with this id another thread means is not told.
  if (trace_plan_->compares && shifting_.contains(place) &&
      object_thread(type) != trace_->thread_of(now_.stream))
    return kUnknownSize;
  return std::max(type_sizes_[static_cast<std::size_t>(place)], kUnknownSize);
}

std::int64_t RankOperations::exact_amount(std::int64_t count, std::int64_t type) const {
  return exact_bytes(count, type_size(type));
}

std::int64_t RankOperations::amount(std::int64_t count, std::int64_t type) const {
  return std::max<std::int64_t>(0, plausible_bytes(exact_amount(count, type)));
}

void RankOperations::follow_datatype() {
  const auto field = [&](const char* name) { return field_index(*now_.call, name); };
  const std::int64_t made = place_of_object(value(now_.plan->new_type), trace_->threads);
  if (made < 0 || made >= kMostObjects) return;
  const std::int64_t size = constructed_size(
      now_.plan->info, [&](const char* name) { return field(name) < 0 ? -1 : value(field(name)); },
      [&](const char* name) -> std::span<const std::int64_t> {
        if (field(name) < 0) return {};
        return array_of(*trace_, value(field(name)));
      },
      [&](std::int64_t type) { return type_size(type); });
  if (type_sizes_.size() <= static_cast<std::size_t>(made))
    type_sizes_.resize(static_cast<std::size_t>(made) + 1, kNoType);
  std::int64_t& known = type_sizes_[static_cast<std::size_t>(made)];
  if (collecting_ && known != kNoType && known != size) shifting_.insert(made);
  known = size;
}

const Communicator* RankOperations::comm_of() const {
  const CallPlan& plan = *now_.plan;
  if (plan.action == Action::kFinalize) return comms_.find(0);
  if (plan.comm >= 0) {
    const bool by_members = plan.new_comm == plan.comm || plan.over_result;
    return comms_.find(value(by_members ? plan.new_comm : plan.comm));
  }
  if (plan.object < 0) return nullptr;
  const auto& objects = plan.object_is_file ? files_ : windows_;
  const auto found = objects.find(value(plan.object));
  return found == objects.end() ? nullptr : &found->second;
}

void RankOperations::collective() {
  const CallPlan& plan = *now_.plan;
  auto* comm = const_cast<Communicator*>(comm_of());
  if (failed() || comm == nullptr) return;
  now_.has_comm = true;
  now_.comm = *comm;
  Operation operation;
  operation.kind = Operation::Kind::kBegin;
  operation.context = comm->context;
  operation.number = trace_->threads > 1 && comes_last(plan) ? kLastNumber : comm->collectives++;
  operation.waits = plan.waits;
  operation.collective = &plan;
  operation.members =
      static_cast<std::uint32_t>(comm->size() + (comm->is_inter ? comm->remote_size() : 0));
  operation.on_object = plan.comm < 0 && plan.object >= 0;
  amounts_of(operation, *comm);
  if (plan.comm >= 0 && plan.object >= 0 && value(plan.object) >= 0) {
    Communicator made = *comm;
    made.context = combine(combine(comm->context, operation.number), plan.object_is_file ? 2 : 1);
    made.collectives = 0;
    (plan.object_is_file ? files_ : windows_)[value(plan.object)] = made;
  }
  if (plan.request < 0) {
    if (trace_plan_->compares && !collecting_) now_.contributions.push_back(contribution(*comm));
    now_.operations.push_back(operation);
    operation.kind = Operation::Kind::kEnd;
    now_.operations.push_back(operation);
    return;
  }
  if (value(plan.request) < 0) return;
  Open& request = make_request(value(plan.request), Open::Kind::kCollective);
  request.persistent = plan.persistent;
  request.active = !plan.persistent;
  request.operation = operation;
  request.comm = *comm;
  if (plan.persistent) {  // each start is a collective, on a context of their own
    request.operation.context = combine(operation.context, operation.number);
    if (trace_plan_->compares && !collecting_) request.contribution = contribution(*comm);
    return;
  }
  if (trace_plan_->compares && !collecting_) now_.contributions.push_back(contribution(*comm));
  request.operation.request = operation.request = ++requests_;
  now_.operations.push_back(operation);
}

Contribution RankOperations::contribution(const Communicator& comm) const {
  return contribution_of(*trace_, *now_.plan, now_.event, comm, type_sizes());
}

void RankOperations::amounts_of(Operation& operation, const Communicator& comm) const {
  const CallPlan& plan = *now_.plan;
  const TypeSizes sizes = type_sizes();
  operation.moves_data = plan.movement.moves();
  if (plan.root < 0 && !operation.moves_data) return;
  const Exchange exchange(*trace_, plan, now_.event, comm, sizes);
  operation.root = exchange.role().root;
  operation.root_world = exchange.role().world;
  const Volume volume = exchange.volume();
  operation.sent = volume.sent;
  operation.received = volume.received;
  operation.amounts_known = volume.known;
}

VectorBytes RankOperations::vector_bytes() const {
  if (!now_.has_comm || now_.plan == nullptr) return {};
  const TypeSizes sizes = type_sizes();
  return Exchange(*trace_, *now_.plan, now_.event, now_.comm, sizes).vectors();
}

}  // namespace chameleon::analysis
