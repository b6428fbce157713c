// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A trace file that a job may still be writing. `look` reads the file again when it has changed.
/// The last good trace stays when the file disappears, is replaced, or cannot be read for a moment.
/// Whether the job still runs is known on the host of rank 0, whose process the trace names. Cost
/// of a look: two system calls; a new flush costs reading the whole trace.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "format/file.h"

namespace chameleon::tools {

enum class JobState : std::uint8_t {
  kRunning,
  kComplete,  ///< it reached MPI_Finalize
  kEnded,     ///< incomplete, and the process of rank 0 is gone
  kUnknown,   ///< incomplete, and rank 0 was on another host
};

class LiveTrace {
 public:
  /// Names in the trace are made printable, unless what shows them has quotes of its own.
  explicit LiveTrace(std::string path, bool keeps_names = false)
      : path_(std::move(path)), keeps_names_(keeps_names) {}

  /// True if there is something new: a flush, or another state of the job. Error: no trace could be
  /// read yet.
  Result<bool> look();

  const std::string& path() const { return path_; }
  const Trace& trace() const { return *trace_; }
  const FileFacts& file() const { return file_; }
  JobState job() const { return job_; }
  bool over() const { return job_ == JobState::kComplete || job_ == JobState::kEnded; }
  /// Counts what was new.
  std::uint64_t version() const { return version_; }
  /// Since the last flush.
  std::chrono::seconds age() const;
  /// The next look should not come before, so that reading takes a fifth of the time at most.
  std::chrono::steady_clock::time_point next() const { return next_; }

 private:
  /// The properties in which two states of a file differ.
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t bytes = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };

  Result<bool> read();
  std::optional<Stamp> stamp() const;

  std::string path_;
  bool keeps_names_;
  std::optional<Trace> trace_;
  FileFacts file_;
  Stamp read_;
  JobState job_ = JobState::kUnknown;
  std::uint64_t version_ = 0;
  std::chrono::steady_clock::time_point next_;
};

/// `running`, `complete`, `ended` or `unknown`, for JSON.
const char* job_state_name(JobState state);

}  // namespace chameleon::tools
