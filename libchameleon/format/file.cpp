// SPDX-License-Identifier: BSD-3-Clause
#include "format/file.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/foreign_file.h"
#include "base/hash.h"
#include "base/read_budget.h"
#include "compress/append.h"
#include "compress/pieces.h"
#include "format/codec.h"
#include "format/commit.h"
#include "format/join_cost.h"
#include "format/payload.h"

namespace chameleon::format {
namespace {

constexpr std::uint64_t kMostPlainBytes = 1ULL << 34;
constexpr std::uint64_t kMostExpansion = 1U << 12;  ///< plain bytes a stored byte may become

/// A commit of the journal, intact as far as checksums tell.
struct Commit {
  std::span<const std::uint8_t> stored;
  std::uint64_t offset = 0;
  std::uint64_t plain_size = 0;
  bool packed = false;
  std::uint64_t times = 1;  ///< a delta's repeats included
};

template <class T>
T load(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

Error at(ErrorKind kind, const std::string& name, const std::string& what, std::uint64_t offset) {
  return {kind, name + ": " + what + " (at byte " + std::to_string(offset) + ")", offset};
}

Result<Bytes> inflate(const Commit& from, const std::string& name) {
  const auto corrupt = [&](const std::string& what) {
    return at(ErrorKind::kCorrupt, name, "corrupt trace: a commit " + what, from.offset);
  };
  if (from.packed &&
      (from.plain_size > kMostPlainBytes || from.plain_size / kMostExpansion > from.stored.size()))
    return corrupt("claims an impossible size");
  Result<Bytes> plain = commit::known_sections(from.stored, from.packed, from.plain_size);
  if (!plain) return corrupt(plain.error().message);
  return plain;
}

/// What the file and its commits, decompressed, are together must not be more than the caller
/// allows. Adds the commits to `all`.
Status within(std::uint64_t most, const std::vector<Commit>& journal, std::uint64_t& all,
              const std::string& name) {
  for (const Commit& one : journal) all += std::min(one.plain_size, kMostPlainBytes);
  if (all <= most) return Unit{};
  return Error{ErrorKind::kRefused,
               name + ": too large: the file and what its commits are when decompressed are " +
                   std::to_string(all) + " bytes, above the limit of " + std::to_string(most),
               0};
}

Result<Trace> decode(const Commit& from, const std::string& name) {
  const auto plain = inflate(from, name);
  if (!plain) return plain.error();
  auto trace = decode_trace(*plain);
  if (!trace)
    return at(ErrorKind::kCorrupt, name, "corrupt trace: " + trace.error().message, from.offset);
  return trace;
}

/// Whether it has events of ranks that the job does not have, or of threads that these do not have.
bool has_strays(const RankList& streams, std::uint64_t world_size, std::uint64_t threads) {
  return world_size != 0 && !streams.empty() &&
         streams.runs().back().last() >= world_size * std::max<std::uint64_t>(threads, 1);
}

/// Why `delta` cannot be of the same run as `trace`, or null.
const char* mismatch(const Trace& trace, const Trace& delta) {
  if (delta.world_size != trace.world_size && delta.world_size != 0 && trace.world_size != 0)
    return "a delta is of another number of ranks";
  for (const auto& [id, call] : delta.calls) {
    const auto known = trace.calls.find(id);
    if (known != trace.calls.end() && !(known->second == call))
      return "a delta describes a call differently";
  }
  if (!fits(trace.carried, delta.carried)) return "a delta has other kinds of facts";
  if (has_strays(delta.ranks, std::max(trace.world_size, delta.world_size),
                 std::max(trace.threads, delta.threads)))
    return "a delta has events of ranks that are not in the run";
  std::size_t ranks = trace.facts.size();
  for (const auto& [rank, fact] : delta.facts) ranks += trace.facts.contains(rank) ? 0 : 1;
  const std::uint64_t streams = std::uint64_t{std::max(trace.world_size, delta.world_size)} *
                                std::max(trace.threads, delta.threads);
  if (ranks > std::max<std::uint64_t>(trace.ranks.size(), streams))
    return "a delta has facts of ranks that are not in the run";
  return nullptr;
}

/// Memory of repeats: taken as if each stayed what it is, until that is much; then as it is, for
/// most repeats become iterations of a loop. O(nodes) where it looks, which is a few times.
class Growth {
 public:
  Growth(ReadBudget& budget, const std::vector<Node>& nodes)
      : budget_(budget), nodes_(nodes), much_(budget.left() / kLooks) {}

  void take(std::uint64_t bytes) {
    if (taken_ == 0) before_ = compress::memory_bytes(nodes_);
    if (bytes > budget_.left() && taken_ - grown_ > much_) look();
    ReadBudget::take(bytes);
    taken_ += bytes;
  }

 private:
  static constexpr std::uint64_t kLooks = 16;

  void look() {
    const std::uint64_t now = compress::memory_bytes(nodes_);
    const std::uint64_t grown = now - std::min(now, before_);
    if (grown < taken_) budget_.give_back(taken_ - grown);
    grown_ = taken_ = std::min(grown, taken_);
  }

  ReadBudget& budget_;
  const std::vector<Node>& nodes_;
  const std::uint64_t much_;
  std::uint64_t before_ = 0;             ///< bytes of the nodes before the first repeat
  std::uint64_t taken_ = 0, grown_ = 0;  ///< since; of those, what was there when it looked last
};

/// The journal from the last whole trace on, read.
Result<Trace> join(const std::vector<Commit>& journal, const std::string& name, FileFacts& file,
                   ReadBudget& budget) {
  Result<Trace> trace = decode(journal.front(), name);
  if (!trace) return trace;
  if (has_strays(trace->ranks, trace->world_size, trace->threads))
    return at(ErrorKind::kCorrupt, name,
              "corrupt trace: it has events of ranks that are not in the run",
              journal.front().offset);
  constexpr const char* kTooLong = "its deltas would take too long to join";
  std::uint64_t repeats = 0;
  std::uint64_t repeated_bytes = 0;
  std::uint64_t repeated_nodes = 0;
  JoinCost cost(*trace);
  Growth growth(budget, trace->nodes);
  for (std::size_t i = 1; i < journal.size(); ++i) {
    const Commit& from = journal[i];
    const auto corrupt = [&](const char* what) {
      return at(ErrorKind::kCorrupt, name, std::string("corrupt trace: ") + what, from.offset);
    };
    // Times is bounded where it is summed up, so that this cannot overflow.
    repeats += from.times - 1;
    repeated_bytes += (from.times - 1) * std::min(from.plain_size, kMostPlainBytes);
    if (repeats > commit::kMostRepeats || repeated_bytes > commit::kMostRepeatedBytes)
      return corrupt("a delta is repeated too often");
    Result<Trace> delta = decode(from, name);
    if (!delta) return delta;
    if (const char* what = mismatch(*trace, *delta); what != nullptr) return corrupt(what);
    // The writer's traces may be a little larger before they are written.
    if (cost.add(*delta, from.times, from.times - 1) > 2 * JoinCost::kMost)
      return corrupt(kTooLong);
    const std::size_t held = from.times > 1 ? compress::memory_bytes(delta->nodes) : 0;
    for (std::uint64_t n = 1; n < from.times; ++n) {
      const std::size_t before = trace->nodes.size();
      growth.take(held);
      if (cost.compared(append(*trace, *delta)) > 2 * JoinCost::kMost) return corrupt(kTooLong);
      if (trace->nodes.size() > before) repeated_nodes += trace->nodes.size() - before;
      if (repeated_nodes > 2 * commit::kMostRepeatedNodes)
        return corrupt("a delta is repeated that does not fold");
    }
    if (cost.compared(append(*trace, std::move(*delta))) > 2 * JoinCost::kMost)
      return corrupt(kTooLong);
    file.deltas += from.times;
  }
  return trace;
}

/// Finds the commits from the last whole trace on; what stops it, if not the end.
std::optional<Error> scan(std::span<const std::uint8_t> bytes, const std::string& name,
                          std::vector<Commit>& journal, FileFacts& file) {
  std::uint64_t offset = commit::kHeaderSize;
  std::optional<Error> stopped;
  const auto stop = [&](ErrorKind kind, const char* what) {
    stopped = at(kind, name, what, offset);
  };
  while (offset < bytes.size() && !stopped) {
    const std::uint8_t* head = bytes.data() + offset;
    if (bytes.size() - offset < commit::kFrameSize) {
      stop(ErrorKind::kTruncated, "truncated trace: it ends inside a commit");
      break;
    }
    if (load<std::uint64_t>(head + 32) != hash_bytes(head, 32)) {
      stop(ErrorKind::kCorrupt, "corrupt trace: a commit's header is damaged");
      break;
    }
    const auto is = [&](const char* mark) { return std::memcmp(head, mark, 4) == 0; };
    const auto flags = load<std::uint32_t>(head + 4);
    const auto size = load<std::uint64_t>(head + 8);
    if (size > bytes.size() - offset - commit::kFrameSize) {
      stop(ErrorKind::kTruncated, "truncated trace: it ends inside a commit");
      break;
    }
    const auto body = bytes.subspan(offset + commit::kFrameSize, size);
    if (load<std::uint64_t>(head + 24) != hash_bytes(body.data(), body.size())) {
      stop(ErrorKind::kCorrupt, "corrupt trace: a commit's checksum differs");
      break;
    }
    const Commit found{body, offset, load<std::uint64_t>(head + 16),
                       (flags & commit::kCompressed) != 0, 1};
    if ((flags & ~commit::kCompressed) != 0 ||
        (!is(commit::kWhole) && !is(commit::kDelta) && !is(commit::kRepeat))) {
      stop(ErrorKind::kUnsupportedVersion,
           "a commit of a kind that is not readable here: use a newer chameleon");
    } else if (is(commit::kWhole)) {
      journal.assign(1, found);
    } else if (journal.size() < (is(commit::kDelta) ? 1U : 2U)) {
      stop(ErrorKind::kCorrupt, "corrupt trace: a delta without what it is appended to");
    } else if (is(commit::kDelta)) {
      journal.push_back(found);
    } else if (size != 0 || flags != 0 || found.plain_size == 0 ||
               found.plain_size > commit::kMostRepeats ||
               journal.back().times > commit::kMostRepeats) {
      stop(ErrorKind::kCorrupt, "corrupt trace: a delta is repeated too often");
    } else {
      journal.back().times += found.plain_size;
    }
    if (stopped) break;
    ++file.commits;
    offset += commit::kFrameSize + size;
  }
  file.ignored = bytes.size() - offset;
  if (!stopped && journal.empty())
    stop(ErrorKind::kTruncated, "truncated trace: it holds no commit");
  return stopped;
}

}  // namespace

Result<Trace> parse_trace(std::span<const std::uint8_t> bytes, const std::string& name,
                          FileFacts* facts, std::uint64_t most_bytes) {
  FileFacts mine;
  FileFacts& file = facts != nullptr ? *facts : mine;
  file = FileFacts{};
  file.bytes = bytes.size();
  if (bytes.size() < sizeof commit::kMagic ||
      std::memcmp(bytes.data(), commit::kMagic, sizeof commit::kMagic) != 0)
    return at(ErrorKind::kNotATrace, name,
              "not a Chameleon trace: give the .cham file that a traced run wrote", 0);
  if (bytes.size() < commit::kHeaderSize)
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

  std::vector<Commit> journal;
  const std::optional<Error> stopped = scan(bytes, name, journal, file);
  // Damage ends the journal; what is intact but not understood must not be left out.
  if (stopped && (journal.empty() || stopped->kind == ErrorKind::kUnsupportedVersion))
    return *stopped;
  std::uint64_t held = bytes.size();
  if (const Status fits = within(most_bytes, journal, held, name); !fits) return fits.error();
  try {
    ReadBudget budget(most_bytes - held);
    return join(journal, name, file, budget);
  } catch (const ReadBudget::Spent&) {
    return Error{ErrorKind::kRefused,
                 name + ": too large: what it says takes more memory than the limit of " +
                     std::to_string(most_bytes) + " bytes",
                 0};
  }
}

Result<Trace> read_trace(const std::string& path, FileFacts* facts, std::uint64_t most_bytes) {
  const Result<OpenFile> file = open_foreign(path);
  if (!file) return file.error();
  const Result<std::string> bytes = read_foreign(*file, path, most_bytes);
  if (!bytes) return bytes.error();
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes->data());
  return parse_trace(std::span(data, bytes->size()), path, facts, most_bytes);
}

}  // namespace chameleon::format
