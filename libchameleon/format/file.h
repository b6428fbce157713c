// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The trace file: a header and a journal of commits, each checksummed: a whole
/// trace, a delta to append to what is before it (append.h), or one more of the
/// delta before. The last whole trace and what follows it count, so a cut or
/// failed write leaves the state before it readable. Format:
/// docs/reference/format.md. Readers treat a file as hostile: what it
/// becomes when decompressed is bounded by the caller.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/read_limit.h"
#include "base/result.h"
#include "format/packed_facts.h"
#include "model/trace.h"

namespace chameleon::format {

inline constexpr std::uint16_t kFormatMajor = 1;
inline constexpr std::uint16_t kFormatMinor = 12;

/// The properties of a file, in addition to the trace in it.
struct FileFacts {
  std::uint64_t bytes = 0;
  std::uint64_t commits = 0;  ///< intact ones, of any kind
  std::uint64_t deltas = 0;   ///< joined to the last whole trace, repeats counted
  std::uint64_t ignored = 0;  ///< bytes after the last intact commit (a cut write)
  std::uint16_t major = 0, minor = 0;
};

/// Reads the last state. Errors: kSystem (missing, unreadable), kNotATrace,
/// kTruncated, kUnsupportedVersion, kCorrupt, kRefused (the file and its commits when decompressed
/// are more than `most_bytes` together); the message names the path.
Result<Trace> read_trace(const std::string& path, FileFacts* facts = nullptr,
                         std::uint64_t most_bytes = default_read_limit());
/// The same on bytes in memory (`name` is for messages).
Result<Trace> parse_trace(std::span<const std::uint8_t> bytes, const std::string& name,
                          FileFacts* facts = nullptr,
                          std::uint64_t most_bytes = default_read_limit());

/// Creates `path` with one whole trace, durably; fails if it exists.
Status create_trace_file(const std::string& path, const Trace& trace);
/// Writes a new file beside `path`, syncs, and renames over it.
Status replace_trace_file(const std::string& path, const Trace& trace);
/// The same of a trace that is longer than memory: `first`, then commits of deltas as `next_delta`
/// gives them, until it gives nothing, then `last` as another delta.
Status replace_trace_file(const std::string& path, const Trace& first,
                          const std::function<Bytes()>& next_delta, const Trace& last);
/// Such a commit.
Bytes delta_commit(const Trace& delta);

/// Keeps a file equal to a trace that grows. A step costs its delta, or 40 bytes if it
/// equals the one before; when the deltas outgrow what they are appended to (and 64 KiB) the
/// file is written anew beside and renamed over. A trace that is longer than memory is let go of
/// part by part: rewriting then copies these parts, and is no more than their joined deltas. So the
/// file stays within twice its compact size and 64 KiB, and all writing within a small multiple of
/// the deltas. It is synced at most every `sync_every`, and always when complete. A failure (a full
/// disk) leaves the last good state, is reported once, and is repaired by a new file as soon as
/// that succeeds.
class TraceWriter {
 public:
  /// Creates `path` with `first`, durably; fails if it exists (errno EEXIST).
  static Result<TraceWriter> create(
      const std::string& path, const Trace& first,
      std::chrono::milliseconds sync_every = std::chrono::seconds(10));
  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  ~TraceWriter();

  /// Writes what came next: `online` is all of it, after append(online, partial).
  Status append(const Trace& partial, const Trace& online);
  /// The same in two steps, between which `partial` can be moved to `online`. `compared`: the
  /// groups of values that `append` compared for it.
  void stage(const Trace& partial);
  Status write(const Trace& online, std::uint64_t compared = 0);
  /// The same with these facts of ranks in `partial`, which has none, and neither has `online`.
  Status append(const Trace& partial, const Trace& online, const PackedFacts& of_ranks);
  /// Replaces the file's content by `whole`, durably. If it fails, the last good
  /// state stays. Not after `let_go`.
  Status finish(const Trace& whole);
  /// The same with these facts of ranks in place of those in the trace.
  Status finish(const Trace& whole, const PackedFacts& of_ranks);

  /// For a trace that is longer than memory: what was written stays in the file as it is, and the
  /// `online` of all that follows is only what comes from here on. False, and nothing changes, if
  /// the file lacks something, or would take too long to read.
  bool let_go(const Trace& online);

  /// Puts a commit aside for when there is no memory to make one.
  void keep_last_words(const Trace& delta);
  /// Appends the prepared commit, once, and syncs. No allocation; failures are not reported.
  void say_last_words() noexcept;

  const std::string& path() const;
  std::uint64_t bytes() const;          ///< size of the file
  std::uint64_t bytes_written() const;  ///< in all, rewriting included

 private:
  struct State;
  template <class F>
  auto guarded(F f);
  explicit TraceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace chameleon::format
