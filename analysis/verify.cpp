// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify.h"

#include <memory>
#include <optional>

#include "analysis/verify_lockstep.h"

namespace chameleon::analysis {
namespace {

const char* const kColumnNames[kColumns] = {"COUNT", "LOOP",  "# EVENTS", "SRC",      "DEST",
                                            "TAG",   "ROOT",  "COMM",     "DATATYPE", "REQUEST",
                                            "OP",    "OTHER", "PATH"};

/// Adds a rank to the kinds declared there without need.
void note_width(const DeclaredKinds& declared, std::uint32_t found, std::uint32_t rank,
                VerifyReport& report) {
  // Where events differ, values of no kind can be told to agree.
  if ((found & kInexactEvents) != 0) return;
  for (const auto& [bit, name] : kInexactKinds) {
    if ((declared.at_nodes() & ~found & bit) == 0) continue;
    VerifyReport::TooWide* entry = nullptr;
    for (VerifyReport::TooWide& known : report.too_wide)
      if (known.kind == bit) entry = &known;
    if (entry == nullptr) entry = &report.too_wide.emplace_back(VerifyReport::TooWide{bit, {}});
    entry->ranks.insert(rank);
  }
}

/// One rank: its streams in the order in which their calls ended.
class RankLockstep {
 public:
  RankLockstep(const FollowPlan& plan, const std::string& directory, std::uint32_t rank,
               bool anchored, VerifyReport& report)
      : plan_(plan),
        trace_(*plan.trace),
        directory_(directory),
        rank_(rank),
        anchored_(anchored),
        report_(report) {}

  Status run() {
    for (std::uint32_t thread = 0; thread == 0 || has_records(thread); ++thread)
      if (const Status opened = open(thread); !opened) return opened.error();
    for (;;) {
      Lockstep* next = nullptr;
      std::uint64_t first = UINT64_MAX;
      for (const auto& stream : streams_) {
        const Result<std::uint64_t> turn = stream->turn();
        if (!turn) return turn.error();
        if (*turn >= first) continue;
        first = *turn;
        next = stream.get();
      }
      if (next == nullptr) break;
      const Result<bool> more = next->step();
      if (!more) return more.error();
    }
    for (const auto& stream : streams_) {  // what the records lack
      for (Result<bool> more = true;;) {
        more = stream->step();
        if (!more) return more.error();
        if (!*more) break;
      }
      note_width(stream->declared(), stream->found(), rank_, report_);
      report_.polls += stream->polls();
    }
    if (trace_.complete) compare_polls();
    return Unit{};
  }

 private:
  /// Those that are no events are counted, unless what the rank says of itself may be lost.
  void compare_polls() {
    for (std::uint32_t thread = 0; thread < streams_.size(); ++thread) {
      if (streams_[thread]->declared().rank_wide() != 0) continue;
      const auto facts = trace_.facts.find(trace_.stream_of(rank_, thread));
      const std::uint64_t told = facts == trace_.facts.end() ? 0 : facts->second.polls;
      const std::uint64_t made = streams_[thread]->polls();
      if (told != made) report_.polls_missed += told > made ? told - made : made - told;
    }
  }

  bool has_records(std::uint32_t thread) const {
    return (trace_.threads > thread && trace_.ranks.contains(trace_.stream_of(rank_, thread))) ||
           RawReader::exists(directory_, rank_, thread);
  }

  Status open(std::uint32_t thread) {
    Result<RawReader> reader = RawReader::open(directory_, rank_, thread);
    if (!reader) return reader.error();
    if (reader->world_size() != trace_.world_size)
      return Error{ErrorKind::kUsage,
                   reader->path() + ": is of a job of " + std::to_string(reader->world_size()) +
                       " ranks, the trace of one of " + std::to_string(trace_.world_size),
                   0};
    if (thread == 0) model_ = std::make_unique<RawModel>(trace_, *reader, rank_);
    Result<SeenStream> seen = SeenStream::make(plan_, rank_, thread);
    if (!seen) return seen.error();
    Result<std::vector<Anchor>> anchors = std::vector<Anchor>();
    if (anchored_) anchors = find_anchors(plan_, directory_, rank_, thread);
    if (!anchors) return anchors.error();
    if (!trace_.complete) reader->allow_cut();
    if (leaves_out_polls(trace_)) reader->leave_out_polls();
    streams_.push_back(std::make_unique<Lockstep>(trace_, trace_.stream_of(rank_, thread),
                                                  std::move(*reader), std::move(*seen), *model_,
                                                  std::move(*anchors), report_));
    return Unit{};
  }

  const FollowPlan& plan_;
  const Trace& trace_;
  const std::string& directory_;
  std::uint32_t rank_;
  bool anchored_;
  VerifyReport& report_;
  std::unique_ptr<RawModel> model_;
  std::vector<std::unique_ptr<Lockstep>> streams_;
};

/// The report with one more rank. Where declared events are few and the exact ones between them
/// short, these may be found in the wrong place of the records: then the two sides are compared
/// without anchors too, and the report is the better of both.
Result<VerifyReport> with_rank(const VerifyReport& report, const FollowPlan& plan,
                               const std::string& directory, std::uint32_t rank) {
  std::optional<VerifyReport> best;
  for (const bool anchored : {true, false}) {
    VerifyReport one = report;
    const Status done = RankLockstep(plan, directory, rank, anchored, one).run();
    if (!done) return done.error();
    if (!best || one.undeclared() < best->undeclared()) best = std::move(one);
    if (best->undeclared() == report.undeclared()) break;
  }
  return std::move(*best);
}

}  // namespace

const char* column_name(Column column) { return kColumnNames[static_cast<std::size_t>(column)]; }

Result<VerifyReport> verify(const Trace& trace, const std::string& raw_directory,
                            const std::function<void()>& rank_done) {
  VerifyReport report;
  report.declarations = trace.declarations;
  report.complete = trace.complete;
  if (trace.world_size == 0 && !trace.ranks.empty())
    return Error{ErrorKind::kCorrupt, "the trace has events, but is of a job of no rank", 0};
  const FollowPlan plan(trace);
  for (std::uint32_t rank = 0; rank < trace.world_size; ++rank) {
    Result<VerifyReport> more = with_rank(report, plan, raw_directory, rank);
    if (!more) return more.error();
    report = std::move(*more);
    ++report.ranks;
    if (rank_done) rank_done();
  }
  return report;
}

}  // namespace chameleon::analysis
