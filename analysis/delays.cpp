// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/delays.h"

#include <algorithm>

#include "base/time_between.h"

namespace chameleon::analysis {
namespace {

constexpr int kDeepest = 32;

std::uint64_t overlap(std::uint64_t begin, std::uint64_t end, std::uint64_t first,
                      std::uint64_t last) {
  const std::uint64_t from = std::max(begin, first), to = std::min(end, last);
  return to > from ? to - from : 0;
}

}  // namespace

struct Delays::Search {
  struct Part {
    Delay delay;
    std::uint64_t longest = 0;
  };
  std::vector<Part> parts;
  Cause waited_for;
  std::uint64_t wait_begin_ns = 0, longest_wait = 0, waits = 0;

  void add(Delay::Kind kind, const Past& at, std::uint32_t stream, std::uint64_t ns) {
    if (ns == 0) return;
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& one) {
      return one.delay.kind == kind && one.delay.path == at.path && one.delay.call == at.call;
    });
    if (part == parts.end()) {
      part = parts.insert(parts.end(), Part());
      part->delay = {kind, stream, at.number, at.path, at.call, 0};
    }
    part->delay.ns += ns;
    if (ns <= part->longest) return;
    part->longest = ns;
    part->delay.event = at.number;
  }
  void wait(const Cause& cause, std::uint64_t begin_ns, std::uint64_t ns) {
    waits += ns;
    if (ns <= longest_wait) return;
    longest_wait = ns;
    waited_for = cause;
    wait_begin_ns = begin_ns;
  }
};

void Delays::add(const TimedEvent& event) {
  if (streams_.size() <= event.stream()) streams_.resize(event.stream() + std::size_t{1});
  std::vector<Past>& stream = streams_[event.stream()];
  if (stream.empty()) stream.resize(kept_);
  const std::uint64_t number = numbers_.next(event.stream(), event.at->number());
  Past& past = stream[number % kept_];
  past.number = number;
  past.begin_ns = event.begin_ns;
  past.end_ns = event.end_ns;
  past.waited_ns = time_between(event.wait_begin_ns, event.wait_end_ns);
  const Past* const before = this->past(event.stream(), past.number - 1);
  const std::uint64_t last = before == nullptr ? 0 : before->end_ns;
  const std::uint64_t gap = event.begin_ns - std::min(event.begin_ns, last);
  past.computed_ns = gap - std::min(gap, past.waited_ns);
  past.path = event.at->event().path;
  past.call = event.at->event().node->call;
  past.cause = Cause();
  if (event.cause.stream == event.stream() || event.cause.begin_ns <= event.begin_ns) return;
  past.cause = event.cause;
  past.cause.event = numbers_.kept(past.cause.stream, past.cause.event);
}

const Delays::Past* Delays::past(std::uint32_t stream, std::uint64_t number) const {
  if (number == 0 || stream >= streams_.size() || streams_[stream].empty()) return nullptr;
  const Past& found = streams_[stream][number % kept_];
  return found.number == number ? &found : nullptr;
}

Delay Delays::behind(const WaitState& wait) const { return behind(wait.cause, wait.begin_ns, 0); }

Delay Delays::behind(const Cause& late, std::uint64_t begin_ns, int depth) const {
  const std::uint64_t end_ns = late.begin_ns;
  Search search;
  // The event that came late may not be over.
  Past at;
  at.number = late.event;
  at.path = late.path;
  at.call = late.call;
  const Past* before = past(late.stream, late.event - 1);
  if (before == nullptr && late.event > 1) return {};
  const std::uint64_t last = before == nullptr ? 0 : before->end_ns;
  std::uint64_t gap = overlap(last, end_ns, begin_ns, end_ns);
  const std::uint64_t waited = std::min(gap, late.waited_ns);
  search.add(Delay::Kind::kMarker, at, late.stream, waited);
  search.add(Delay::Kind::kCompute, at, late.stream, gap - waited);
  for (; before != nullptr && before->end_ns > begin_ns;
       before = past(late.stream, before->number - 1)) {
    std::uint64_t own = before->begin_ns;
    if (before->cause.kind != Cause::Kind::kNone) {
      own = std::min(before->cause.begin_ns, before->end_ns);
      search.wait(before->cause, std::max(before->begin_ns, begin_ns),
                  overlap(before->begin_ns, own, begin_ns, end_ns));
    }
    search.add(Delay::Kind::kCall, *before, late.stream,
               overlap(own, before->end_ns, begin_ns, end_ns));
    gap = overlap(before->begin_ns - before->computed_ns, before->begin_ns, begin_ns, end_ns);
    search.add(Delay::Kind::kCompute, *before, late.stream, gap);
    const std::uint64_t marked = before->begin_ns - before->computed_ns;
    search.add(Delay::Kind::kMarker, *before, late.stream,
               overlap(marked - std::min(marked, before->waited_ns), marked, begin_ns, end_ns));
  }
  Delay most;
  for (const Search::Part& part : search.parts)
    if (part.delay.ns > most.ns) most = part.delay;
  if (search.waits > most.ns && depth < kDeepest) {
    const Delay further = behind(search.waited_for, search.wait_begin_ns, depth + 1);
    if (further.kind != Delay::Kind::kUnknown) return further;
  }
  return most;
}

}  // namespace chameleon::analysis
