// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Shared by reader and writer of trace files: the header, the frame around a commit, and a file
/// descriptor. For file.cpp and trace_writer.cpp only.

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/foreign_file.h"
#include "base/own_descriptor.h"
#include "base/result.h"

struct ZSTD_CCtx_s;

namespace chameleon::format::commit {

// header: magic (8), major u16, minor u16, reserved u32
// commit: mark (4), flags u32, stored size u64, plain size u64, checksum of the
//         stored bytes u64, checksum of the 32 bytes before it u64; then the bytes
inline constexpr char kMagic[8] = {'\x89', 'C', 'H', 'A', 'M', '\r', '\n', '\x1a'};
inline constexpr std::size_t kHeaderSize = 16;
inline constexpr std::size_t kFrameSize = 40;
inline constexpr std::uint32_t kCompressed = 1;

inline constexpr char kWhole[] = "CMT1";  ///< a trace that stands for itself
inline constexpr char kDelta[] = "DLT1";  ///< a trace to append to what is before
inline constexpr char kRepeat[] =
    "RPT1";  ///< the delta before, as often again as the plain size says

/// Repeats after one whole commit, and the plain bytes they stand for, keep to
/// this: reading takes a bounded time whatever a file claims.
inline constexpr std::uint64_t kMostRepeats = 4096;
inline constexpr std::uint64_t kMostRepeatedBytes = 8U << 20;
/// Repeats fold into loops. So many top-level nodes may be added by them where they do
/// not; a reader takes twice as many, for it may fold a little differently.
inline constexpr std::uint64_t kMostRepeatedNodes = 2048;

Bytes header();
/// Levels of zstd: ranks may wait while rank 0 writes during the run.
inline constexpr int kQuickest = 1, kQuick = 3, kSmall = 9;
/// With more bytes the quickest level is enough if it does not halve them. They are irregular, as
/// the blocks of datatypes often are, and a higher level takes up to ten times as long for a fifth.
inline constexpr std::size_t kMostIrregular = std::size_t{128} << 10;
/// More bytes are compressed quickly in any case: level 9 would take 24 MiB of memory for them.
inline constexpr std::size_t kMostSmall = std::size_t{4} << 20;
/// A commit of an encoded trace, compressed if that makes it smaller: in `context`, or, without
/// one, in one of its own; behind the bytes that come `before` it.
Bytes frame(const char* mark, std::span<const std::uint8_t> plain, int level = kSmall,
            ZSTD_CCtx_s* context = nullptr, Bytes before = {});
/// From now on nothing is compressed: in a copy of a process that crashed, zstd would wait for the
/// lock of malloc for ever.
void never_compress();
/// Whether this is one commit, as it was written.
bool is_intact(std::span<const std::uint8_t> frame);
/// Makes a commit one of another kind.
void set_mark(Bytes& frame, const char* mark);
/// `count` more of the delta before.
Bytes repeat_frame(std::uint64_t count);

inline std::string reason(const std::string& what) { return what + ": " + std::strerror(errno); }
inline Error system_error(const std::string& path, const char* what) {
  return {ErrorKind::kSystem, reason(path + ": " + what), 0};
}

/// An open file, closed at the end.
class File {
 public:
  File() = default;
  explicit File(OpenFile file) : own_(file.take()) {}

  /// -1 also if the program that is traced has closed it.
  int fd() const { return own_.get(); }
  bool write(std::span<const std::uint8_t> bytes) const;

 private:
  OwnDescriptor own_;
};

}  // namespace chameleon::format::commit
