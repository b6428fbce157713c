// SPDX-License-Identifier: BSD-3-Clause
#include "trace/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/hash.h"

namespace chameleon {
namespace {

// header: magic (8), major u16, minor u16, reserved u32
// commit: mark (4), flags u32, stored size u64, plain size u64, checksum of the
//         stored bytes u64, checksum of the 32 bytes before it u64; then the bytes
constexpr char kMagic[8] = {'\x89', 'C', 'H', 'A', 'M', '\r', '\n', '\x1a'};
constexpr char kMark[4] = {'C', 'M', 'T', '1'};
constexpr std::size_t kHeaderSize = 16;
constexpr std::size_t kCommitSize = 40;
constexpr std::uint32_t kCompressed = 1;
constexpr std::uint64_t kMostPlainBytes = 1ULL << 34;
constexpr std::uint64_t kMostExpansion = 1U << 12;  ///< plain bytes a stored byte may become

template <class T>
T load(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string reason(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

  bool write(std::span<const std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return true;
  }

 private:
  int fd_;
};

Bytes header() {
  Bytes bytes(kHeaderSize, 0);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  std::memcpy(bytes.data() + 8, &kFormatMajor, 2);
  std::memcpy(bytes.data() + 10, &kFormatMinor, 2);
  return bytes;
}

Bytes commit(const Trace& trace) {
  const Bytes plain = encode_trace(trace);
  Bytes stored(ZSTD_compressBound(plain.size()));
  const std::size_t size = ZSTD_compress(stored.data(), stored.size(), plain.data(), plain.size(), 9);
  std::uint32_t flags = kCompressed;
  if (ZSTD_isError(size) != 0 || size >= plain.size()) {
    stored = plain;
    flags = 0;
  } else {
    stored.resize(size);
  }
  Bytes bytes(kCommitSize);
  const std::uint64_t stored_size = stored.size();
  const std::uint64_t plain_size = plain.size();
  const std::uint64_t checksum = hash_bytes(stored.data(), stored.size());
  std::memcpy(bytes.data(), kMark, 4);
  std::memcpy(bytes.data() + 4, &flags, 4);
  std::memcpy(bytes.data() + 8, &stored_size, 8);
  std::memcpy(bytes.data() + 16, &plain_size, 8);
  std::memcpy(bytes.data() + 24, &checksum, 8);
  const std::uint64_t own = hash_bytes(bytes.data(), 32);
  std::memcpy(bytes.data() + 32, &own, 8);
  bytes.insert(bytes.end(), stored.begin(), stored.end());
  return bytes;
}

Error at(ErrorKind kind, const std::string& name, const std::string& what, std::uint64_t offset) {
  return {kind, name + ": " + what + " (at byte " + std::to_string(offset) + ")", offset};
}

Result<Bytes> inflate(std::span<const std::uint8_t> stored, std::uint64_t plain_size, bool packed,
                      const std::string& name, std::uint64_t offset) {
  if (!packed) {
    if (stored.size() != plain_size)
      return at(ErrorKind::kCorrupt, name, "corrupt trace: a commit's sizes disagree", offset);
    return Bytes(stored.begin(), stored.end());
  }
  if (plain_size > kMostPlainBytes || plain_size / kMostExpansion > stored.size())
    return at(ErrorKind::kCorrupt, name, "corrupt trace: a commit claims an impossible size", offset);
  Bytes plain(plain_size);
  const std::size_t size =
      ZSTD_decompress(plain.data(), plain.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != plain_size)
    return at(ErrorKind::kCorrupt, name, "corrupt trace: a commit does not decompress", offset);
  return plain;
}

}  // namespace

Result<Trace> parse_trace(std::span<const std::uint8_t> bytes, const std::string& name,
                          FileFacts* facts) {
  FileFacts mine;
  FileFacts& file = facts != nullptr ? *facts : mine;
  file = FileFacts{};
  file.bytes = bytes.size();
  if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return at(ErrorKind::kNotATrace, name,
              "not a Chameleon trace: give the .cham file that a traced run wrote", 0);
  if (bytes.size() < kHeaderSize)
    return at(ErrorKind::kTruncated, name, "truncated trace: it ends inside its header",
              bytes.size());
  file.major = load<std::uint16_t>(bytes.data() + 8);
  file.minor = load<std::uint16_t>(bytes.data() + 10);
  if (file.major != kFormatMajor)
    return at(ErrorKind::kUnsupportedVersion, name,
              "format version " + std::to_string(file.major) + "." + std::to_string(file.minor) +
                  " is not readable here (" + std::to_string(kFormatMajor) +
                  ".x is): use the chameleon that wrote it, or a newer one",
              8);

  std::uint64_t offset = kHeaderSize;
  std::optional<Error> stopped;
  std::span<const std::uint8_t> last;
  std::uint64_t last_offset = 0;
  std::uint64_t last_plain = 0;
  bool last_packed = false;
  while (offset < bytes.size()) {
    const std::uint8_t* head = bytes.data() + offset;
    if (bytes.size() - offset < kCommitSize) {
      stopped = at(ErrorKind::kTruncated, name, "truncated trace: it ends inside a commit", offset);
      break;
    }
    if (std::memcmp(head, kMark, 4) != 0 ||
        load<std::uint64_t>(head + 32) != hash_bytes(head, 32)) {
      stopped = at(ErrorKind::kCorrupt, name, "corrupt trace: a commit's header is damaged", offset);
      break;
    }
    const auto size = load<std::uint64_t>(head + 8);
    if (size > bytes.size() - offset - kCommitSize) {
      stopped = at(ErrorKind::kTruncated, name, "truncated trace: it ends inside a commit", offset);
      break;
    }
    const auto body = bytes.subspan(offset + kCommitSize, size);
    if (load<std::uint64_t>(head + 24) != hash_bytes(body.data(), body.size())) {
      stopped = at(ErrorKind::kCorrupt, name, "corrupt trace: a commit's checksum differs", offset);
      break;
    }
    last = body;
    last_offset = offset;
    last_plain = load<std::uint64_t>(head + 16);
    last_packed = (load<std::uint32_t>(head + 4) & kCompressed) != 0;
    ++file.commits;
    offset += kCommitSize + size;
  }
  file.ignored = bytes.size() - offset;
  if (file.commits == 0) {
    if (stopped) return *stopped;
    return at(ErrorKind::kTruncated, name, "truncated trace: it holds no commit", offset);
  }
  auto plain = inflate(last, last_plain, last_packed, name, last_offset);
  if (!plain) return plain.error();
  auto trace = decode_trace(*plain);
  if (!trace)
    return at(ErrorKind::kCorrupt, name, "corrupt trace: " + trace.error().message, last_offset);
  return trace;
}

Result<Trace> read_trace(const std::string& path, FileFacts* facts) {
  const File file(path, O_RDONLY);
  struct stat status {};
  if (file.fd() < 0 || ::fstat(file.fd(), &status) != 0)
    return Error{ErrorKind::kSystem, reason((path + ": cannot read the trace").c_str()), 0};
  if (!S_ISREG(status.st_mode))
    return Error{ErrorKind::kSystem, path + ": not a file: give the .cham file of a run", 0};
  Bytes bytes(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.fd(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{ErrorKind::kSystem, reason((path + ": cannot read").c_str()), have};
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return parse_trace(bytes, path, facts);
}

Status create_trace_file(const std::string& path, const Trace& trace) {
  const File file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (file.fd() < 0)
    return Error{ErrorKind::kSystem, reason((path + ": cannot create the trace").c_str()), 0};
  Bytes bytes = header();
  const Bytes first = commit(trace);
  bytes.insert(bytes.end(), first.begin(), first.end());
  if (file.write(bytes) && ::fsync(file.fd()) == 0) return Unit{};
  const Error error{ErrorKind::kSystem, reason((path + ": cannot write the trace").c_str()), 0};
  ::unlink(path.c_str());
  return error;
}

Status append_commit(const std::string& path, const Trace& trace) {
  const File file(path, O_WRONLY | O_APPEND);
  if (file.fd() < 0)
    return Error{ErrorKind::kSystem, reason((path + ": cannot open the trace").c_str()), 0};
  const off_t before = ::lseek(file.fd(), 0, SEEK_END);
  if (file.write(commit(trace)) && ::fsync(file.fd()) == 0) return Unit{};
  const Error error{ErrorKind::kSystem, reason((path + ": cannot write the trace").c_str()), 0};
  if (before >= 0 && ::ftruncate(file.fd(), before) != 0) errno = 0;  // the reader skips the rest
  return error;
}

Status replace_trace_file(const std::string& path, const Trace& trace) {
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());
  const Status written = create_trace_file(fresh, trace);
  if (!written) return written;
  if (::rename(fresh.c_str(), path.c_str()) == 0) return Unit{};
  const Error error{ErrorKind::kSystem, reason((path + ": cannot replace the trace").c_str()), 0};
  ::unlink(fresh.c_str());
  return error;
}

}  // namespace chameleon
