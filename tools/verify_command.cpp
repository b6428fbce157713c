// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/declared.h"
#include "analysis/verify.h"
#include "analysis/verify_clusters.h"
#include "analysis/verify_efforts.h"
#include "analysis/verify_times.h"
#include "tools/common.h"
#include "tools/progress.h"

namespace chameleon::tools {
namespace verify_verb {

struct Options {
  std::string trace;
  std::string raw;
  bool strict = false;
  bool json = false;
};

std::string snake_case(const char* column) {
  std::string key;
  for (const char* c = column; *c != 0; ++c)
    if (std::isalpha(static_cast<unsigned char>(*c)) != 0)
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  return key;
}

nlohmann::ordered_json list_of(const std::vector<VerifyReport::Mismatch>& mismatches) {
  auto list = nlohmann::ordered_json::array();
  for (const VerifyReport::Mismatch& mismatch : mismatches)
    list.push_back({{"rank", mismatch.rank},
                    {"thread", mismatch.thread},
                    {"event", mismatch.event},
                    {"call", mismatch.call},
                    {"parameter", mismatch.parameter},
                    {"raw", mismatch.raw},
                    {"trace", mismatch.trace}});
  return list;
}

nlohmann::ordered_json column_of(const TimesColumn& times) {
  return {{"matched", times.within},
          {"declared", times.declared},
          {"undeclared", times.undeclared()},
          {"total", times.total},
          {"share", times.total == 0
                        ? 1.0
                        : static_cast<double>(times.within) / static_cast<double>(times.total)},
          {"median_error", times.median},
          {"percentile_95_error", times.percentile_95},
          {"largest_error", times.largest},
          {"sum_error", times.all}};
}

nlohmann::ordered_json document_of(const VerifyReport& report, const ClusterCheck& clusters,
                                   const EffortCheck& efforts, const TimesCheck& times, bool ok) {
  nlohmann::ordered_json document = json_document("verify");
  document["ok"] = ok;
  document["matches"] = report.matches();
  document["complete"] = report.complete;
  document["ranks"] = report.ranks;
  document["raw_events"] = report.raw_events;
  document["trace_events"] = report.trace_events;
  document["missing_events"] = report.missing_events;
  document["extra_events"] = report.extra_events;
  document["events_after_flush"] = report.after_flush;
  document["events_unrecorded"] = report.unrecorded;
  document["polls"] = report.polls;
  document["polls_missed"] = report.polls_missed;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const VerifyReport::Share& share = report.columns[i];
    if (static_cast<Column>(i) == Column::kPath && share.total == 0)
      continue;  // not in the records
    auto& column = document["columns"][snake_case(column_name(static_cast<Column>(i)))];
    column["matched"] = share.matched;
    column["declared"] = share.declared;
    column["undeclared"] = share.undeclared();
    column["total"] = share.total;
    column["share"] = share.total == 0
                          ? 1.0
                          : static_cast<double>(share.matched) / static_cast<double>(share.total);
  }
  if (times.done) {
    document["columns"]["compute"] = column_of(times.compute);
    document["columns"]["communication"] = column_of(times.communication);
  }
  document["mismatch_count"] = report.mismatch_count;
  document["declared_count"] = report.declared_count;
  document["mismatches"] = list_of(report.mismatches);
  document["declared_mismatches"] = list_of(report.declared_mismatches);
  document["too_wide"] = nlohmann::ordered_json::array();
  for (const VerifyReport::TooWide& one : report.too_wide)
    document["too_wide"].push_back(
        {{"kind", kinds_text(one.kind)}, {"ranks", one.ranks.to_string()}});
  if (clusters.done) document["clusters"] = {{"equal", clusters.equal}, {"leads", clusters.leads}};
  if (efforts.windows > 0)
    document["efforts"] = {{"equal", efforts.equal}, {"windows", efforts.windows}};
  document["declarations"] = nlohmann::ordered_json::array();
  for (const Declaration& declaration : report.declarations)
    document["declarations"].push_back(
        {{"what", declaration.what}, {"ranks", declaration.ranks.to_string()}});
  return document;
}

void print_columns(const VerifyReport& report) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    const VerifyReport::Share& share = report.columns[i];
    if (share.total == 0) continue;
    // Cut, not rounded: 100 % means all of them.
    const double percent = static_cast<double>(share.matched * 10000 / share.total) / 100.0;
    std::printf("%-9s %7.2f %%  %llu of %llu", column_name(static_cast<Column>(i)), percent,
                static_cast<unsigned long long>(share.matched),
                static_cast<unsigned long long>(share.total));
    if (report.declared_count > 0)
      std::printf(", declared %llu, undeclared %llu",
                  static_cast<unsigned long long>(share.declared),
                  static_cast<unsigned long long>(share.undeclared()));
    std::printf("\n");
  }
  std::fflush(stdout);
}

void print_times(const char* name, const TimesColumn& times) {
  if (times.total == 0) return;
  const double percent = static_cast<double>(times.within * 10000 / times.total) / 100.0;
  std::printf(
      "%-13s %3.2f %%  %llu of %llu sums within the stated error; error %.2f %% (median), "
      "%.2f %% (95 of 100), %.3f %% over all ranks\n",
      name, percent, static_cast<unsigned long long>(times.within),
      static_cast<unsigned long long>(times.total), 100 * times.median, 100 * times.percentile_95,
      100 * times.all);
}

void print_times(const TimesCheck& check) {
  if (!check.done) return;
  print_times("COMPUTE", check.compute);
  print_times("COMMUNICATION", check.communication);
  std::fflush(stdout);
  for (const TimesCheck::Worst& worst : check.worst)
    std::cout << "rank " << worst.rank
              << (worst.thread == 0 ? "" : " thread " + std::to_string(worst.thread)) << " "
              << worst.call << " " << worst.kind << " time: raw " << duration_text(worst.raw_ns)
              << ", trace " << duration_text(worst.trace_ns) << ", further off than the "
              << share_text(worst.stated) << " of its class\n";
}

void print_mismatches(const std::vector<VerifyReport::Mismatch>& list, std::uint64_t count,
                      const char* label) {
  for (const VerifyReport::Mismatch& mismatch : list) {
    std::string where = "rank " + std::to_string(mismatch.rank) +
                        (mismatch.thread == 0 ? "" : " thread " + std::to_string(mismatch.thread)) +
                        " event " + std::to_string(mismatch.event) + " " + mismatch.call;
    if (!mismatch.parameter.empty()) where += " " + mismatch.parameter;
    std::cout << label << where << ": raw " << mismatch.raw << ", trace " << mismatch.trace << "\n";
  }
  if (count > list.size()) std::cout << label << count - list.size() << " further mismatches\n";
}

void print_made_again(const ClusterCheck& clusters, const EffortCheck& efforts) {
  if (clusters.done)
    std::cout << (clusters.equal ? "clusters: as computed again from the ranks' signatures, "
                                 : "clusters: NOT those of the ranks' signatures, which give ")
              << clusters.leads << (clusters.leads == 1 ? " lead\n" : " leads\n");
  if (efforts.windows > 0)
    std::cout << "effort windows: " << (efforts.matches() ? "" : "ONLY ") << efforts.equal << " of "
              << efforts.windows << " as computed again from what ranks computed\n";
}

void print_text(const VerifyReport& report, const ClusterCheck& clusters,
                const EffortCheck& efforts, const TimesCheck& times, bool strict, bool ok) {
  print_columns(report);
  print_times(times);
  print_mismatches(report.mismatches, report.mismatch_count - report.declared_count, "");
  if (strict) print_mismatches(report.declared_mismatches, report.declared_count, "declared: ");
  for (const Declaration& declaration : report.declarations)
    std::cout << "declared: " << declaration.what << " (" << ranks_text(declaration.ranks) << ")\n";
  std::uint32_t said = 0;  // kinds of the same ranks are one line
  for (const VerifyReport::TooWide& one : report.too_wide) {
    if ((said & one.kind) != 0) continue;
    std::uint32_t kinds = 0;
    for (const VerifyReport::TooWide& other : report.too_wide)
      if (other.ranks == one.ranks) kinds |= other.kind;
    said |= kinds;
    std::cout << "declared too widely: " << kinds_text(kinds) << " (" << ranks_text(one.ranks)
              << "): no difference found\n";
  }
  if (!report.complete)
    std::cout << "the trace is incomplete: " << count_text(report.after_flush)
              << " recorded events are after the last flush\n";
  if (report.unrecorded > 0)
    std::cout << "not compared: " << count_text(report.unrecorded)
              << " events of the trace after the end of the records\n";
  if (report.polls + report.polls_missed > 0)
    std::cout << "polls: " << count_text(report.polls) << " unsuccessful, which are no events, "
              << (report.polls_missed == 0 ? "as many as the trace counts\n"
                                           : "NOT as many as the trace counts\n");
  print_made_again(clusters, efforts);
  std::cout << (report.matches() ? "the trace matches the raw records"
                : report.declared()
                    ? (ok ? "the trace differs only where it declares to"
                          : "the trace differs where it declares to, which is not allowed here")
                    : "the trace does not match the raw records")
            << ": " << count_text(report.raw_events) << " events of " << report.ranks << " ranks\n";
}

int run_verify(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("verify", options.trace, status);
  if (!trace) return status;
  Progress progress("verify", trace->world_size);
  const Result<VerifyReport> report = verify(*trace, options.raw, [&progress] { progress.step(); });
  progress.end();
  if (!report) {
    // A record of another job was named wrongly; all else is unreadable input.
    const bool usage = report.error().kind == ErrorKind::kUsage;
    return fail("verify", report.error().message, usage ? kExitUsage : kExitUnreadable);
  }
  const Result<ClusterCheck> clusters = verify_clusters(*trace, options.raw);
  if (!clusters) return fail("verify", clusters.error());
  const Result<EffortCheck> efforts = verify_efforts(*trace, options.raw);
  if (!efforts) return fail("verify", efforts.error());
  const Result<TimesCheck> times = verify_times(*trace, options.raw);
  if (!times) return fail("verify", times.error());
  const bool as_stated = times->matches() || (!options.strict && times->declared());
  const bool ok = (!clusters->done || clusters->equal) && efforts->matches() && as_stated &&
                  (report->matches() || (!options.strict && report->declared()));
  if (options.json)
    print_json(document_of(*report, *clusters, *efforts, *times, ok));
  else
    print_text(*report, *clusters, *efforts, *times, options.strict, ok);
  return ok ? kExitOk : kExitMismatch;
}

}  // namespace verify_verb

void add_verify_command(CLI::App& app, int& status) {
  using namespace verify_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("verify", "Compare a trace with raw records of the same run");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--raw", options->raw, "Directory given as CHAMELEON_RAW to the traced run")
      ->required();
  verb->add_flag("--strict", options->strict, "Count declared loss as a mismatch");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_verify(*options); });
}

}  // namespace chameleon::tools
