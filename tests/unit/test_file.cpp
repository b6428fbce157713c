// SPDX-License-Identifier: BSD-3-Clause
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "compress/append.h"
#include "format/codec.h"
#include "format/commit.h"
#include "format/file.h"
#include "format/piece_file.h"
#include "property/streams.h"
#include "temporary_file.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::compress;
using namespace chameleon::format;
using namespace chameleon::world;
using namespace chameleon::testing;
using namespace std::chrono_literals;

namespace {

Bytes contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

/// What one rank does in flush `n`: a loop, and something of its own if `own`.
Stream flushed(int n, bool own) {
  Stream stream;
  for (int i = 0; i < 10; ++i) {
    stream.push_back({1, 1, {0, i, 0}});
    stream.push_back({2, 2, {0, own ? n : 7, 0}});
  }
  return stream;
}

/// A file that grows, and what should be in it.
struct Growing {
  TemporaryFile file;
  Trace online;
  Stream events;
  TraceWriter writer;

  explicit Growing(std::chrono::milliseconds sync_every = 10s)
      : online(fold_stream({}, 0, 1)), writer(make(sync_every)) {}

  TraceWriter make(std::chrono::milliseconds sync_every) {
    auto made = TraceWriter::create(file.path, online, sync_every);
    REQUIRE(made);
    return std::move(*made);
  }

  Status step(const Stream& stream, std::uint64_t run_ns = 0) {
    Trace partial = fold_stream(stream, 0, 1);
    partial.facts[0].run_ns = run_ns;
    events.insert(events.end(), stream.begin(), stream.end());
    append(online, partial);
    return writer.append(partial, online);
  }

  bool is_in_file() const {
    const auto read = read_trace(file.path);
    return read && expand(*read, 0) == events;
  }
};

/// Changes a commit's header (40 bytes at `at`) and makes its checksum right.
void patch(Bytes& bytes, std::size_t at, std::size_t offset, std::uint8_t value) {
  bytes[at + offset] = value;
  const std::uint64_t own = hash_bytes(bytes.data() + at, 32);
  std::memcpy(bytes.data() + at + 32, &own, 8);
}

}  // namespace

TEST_CASE("a trace file is never written over an earlier one", "[file]") {
  const TemporaryFile file;
  Trace first;
  first.program = "first";
  Trace second;
  second.program = "second";
  REQUIRE(create_trace_file(file.path, first));
  CHECK_FALSE(create_trace_file(file.path, second));
  CHECK_FALSE(TraceWriter::create(file.path, second));
  CHECK(errno == EEXIST);
  CHECK(read_trace(file.path)->program == "first");
  REQUIRE(replace_trace_file(file.path, second));
  CHECK(read_trace(file.path)->program == "second");
}

TEST_CASE("no file is left where memory runs out while it is written", "[file]") {
  const TemporaryFile file;
  const auto next = []() -> Bytes { throw std::bad_alloc(); };
  CHECK_THROWS_AS(replace_trace_file(file.path, Trace(), next, Trace()), std::bad_alloc);
  CHECK_FALSE(std::filesystem::exists(file.path));
  CHECK_FALSE(std::filesystem::exists(file.path + ".new"));
}

TEST_CASE("only what the quickest compression halves is compressed any better", "[file]") {
  std::mt19937 random(1);
  const auto sizes = [](const Bytes& plain) {
    return std::pair(commit::frame(commit::kWhole, plain, commit::kQuickest).size(),
                     commit::frame(commit::kWhole, plain, commit::kSmall).size());
  };
  Bytes irregular, words;
  while (irregular.size() < 300'000) irregular.push_back(random() % 40);
  while (words.size() < 300'000)
    for (std::uint32_t word = random() % 500, i = 0; i < 30; ++i)
      words.push_back(static_cast<std::uint8_t>(word * (i + 3) >> (i % 8)));
  const auto [quickest, same] = sizes(irregular);
  CHECK(quickest == same);
  const auto [halved, smaller] = sizes(words);
  CHECK(smaller != halved);
  CHECK(halved < words.size() / 2);
  irregular.resize(100'000);
  const auto [first, second] = sizes(irregular);
  CHECK(first != second);
}

TEST_CASE("a file cut at any byte reads as its last intact state", "[file]") {
  Growing growing;
  std::vector<std::pair<std::size_t, std::size_t>> states{{growing.writer.bytes(), 0}};
  for (int n = 0; n < 9; ++n) {
    const bool own = n % 3 == 0;
    REQUIRE(growing.step(flushed(n, own)));
    states.emplace_back(growing.writer.bytes(), growing.events.size());
  }
  const Bytes whole = contents(growing.file.path);
  REQUIRE(whole.size() == states.back().first);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    FileFacts facts;
    const auto read = parse_trace(std::span(whole).first(size), "cut", &facts);
    INFO(size);
    if (size < states.front().first) {
      REQUIRE_FALSE(read);
      REQUIRE(read.error().kind == (size < 8 ? ErrorKind::kNotATrace : ErrorKind::kTruncated));
      continue;
    }
    std::size_t last = 0;
    while (last + 1 < states.size() && states[last + 1].first <= size) ++last;
    REQUIRE(read);
    REQUIRE(facts.commits == last + 1);
    REQUIRE(facts.deltas == last);
    REQUIRE(facts.ignored == size - states[last].first);
    Stream expected = growing.events;
    expected.resize(states[last].second);
    REQUIRE(same(expand(*read, 0), expected));
  }
}

TEST_CASE("a damaged delta ends the journal", "[file]") {
  Growing growing;
  REQUIRE(growing.step(flushed(0, true)));
  const std::size_t second = growing.writer.bytes();
  REQUIRE(growing.step(flushed(1, true)));
  Bytes bytes = contents(growing.file.path);
  bytes[second + 60] ^= 1;
  FileFacts facts;
  const auto read = parse_trace(bytes, "damaged", &facts);
  REQUIRE(read);
  CHECK(facts.deltas == 1);
  CHECK(expand(*read, 0).size() == 20);
}

TEST_CASE("a delta equal to the one before costs forty bytes", "[file]") {
  Growing growing;
  REQUIRE(growing.step(flushed(0, false)));
  const std::uint64_t one = growing.writer.bytes();
  for (int n = 1; n < 500; ++n) REQUIRE(growing.step(flushed(n, false)));
  CHECK(growing.writer.bytes() == one + std::uint64_t{499} * 40);
  FileFacts facts;
  REQUIRE(read_trace(growing.file.path, &facts));
  CHECK(facts.deltas == 500);
  CHECK(facts.commits == 501);
  CHECK(growing.is_in_file());
}

TEST_CASE("ten thousand flushes stay within twice the compact size and 64 KiB", "[file]") {
  const bool equal = GENERATE(true, false);
  Growing growing;
  std::uint64_t largest = 0;
  std::uint64_t delta = 0;
  for (int n = 0; n < 10000; ++n) {
    const std::uint64_t before = growing.writer.bytes();
    // Run times always differ in practice; what is called does not.
    REQUIRE(growing.step(flushed(n, false), equal ? 5 : static_cast<std::uint64_t>(n) * 1000003));
    largest = std::max(largest, growing.writer.bytes());
    if (n == 0) delta = growing.writer.bytes() - before;
  }
  CHECK(growing.is_in_file());
  CHECK(std::filesystem::file_size(growing.file.path) == growing.writer.bytes());
  const TemporaryFile other;
  REQUIRE(create_trace_file(other.path, growing.online));
  const std::uint64_t compact = std::filesystem::file_size(other.path);
  WARN((equal ? "equal" : "different")
       << " deltas of " << delta << " bytes: at most " << largest << " bytes, "
       << growing.writer.bytes_written() << " written, compact " << compact);
  CHECK(largest <= 2 * compact + (64U << 10) + delta);
  CHECK(growing.writer.bytes_written() <= 2 * 10000 * (equal ? 40 : delta + 20));
}

TEST_CASE("finishing leaves one whole trace", "[file]") {
  Growing growing;
  for (int n = 0; n < 20; ++n) REQUIRE(growing.step(flushed(n, true)));
  growing.online.complete = true;
  REQUIRE(growing.writer.finish(growing.online));
  FileFacts facts;
  const auto read = read_trace(growing.file.path, &facts);
  REQUIRE(read);
  CHECK(read->complete);
  CHECK(facts.commits == 1);
  CHECK(growing.is_in_file());
  REQUIRE(growing.step(flushed(21, true)));  // and it may go on
  CHECK(growing.is_in_file());
}

TEST_CASE("a full disk leaves the last good state and is reported once", "[file]") {
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  Growing growing(1s);
  REQUIRE(growing.step(flushed(0, true)));
  const Stream good = growing.events;
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const rlimit full{growing.writer.bytes() + 50, limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &full) == 0);
  const Status first = growing.step(flushed(1, true));
  const Status second = growing.step(flushed(2, true));
  const auto size = std::filesystem::file_size(growing.file.path);
  const auto read = read_trace(growing.file.path);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK_FALSE(first);
  CHECK(first.error().kind == ErrorKind::kSystem);
  CHECK(second);
  CHECK(size == growing.writer.bytes());
  CHECK_FALSE(std::filesystem::exists(growing.file.path + ".new"));
  REQUIRE(read);
  CHECK(same(expand(*read, 0), good));
  std::this_thread::sleep_for(1s);
  REQUIRE(growing.step(flushed(3, true)));  // there is room again: all of it is written
  CHECK(growing.is_in_file());
}

TEST_CASE("commits that are intact but not understood are refused", "[file]") {
  Growing growing;
  const std::size_t first = growing.writer.bytes();
  REQUIRE(growing.step(flushed(0, false)));
  const std::size_t second = growing.writer.bytes();
  REQUIRE(growing.step(flushed(0, false)));
  const Bytes bytes = contents(growing.file.path);
  REQUIRE(parse_trace(bytes, "as written"));

  Bytes flags = bytes;
  patch(flags, first, 4, 3);
  CHECK(parse_trace(flags, "flags").error().kind == ErrorKind::kUnsupportedVersion);
  Bytes mark = bytes;
  patch(mark, first, 0, 'X');
  CHECK(parse_trace(mark, "mark").error().kind == ErrorKind::kUnsupportedVersion);
  Bytes often = bytes;
  patch(often, second, 17, 0xff);
  FileFacts facts;
  CHECK(parse_trace(often, "often", &facts));
  CHECK(facts.deltas == 1);  // a count beyond all that is written is damage
  Bytes major = bytes;
  major[8] = 2;
  CHECK(parse_trace(major, "major").error().kind == ErrorKind::kUnsupportedVersion);
  Bytes old = bytes;
  old[10] = 0;
  old.resize(first);
  CHECK(parse_trace(old, "version 1.0"));
}

TEST_CASE("a delta of another run is refused", "[file]") {
  Growing growing;
  Trace partial = fold_stream(flushed(0, false), 0, 1);
  SECTION("another number of ranks") { partial.world_size = 2; }
  SECTION("other calls") { partial.calls[1].fields.pop_back(); }
  REQUIRE(growing.writer.append(partial, growing.online));
  const auto read = read_trace(growing.file.path);
  REQUIRE_FALSE(read);
  CHECK(read.error().kind == ErrorKind::kCorrupt);
}

TEST_CASE("a file whose trace is let go of has it all", "[file]") {
  Growing growing;
  std::uint64_t random = 7;
  const auto noise = [&](int calls) {
    Stream stream;
    for (int i = 0; i < calls; ++i) stream.push_back({1, random = mix(random), {0, i, 0}});
    return stream;
  };
  const auto let_go = [&] {
    REQUIRE(growing.writer.let_go(growing.online));
    growing.online = fold_stream({}, 0, 1);
  };
  REQUIRE(growing.step(noise(500)));
  let_go();
  const std::uint64_t kept = growing.writer.bytes();
  for (int i = 0; i < 40; ++i) REQUIRE(growing.step(noise(200)));  // written anew at times
  CHECK(growing.writer.bytes_written() > growing.writer.bytes() + kept);
  CHECK(growing.is_in_file());
  let_go();
  for (int i = 0; i < 5; ++i) REQUIRE(growing.step(noise(10)));
  CHECK(growing.is_in_file());
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const rlimit full{growing.writer.bytes() + 100, limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &full) == 0);
  CHECK_FALSE(growing.step(noise(100)));
  CHECK_FALSE(growing.writer.let_go(growing.online));  // it would be lost
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  Trace last = fold_stream({}, 0, 1);
  last.complete = true;
  append(growing.online, last);
  REQUIRE(growing.writer.append(last, growing.online));
  CHECK(growing.is_in_file());
  CHECK(read_trace(growing.file.path)->complete);
}

TEST_CASE("the last part of a file may have packed facts of ranks", "[file]") {
  const bool full = GENERATE(false, true);
  CAPTURE(full);
  Growing growing;
  const auto step = [&](int n) {
    const Stream stream = flushed(n, true);
    const Trace partial = fold_stream(stream, 0, 1);
    growing.events.insert(growing.events.end(), stream.begin(), stream.end());
    append(growing.online, partial);
    return growing.writer.append(partial, growing.online);
  };
  REQUIRE(step(0));
  REQUIRE(growing.writer.let_go(growing.online));
  growing.online = fold_stream({}, 0, 1);
  if (full) {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
    const rlimit small{growing.writer.bytes() + 10, limit.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_FALSE(step(1));
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  FactsOfRanks facts;
  facts[0].run_ns = 5;
  facts[0].events = growing.events.size();
  Trace last = fold_stream({}, 0, 1);
  last.complete = true;
  append(growing.online, last);
  REQUIRE(growing.writer.append(last, growing.online, PackedFacts(facts)));
  CHECK(growing.is_in_file());
  const auto read = read_trace(growing.file.path);
  REQUIRE(read);
  CHECK(read->complete);
  CHECK(read->facts == facts);
}

TEST_CASE("repeats in what a file keeps count on", "[file]") {
  Growing growing;
  const auto repeat = [&](int steps) {
    for (int n = 0; n < steps; ++n) REQUIRE(growing.step(flushed(0, false)));
  };
  FileFacts facts;
  for (int kept = 1; kept <= 2; ++kept) {
    repeat(1500);
    REQUIRE(growing.writer.let_go(growing.online));
    growing.online = fold_stream({}, 0, 1);
    REQUIRE(read_trace(growing.file.path, &facts));
    REQUIRE(facts.commits == 1 + 1500 * static_cast<std::uint64_t>(kept));  // none was joined
  }
  const std::uint64_t kept = growing.writer.bytes();
  std::uint64_t random = 7, before = 0;
  do {
    before = growing.writer.bytes_written();
    Stream noise;
    for (int i = 0; i < 300; ++i) noise.push_back({1, random = mix(random), {0, i, 0}});
    REQUIRE(growing.step(noise));
  } while (growing.writer.bytes_written() < before + kept);  // until the file is written anew
  repeat(1500);
  CHECK(growing.is_in_file());
  REQUIRE(read_trace(growing.file.path, &facts));
  CHECK(facts.deltas > 4500);
}

TEST_CASE("pieces are read again, and become deltas", "[file]") {
  const TemporaryFile file, trace;
  auto pieces = PieceFile::create(file.path);
  REQUIRE(pieces);
  CHECK(::access(file.path.c_str(), F_OK) != 0);
  std::vector<PieceFile::Extent> places;
  Stream all;
  for (int n = 0; n < 3; ++n) {
    const Stream stream = flushed(n, true);
    const auto where = (*pieces)->append(fold_stream(stream, 0, 1));
    REQUIRE(where);
    places.push_back(*where);
    all.insert(all.end(), stream.begin(), stream.end());
  }
  for (int n = 2; n >= 0; --n)
    CHECK(expand(*(*pieces)->read(places[static_cast<std::size_t>(n)]), 0) == flushed(n, true));
  std::size_t next = 0;
  const auto deltas = [&] {
    return next < places.size() ? *(*pieces)->read_delta(places[next++]) : Bytes();
  };
  const Stream last = flushed(5, true);
  REQUIRE(replace_trace_file(trace.path, fold_stream({}, 0, 1), deltas, fold_stream(last, 0, 1)));
  all.insert(all.end(), last.begin(), last.end());
  CHECK(expand(*read_trace(trace.path), 0) == all);
  PieceFile::Extent other = places.front();  // as where something else was written
  other.bytes -= 1;
  CHECK_FALSE((*pieces)->read(other));
  CHECK_FALSE((*pieces)->read_delta(other));
  for (const PieceFile::Extent& where : places) (*pieces)->release(where);
  CHECK((*pieces)->bytes() == 0);
  CHECK_FALSE((*pieces)->read(places.front()));
}

namespace {

/// What a file without a name in the folder of `path` takes of the disk: bytes, and up to its end.
std::pair<std::uint64_t, std::uint64_t> room_of(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    struct stat file {};
    const std::string link = std::filesystem::read_symlink(one, gone).string();
    if (link.starts_with(folder) && link.ends_with(" (deleted)") &&
        ::stat(one.path().c_str(), &file) == 0)
      return {512 * static_cast<std::uint64_t>(file.st_blocks),
              static_cast<std::uint64_t>(file.st_size)};
  }
  FAIL("the file is not open");
  return {};
}

}  // namespace

TEST_CASE("a file of pieces takes no more than those that are left", "[file]") {
  const TemporaryFile file;
  auto created = PieceFile::create(file.path);
  REQUIRE(created);
  PieceFile& pieces = **created;
  std::uint64_t random = 11;
  struct Kept {
    Stream stream;
    PieceFile::Extent where;
  };
  std::vector<Kept> live;
  std::uint64_t largest = 0, most = 0;
  const auto give_back = [&](std::size_t i) {
    pieces.release(live[i].where);
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (int n = 0; n < 300; ++n) {
    Stream stream;
    const std::uint64_t calls = 300 + random % 600;
    for (std::uint64_t i = 0; i < calls; ++i)
      stream.push_back({1, random = mix(random), {0, 8, static_cast<std::int64_t>(i)}});
    const auto where = pieces.append(fold_stream(stream, 0, 1));
    REQUIRE(where);
    live.push_back({std::move(stream), *where});
    largest = std::max(largest, where->bytes);
    // As with deferred votes: the next interval has pieces before the former is dropped. Not always
    // the oldest is.
    if (live.size() == 6) give_back(0), give_back(random % 3), give_back(0);
    const auto [disk, end] = room_of(file.path);
    CHECK(end == pieces.bytes());
    most = std::max({most, disk, end});
  }
  CHECK(most < 12 * largest);
  for (const Kept& one : live) CHECK(expand(*pieces.read(one.where), 0) == one.stream);
  while (live.size() > 1) give_back(0);
  CHECK(room_of(file.path).first <= live.front().where.bytes + 2 * 4096);
  give_back(0);
  CHECK(room_of(file.path) == std::pair<std::uint64_t, std::uint64_t>{});
}
