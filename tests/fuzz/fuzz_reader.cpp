// SPDX-License-Identifier: BSD-3-Clause
// fuzz_reader CORPUS SECONDS [SEED]: damages traces and reads them. An eighth of the inputs are
// damaged files for parse_trace, whose checksums refuse nearly all; a quarter are sound files with
// a damaged delta (and repeats of it) after a whole trace, so that joining is tried; the rest are
// damaged payloads for decode_trace, behind the checksums. What is still accepted is read as tools
// do, rank by rank, and must survive writing and reading again. Meant to run with the address and
// undefined behaviour sanitizers; an input that crashes, hangs or takes much memory is kept as
// `crash-input` with the seed printed. `fuzz_reader --once FILE file|payload` runs one again;
// `fuzz_reader --grow FILE NEW` makes a corpus file with deltas from one without.
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/communicators.h"
#include "analysis/stream_times.h"
#include "compress/append.h"
#include "format/codec.h"
#include "format/commit.h"
#include "format/file.h"
#include "model/view.h"
#include "tests/fuzz/guard.h"

extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:hard_rss_limit_mb=2048:detect_leaks=0";
}

namespace chameleon {
using namespace analysis;
using namespace compress;
using namespace format;
namespace {

constexpr std::uint64_t kMostEvents = 2000;

Bytes g_input;
bool g_is_file = false;

void write_input(std::FILE* file) { std::fwrite(g_input.data(), 1, g_input.size(), file); }

[[noreturn]] void broken(const char* what) { fuzz::broken(what, g_is_file ? "file" : "payload"); }

/// Reads a few ranks as a tool would; gives the number of events seen.
std::uint64_t read_ranks(const Trace& trace, std::uint64_t& hash) {
  std::uint64_t events = 0;
  int ranks = 0;
  for (std::uint32_t rank = 0; rank < std::min(trace.world_size, 64U) && ranks < 4; ++rank) {
    auto view = RankView::make(trace, rank);
    if (!view) continue;
    ++ranks;
    EventView event;
    const analysis::StreamTimes times(trace, rank);
    for (std::uint64_t i = 0; i < kMostEvents && view->next(event); ++i, ++events) {
      const auto call = trace.calls.find(event.node->call);
      if (call == trace.calls.end()) broken("an event of an unknown call was accepted");
      if (event.values.size() != call->second.fields.size())
        broken("an event with other fields than its call's was accepted");
      hash = combine(hash, event.node->symbol());
      for (std::size_t j = 0; j < event.values.size(); ++j) {
        hash = combine(hash, static_cast<std::uint64_t>(event.values[j]));
        if (call->second.fields[j].stored == FieldKind::kArray)
          (void)array_of(trace, event.values[j]);
        if (call->second.fields[j].stored == FieldKind::kEndPoint)
          (void)event.end_point(j).rank(0, 4);
      }
      (void)times.means(*event.node, event.predecessor);
    }
  }
  return events;
}

using Said = std::vector<std::pair<std::string, std::int64_t>>;

/// What facts of a newer version say of the first ranks, with their names. A rank of which they
/// say nothing has 0 or an empty text, as it is written.
Said carried(const Trace& trace) {
  Said all;
  for (const CarriedFact& fact : trace.carried) {
    ValueSequence::Cursor cursor(fact.values);
    if (fact.of_run) all.emplace_back(fact.name, cursor.next());
    if (fact.of_run || all.size() > kMostEvents) continue;
    for (const auto& [rank, facts] : trace.facts) {
      const bool has = fact.ranks.contains(rank);
      const std::int64_t number = has ? cursor.next() : 0;
      const bool text = fact.is_text && has;
      all.emplace_back(fact.name + (text ? fact.texts.at(static_cast<std::size_t>(number)) : ""),
                       fact.is_text ? 0 : number);
      if (all.size() > kMostEvents) break;
    }
  }
  std::sort(all.begin(), all.end());  // those of ranks are written first
  return all;
}

struct Count {
  std::uint64_t inputs = 0, accepted = 0, events = 0;
};

void run(Count& count) {
  fuzz::watch(fuzz::kHang);
  ++count.inputs;
  const auto trace = g_is_file ? parse_trace(g_input, "input") : decode_trace(g_input);
  if (!trace) {
    if (trace.error().message.empty()) broken("an error without a message");
    fuzz::watch(0);
    return;
  }
  ++count.accepted;
  std::uint64_t read = 0;
  count.events += read_ranks(*trace, read);
  const Bytes written = encode_trace(*trace);
  const auto again = decode_trace(written);
  if (!again)
    broken(("what was accepted cannot be read after writing it: " + again.error().message).c_str());
  // A damaged sequence may come back in fewer terms; what it says must not change.
  std::uint64_t read_again = 0;
  read_ranks(*again, read_again);
  if (read_again != read) broken("what was accepted says something else after writing it");
  if (again->facts != trace->facts) broken("facts of ranks are others after writing them");
  if (carried(*again) != carried(*trace))
    broken("facts of a newer version are others after writing them");
  fuzz::watch(0);
}

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  void apply(Bytes& bytes, const Bytes& other) {
    for (std::size_t times = 1 + below(8); times > 0; --times) once(bytes, other);
  }

 private:
  void once(Bytes& bytes, const Bytes& other) {
    if (bytes.empty()) return;
    const std::size_t at = below(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(8)) {
      case 0: bytes[at] ^= static_cast<std::uint8_t>(1U << below(8)); break;
      case 1: bytes[at] = static_cast<std::uint8_t>(random_()); break;
      case 2: {
        constexpr std::uint8_t kEdges[] = {0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff};
        bytes[at] = kEdges[below(std::size(kEdges))];
        break;
      }
      case 3: bytes.insert(place, static_cast<std::uint8_t>(random_())); break;
      case 4:
        bytes.erase(place, place + static_cast<std::ptrdiff_t>(
                                       1 + below(std::min<std::size_t>(bytes.size() - at, 16))));
        break;
      case 5: {  // a large number where a small one was
        ByteWriter number;
        number.varint(random_() >> below(64));
        bytes.erase(place);
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), number.bytes().begin(),
                     number.bytes().end());
        break;
      }
      case 6: {  // a piece of another trace
        if (other.empty()) break;
        const std::size_t from = below(other.size());
        const std::size_t size = 1 + below(std::min<std::size_t>(other.size() - from, 64));
        const Bytes piece(other.begin() + static_cast<std::ptrdiff_t>(from),
                          other.begin() + static_cast<std::ptrdiff_t>(from + size));
        bytes.insert(place, piece.begin(), piece.end());
        break;
      }
      default:
        if (below(8) == 0)
          bytes.resize(at);
        else
          std::swap(bytes[at], bytes[below(bytes.size())]);
    }
  }

  std::mt19937_64 random_;
};

Bytes contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

int once(const char* path, bool is_file) {
  g_input = contents(path);
  g_is_file = is_file;
  Count count;
  run(count);
  std::printf("accepted: %d\n", static_cast<int>(count.accepted));
  return 0;
}

/// A file of which all checksums are right: a whole trace, a delta, maybe repeated.
Bytes with_delta(const Bytes& whole, const Bytes& delta, std::uint64_t repeats) {
  Bytes file = commit::header();
  const auto add = [&](const Bytes& bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
  add(commit::frame(commit::kWhole, whole));
  add(commit::frame(commit::kDelta, delta));
  if (repeats != 0) add(commit::repeat_frame(repeats));
  return file;
}

int grow(const char* from, const char* to) {
  auto trace = read_trace(from);
  if (!trace) return 1;
  Trace online = *trace;
  auto writer = TraceWriter::create(to, online);
  if (!writer) return 1;
  for (int i = 0; i < 4; ++i) {
    Trace partial = *trace;
    partial.facts.clear();
    if (i == 3) partial.complete = false;
    append(online, partial);
    if (!writer->append(partial, online)) return 1;
  }
  return 0;
}

/// Of the first commit, as it is in the file: sections of earlier versions are written no more.
Bytes first_payload(const Bytes& file) {
  std::uint64_t stored = 0, plain = 0;
  std::uint32_t flags = 0;
  const std::uint8_t* head = file.data() + commit::kHeaderSize;
  std::memcpy(&flags, head + 4, sizeof flags);
  std::memcpy(&stored, head + 8, sizeof stored);
  std::memcpy(&plain, head + 16, sizeof plain);
  head += commit::kFrameSize;
  if ((flags & commit::kCompressed) == 0) return Bytes(head, head + stored);
  Bytes payload(plain);
  ZSTD_decompress(payload.data(), plain, head, stored);
  return payload;
}

int run_all(const char* folder, double seconds, std::uint64_t seed) {
  std::vector<Bytes> files, payloads;
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".cham") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  Count count;
  for (const auto& path : paths) {
    g_input = contents(path);
    g_is_file = true;
    const auto trace = parse_trace(g_input, path.string());
    if (!trace) {
      std::fprintf(stderr, "fuzz_reader: %s\n", trace.error().message.c_str());
      return 1;
    }
    run(count);
    files.push_back(g_input);
    payloads.push_back(encode_trace(*trace));
    payloads.push_back(first_payload(g_input));
  }
  if (files.empty() || count.events == 0) {
    std::fprintf(stderr, "fuzz_reader: no traces with events in %s\n", folder);
    return 1;
  }
  std::printf("seed %llu, %zu traces\n", static_cast<unsigned long long>(seed), files.size());
  std::fflush(stdout);
  Damage damage(seed);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Count damaged, joined;
  while (elapsed() < seconds) {
    const std::uint64_t before = damaged.accepted;
    const std::size_t kind = damage.below(8);
    g_is_file = kind < 3;
    const std::vector<Bytes>& corpus = kind == 0 ? files : payloads;
    const std::size_t which = damage.below(corpus.size());
    g_input = corpus[which];
    damage.apply(g_input, corpus[damage.below(corpus.size())]);
    if (kind == 1 || kind == 2)
      g_input = with_delta(payloads[which], g_input,
                           damage.below(4) == 0 ? 1 + damage.below(1U << damage.below(13)) : 0);
    run(damaged);
    if (kind == 1 || kind == 2) joined.inputs += 1, joined.accepted += damaged.accepted - before;
  }
  std::printf("%llu inputs, %llu accepted, %llu events read\n",
              static_cast<unsigned long long>(damaged.inputs),
              static_cast<unsigned long long>(damaged.accepted),
              static_cast<unsigned long long>(damaged.events));
  std::printf("%llu of %llu with a damaged delta accepted\n",
              static_cast<unsigned long long>(joined.accepted),
              static_cast<unsigned long long>(joined.inputs));
  // A fuzzer whose every input is refused at the door tests nothing.
  return damaged.accepted > 0 && joined.accepted > 0 ? 0 : 1;
}

}  // namespace
}  // namespace chameleon

int main(int argc, char** argv) {
  chameleon::fuzz::start({"fuzz_reader", "crash-input", chameleon::write_input});
  if (argc == 4 && std::strcmp(argv[1], "--once") == 0)
    return chameleon::once(argv[2], std::strcmp(argv[3], "file") == 0);
  if (argc == 4 && std::strcmp(argv[1], "--grow") == 0) return chameleon::grow(argv[2], argv[3]);
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: fuzz_reader CORPUS SECONDS [SEED]\n");
    return 2;
  }
  const std::uint64_t seed =
      argc == 4 ? std::strtoull(argv[3], nullptr, 10) : std::random_device{}();
  return chameleon::run_all(argv[1], std::atof(argv[2]), seed);
}
