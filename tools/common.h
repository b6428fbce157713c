// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Shared by the verbs of the `chameleon` command: exit statuses, loading a trace with errors in
/// one line, and amounts as text. Each verb adds itself to the parser and leaves its exit status in
/// `status` when it was chosen. The parser and JSON are only named here: files that use them
/// include them, which takes seconds.

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/file.h"

namespace CLI {
class App;
}

namespace chameleon::tools {

/// States of the transition graph, by number.
inline constexpr std::array<const char*, 4> kStates = {"AT", "C", "L", "F"};

inline constexpr int kExitOk = 0;
inline constexpr int kExitMismatch = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnreadable = 3;
inline constexpr int kExitRefused = 4;
inline constexpr int kExitNoLauncher = 127;

void add_run_command(CLI::App& app, const std::vector<std::string>& application, int& status);
void add_doctor_command(CLI::App& app, int& status);
void add_info_command(CLI::App& app, int& status);
void add_summary_command(CLI::App& app, int& status);
void add_print_command(CLI::App& app, int& status);
void add_stats_command(CLI::App& app, int& status);
void add_series_command(CLI::App& app, int& status);
void add_sample_command(CLI::App& app, int& status);
void add_verify_command(CLI::App& app, int& status);
void add_check_command(CLI::App& app, int& status);
void add_replay_command(CLI::App& app, int& status);
void add_recover_command(CLI::App& app, int& status);
void add_redact_command(CLI::App& app, int& status);
void add_simulate_command(CLI::App& app, int& status);
void add_export_command(CLI::App& app, int& status);
void add_predict_command(CLI::App& app, int& status);
void add_matrix_command(CLI::App& app, int& status);
void add_cluster_command(CLI::App& app, int& status);
void add_compare_command(CLI::App& app, int& status);
void add_pairs_command(CLI::App& app, int& status);
void add_critical_command(CLI::App& app, int& status);
void add_efficiency_command(CLI::App& app, int& status);
void add_phases_command(CLI::App& app, int& status);
void add_patterns_command(CLI::App& app, int& status);
void add_slow_command(CLI::App& app, int& status);
void add_whatif_command(CLI::App& app, int& status);
void add_report_command(CLI::App& app, int& status);
void add_watch_command(CLI::App& app, int& status);
void add_serve_command(CLI::App& app, int& status);

/// Prints `chameleon VERB: MESSAGE` to standard error and gives back `status`.
int fail(std::string_view verb, std::string_view message, int status);

/// Prints the error in one line; gives the exit status of its kind.
int fail(std::string_view verb, const Error& error);

/// Bounds that hold for every verb (main.cpp): memory for reading a trace, 0 for the usual amount,
/// and whether to start what takes long all the same.
void set_limits(std::uint64_t most_memory, bool takes_all);
std::uint64_t most_memory();
/// 0 if the user did not say.
std::uint64_t asked_memory();
bool takes_all();

/// Prints that memory ended, and in which file.
int out_of_memory();

/// read_trace within the bound on memory. Error: kRefused beyond it, and says how to continue.
Result<Trace> read_bounded(const std::string& path, FileFacts* facts = nullptr);

/// Whether a verb may visit all ranks of the trace one by one, and all calls of each (if
/// `each_call`, or if each has times of its own); or this many calls of this many ranks.
/// Error: kRefused, with how many these are, how long that takes, and how to continue.
Status allow_visits(std::string_view path, const Trace& trace, bool each_call);
Status allow_visits(std::string_view path, double events, double ranks);

/// Reads a trace, or prints why not and sets `status`. Names in it are printable, unless the verb
/// writes them to files with quotes of their own; it is refused to verbs that visit more calls or
/// ranks one by one than can be done in some minutes.
std::optional<Trace> load_trace(std::string_view verb, const std::string& path, int& status,
                                FileFacts* facts = nullptr);

/// The same for verbs with one sequence of calls for each rank: a trace with several threads is
/// refused, and not misread.
std::optional<Trace> load_unthreaded(std::string_view verb, const std::string& path, int& status,
                                     FileFacts* facts = nullptr);

/// The default output of a verb: of `folder/app.cham`, `app` and `suffix`, in the current folder,
/// for the trace's may be a stranger's.
std::string output_here(const std::string& trace, std::string_view suffix);

/// `{"schema": "chameleon.VERB/1"}`.
nlohmann::ordered_json json_document(std::string_view verb);
/// Prints the document to standard output.
void print_json(const nlohmann::ordered_json& document);

/// "12.3 us", "4.56 s": three digits.
std::string duration_text(double ns);
/// "1.2 MiB".
std::string bytes_text(double bytes);
/// "1,234,567".
std::string count_text(std::uint64_t count);
/// The same of a number that may be beyond what can be counted: "1.2e+30".
std::string amount_text(double count);
/// "12.3 %" of a share from 0 to 1.
std::string share_text(double share);
/// How many calls of a timeline were taken at once (steady_loops.h); empty: none.
std::string at_once_text(std::uint64_t events, std::uint64_t at_once);
/// To the right of a column of this width.
std::string padded(const std::string& text, std::size_t width);
/// Sixteen digits, as signatures are shown.
std::string hex_text(std::uint64_t value);

/// A JSON string, with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);
/// Text from a file for terminals and for formats that have lines and no way to escape
/// (base/plain_text.h).
std::string printable(std::string_view text);

/// "rank 3", "ranks 0-7".
std::string ranks_text(const RankList& ranks);
/// The same of streams: "ranks 0-7, threads 1-2; rank 0, thread 3" where ranks have several
/// threads.
std::string streams_text(const Trace& trace, const RankList& streams);

/// The streams of some ranks, by rank and thread.
std::vector<std::uint32_t> streams_by_rank(const Trace& trace, const RankList& ranks);
/// The ranks of the trace that `text` names, or all if it is empty. Error: none is named.
Result<RankList> wanted_ranks(const Trace& trace, const std::string& text);

/// Emphasis for terminals: plain text when standard output is not one, or NO_COLOR is set.
class Style {
 public:
  Style();
  std::string strong(std::string_view text) const { return wrap("1", text); }
  std::string faint(std::string_view text) const { return wrap("2", text); }
  std::string loop(std::string_view text) const { return wrap("36", text); }
  std::string ranks(std::string_view text) const { return wrap("33", text); }
  std::string hot(std::string_view text) const { return wrap("31;1", text); }

 private:
  std::string wrap(const char* code, std::string_view text) const;
  bool on_ = false;
};

}  // namespace chameleon::tools
