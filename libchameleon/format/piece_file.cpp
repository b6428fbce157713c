// SPDX-License-Identifier: BSD-3-Clause
#include "format/piece_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/attempt.h"
#include "base/hash.h"
#include "base/new_file.h"
#include "format/codec.h"
#include "format/file.h"

namespace chameleon::format {

using commit::File;
using commit::system_error;

Result<std::unique_ptr<PieceFile>> PieceFile::create(const std::string& path) {
  OpenFile made = create_nameless(path);
  if (made.fd() < 0) return system_error(path, "cannot create the file");
  File file(std::move(made));
  return std::unique_ptr<PieceFile>(new PieceFile(std::move(file), path));
}

Result<PieceFile::Extent> PieceFile::append(const Trace& piece) {
  const Bytes bytes = commit::frame(commit::kWhole, encode_trace(piece), commit::kQuick);
  const std::lock_guard held(mutex_);
  const auto gap = std::find_if(gaps_.begin(), gaps_.end(),
                                [&](const auto& one) { return one.second >= bytes.size(); });
  const Extent where{gap == gaps_.end() ? size_ : gap->first, bytes.size()};
  if (::lseek(file_.fd(), static_cast<off_t>(where.offset), SEEK_SET) < 0 || !file_.write(bytes)) {
    const Error error = system_error(path_, "cannot write");
    gap == gaps_.end() ? cut(size_) : punch(where);
    return error;
  }
  if (gap == gaps_.end()) {
    size_ += bytes.size();
  } else {
    auto rest = gaps_.extract(gap);
    rest.key() += bytes.size();
    rest.mapped() -= bytes.size();
    if (rest.mapped() != 0) gaps_.insert(std::move(rest));
  }
  return where;
}

Result<Bytes> PieceFile::stored(const Extent& where) const {
  Bytes bytes(where.bytes);
  for (std::size_t have = 0; have < bytes.size();) {
    const ssize_t got = ::pread(file_.fd(), bytes.data() + have, bytes.size() - have,
                                static_cast<off_t>(where.offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return system_error(path_, "cannot read");
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<Trace> PieceFile::read(const Extent& where) const {
  const Result<Bytes> piece = stored(where);
  if (!piece) return piece.error();
  Bytes bytes = commit::header();
  bytes.insert(bytes.end(), piece->begin(), piece->end());
  return parse_trace(bytes, path_, nullptr, UINT64_MAX);  // it is our own
}

Result<Bytes> PieceFile::read_delta(const Extent& where) const {
  Result<Bytes> bytes = stored(where);
  if (!bytes) return bytes;
  if (!commit::is_intact(*bytes))
    return Error{ErrorKind::kCorrupt, path_ + ": a piece is damaged", where.offset};
  commit::set_mark(*bytes, commit::kDelta);
  return bytes;
}

/// The gap that comes of one more and of those that it touches.
PieceFile::Gaps::iterator PieceFile::gap_with(Extent where) {
  auto next = gaps_.lower_bound(where.offset);
  if (next != gaps_.end() && next->first == where.offset + where.bytes) {
    where.bytes += next->second;
    next = gaps_.erase(next);
  }
  if (next == gaps_.begin()) return gaps_.emplace(where.offset, where.bytes).first;
  const auto before = std::prev(next);
  if (before->first + before->second != where.offset)
    return gaps_.emplace(where.offset, where.bytes).first;
  before->second += where.bytes;
  return before;
}

void PieceFile::cut(std::uint64_t size) {
  if (::ftruncate(file_.fd(), static_cast<off_t>(size)) == 0) size_ = size;
}

/// Some file systems cannot: the room is written anew all the same.
void PieceFile::punch(const Extent& where) const {
  [[maybe_unused]] const int done =
      ::fallocate(file_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(where.offset), static_cast<off_t>(where.bytes));
}

void PieceFile::release(const Extent& where) noexcept {
  if (keeps_all_) return;
  const std::lock_guard held(mutex_);
  attempt([&] {  // without memory the gap is not known
    const auto gap = gap_with(where);
    const Extent all{gap->first, gap->second};
    if (all.offset + all.bytes != size_) return punch(all);
    cut(all.offset);
    if (size_ == all.offset) gaps_.erase(gap);
  });
}

std::uint64_t PieceFile::bytes() const {
  const std::lock_guard held(mutex_);
  return size_;
}

}  // namespace chameleon::format
