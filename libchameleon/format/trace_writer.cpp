// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/hash.h"
#include "base/new_file.h"
#include "base/size_limit.h"
#include "format/codec.h"
#include "format/commit.h"
#include "format/file.h"
#include "format/join_cost.h"

namespace chameleon::format {
namespace commit {

bool File::write(std::span<const std::uint8_t> bytes) const {
  const NoSizeSignal guard;
  const int file = fd();
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
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

/// Writes the frame of `stored` into the `kFrameSize` bytes before it.
void fill_frame(const char* mark, std::uint32_t flags, std::uint64_t plain_size,
                std::span<std::uint8_t> framed) {
  std::uint8_t* const at = framed.data();
  const std::span<const std::uint8_t> stored = framed.subspan(kFrameSize);
  const std::uint64_t stored_size = stored.size();
  const std::uint64_t checksum = hash_bytes(stored.data(), stored.size());
  std::memcpy(at, mark, 4);
  std::memcpy(at + 4, &flags, 4);
  std::memcpy(at + 8, &stored_size, 8);
  std::memcpy(at + 16, &plain_size, 8);
  std::memcpy(at + 24, &checksum, 8);
  const std::uint64_t own = hash_bytes(at, 32);
  std::memcpy(at + 32, &own, 8);
}

constinit bool g_compresses = true;

}  // namespace

void never_compress() { g_compresses = false; }

Bytes frame(const char* mark, std::span<const std::uint8_t> plain, int level, ZSTD_CCtx_s* context,
            Bytes before) {
  const std::size_t at = before.size(), data = at + kFrameSize;
  Bytes& bytes = before;
  bytes.resize(data + ZSTD_compressBound(plain.size()));
  std::uint8_t* const to = bytes.data() + data;
  const std::size_t room = bytes.size() - data;
  const auto compress = [&](int at_level) {
    return context == nullptr
               ? ZSTD_compress(to, room, plain.data(), plain.size(), at_level)
               : ZSTD_compressCCtx(context, to, room, plain.data(), plain.size(), at_level);
  };
  if (plain.size() > kMostSmall) level = std::min(level, kQuick);
  const bool tried = plain.size() > kMostIrregular;
  std::size_t size = plain.size();
  if (g_compresses && tried) size = compress(kQuickest);
  if (g_compresses && (!tried || size <= plain.size() / 2)) size = compress(level);
  const bool smaller = ZSTD_isError(size) == 0 && size < plain.size();
  if (!smaller) std::memcpy(to, plain.data(), plain.size());
  bytes.resize(data + (smaller ? size : plain.size()));
  fill_frame(mark, smaller ? kCompressed : 0, plain.size(), std::span(bytes).subspan(at));
  return before;
}

bool is_intact(std::span<const std::uint8_t> frame) {
  if (frame.size() < kFrameSize) return false;
  const auto load = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, frame.data() + at, sizeof value);
    return value;
  };
  const auto stored = frame.subspan(kFrameSize);
  return load(32) == hash_bytes(frame.data(), 32) && load(8) == stored.size() &&
         load(24) == hash_bytes(stored.data(), stored.size());
}

void set_mark(Bytes& frame, const char* mark) {
  std::memcpy(frame.data(), mark, 4);
  const std::uint64_t own = hash_bytes(frame.data(), 32);
  std::memcpy(frame.data() + 32, &own, 8);
}

Bytes repeat_frame(std::uint64_t count) {
  Bytes bytes(kFrameSize);
  fill_frame(kRepeat, 0, count, bytes);
  return bytes;
}

}  // namespace commit

using commit::File;
using commit::system_error;

namespace {

constexpr std::uint64_t kLeastCompaction = 64U << 10;
/// A larger context of zstd is not kept for the next delta.
constexpr std::size_t kMostContext = std::size_t{1} << 20;

Bytes whole_file(const Trace& trace, const PackedFacts& of_ranks) {
  return commit::frame(commit::kWhole, encode_trace(trace, of_ranks),
                       trace.complete ? commit::kSmall : commit::kQuick, nullptr, commit::header());
}
Bytes whole_file(const Trace& trace) { return whole_file(trace, PackedFacts(trace.facts)); }

/// A file just made, on disk, with what `write(file)` writes; a failed one is removed, also where
/// `write` has no memory.
template <class Write>
Result<File> fill_file(OpenFile made, const std::string& path, Write write) {
  if (made.fd() < 0) return system_error(path, "cannot create the trace");
  File file(std::move(made));
  try {
    if (write(file) && ::fsync(file.fd()) == 0) return file;
    const Error error = system_error(path, "cannot write the trace");
    ::unlink(path.c_str());
    return error;
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
}

template <class Write>
Result<File> create_file(const std::string& path, Write write) {
  return fill_file(create_free(path), path, write);
}

/// The folder's entry too: else a crash may bring the old file back, or none.
void sync_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const OpenFile folder(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.fd() >= 0) ::fsync(folder.fd());
}

template <class Write>
Result<File> replace_file(const std::string& path, Write write) {
  if (const Status may = may_be_replaced(path); !may) return may.error();
  FileBeside made = create_beside(path);
  const std::string& fresh = made.name;
  Result<File> file = fill_file(std::move(made.file), fresh, write);
  if (!file) return file;
  if (::rename(fresh.c_str(), path.c_str()) == 0) {
    sync_folder(path);
    return file;
  }
  const Error error = system_error(path, "cannot replace the trace");
  ::unlink(fresh.c_str());
  return error;
}

auto writes(const Bytes& bytes) {
  return [&](const File& file) { return file.write(bytes); };
}

/// The first bytes of a file, to another one.
bool copy_bytes(const File& from, const File& to, std::uint64_t count) {
  Bytes piece(std::min<std::uint64_t>(count, 1U << 20));
  for (std::uint64_t at = 0; at < count;) {
    const std::size_t wanted = std::min<std::uint64_t>(count - at, piece.size());
    const ssize_t got = ::pread(from.fd(), piece.data(), wanted, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !to.write(std::span(piece).first(static_cast<std::size_t>(got)))) return false;
    at += static_cast<std::uint64_t>(got);
  }
  return true;
}

Status status_of(const Result<File>& file) {
  if (!file) return file.error();
  return Unit{};
}

}  // namespace

Status create_trace_file(const std::string& path, const Trace& trace) {
  return status_of(create_file(path, writes(whole_file(trace))));
}

Status replace_trace_file(const std::string& path, const Trace& trace) {
  return status_of(replace_file(path, writes(whole_file(trace))));
}

Status replace_trace_file(const std::string& path, const Trace& first,
                          const std::function<Bytes()>& next_delta, const Trace& last) {
  return status_of(replace_file(path, [&](const File& file) {
    if (!file.write(whole_file(first))) return false;
    for (Bytes delta = next_delta(); !delta.empty(); delta = next_delta())
      if (!file.write(delta)) return false;
    return file.write(delta_commit(last));
  }));
}

namespace {

Bytes delta_commit(const Trace& delta, const PackedFacts& of_ranks) {
  return commit::frame(commit::kDelta, encode_trace(delta, of_ranks), commit::kQuick);
}

}  // namespace

Bytes delta_commit(const Trace& delta) { return delta_commit(delta, PackedFacts(delta.facts)); }

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
  /// Deltas since the whole trace that are the one before once more.
  struct Repeats {
    std::uint64_t count = 0, bytes = 0, nodes = 0;
  };
  Repeats repeats;
  std::uint64_t kept = 0;  ///< bytes that a rewrite copies: the online trace is what follows them
  JoinCost kept_cost;      ///< of the deltas in them
  Repeats kept_repeats;
  JoinCost cost;          ///< of the deltas since the whole trace
  std::size_t nodes = 0;  ///< of the online trace after the last commit
  Bytes last;             ///< the last delta, plain
  struct {
    Bytes plain;
    bool complete = false, costly = false;
  } staged;             ///< the next delta
  Bytes last_words;     ///< a commit for when there is no memory
  bool behind = false;  ///< something is missing in the file
  /// For deltas: the pages of a new one for each would take longer than the compression.
  std::unique_ptr<ZSTD_CCtx, Free> context{ZSTD_createCCtx()};

  void start(File opened, std::uint64_t bytes) {
    file = std::move(opened);
    size = whole_size = bytes;
    compact_at = std::max(kLeastCompaction, bytes);
    written += bytes;
    repeats = kept_repeats;
    last.clear();
    behind = false;
    synced = Clock::now();
    tried = {};
  }

  Status rewrite(const Trace& online) { return rewrite(online, PackedFacts(online.facts)); }
  Status rewrite(const Trace& online, const PackedFacts& of_ranks) {
    const Bytes bytes = kept == 0 ? whole_file(online, of_ranks) : delta_commit(online, of_ranks);
    Result<File> fresh = replace_file(
        path, [&](const File& to) { return copy_bytes(file, to, kept) && to.write(bytes); });
    if (!fresh) {
      tried = Clock::now();
      return fresh.error();
    }
    start(std::move(*fresh), kept + bytes.size());
    cost = kept == 0 ? JoinCost(online) : kept_cost;
    if (kept != 0) cost.add(online);
    return Unit{};
  }

  /// Half of what a reader may take to join is left for what comes.
  bool let_go(const Trace& online) {
    if (behind) return false;
    const std::uint64_t before = kept_cost.steps();
    if (cost.steps() - std::min(before, cost.steps()) > JoinCost::kMost / 64 && !rewrite(online))
      return false;
    if (cost.steps() > JoinCost::kMost / 2) return false;
    kept = whole_size = size;
    compact_at = std::max(kLeastCompaction, size);
    kept_cost = cost;
    kept_repeats = repeats;
    nodes = 0;
    last.clear();
    return true;
  }

  /// The file lacks something: only a whole trace mends it. The failure was told.
  Status mend(const Trace& online, const PackedFacts& of_ranks) {
    if (online.complete) return rewrite(online, of_ranks);
    if (Clock::now() - tried >= sync_every) static_cast<void>(rewrite(online, of_ranks));
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
    return !last.empty() && plain == last && repeats.count < commit::kMostRepeats &&
           repeats.bytes + plain.size() <= commit::kMostRepeatedBytes &&
           repeats.nodes + grown <= commit::kMostRepeatedNodes;
  }

  void stage(const Trace& partial) { stage(partial, PackedFacts(partial.facts)); }
  void stage(const Trace& partial, const PackedFacts& of_ranks) {
    staged = {};
    if (behind) return;
    staged.plain = encode_trace(partial, of_ranks);
    staged.complete = partial.complete;
    const bool again = !last.empty() && staged.plain == last;
    staged.costly = cost.add(partial, 1, again ? 1 : 0) > JoinCost::kMost;
  }

  /// `of_ranks`: those of what is staged, where neither trace has facts.
  Status add(const Trace& online, std::uint64_t compared, const PackedFacts* of_ranks = nullptr) {
    const auto facts = [&] { return of_ranks ? *of_ranks : PackedFacts(online.facts); };
    if (behind) return mend(online, facts());
    Bytes plain = std::move(staged.plain);
    const std::size_t grown = online.nodes.size() - std::min(nodes, online.nodes.size());
    nodes = online.nodes.size();
    const bool repeat = may_repeat(plain, grown);
    // A delta that equals the last but may not be repeated any more: start over, where that takes
    // all repeats back.
    const bool spent = kept == 0 && !repeat && !last.empty() && plain == last &&
                       Clock::now() - tried >= sync_every;
    const Bytes next = repeat ? commit::repeat_frame(1)
                              : commit::frame(commit::kDelta, plain, commit::kQuick, context.get());
    if (context && ZSTD_sizeof_CCtx(context.get()) > kMostContext) context.reset();
    const bool costly = cost.compared(compared) > JoinCost::kMost || staged.costly;
    if (spent || costly || size - whole_size + next.size() > compact_at) {
      if (rewrite(online, facts())) return Unit{};
      compact_at = 2 * std::max(compact_at, size - whole_size);  // no room for two files
    }
    if (!file.write(next)) return fail("cannot write the trace");
    size += next.size();
    written += next.size();
    if (repeat) {
      ++repeats.count;
      repeats.bytes += plain.size();
      repeats.nodes += grown;
    } else {
      last = std::move(plain);
    }
    if (staged.complete || Clock::now() - synced >= sync_every) {
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
  Result<File> file = create_file(path, writes(bytes));
  if (!file) return file.error();
  auto state = std::make_unique<State>();
  state->path = path;
  state->sync_every = sync_every;
  state->start(std::move(*file), bytes.size());
  state->cost = JoinCost(first);
  return TraceWriter(std::move(state));
}

Status TraceWriter::append(const Trace& partial, const Trace& online) {
  stage(partial);
  return write(online);
}

/// What fails in the middle has to be written anew.
template <class F>
auto TraceWriter::guarded(F f) {
  try {
    return f(*state_);
  } catch (...) {
    state_->behind = true;
    throw;
  }
}

Status TraceWriter::append(const Trace& partial, const Trace& online, const PackedFacts& of_ranks) {
  return guarded([&](State& state) {
    state.stage(partial, of_ranks);
    return state.add(online, 0, &of_ranks);
  });
}

void TraceWriter::stage(const Trace& partial) {
  guarded([&](State& state) { state.stage(partial); });
}

Status TraceWriter::write(const Trace& online, std::uint64_t compared) {
  return guarded([&](State& state) { return state.add(online, compared); });
}

bool TraceWriter::let_go(const Trace& online) { return state_->let_go(online); }

void TraceWriter::keep_last_words(const Trace& delta) {
  state_->last_words = commit::frame(commit::kDelta, encode_trace(delta), commit::kQuick);
}

void TraceWriter::say_last_words() noexcept {
  Bytes& words = state_->last_words;
  if (!words.empty() && state_->file.write(words)) ::fsync(state_->file.fd());
  words.clear();
}

Status TraceWriter::finish(const Trace& whole) { return state_->rewrite(whole); }
Status TraceWriter::finish(const Trace& whole, const PackedFacts& of_ranks) {
  return state_->rewrite(whole, of_ranks);
}

const std::string& TraceWriter::path() const { return state_->path; }
std::uint64_t TraceWriter::bytes() const { return state_->size; }
std::uint64_t TraceWriter::bytes_written() const { return state_->written; }

}  // namespace chameleon::format
