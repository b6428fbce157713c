// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "base/size_limit.h"
#include "format/codec.h"
#include "format/commit.h"
#include "format/file.h"
#include "format/join_cost.h"

namespace chameleon::format {
namespace commit {

File::File(const std::string& path, int flags)
    : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

bool File::write(std::span<const std::uint8_t> bytes) const {
  const NoSizeSignal guard;
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

Bytes header() {
  Bytes bytes(kHeaderSize, 0);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  std::memcpy(bytes.data() + 8, &kFormatMajor, 2);
  std::memcpy(bytes.data() + 10, &kFormatMinor, 2);
  return bytes;
}

namespace {

Bytes framed(const char* mark, std::uint32_t flags, std::uint64_t plain_size,
             std::span<const std::uint8_t> stored) {
  Bytes bytes(kFrameSize);
  const std::uint64_t stored_size = stored.size();
  const std::uint64_t checksum = hash_bytes(stored.data(), stored.size());
  std::memcpy(bytes.data(), mark, 4);
  std::memcpy(bytes.data() + 4, &flags, 4);
  std::memcpy(bytes.data() + 8, &stored_size, 8);
  std::memcpy(bytes.data() + 16, &plain_size, 8);
  std::memcpy(bytes.data() + 24, &checksum, 8);
  const std::uint64_t own = hash_bytes(bytes.data(), 32);
  std::memcpy(bytes.data() + 32, &own, 8);
  bytes.insert(bytes.end(), stored.begin(), stored.end());
  return bytes;
}

}  // namespace

Bytes frame(const char* mark, std::span<const std::uint8_t> plain, int level,
            ZSTD_CCtx_s* context) {
  Bytes packed(ZSTD_compressBound(plain.size()));
  const std::size_t size =
      context == nullptr
          ? ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), level)
          : ZSTD_compressCCtx(context, packed.data(), packed.size(), plain.data(), plain.size(),
                              level);
  if (ZSTD_isError(size) != 0 || size >= plain.size()) return framed(mark, 0, plain.size(), plain);
  return framed(mark, kCompressed, plain.size(), std::span(packed).first(size));
}

Bytes repeat_frame(std::uint64_t count) { return framed(kRepeat, 0, count, {}); }

}  // namespace commit

using commit::File;
using commit::system_error;

namespace {

constexpr std::uint64_t kLeastCompaction = 64U << 10;
/// A larger context of zstd is not kept for the next delta.
constexpr std::size_t kMostContext = std::size_t{1} << 20;

Bytes whole_file(const Trace& trace) {
  Bytes bytes = commit::header();
  const Bytes first = commit::frame(commit::kWhole, encode_trace(trace),
                                    trace.complete ? commit::kSmall : commit::kQuick);
  bytes.insert(bytes.end(), first.begin(), first.end());
  return bytes;
}

/// A new file, on disk; a failed one is removed.
Result<File> create_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  File file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (file.fd() < 0) return system_error(path, "cannot create the trace");
  if (file.write(bytes) && ::fsync(file.fd()) == 0) return file;
  const Error error = system_error(path, "cannot write the trace");
  ::unlink(path.c_str());
  return error;
}

/// The folder's entry too: else a crash may bring the old file back, or none.
void sync_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const File folder(slash == std::string::npos ? "." : path.substr(0, slash + 1),
                    O_RDONLY | O_DIRECTORY);
  if (folder.fd() >= 0) ::fsync(folder.fd());
}

Result<File> replace_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());
  Result<File> file = create_file(fresh, bytes);
  if (!file) return file;
  if (::rename(fresh.c_str(), path.c_str()) == 0) {
    sync_folder(path);
    return file;
  }
  const Error error = system_error(path, "cannot replace the trace");
  ::unlink(fresh.c_str());
  return error;
}

}  // namespace

Status create_trace_file(const std::string& path, const Trace& trace) {
  const Result<File> file = create_file(path, whole_file(trace));
  if (!file) return file.error();
  return Unit{};
}

Status replace_trace_file(const std::string& path, const Trace& trace) {
  const Result<File> file = replace_file(path, whole_file(trace));
  if (!file) return file.error();
  return Unit{};
}

struct TraceWriter::State {
  using Clock = std::chrono::steady_clock;
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  std::string path;
  File file;
  std::chrono::milliseconds sync_every;
  Clock::time_point synced = Clock::now();
  Clock::time_point tried{};     ///< last failure
  std::uint64_t size = 0;        ///< up to the end of the last good commit
  std::uint64_t whole_size = 0;  ///< of that, up to the end of the whole trace
  std::uint64_t compact_at = 0;  ///< bytes of deltas at which a rewrite is due
  std::uint64_t written = 0;
  std::uint64_t repeats = 0;  ///< since the whole trace
  std::uint64_t repeated_bytes = 0;
  std::uint64_t repeated_nodes = 0;
  JoinCost cost;          ///< of the deltas since the whole trace
  std::size_t nodes = 0;  ///< of the online trace after the last commit
  Bytes last;             ///< the last delta, plain
  Bytes last_words;       ///< a commit for when there is no memory
  bool behind = false;    ///< something is missing in the file
  /// For deltas: the pages of a new one for each would take longer than the compression.
  std::unique_ptr<ZSTD_CCtx, Free> context{ZSTD_createCCtx()};

  void start(File opened, std::uint64_t bytes) {
    file = std::move(opened);
    size = whole_size = bytes;
    compact_at = std::max(kLeastCompaction, bytes);
    written += bytes;
    repeats = repeated_bytes = repeated_nodes = 0;
    last.clear();
    behind = false;
    synced = Clock::now();
    tried = {};
  }

  Status rewrite(const Trace& whole) {
    const Bytes bytes = whole_file(whole);
    Result<File> fresh = replace_file(path, bytes);
    if (!fresh) {
      tried = Clock::now();
      return fresh.error();
    }
    start(std::move(*fresh), bytes.size());
    cost = JoinCost(whole);
    return Unit{};
  }

  /// The file lacks something: only a whole trace mends it. The failure was told.
  Status mend(const Trace& online) {
    if (Clock::now() - tried >= sync_every || online.complete) static_cast<void>(rewrite(online));
    return Unit{};
  }

  Status fail(const char* what) {
    const Error error = system_error(path, what);
    behind = true;
    tried = Clock::now();
    if (::ftruncate(file.fd(), static_cast<off_t>(size)) == 0)
      ::lseek(file.fd(), static_cast<off_t>(size), SEEK_SET);  // else the reader skips the rest
    return error;
  }

  bool may_repeat(const Bytes& plain, std::size_t grown) const {
    return !last.empty() && plain == last && repeats < commit::kMostRepeats &&
           repeated_bytes + plain.size() <= commit::kMostRepeatedBytes &&
           repeated_nodes + grown <= commit::kMostRepeatedNodes;
  }

  Status add(const Trace& partial, const Trace& online) {
    if (behind) return mend(online);
    Bytes plain = encode_trace(partial);
    const std::size_t grown = online.nodes.size() - std::min(nodes, online.nodes.size());
    nodes = online.nodes.size();
    const bool repeat = may_repeat(plain, grown);
    // A delta that equals the last but may not be repeated any more: start over.
    const bool spent =
        !repeat && !last.empty() && plain == last && Clock::now() - tried >= sync_every;
    const bool costly = cost.add(partial) > JoinCost::kMost;
    const Bytes next = repeat ? commit::repeat_frame(1)
                              : commit::frame(commit::kDelta, plain, commit::kQuick, context.get());
    if (context && ZSTD_sizeof_CCtx(context.get()) > kMostContext) context.reset();
    if (spent || costly || size - whole_size + next.size() > compact_at) {
      if (rewrite(online)) return Unit{};
      compact_at = 2 * std::max(compact_at, size - whole_size);  // no room for two files
    }
    if (!file.write(next)) return fail("cannot write the trace");
    size += next.size();
    written += next.size();
    if (repeat) {
      ++repeats;
      repeated_bytes += plain.size();
      repeated_nodes += grown;
    } else {
      last = std::move(plain);
    }
    if (partial.complete || Clock::now() - synced >= sync_every) {
      if (::fsync(file.fd()) != 0) return fail("cannot sync the trace");
      synced = Clock::now();
    }
    return Unit{};
  }
};

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::create(const std::string& path, const Trace& first,
                                        std::chrono::milliseconds sync_every) {
  const Bytes bytes = whole_file(first);
  Result<File> file = create_file(path, bytes);
  if (!file) return file.error();
  auto state = std::make_unique<State>();
  state->path = path;
  state->sync_every = sync_every;
  state->start(std::move(*file), bytes.size());
  state->cost = JoinCost(first);
  return TraceWriter(std::move(state));
}

Status TraceWriter::append(const Trace& partial, const Trace& online) {
  try {
    return state_->add(partial, online);
  } catch (...) {
    state_->behind = true;
    throw;
  }
}

void TraceWriter::keep_last_words(const Trace& delta) {
  state_->last_words = commit::frame(commit::kDelta, encode_trace(delta), commit::kQuick);
}

void TraceWriter::say_last_words() noexcept {
  Bytes& words = state_->last_words;
  if (!words.empty() && state_->file.write(words)) ::fsync(state_->file.fd());
  words.clear();
}

Status TraceWriter::finish(const Trace& whole) { return state_->rewrite(whole); }

const std::string& TraceWriter::path() const { return state_->path; }
std::uint64_t TraceWriter::bytes() const { return state_->size; }
std::uint64_t TraceWriter::bytes_written() const { return state_->written; }

}  // namespace chameleon::format
