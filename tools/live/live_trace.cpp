// SPDX-License-Identifier: BSD-3-Clause
#include "tools/live/live_trace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tools/common.h"
#include "tools/foreign_names.h"

namespace chameleon::tools {
namespace {

/// Whether this host is the one of rank 0, which writes the file.
bool is_of_this_host(const Trace& trace) {
  char host[256] = "";
  return trace.writer_process != 0 && gethostname(host, sizeof host - 1) == 0 &&
         trace.writer_host == host;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The number after `key` in a file of /proc; 0 if there is none.
std::uint64_t number_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + key.size(), nullptr, 10);
}

/// When a process began, in s since 1970; 0 if it has ended.
std::uint64_t began_unix(std::uint64_t process) {
  const std::string status = content("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_end = status.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= status.size()) return 0;
  if (status[name_end + 2] == 'Z' || status[name_end + 2] == 'X') return 0;
  constexpr int kFieldsToStart = 20;  // of those behind the name
  std::size_t at = name_end + 1;
  for (int field = 1; field < kFieldsToStart && at != std::string::npos; ++field)
    at = status.find(' ', at + 1);
  if (at == std::string::npos) return 0;
  const std::uint64_t ticks = number_after(status.substr(at), " ");
  return number_after(content("/proc/stat"), "\nbtime ") +
         ticks / static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_CLK_TCK)));
}

/// Whether rank 0 still runs: a process of its number that began later is another one.
bool runs_here(const Trace& trace) {
  constexpr std::uint64_t kClockSlack = 5;  // s
  const std::uint64_t began = began_unix(trace.writer_process);
  return began != 0 && began <= trace.started_unix + kClockSlack;
}

}  // namespace

const char* job_state_name(JobState state) {
  constexpr const char* kNames[] = {"running", "complete", "ended", "unknown"};
  return kNames[static_cast<std::size_t>(state)];
}

std::optional<LiveTrace::Stamp> LiveTrace::stamp() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return std::nullopt;
  return Stamp{status.st_dev, status.st_ino, status.st_size,
               status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

Result<bool> LiveTrace::read() {
  using Clock = std::chrono::steady_clock;
  const std::optional<Stamp> now = stamp();
  if (trace_ && (!now || *now == read_)) return false;
  const Clock::time_point begin = Clock::now();
  FileFacts file;
  Result<Trace> trace = read_bounded(path_, &file);
  if (!trace) {
    if (trace_) return false;  // a moment ago it could be read, and soon it can be again
    return trace.error();
  }
  if (const Status allowed = allow_visits(path_, *trace, false); !allowed) return allowed.error();
  if (!keeps_names_) make_names_printable(*trace);
  trace_ = std::move(*trace);
  file_ = file;
  if (now) read_ = *now;
  next_ = Clock::now() + 4 * (Clock::now() - begin);
  return true;
}

Result<bool> LiveTrace::look() {
  Result<bool> fresh = read();
  if (!fresh) return fresh;
  const JobState before = job_;
  // The last flush may come, and the job end, between reading and asking: so read once more after.
  const bool local = !trace_->complete && is_of_this_host(*trace_);
  const bool runs = local && runs_here(*trace_);
  if (local && !runs) {
    const Result<bool> last = read();
    if (!last) return last;
    fresh = *fresh || *last;
  }
  if (trace_->complete)
    job_ = JobState::kComplete;
  else if (!local)
    job_ = JobState::kUnknown;
  else
    job_ = runs ? JobState::kRunning : JobState::kEnded;
  const bool changed = *fresh || job_ != before;
  if (changed) ++version_;
  return changed;
}

std::chrono::seconds LiveTrace::age() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(
      now - std::chrono::nanoseconds(read_.changed_ns));
  return std::max(age, std::chrono::seconds(0));
}

}  // namespace chameleon::tools
