// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The trace file: a header and a journal of commits, each whole in itself and
/// checksummed; the last whole one counts, so a cut or failed write leaves the
/// commit before it readable. Format: docs/reference/format.md. Readers treat
/// a file as hostile: memory stays within a small multiple of its size.

#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/trace.h"

namespace chameleon {

inline constexpr std::uint16_t kFormatMajor = 1;
inline constexpr std::uint16_t kFormatMinor = 0;

/// What a file is, beside the trace in it.
struct FileFacts {
  std::uint64_t bytes = 0;
  std::uint64_t commits = 0;     ///< whole ones
  std::uint64_t ignored = 0;     ///< bytes after the last whole commit (a cut write)
  std::uint16_t major = 0, minor = 0;
};

/// Reads the last whole commit. Errors: kSystem (missing, unreadable),
/// kNotATrace, kTruncated, kUnsupportedVersion, kCorrupt; the message names the path.
Result<Trace> read_trace(const std::string& path, FileFacts* facts = nullptr);
/// The same on bytes in memory (`name` is for messages).
Result<Trace> parse_trace(std::span<const std::uint8_t> bytes, const std::string& name,
                          FileFacts* facts = nullptr);

/// Creates `path` with one commit; fails if it exists.
Status create_trace_file(const std::string& path, const Trace& trace);
/// Appends a commit, durably (fsync).
Status append_commit(const std::string& path, const Trace& trace);
/// Writes header and commit to a new file beside `path`, syncs, and renames over it.
Status replace_trace_file(const std::string& path, const Trace& trace);

/// A trace as bytes between ranks: one commit's payload, uncompressed.
Bytes encode_trace(const Trace& trace);
Result<Trace> decode_trace(std::span<const std::uint8_t> bytes);

}  // namespace chameleon
