// SPDX-License-Identifier: BSD-3-Clause
/// What streams wait for: messages, collectives, and requests of another thread.

#include "analysis/timeline_pass.h"

namespace chameleon::analysis {
namespace timeline {

// Places in channels and among collectives, in the order in which threads come to them here. A
// completion has the place of what it completes, once that is begun, and a matched receive that
// of its probe.
void Pass::number_operations(Row& row) {
  RankOperations::Present present;
  row.rank->operations.swap(present);
  std::uint64_t collective = kLastNumber;
  if (present.has_matched) {
    const std::uint64_t place = receives_[present.matched.channel]++;
    if (row.rank->streams.size() > 1)
      row.rank->probed[present.matched.message] = {row.begin, row.stream, present.at.number, place};
  }
  for (Operation& operation : present.operations) {
    if (operation.kind == Step::kSend)
      operation.sequence = sends_[operation.channel]++;
    else if (operation.message != 0)
      continue;
    else if (operation.kind == Step::kPost && operation.sequence != kNoSequence)
      operation.sequence = receives_[operation.channel]++;
    else if (operation.kind == Step::kReceive && operation.request == 0)
      operation.sequence = receives_[operation.channel]++;
    else if (operation.kind == Step::kBegin && operation.number != kLastNumber)
      operation.number = collective = row.rank->collectives[operation.context]++;
    else if (operation.kind == Step::kEnd && operation.request == 0)
      operation.number = collective;
  }
  row.rank->operations.swap(present);
}

void Pass::take_place(Row& row, std::uint64_t place) {
  RankOperations::Present present;
  row.rank->operations.swap(present);
  Operation& operation = present.operations[row.next];
  (operation.kind == Step::kReceive ? operation.sequence : operation.number) = place;
  row.rank->operations.swap(present);
}

void Pass::count_unreceived() {
  for (const auto& [channel, sent] : sent_) {
    if (rank(channel.dest).excused) continue;
    std::uint64_t left = 0;
    const Begin* first = nullptr;
    for (const Begin& begin : sent.begins)
      if (begin.ns < kNotSent && left++ == 0) first = &begin;
    while (left > 0) {
      const FailedReceive failed = failed_.take(channel, left);
      if (failed.count == 0) break;
      left -= failed.count;
      if (failed.may_have_taken) continue;
      facts_.unreceived_failed += failed.count;
      name_unreceived(channel, *first, failed.count, failed);
    }
    if (left > 0) name_unreceived(channel, *first, left, {});
  }
}

void Pass::name_unreceived(const ChannelKey& channel, const Begin& first, std::uint64_t messages,
                           const FailedReceive& failed) {
  facts_.unreceived += messages;
  name("unreceived", first, "",
       std::to_string(messages) + (messages == 1 ? " message" : " messages") + " to world rank " +
           std::to_string(channel.dest) + " with tag " + std::to_string(channel.tag) +
           (messages == 1 ? " is" : " are") + " never received (the first named)",
       failed);
}

void Pass::note_posted(Row& row, const Operation& operation) {
  if (row.rank->streams.size() < 2 || !posts(operation)) return;
  Begin begun = here(row);
  begun.place = operation.kind == Step::kBegin ? operation.number : operation.sequence;
  row.rank->begun[operation.request] = begun;
  wake_threads(row);
}

// Those of the rank that wait for what another of its threads begins.
void Pass::wake_threads(Row& row) {
  for (const std::uint32_t stream : row.rank->streams) {
    Row& other = this->row(stream);
    if (other.blocked && !other.waits_on_channel) wake(other);
  }
}

// What another thread posted completes after that.
bool Pass::posted(Row& row, const Operation& operation) {
  if (row.rank->streams.size() < 2 || posts(operation)) return true;
  if (operation.request != 0 &&
      !begun(row, operation, row.rank->begun, operation.request, "its request is never posted"))
    return false;
  return operation.message == 0 ||
         begun(row, operation, row.rank->probed, operation.message, "its message is never probed");
}

bool Pass::begun(Row& row, const Operation& operation,
                 std::unordered_map<std::uint64_t, Begin>& among, std::uint64_t id,
                 const char* why) {
  const auto found = among.find(id);
  if (found == among.end()) {
    if (!row.forced) {
      row.waits_on_channel = false;
      return false;
    }
    give_up(row, why);
    among[id] = here(row);
    among[id].place = kNoSequence;
    return true;
  }
  if (operation.kind == Step::kReceive || operation.kind == Step::kEnd)
    take_place(row, found->second.place);
  if (found->second.stream != row.stream) wait_for(row, found->second, Cause::Kind::kThread);
  return true;
}

void Pass::deliver(const Operation& operation, Begin begin) {
  if (!present(operation.channel.dest)) return;
  Sent& sent = sent_[operation.channel];
  if (operation.sequence < sent.first) return;
  const auto at = static_cast<std::size_t>(operation.sequence - sent.first);
  // Threads that share a channel come to it in another order than they are read.
  if (sent.begins.size() <= at) sent.begins.resize(at + 1, {kNotSent});
  sent.begins[at] = begin;
  for (const std::uint32_t stream : std::exchange(sent.waiting, {})) {
    Row& to = row(stream);
    if (to.blocked && to.waits_on_channel && to.channel == operation.channel) wake(to);
  }
}

bool Pass::take(Row& row, const Operation& operation, Begin& since) {
  if (!present(operation.channel.source)) return true;
  Sent& sent = sent_[operation.channel];
  const std::uint64_t at = operation.sequence - sent.first;
  if (operation.sequence < sent.first || at >= sent.begins.size() ||
      sent.begins[at].ns >= kNotSent) {
    if (row.forced) {
      give_up(row, "no message from world rank " + std::to_string(operation.channel.source) +
                       " with tag " + std::to_string(operation.channel.tag) + " is left for it");
      return true;
    }
    row.waits_on_channel = true;
    row.channel = operation.channel;
    sent.waiting.push_back(row.stream);
    return false;
  }
  since = sent.begins[at];
  sent.begins[at].ns = kReceived;
  while (!sent.begins.empty() && sent.begins.front().ns == kReceived) {
    sent.begins.pop_front();
    ++sent.first;
  }
  wait_for(row, since, Cause::Kind::kSender);
  return true;
}

void Pass::arrive(Row& row, const Operation& operation) {
  if (operation.request != 0) row.rank->begun[operation.request] = here(row);
  const Communicator* comm = row.rank->operations.communicator();
  Meeting& meeting = meetings_[{operation.context, operation.number}];
  if (meeting.expected == 0)
    meeting.expected = std::max<std::uint32_t>(members(operation, comm), 1);
  ++meeting.arrived;
  const Begin comes = here(row);
  meeting.last = later(meeting.last, comes);
  if (operation.root_world == row.rank->operations.rank()) {
    meeting.root_came = true;
    meeting.root = comes;
  }
  const bool in_order = waits_in(operation) == Waits::kForLower && comm != nullptr;
  if (in_order)
    meeting.lower.come(operation.self, comes, [&](std::int32_t rank) {
      return rank < comm->size() && !present(comm->local[rank]);
    });
  if (meeting.arrived < meeting.expected && !in_order &&
      !(meeting.root_came && waits_in(operation) == Waits::kForRoot))
    return;
  for (const std::uint32_t stream : meeting.waiting) wake(this->row(stream));
  meeting.waiting.clear();
}

// Those who can come: the trace may hold some ranks only, and a communicator others than those of
// the job.
std::uint32_t Pass::members(const Operation& operation, const Communicator* comm) const {
  const bool listed = comm != nullptr && !comm->local.listed.empty();
  if (comm == nullptr || (all_here_ && !listed)) return operation.members;
  std::uint32_t here = 0;
  for (const WorldRanks* ranks : {&comm->local, &comm->remote})
    for (std::int32_t i = 0; i < ranks->count; ++i) here += present((*ranks)[i]) ? 1 : 0;
  return here;
}

Waits Pass::waits_in(const Operation& operation) const {
  const bool all = network_ == Network::kSynchronous && operation.waits != Waits::kForNobody;
  return all ? Waits::kForAll : operation.waits;
}

bool Pass::leave(Row& row, const Operation& operation, Begin& since) {
  if (operation.request != 0) {
    const auto begun = row.rank->begun.find(operation.request);
    if (begun != row.rank->begun.end()) {
      since = begun->second;
      row.rank->begun.erase(begun);
    }
  }
  const auto found = meetings_.find({operation.context, operation.number});
  if (found == meetings_.end()) return true;
  Meeting& meeting = found->second;
  const bool all = meeting.arrived >= meeting.expected;
  const bool is_root = operation.root_world == row.rank->operations.rank();
  bool there = true;
  std::optional<Begin> last;
  Cause::Kind kind = Cause::Kind::kNone;
  switch (waits_in(operation)) {
    case Waits::kForAll:
      there = all;
      last = meeting.last;
      kind = Cause::Kind::kMembers;
      break;
    case Waits::kForRoot:
      there = meeting.root_came || all;
      if (meeting.root_came) last = meeting.root;
      kind = Cause::Kind::kRoot;
      break;
    case Waits::kRootForAll:
      there = all || !is_root;
      if (is_root) last = meeting.last;
      kind = Cause::Kind::kForRoot;
      break;
    case Waits::kForLower:
      there = all || meeting.lower.all_before(operation.self);
      last = meeting.lower.last_before(operation.self);
      kind = Cause::Kind::kLower;
      break;
    case Waits::kForNobody: break;
  }
  if (!there && row.forced) {
    give_up(row, "only " + std::to_string(meeting.arrived) + " of " +
                     std::to_string(meeting.expected) + " ranks make this collective call");
    ++facts_.unmatched_collectives;
    there = true;
  }
  if (!there) {
    if (operation.request != 0) row.rank->begun[operation.request] = since;
    meeting.waiting.push_back(row.stream);
    row.waits_on_channel = false;
    return false;
  }
  if (last && last->ns > 0) wait_for(row, *last, kind);
  if (++meeting.left >= meeting.expected) meetings_.erase(found);
  return true;
}

void Pass::block(Row& row) {
  row.blocked = true;
  if (blocked_by_time_) blocked_by_time_->emplace(row.begin, index_[row.stream]);
}

void Pass::wake(Row& row) {
  if (!row.blocked) return;
  row.blocked = false;
  if (blocked_by_time_) blocked_by_time_->erase({row.begin, index_[row.stream]});
  make_ready(row);
}

// The earliest of those that wait goes on without what it waits for. In most traces nobody has to,
// so that who waits is put in order only then; where one has to, millions may.
bool Pass::force_one() {
  if (!blocked_by_time_) {
    blocked_by_time_.emplace();
    for (Row& row : rows_)
      if (row.blocked) block(row);
  }
  if (blocked_by_time_->empty()) return false;
  Row& earliest = rows_[static_cast<std::size_t>(blocked_by_time_->begin()->second)];
  earliest.forced = true;
  wake(earliest);
  return true;
}

}  // namespace timeline
}  // namespace chameleon::analysis
