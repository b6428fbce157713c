// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_anchors.h"

#include <optional>
#include <string_view>

#include "analysis/raw_reader.h"
#include "analysis/verify_seen.h"
#include "base/hash.h"

namespace chameleon::analysis {
namespace {

/// A sequence of calls: a polynomial over the hashes of their names.
struct Calls {
  std::uint64_t hash = 0, count = 0, power = 1;

  void push(std::string_view name) {
    constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15ULL;
    hash = hash * kBase + hash_bytes(name.data(), name.size());
    power *= kBase;
    ++count;
  }
};

/// What is behind `first` calls, of which `all` begins.
Calls behind(const Calls& all, const Calls& first) {
  Calls rest;
  rest.count = all.count - first.count;
  // The base is odd, so that powers have inverses; dividing is multiplying by one.
  std::uint64_t inverse = first.power;
  for (int i = 0; i < 6; ++i) inverse *= 2 - first.power * inverse;
  rest.power = all.power * inverse;
  rest.hash = all.hash - first.hash * rest.power;
  return rest;
}

/// Events of the trace that are exact, with declared ones on both sides.
struct ExactRun {
  std::uint64_t begin = 0;
  Calls calls;
};

struct TraceSide {
  std::vector<ExactRun> runs;  ///< the last may reach the end
  bool ends_exactly = false;
  std::uint64_t total = 0;
};

TraceSide trace_side(SeenStream& stream) {
  TraceSide side;
  bool exact = false, differed = false;
  for (SeenEvent event; stream.next(event); ++side.total) {
    const bool was_exact = exact;
    exact = (event.kinds & kInexactEvents) == 0;
    differed = differed || !exact;
    if (!exact || !differed) continue;
    if (!was_exact) side.runs.push_back({side.total, {}});
    side.runs.back().calls.push(event.call == nullptr ? std::string_view() : event.call->name);
  }
  side.ends_exactly = exact && differed;
  return side;
}

/// The records up to each marker, and all of them.
Result<std::vector<Calls>> records_side(RawReader reader) {
  std::vector<Calls> at_markers;
  Calls calls;
  std::uint64_t markers = 0;
  for (RawEvent raw;;) {
    const Result<bool> more = reader.next(raw);
    if (!more) return more.error();
    for (; markers < reader.markers(); ++markers) at_markers.push_back(calls);
    if (!*more) break;
    calls.push(raw.call);
  }
  at_markers.push_back(calls);
  return at_markers;
}

/// Where the run lies in the records, all of it before `next`.
std::optional<std::uint64_t> find(const ExactRun& run, const std::vector<Calls>& records,
                                  const Anchor& next) {
  const std::uint64_t expected = next.raw - next.seen + run.begin;
  std::optional<std::uint64_t> found;
  std::size_t end = 0;
  for (const Calls& begin : records) {
    const std::uint64_t until = begin.count + run.calls.count;
    if (until > next.raw) break;
    while (end < records.size() && records[end].count < until) ++end;
    if (end == records.size() || records[end].count != until) continue;
    if (behind(records[end], begin).hash != run.calls.hash) continue;
    found = begin.count;
    if (begin.count == expected) break;
  }
  return found;
}

}  // namespace

Result<std::vector<Anchor>> find_anchors(const FollowPlan& plan, const std::string& directory,
                                         std::uint32_t rank, std::uint32_t thread) {
  std::vector<Anchor> anchors;
  Result<SeenStream> stream = SeenStream::make(plan, rank, thread);
  if (!stream) return stream.error();
  if (!plan.trace->complete || (stream->declared().at_nodes() & kInexactEvents) == 0)
    return anchors;
  TraceSide side = trace_side(*stream);
  Result<RawReader> reader = RawReader::open(directory, rank, thread);
  if (!reader) return reader.error();
  if (leaves_out_polls(*plan.trace)) reader->leave_out_polls();
  const Result<std::vector<Calls>> records = records_side(std::move(*reader));
  if (!records) return records.error();
  anchors.push_back({records->back().count, side.total});
  if (side.ends_exactly) {
    const std::uint64_t tail = side.runs.back().calls.count;
    if (tail <= anchors.back().raw)
      anchors.push_back({anchors.back().raw - tail, side.total - tail});
    side.runs.pop_back();
  }
  for (auto run = side.runs.rbegin(); run != side.runs.rend(); ++run)
    if (const auto begin = find(*run, *records, anchors.back()))
      anchors.push_back({*begin, run->begin});
  return std::vector<Anchor>(anchors.rbegin(), anchors.rend());
}

}  // namespace chameleon::analysis
