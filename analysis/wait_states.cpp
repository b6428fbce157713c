// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/wait_states.h"

#include <algorithm>
#include <array>

namespace chameleon::analysis {
namespace {

/// Times are told to within less than this part of them.
constexpr std::uint64_t kCodeSteps = 64;

std::optional<WaitState::Kind> kind_of(Cause::Kind cause) {
  switch (cause) {
    case Cause::Kind::kSender: return WaitState::Kind::kLateSender;
    case Cause::Kind::kMembers:
    case Cause::Kind::kLower: return WaitState::Kind::kLateMember;
    case Cause::Kind::kRoot: return WaitState::Kind::kLateRoot;
    case Cause::Kind::kForRoot: return WaitState::Kind::kEarlyRoot;
    case Cause::Kind::kNone:
    case Cause::Kind::kThread: break;
  }
  return std::nullopt;
}

/// The call, as one that others wait for.
Cause coming(const TimedEvent& event) {
  Cause cause;
  cause.stream = event.stream();
  cause.event = event.at->number();
  cause.path = event.at->event().path;
  cause.call = event.at->event().node->call;
  cause.begin_ns = event.begin_ns;
  return cause;
}

/// Nobody waits for longer than the call took, whatever the clocks say. Until when it waited.
std::uint64_t tell(WaitState wait, std::uint64_t end_ns, std::uint64_t took_ns,
                   const WaitStates::Sink& sink) {
  const std::uint64_t until = std::min(wait.cause.begin_ns, end_ns);
  if (until <= wait.begin_ns) return wait.begin_ns;
  wait.begin_ns = std::max(wait.begin_ns, until - std::min(until, took_ns));
  wait.cause.begin_ns = until;
  if (wait.ns() > 0) sink(wait);
  return until;
}

bool ends_barrier(const RankOperations& at) {
  for (const Operation& operation : at.operations())
    if (operation.kind == Operation::Kind::kEnd && operation.collective != nullptr &&
        operation.collective->name.find("arrier") != std::string::npos)
      return true;
  return false;
}

}  // namespace

const char* wait_name(WaitState::Kind kind) {
  constexpr std::array<const char*, WaitState::kKinds> kNames = {
      "late sender", "late receiver", "last in a collective", "late root", "root waits for all"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t moved_bytes(const RankOperations& at) {
  std::int64_t bytes = 0;
  for (const Operation& operation : at.operations()) switch (operation.kind) {
      case Operation::Kind::kSend:
      case Operation::Kind::kSendDone:
      case Operation::Kind::kReceive: bytes += countable(operation.bytes); break;
      case Operation::Kind::kEnd:
        bytes += countable(operation.sent) + countable(operation.received);
        break;
      case Operation::Kind::kPost:
      case Operation::Kind::kCancelled:
      case Operation::Kind::kBegin: break;
    }
  return bytes;
}

void add_wait(std::vector<WaitSum>& sums, const WaitState& wait, std::uint64_t ns) {
  for (WaitSum& sum : sums) {
    if (sum.longest.kind != wait.kind) continue;
    sum.sum_ns += ns;
    if (wait.ns() > sum.longest.ns()) sum.longest = wait;
    return;
  }
  sums.push_back({wait, ns});
}

void WaitStates::add(const TimedEvent& event, const Sink& sink) {
  using Step = Operation::Kind;
  WaitState wait;
  wait.waiter = event.stream();
  wait.at_path = event.at->event().path;
  wait.at_event = event.at->number();
  wait.at_call = event.at->event().node->call;
  wait.at_bytes = moved_bytes(*event.at);
  wait.begin_ns = event.begin_ns;
  const std::uint64_t took = event.at->communication_ns();
  const auto kind = kind_of(event.cause.kind);
  if (kind && event.cause.stream != event.stream()) {
    WaitState own = wait;
    own.kind = *kind;
    own.cause = event.cause;
    own.at_barrier = *kind == WaitState::Kind::kLateMember && ends_barrier(*event.at);
    // What waits for several at once waits for a late receiver after the others only.
    wait.begin_ns = tell(own, event.end_ns, took, sink);
  }
  for (const Operation& operation : event.at->operations()) {
    if (operation.sequence == kNoSequence) continue;
    const bool sends = (operation.kind == Step::kSend && operation.request == 0) ||
                       operation.kind == Step::kSendDone;
    const bool posts = operation.kind == Step::kPost ||
                       (operation.kind == Step::kReceive && operation.request == 0);
    if (!sends && !posts) continue;
    const auto ends = ends_.try_emplace(message_id(operation)).first;
    if (sends) {
      wait.kind = WaitState::Kind::kLateReceiver;
      ends->second.send = wait;
      ends->second.send_end_ns = event.end_ns;
      ends->second.send_took_ns = took;
    } else {
      ends->second.post = coming(event);
    }
    both(ends, sink);
  }
}

// A send that was over before its receive was posted did not wait for it.
void WaitStates::both(std::unordered_map<std::uint64_t, Ends>::iterator ends, const Sink& sink) {
  Ends& of = ends->second;
  if (!of.send || !of.post) return;
  const std::uint64_t rounding = of.send_took_ns / kCodeSteps;
  if (of.send_end_ns + rounding > of.post->begin_ns && of.post->begin_ns > of.send->begin_ns) {
    WaitState wait = *of.send;
    wait.cause = *of.post;
    tell(wait, of.send_end_ns, of.send_took_ns, sink);
  }
  ends_.erase(ends);
}

}  // namespace chameleon::analysis
