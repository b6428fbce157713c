// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A file of pieces of a trace for which a process has no memory, for as long as the process lives:
/// it has no name, so nothing is left of it however the process ends. Pieces are commits of the
/// trace file's format (commit.h), compressed, some 20 to 100 bytes a node. The room of a piece
/// that is released goes back to the disk where the file system can punch holes; later pieces are
/// written there first, and the file ends behind its last piece. So it takes about what its pieces
/// do. Memory: that of one encoded piece, and 64 bytes for each gap between pieces. Threads may
/// release and append at once.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "format/commit.h"
#include "model/trace.h"

namespace chameleon::format {

class PieceFile {
 public:
  struct Extent {
    std::uint64_t offset = 0, bytes = 0;
  };

  /// Creates the file in the folder of `path`, without a name. Error: kSystem.
  static Result<std::unique_ptr<PieceFile>> create(const std::string& path);

  /// Stores a piece. If that fails, the file is as before.
  Result<Extent> append(const Trace& piece);
  Result<Trace> read(const Extent& where) const;
  /// The same as a delta of a trace file.
  Result<Bytes> read_delta(const Extent& where) const;
  /// Gives the room of a piece back, which is not read any more.
  void release(const Extent& where) noexcept;
  /// Nothing is given back any more: in a copy of the process that has the file.
  void keep_all() { keeps_all_ = true; }

  /// Up to the end of the last piece.
  std::uint64_t bytes() const;

 private:
  using Gaps = std::map<std::uint64_t, std::uint64_t>;

  PieceFile(commit::File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Result<Bytes> stored(const Extent& where) const;
  Gaps::iterator gap_with(Extent where);
  void cut(std::uint64_t size);
  void punch(const Extent& where) const;

  commit::File file_;
  std::string path_;          ///< for messages
  mutable std::mutex mutex_;  ///< for what follows, and to write
  std::uint64_t size_ = 0;
  bool keeps_all_ = false;
  Gaps gaps_;  ///< bytes without a piece, by offset
};

}  // namespace chameleon::format
