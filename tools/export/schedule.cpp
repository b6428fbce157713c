// SPDX-License-Identifier: BSD-3-Clause
#include "tools/export/schedule.h"

#include <algorithm>

#include "analysis/declared.h"

namespace chameleon::tools {
namespace {

using Kind = Operation::Kind;
using Message = ScheduleWriter::Message;

/// Messages of one channel that may be under way at once without being confused.
constexpr std::uint64_t kWindow = 4096;
constexpr std::int64_t kMostTags = std::int64_t{1} << 19;
/// Collectives as messages take a tag that no message has.
constexpr std::int64_t kCollectiveTag = -1;
/// Requests of our own, beside those of the rank.
constexpr std::uint64_t kOwnRequests = std::uint64_t{1} << 62;

class Schedule {
 public:
  Schedule(const Trace& trace, ScheduleWriter& writer, ExportReport& report)
      : trace_(trace), writer_(writer), report_(report), plan_(plan_trace(trace)) {}

  Status run() {
    if (!trace_.complete || !declared_ranks(trace_).empty()) {
      const Result<CheckReport> checked = check(trace_, &omissions_);
      if (!checked) return checked.error();
    }
    for (const std::uint32_t rank : trace_.ranks.ranks()) {
      Result<RankOperations> at = RankOperations::make(trace_, plan_, rank);
      if (!at) return at.error();
      skipped_.clear();
      sent_.clear();
      received_.clear();
      steps_of_.clear();
      own_ = kOwnRequests;
      pending_ns_ = 0;
      writer_.begin_rank(rank);
      while (at->next()) event(*at);
      writer_.end_rank();
      for (const auto& [call, count] : at->unmodelled()) left_out_[call] += count;
    }
    notes();
    return Unit{};
  }

 private:
  bool omitted(const RankOperations& at, std::uint32_t part) const {
    if (at.rank() >= omissions_.size()) return false;
    const std::vector<Omission>& list = omissions_[at.rank()];
    return std::binary_search(list.begin(), list.end(), Omission{at.number(), part});
  }

  // Numbered anew in its channel: what was left out before it is so at both ends.
  Message message(const Operation& operation) {
    auto& numbers = operation.kind == Kind::kSend ? sent_ : received_;
    return {operation.channel.source, operation.channel.dest,
            tag_of(operation.context, operation.channel.tag, numbers[operation.channel]++),
            operation.bytes};
  }
  std::int64_t tag_of(std::uint64_t context, std::int64_t tag, std::uint64_t sequence) {
    const auto id =
        tags_.try_emplace({context, tag}, static_cast<std::int64_t>(tags_.size())).first->second;
    return id % kMostTags * static_cast<std::int64_t>(kWindow) +
           static_cast<std::int64_t>(sequence % kWindow);
  }

  // Computing stands before the next thing that is said.
  void compute() {
    if (pending_ns_ > 0) writer_.compute(pending_ns_);
    pending_ns_ = 0;
  }

  void event(const RankOperations& at) {
    count_event(at, report_);
    pending_ns_ += at.compute_ns();
    if (at.plan().action == Action::kFinalize) {
      compute();
      writer_.finalize();
      return;
    }
    const auto operations = at.operations();
    // A blocking send and receive in one call go on at once.
    if (operations.size() == 2 && operations[0].kind == Kind::kSend && operations[0].request == 0 &&
        operations[1].kind == Kind::kReceive && operations[1].request == 0)
      return exchange(at, operations[0], operations[1]);
    for (std::uint32_t i = 0; i < operations.size(); ++i) one(at, operations[i], i);
  }

  void exchange(const RankOperations& at, const Operation& out, const Operation& in) {
    const bool sends = !omitted(at, 0), receives = !omitted(at, 1);
    compute();
    const std::uint64_t first = own_;
    own_ += 2;
    if (receives) writer_.start_receive(first, message(in));
    if (sends) writer_.start_send(first + 1, message(out));
    if (sends) writer_.wait(first + 1);
    if (receives) writer_.wait(first);
    omissions_made_ += (sends ? 0 : 1) + (receives ? 0 : 1);
  }

  void one(const RankOperations& at, const Operation& operation, std::uint32_t place) {
    // Parts are numbered in a Startall; in a Sendrecv the receive is part 1.
    const std::uint32_t part = at.plan().action == Action::kSendrecv
                                   ? (operation.kind == Kind::kReceive ? 1U : 0U)
                               : at.plan().action == Action::kStart ? place
                                                                    : 0U;
    const bool starts = operation.kind == Kind::kSend || operation.kind == Kind::kPost ||
                        (operation.kind == Kind::kReceive && operation.request == 0) ||
                        operation.kind == Kind::kBegin;
    if (starts && omitted(at, part)) {
      if (operation.request != 0) skipped_.insert(operation.request);
      if (operation.kind == Kind::kBegin) skip_end_ = operation.request == 0;
      ++omissions_made_;
      return;
    }
    if (operation.request != 0 && skipped_.contains(operation.request)) return;
    switch (operation.kind) {
      case Kind::kSend:
        compute();
        if (operation.request == 0)
          writer_.send(message(operation));
        else
          writer_.start_send(operation.request, message(operation));
        break;
      case Kind::kPost:
        if (operation.sequence == kNoSequence) {
          skipped_.insert(operation.request);
          ++unknown_receives_;
          break;
        }
        compute();
        writer_.start_receive(operation.request, message(operation));
        break;
      case Kind::kReceive:
        compute();
        if (operation.request == 0)
          writer_.receive(message(operation));
        else
          writer_.wait(operation.request);
        break;
      case Kind::kSendDone:
        compute();
        writer_.wait(operation.request);
        break;
      case Kind::kCancelled: break;
      case Kind::kBegin: begin(at, operation); break;
      case Kind::kEnd: end(at, operation); break;
    }
  }

  void begin(const RankOperations& at, const Operation& operation) {
    if (operation.request == 0) return;  // all of it at its end
    Started& started = steps_of_[operation.request];
    const Communicator* comm = at.communicator();
    if (comm == nullptr || comm->is_inter || comm->local.find(kOutside) >= 0 ||
        !collective_steps(at.plan(), operation, at.vector_bytes(), comm->size(), comm->self,
                          started.steps)) {
      ++left_out_[at.call().name];
      return;
    }
    started.members = comm->local;
    ++decomposed_["nonblocking " + operation.collective->name];
  }

  void end(const RankOperations& at, const Operation& operation) {
    if (operation.request == 0 && skip_end_) {
      skip_end_ = false;
      return;
    }
    if (operation.request != 0) {
      const auto found = steps_of_.find(operation.request);
      if (found == steps_of_.end()) return;
      play(at, operation, found->second.steps, found->second.members);
      steps_of_.erase(found);
      return;
    }
    if (!operation.moves_data && operation.waits != Waits::kForAll) return;
    const Communicator* comm = at.communicator();
    const VectorBytes vectors = at.vector_bytes();
    compute();
    if (comm != nullptr && is_world(*comm) && writer_.collective(operation, vectors, world()))
      return;
    std::vector<CollectiveStep> steps;
    if (comm == nullptr || comm->is_inter || comm->local.find(kOutside) >= 0 ||
        !collective_steps(at.plan(), operation, vectors, comm->size(), comm->self, steps)) {
      ++left_out_[at.call().name];
      return;
    }
    ++decomposed_[at.call().name];
    play(at, operation, steps, comm->local);
  }

  std::uint32_t world() const { return trace_.world_size; }
  bool is_world(const Communicator& comm) const {
    if (comm.is_inter || static_cast<std::uint32_t>(comm.size()) != world()) return false;
    for (std::int32_t i = 0; i < comm.size(); ++i)
      if (comm.local[i] != i) return false;
    return true;
  }

  void play(const RankOperations& at, const Operation& operation,
            const std::vector<CollectiveStep>& steps, const WorldRanks& members) {
    compute();
    const std::int64_t tag = tag_of(operation.context, kCollectiveTag, operation.number);
    for (const CollectiveStep& step : steps) {
      const Message out{at.rank(), step.to < 0 ? 0 : static_cast<std::uint32_t>(members[step.to]),
                        tag, step.send_bytes};
      const Message in{step.from < 0 ? 0 : static_cast<std::uint32_t>(members[step.from]),
                       at.rank(), tag, step.receive_bytes};
      if (step.from < 0) {
        writer_.send(out);
      } else if (step.to < 0) {
        writer_.receive(in);
      } else {
        const std::uint64_t first = own_;
        own_ += 2;
        writer_.start_receive(first, in);
        writer_.start_send(first + 1, out);
        writer_.wait(first + 1);
        writer_.wait(first);
      }
    }
  }

  void notes() {
    const auto list = [](const std::map<std::string, std::uint64_t>& calls) {
      std::string text;
      for (const auto& [call, count] : calls)
        text += (text.empty() ? "" : ", ") + call + " x" + std::to_string(count);
      return text;
    };
    if (!decomposed_.empty()) report_.notes.push_back("as messages: " + list(decomposed_));
    if (!left_out_.empty()) report_.notes.push_back("left out: " + list(left_out_));
    if (unknown_receives_ > 0)
      report_.notes.push_back("left out: " + std::to_string(unknown_receives_) +
                              " receives that were cancelled or never matched");
    if (omissions_made_ > 0)
      report_.notes.push_back("left out: " + std::to_string(omissions_made_) +
                              " operations without their counterpart");
  }

  struct Started {
    std::vector<CollectiveStep> steps;
    WorldRanks members;
  };

  const Trace& trace_;
  ScheduleWriter& writer_;
  ExportReport& report_;
  TracePlan plan_;
  Omissions omissions_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::int64_t> tags_;
  std::set<std::uint64_t> skipped_;
  std::unordered_map<ChannelKey, std::uint64_t, KeyHash> sent_, received_;
  std::map<std::uint64_t, Started> steps_of_;
  std::uint64_t own_ = kOwnRequests, pending_ns_ = 0;
  std::uint64_t unknown_receives_ = 0, omissions_made_ = 0;
  bool skip_end_ = false;
  std::map<std::string, std::uint64_t> decomposed_, left_out_;
};

}  // namespace

Status write_schedule(const Trace& trace, ScheduleWriter& writer, ExportReport& report) {
  return Schedule(trace, writer, report).run();
}

ScheduleShape::ScheduleShape(const ExportShape& shape) {
  double communicators = 2;
  for (const CallShape& call : shape.calls)
    if (call.plan->new_comm >= 0 && call.streams > 0) communicators += call.times / call.streams;
  tag_ = std::min(digits_of(static_cast<double>(kMostTags) * kWindow),
                  digits_of(static_cast<double>(kWindow) * communicators) + shape.tag);
}

double ScheduleShape::computes(const CallShape& call) const {
  const bool says = call.messages() > 0 || call.collectives > 0 || call.completes();
  return says ? call.times : 0;
}

double ScheduleShape::messages(const CallShape& call) const {
  const StepCount steps = step_count(*call.plan, call.members);
  return call.messages() + call.collectives * (steps.single + 2 * steps.exchanged);
}

double ScheduleShape::waits(const CallShape& call) const {
  const StepCount steps = step_count(*call.plan, call.members);
  const bool both = call.plan->action == Action::kSendrecv;
  return (call.requests || both ? call.messages() : 0) + call.collectives * 2 * steps.exchanged;
}

}  // namespace chameleon::tools
