// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/check.h"
#include "analysis/check_threads.h"
#include "analysis/hang.h"
#include "analysis/reissue.h"
#include "analysis/thread_order.h"
#include "tools/call_sites.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace check_verb {

struct Options {
  std::string trace;
  bool json = false;
};

/// " at stencil.c:88 exchange()", where the call was made.
std::string place_of(const CheckReport::Problem& problem, CallSites& sites) {
  return problem.path == 0 ? "" : ", at " + sites.site(problem.path);
}

nlohmann::ordered_json list_of(const Trace& trace,
                               const std::vector<CheckReport::Problem>& problems,
                               CallSites& sites) {
  auto list = nlohmann::ordered_json::array();
  for (const CheckReport::Problem& problem : problems) {
    nlohmann::ordered_json one = {{"kind", problem.kind}, {"rank", problem.rank}};
    if (trace.threads > 1) one["thread"] = problem.thread;
    one["event"] = problem.event;
    one["call"] = problem.call;
    one["text"] = problem.text;
    if (problem.path != 0) one["site"] = sites.site(problem.path);
    one["program"] = problem.program;
    list.push_back(std::move(one));
  }
  return list;
}

nlohmann::ordered_json counts_of(const CheckReport::Unmatched& counts) {
  return {
      {"sends", counts.sends}, {"receives", counts.receives}, {"collectives", counts.collectives}};
}

nlohmann::ordered_json hang_document(const Hang& hang, const CheckReport& report,
                                     CallSites& sites) {
  nlohmann::ordered_json document = {{"deadlock", hang.is_deadlock()},
                                     {"fault", hang.is_fault},
                                     {"causes", nlohmann::ordered_json::array()},
                                     {"ends", nlohmann::ordered_json::array()},
                                     {"ranks", nlohmann::ordered_json::array()},
                                     {"behind", hang.behind.to_string()}};
  for (const Hang::Cause& cause : hang.causes)
    document["causes"].push_back({{"kind", kind_name(cause.kind)},
                                  {"ranks", cause.ranks.to_string()},
                                  {"waiting", cause.waiting.to_string()}});
  for (const CheckReport::End& end : report.ends)
    document["ends"].push_back({{"rank", end.rank},
                                {"why", end.why},
                                {"call", end.last.call},
                                {"site", end.last.path == 0 ? "" : sites.site(end.last.path)},
                                {"inside", end.inside},
                                {"error", end.error}});
  for (const CheckReport::Hanging& one : report.hanging)
    document["ranks"].push_back({{"rank", one.rank},
                                 {"event", one.event},
                                 {"call", one.call},
                                 {"site", sites.site(one.path)},
                                 {"seconds", static_cast<double>(one.ns) / 1e9},
                                 {"waits_for", one.for_ranks.to_string()},
                                 {"what", one.what},
                                 {"near_miss", one.near_miss}});
  return document;
}

nlohmann::ordered_json document_of(const Trace& trace, const CheckReport& report, CallSites& sites,
                                   const Hang& hang, const std::string& not_replayed) {
  nlohmann::ordered_json document = json_document("check");
  document["ok"] = report.ok && report.declared_count == 0 && !hang.is_fault;
  document["complete"] = trace.complete;
  document["ranks"] = trace.whole_ranks().size();
  document["events"] = report.events;
  document["messages"] = report.messages;
  document["bytes"] = report.bytes;
  document["collectives"] = report.collectives;
  document["problem_count"] = report.problem_count;
  document["program_count"] = report.program_count;
  document["problems"] = list_of(trace, report.problems, sites);
  document["hang"] =
      hang.causes.empty() ? nlohmann::ordered_json() : hang_document(hang, report, sites);
  document["leaks"] = nlohmann::ordered_json::array();
  for (const Leak& leak : report.leaks)
    document["leaks"].push_back({{"kind", mpi::kind_name(leak.kind)},
                                 {"call", leak.call},
                                 {"count", leak.count},
                                 {"ranks", leak.ranks.to_string()},
                                 {"site", leak.path == 0 ? "" : sites.site(leak.path)}});
  document["cut_count"] = report.cut_count;
  document["cut"] = list_of(trace, report.cut, sites);
  document["in_flight"] = counts_of(report.in_flight);
  document["in_flight"]["open_requests"] = report.open_requests;
  document["declared_count"] = report.declared_count;
  document["declared"] = list_of(trace, report.declared, sites);
  document["declared_unmatched"] = counts_of(report.declared_unmatched);
  if (trace.threads > 1)
    document["shared_by_threads"] = {{"count", report.shared_count}, {"first", report.shared}};
  if (trace.threads > 1) document["not_replayed"] = not_replayed;
  document["unchecked"] = nlohmann::ordered_json::object();
  for (const auto& [call, count] : report.unchecked) document["unchecked"][call] = count;
  document["errors"] = nlohmann::ordered_json::object();
  for (const auto& [call, errors] : report.errors)
    for (const auto& [error, count] : errors) document["errors"][call][error] = count;
  document["replay_leaves_out"] = nlohmann::ordered_json::array();
  for (const auto& [why, calls] : find_left_out(report, false))
    for (const auto& [call, count] : calls)
      document["replay_leaves_out"].push_back({{"call", call}, {"count", count}, {"why", why}});
  return document;
}

std::string verdict(const CheckReport& report) {
  if (report.problem_count > report.program_count) return "the trace is not consistent: ";
  if (!report.ok) return "the program is at fault, as listed above; all else is consistent: ";
  if (report.declared_count > 0)
    return "the trace is consistent but for what it declares inexact, and replay needs "
           "--best-effort: ";
  return "the trace is consistent: ";
}

/// `not_replayed`: why the threads of ranks have no order in which a replay can make their calls.
void print_text(const Trace& trace, const CheckReport& report, CallSites& sites, const Hang& hang,
                const std::string& not_replayed) {
  const auto list = [&](const std::vector<CheckReport::Problem>& problems, std::uint64_t count,
                        const char* label) {
    for (const CheckReport::Problem& problem : problems)
      std::cout << label << problem.kind << ": " << problem.text << place_of(problem, sites)
                << "\n";
    if (count > problems.size()) std::cout << label << count - problems.size() << " more\n";
  };
  for (const std::string& line :
       hang_text(hang, report, [&](std::uint64_t path) { return sites.site(path); }))
    std::cout << line << "\n";
  list(report.problems, report.problem_count, "");
  for (const Leak& leak : report.leaks)
    std::cout << "leak: " << leak_text(leak)
              << (leak.path == 0 ? "" : ", at " + sites.site(leak.path)) << "\n";
  list(report.cut, report.cut_count, "cut off: ");
  list(report.declared, report.declared_count, "declared: ");
  if (!trace.complete) {
    std::cout << "in flight at the end of the trace: " << unmatched_text(report.in_flight);
    if (report.open_requests > 0)
      std::cout << "; " << count_text(report.open_requests) << " requests still open";
    std::cout << "\n";
  } else if (report.open_requests > 0) {
    std::cout << "uncompleted local requests: " << count_text(report.open_requests) << "\n";
  }
  const CheckReport::Unmatched& left = report.declared_unmatched;
  if (left.sends + left.receives + left.collectives > 0)
    std::cout << "left unmatched by declared parts: " << unmatched_text(report.declared_unmatched)
              << "\n";
  if (!report.unchecked.empty()) {
    std::cout << "not checked:";
    for (const auto& [call, count] : report.unchecked) std::cout << " " << call << " x" << count;
    std::cout << "\n";
  }
  for (const auto& [call, errors] : report.errors) {
    std::cout << "errors returned by " << call << ":";
    for (const auto& [error, count] : errors) std::cout << " " << error << " x" << count;
    std::cout << "\n";
  }
  if (!report.shared.empty())
    std::cout << "not checked: " << count_text(report.shared_count)
              << (report.shared_count == 1 ? " channel or communicator"
                                           : " channels and communicators")
              << " that threads of a rank share, since the trace does not have their order: "
              << report.shared << "\n";
  if (!not_replayed.empty()) std::cout << "not replayed: " << not_replayed << "\n";
  for (const auto& [why, calls] : find_left_out(report, false)) {
    if (!not_replayed.empty()) break;
    std::cout << "replay leaves out:";
    for (const auto& [call, count] : calls) std::cout << " " << call << " x" << count;
    std::cout << ": " << why << "\n";
  }
  if (trace.threads > 1) std::cout << "ranks have several threads: open requests are not checked\n";
  std::cout << (hang.is_deadlock() ? "the program deadlocks, as shown above; "
                : hang.is_fault    ? "the program failed, as shown above; "
                                   : "")
            << verdict(report) << count_text(report.events) << " events, "
            << count_text(report.messages) << " messages of "
            << bytes_text(static_cast<double>(report.bytes)) << ", "
            << count_text(report.collectives) << " collectives\n";
}

int run_check(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("check", options.trace, status);
  if (!trace) return status;
  CallSites sites(*trace);
  const auto site = [&](std::uint64_t path) { return sites.site(path); };
  const Result<CheckReport> report =
      trace->threads > 1 ? check_threads(*trace, site) : check(*trace);
  if (!report) return fail("check", options.trace + ": " + report.error().message, kExitUnreadable);
  if (!report->doubt.empty())
    return fail(
        "check",
        report->doubt +
            (report->doubt == report->shared
                 ? ": the trace does not have their order"
                 : std::string(": the trace does not show which object is meant")) +
            ", so it cannot determine whether this is a fault: " + report->problems.front().text,
        kExitRefused);
  std::string not_replayed;
  if (trace->threads > 1) {
    Result<ThreadOrders> orders = order_threads(*trace, site);
    if (!orders)
      return fail("check", options.trace + ": " + orders.error().message, kExitUnreadable);
    not_replayed = std::move(orders->why_none);
  }
  const Hang hang = hang_of(*trace, *report);
  if (options.json)
    print_json(document_of(*trace, *report, sites, hang, not_replayed));
  else
    print_text(*trace, *report, sites, hang, not_replayed);
  const bool ok = report->ok && report->declared_count == 0 && !hang.is_fault;
  return ok ? kExitOk : kExitMismatch;
}

}  // namespace check_verb

void add_check_command(CLI::App& app, int& status) {
  using namespace check_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "check", "Prove that each send has its receive and that collectives agree");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_check(*options); });
}

}  // namespace chameleon::tools
