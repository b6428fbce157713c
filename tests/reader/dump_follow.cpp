// SPDX-License-Identifier: BSD-3-Clause
// dump_follow TRACE: what `analysis/follow` resolves of every event, for test_follow.py to compare:
// stream, number, call, context of the communicator, partners as world ranks, messages sent
// (dest:tag:bytes) and received (source:tag).
#include <cinttypes>
#include <cstdio>
#include <set>
#include <string>

#include "analysis/follow.h"
#include "analysis/operations.h"
#include "format/file.h"

using namespace chameleon;
using namespace chameleon::analysis;

namespace {

std::string partner_text(const Partner& partner) {
  if (partner.special != 0) return std::to_string(-partner.special);
  return partner.is_member() ? std::to_string(partner.world) : "outside";
}

class Dump {
 public:
  explicit Dump(Follower follower) : follower_(std::move(follower)) {}

  void run() {
    while (follower_.next(event_)) {
      std::printf("%u %" PRIu64 " %s %" PRIu64, event_.stream, event_.number,
                  event_.call->name.c_str(), event_.comm == nullptr ? 0 : event_.comm->context);
      for (std::size_t i = 0; i < event_.call->fields.size(); ++i)
        if (event_.call->fields[i].stored == FieldKind::kEndPoint)
          std::printf(" %s", partner_text(event_.partner(i)).c_str());
      std::printf(" |");
      sends();
      std::printf(" |");
      receives();
      std::printf("\n");
    }
  }

 private:
  void sent(const Partner& to, std::int64_t tag, std::int64_t bytes) {
    if (to.is_member()) std::printf(" %d:%" PRId64 ":%" PRId64, to.world, tag, countable(bytes));
  }

  void sends() {
    const CallPlan& plan = *event_.plan;
    const bool sends = plan.action == Action::kSend || plan.action == Action::kSendrecv;
    if (sends && !event_.failed() && !plan.persistent)
      sent(event_.dest, event_.value(plan.send_tag), event_.send_bytes);
    for (const Posting* posting : event_.started)
      if (posting != nullptr && posting->kind == Posting::Kind::kSend)
        sent(posting->partner, posting->tag, posting->bytes);
  }

  void got(const Match& match) {
    if (match.told && match.source.is_member())
      std::printf(" %d:%" PRId64, match.source.world, match.tag);
  }

  void receives() {
    const CallPlan& plan = *event_.plan;
    const bool blocks = (plan.request < 0 &&
                         (plan.action == Action::kRecv || plan.action == Action::kMatchedRecv)) ||
                        plan.action == Action::kSendrecv;
    if (blocks && event_.comm != nullptr) got(follower_.match(event_));
    if (plan.action == Action::kCancel && event_.used != nullptr)
      cancelled_.insert(event_.used->index);
    for (const Completion& completion : event_.completions) {
      const Posting* posting = completion.posting;
      if (posting == nullptr) continue;
      const bool cancelled = cancelled_.erase(posting->index) > 0;
      if (posting->kind == Posting::Kind::kReceive && !cancelled)
        got(follower_.match(event_, completion));
    }
  }

  Follower follower_;
  FollowedEvent event_;
  std::set<std::uint32_t> cancelled_;
};

}  // namespace

int main(int argc, char** argv) {
  const Result<Trace> trace = format::read_trace(argc > 1 ? argv[1] : "");
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return 3;
  }
  const FollowPlan plan(*trace);
  for (const std::uint32_t stream : trace->ranks.ranks()) {
    Result<Follower> follower = Follower::of_stream(plan, stream);
    if (!follower) {
      std::fprintf(stderr, "%s\n", follower.error().message.c_str());
      return 3;
    }
    Dump(std::move(*follower)).run();
  }
}
