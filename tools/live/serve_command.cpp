// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon serve TRACE`: the report of a running job for a browser on this host. The page asks
/// once a second whether there is a new flush, and loads itself again.

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "tools/call_sites.h"
#include "tools/common.h"
#include "tools/live/http_server.h"
#include "tools/live/live_view.h"
#include "tools/report/report.h"

namespace chameleon::tools {
namespace serve_verb {

struct Options {
  std::string trace;
  std::uint16_t port = 0;
  std::uint64_t events = 5'000'000;
  std::vector<std::string> sources;
  bool no_source = false;
};

/// The page, and what it asks for.
class Site {
 public:
  explicit Site(const Options& options) : options_(options), live_(options.trace, true) {}

  Result<bool> look() {
    if (std::chrono::steady_clock::now() < live_.next()) return false;
    return live_.look();
  }

  HttpAnswer answer(std::string_view name) {
    static_cast<void>(look());  // there has been a trace, and it stays
    if (name.empty()) return {200, "text/html; charset=utf-8", page()};
    if (name == "state") return {200, "application/json", state().dump()};
    if (name == "data") return {200, "application/json", data()};
    return {};
  }

 private:
  report::Json state() const {
    return {{"version", live_.version()},
            {"state", job_state_name(live_.job())},
            {"age_seconds", live_.age().count()}};
  }

  /// Makes the document again if there is something new.
  const report::Json& document() {
    if (made_ == live_.version()) return document_;
    const SourceFolders sources(live_.trace().directory, options_.sources);
    Result<report::Json> fresh =
        report::document({live_.trace(), live_.file(), std::string(base_name(options_.trace)),
                          options_.no_source ? nullptr : &sources, options_.events});
    if (fresh) document_ = std::move(*fresh);
    made_ = live_.version();
    return document_;
  }

  std::string page() {
    const report::Json& now = document();
    return report::live_page(now, state());
  }
  std::string data() {
    return document().dump(-1, ' ', false, report::Json::error_handler_t::replace);
  }

  const Options& options_;
  LiveTrace live_;
  report::Json document_;
  std::uint64_t made_ = 0;
};

/// Ends the command as soon as it is told to, whatever it is at: a request may be one for a page
/// that takes long to make. There is nothing to put away. To be called before there are threads.
bool end_on_signals() {
  static sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  if (pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) return false;
  std::thread([] {
    int signal = 0;
    while (sigwait(&signals, &signal) != 0) {
    }
    _exit(kExitOk);
  }).detach();
  return true;
}

int serve(const Options& options) {
  Site site(options);
  if (const Result<bool> found = site.look(); !found) return fail("serve", found.error());
  HttpServer server([&site](std::string_view name) { return site.answer(name); });
  if (const Status listens = server.listen(options.port); !listens)
    return fail("serve", listens.error());
  if (!end_on_signals()) return fail("serve", "signals cannot be waited for", kExitUnreadable);
  std::cout << server.url() << "\n" << std::flush;
  std::cerr << "chameleon serve: open this address in a browser on this host; Ctrl-C ends it\n";
  return fail("serve", server.serve().error());
}

}  // namespace serve_verb

void add_serve_command(CLI::App& app, int& status) {
  using namespace serve_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("serve", "Show the report of a running job in a browser on this host");
  verb->add_option("trace", options->trace, "Trace file of the job")->required();
  verb->add_option("--port", options->port, "Port on 127.0.0.1; default: a free one");
  verb->add_option("--events", options->events,
                   "Read every call (for matrix and timeline) of traces with at most this many")
      ->capture_default_str();
  verb->add_option("--source", options->sources,
                   "Show lines of source files in this folder too; without it, of those in the "
                   "trace's folder that are also in the current one (may be repeated)");
  verb->add_flag("--no-source", options->no_source, "Without lines of the program's source");
  verb->callback([options, &status] { status = serve(*options); });
}

}  // namespace chameleon::tools
