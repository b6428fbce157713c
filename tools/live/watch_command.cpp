// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon watch TRACE`: a running job in the terminal, looked at once a second.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "tools/common.h"
#include "tools/live/live_view.h"

namespace chameleon::tools {
namespace watch_verb {

struct Options {
  std::string trace;
  bool once = false, json = false;
};

/// Whether a new picture can be put over the last one.
bool redraws() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

/// Past the stream that takes control characters away: these are ours.
void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// What to do once the job is over.
std::string outcome(const LiveTrace& live) {
  const std::string path = printable(live.path());
  if (live.job() == JobState::kComplete) return "next: chameleon summary " + path + "\n";
  if (live.job() != JobState::kEnded) return "";
  return "The trace ends at the last flush. Parts that ranks left beside it: chameleon recover " +
         path + "\n";
}

void show(const Options& options, const LiveTrace& live, const LiveView& view, bool over_last) {
  if (options.json) {
    const nlohmann::ordered_json document = live_document(live, view);
    return put(document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
               "\n");
  }
  std::string text = live_text(live, view);
  if (live.over()) text += outcome(live);
  if (!over_last) return put(text + (options.once || live.over() ? "" : "\n"));
  // Each line is cut off behind its end, so that nothing flickers.
  std::string picture = "\033[H";
  for (const char letter : text) picture += letter == '\n' ? "\033[K\n" : std::string(1, letter);
  put(picture + "\033[J");
}

int watch(const Options& options) {
  LiveTrace live(options.trace);
  const bool redraw = !options.json && !options.once && redraws();
  Result<LiveView> view = LiveView();
  bool first = true;
  for (;; std::this_thread::sleep_for(std::chrono::seconds(1))) {
    if (!first && std::chrono::steady_clock::now() < live.next()) continue;
    const Result<bool> changed = live.look();
    if (!changed) return fail("watch", changed.error());
    if (*changed) {
      view = LiveView::make(live.trace());
      if (!view) return fail("watch", view.error());
    }
    if (redraw && first) put("\033[2J");
    if (redraw || *changed) show(options, live, *view, redraw);
    first = false;
    if (std::ferror(stdout) != 0) return kExitUnreadable;
    if (live.over()) return live.job() == JobState::kComplete ? kExitOk : kExitMismatch;
    if (options.once) return kExitOk;
  }
}

}  // namespace watch_verb

void add_watch_command(CLI::App& app, int& status) {
  using namespace watch_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("watch", "Show a running job in the terminal");
  verb->add_option("trace", options->trace, "Trace file of the job")->required();
  verb->add_flag("--once", options->once, "Show it once, do not wait for more");
  verb->add_flag("--json", options->json, "One JSON object a line, at each flush");
  verb->callback([options, &status] { status = watch(*options); });
}

}  // namespace chameleon::tools
