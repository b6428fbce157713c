// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "callpath/engine.h"
#include "callpath/fold_recursion.h"
#include "unit/catch.h"

using chameleon::CallPath;
using chameleon::Frame;
using chameleon::callpath::Engine;

namespace {

/// What an MPI wrapper does.
[[gnu::noinline]] std::uint64_t wrapper(Engine& engine) {
  return engine.capture(__builtin_return_address(0));
}

Engine& started_engine() {
  static Engine engine;
  REQUIRE(Engine::start());
  return engine;
}

CallPath path_of(std::uint64_t signature) {
  CallPath path;
  Engine::for_each_path([&](std::uint64_t key, std::uint64_t, std::span<const Frame> frames) {
    if (key == signature) path.frames.assign(frames.begin(), frames.end());
  });
  return path;
}

/// After a call: keeps it a call, neither a jump nor a loop.
inline void keep_frame() { asm volatile("" ::: "memory"); }

[[gnu::noinline, gnu::noclone]] void recurse(int depth, Engine& engine, std::uint64_t& out) {
  if (depth == 0)
    out = wrapper(engine);
  else
    recurse(depth - 1, engine, out);
  keep_frame();
}

[[gnu::noinline, gnu::noclone]] void ping(int depth, Engine& engine, std::uint64_t& out);
[[gnu::noinline, gnu::noclone]] void pong(int depth, Engine& engine, std::uint64_t& out) {
  ping(depth - 1, engine, out);
  keep_frame();
}
void ping(int depth, Engine& engine, std::uint64_t& out) {
  if (depth == 0)
    out = wrapper(engine);
  else
    pong(depth, engine, out);
  keep_frame();
}

std::vector<Frame> folded(const std::string& functions) {
  std::vector<Frame> frames;
  for (const char c : functions) frames.push_back({1, static_cast<std::uint64_t>(c)});
  chameleon::callpath::fold_recursion(frames);
  return frames;
}

std::vector<Frame> plain(const std::string& functions) {
  std::vector<Frame> frames;
  for (const char c : functions) frames.push_back({1, static_cast<std::uint64_t>(c)});
  return frames;
}

struct Capture {
  Engine* engine;
  std::uint64_t signature;
};

[[gnu::noinline]] void capture_callback(void* argument) {
  auto* capture = static_cast<Capture*>(argument);
  capture->signature = wrapper(*capture->engine);
}

std::set<std::uint64_t> callbacks_seen;

/// Order for `qsort`, which takes no other argument.
[[gnu::noinline]] int capture_and_compare(const void* a, const void* b) {
  callbacks_seen.insert(wrapper(started_engine()));
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

/// Signature of a capture called back from the library `file`, just loaded.
std::uint64_t through_plugin(const char* file, Engine& engine, void** where = nullptr) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto* call =
      reinterpret_cast<void (*)(void (*)(void*), void*)>(dlsym(library, "callpath_plugin_call"));
  REQUIRE(call != nullptr);
  if (where != nullptr) *where = reinterpret_cast<void*>(call);
  Capture capture{&engine, 0};
  call(capture_callback, &capture);
  dlclose(library);
  return capture.signature;
}

/// Output of a new process of this program that runs one hidden test.
std::string run_self(const char* test) {
  char self[4096];
  const auto size = readlink("/proc/self/exe", self, sizeof self - 1);
  REQUIRE(size > 0);
  self[size] = '\0';
  FILE* pipe = popen((std::string("'") + self + "' '" + test + "'").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  char line[512];
  while (fgets(line, sizeof line, pipe) != nullptr)
    if (std::string_view(line).starts_with("callpath ")) output += line;
  pclose(pipe);
  return output;
}

}  // namespace

TEST_CASE("recursion folds", "[callpath]") {
  CHECK(folded("fffm") == plain("fm"));
  CHECK(folded("ababm") == plain("abm"));
  CHECK(folded("xababcababcm") == plain("xabcm"));
  CHECK(folded("abcdefghabcdefghm") == plain("abcdefghm"));
  CHECK(folded("abcdefghiabcdefghim") == plain("abcdefghiabcdefghim"));
  CHECK(folded("abam") == plain("abam"));
  CHECK(folded("m") == plain("m"));
  CHECK(folded("").empty());
}

TEST_CASE("signatures see order and length", "[callpath]") {
  std::set<std::uint64_t> seen;
  for (const char* functions : {"", "a", "ab", "ba", "aa", "aaa", "abc", "acb"})
    seen.insert(chameleon::stack_signature(plain(functions)));
  CHECK(seen.size() == 8);
}

TEST_CASE("a site in a loop has one signature, two sites have two", "[callpath]") {
  Engine& engine = started_engine();
  std::set<std::uint64_t> loop;
  for (int i = 0; i < 100; ++i) loop.insert(wrapper(engine));
  CHECK(loop.size() == 1);
  const std::uint64_t other = wrapper(engine);
  CHECK(loop.count(other) == 0);
  Engine second;
  std::set<std::uint64_t> engines;
  Engine* const both[] = {&engine, &second};
  const volatile int count = 2;  // unrolled, the loop would be two sites
  for (int i = 0; i < count; ++i) engines.insert(wrapper(*both[i]));
  CHECK(engines.size() == 1);
}

TEST_CASE("a recursion's depth does not show", "[callpath]") {
  Engine& engine = started_engine();
  std::uint64_t shallow = 0, deep = 0;
  std::set<std::uint64_t> depths;
  for (int depth = 1; depth < 60; ++depth) {
    recurse(depth, engine, shallow);
    depths.insert(shallow);
  }
  CHECK(depths.size() == 1);
  std::set<std::uint64_t> mutual;
  for (int depth = 1; depth < 30; ++depth) {
    ping(depth, engine, deep);
    mutual.insert(deep);
  }
  CHECK(mutual.size() == 1);
}

TEST_CASE("a path too deep says so", "[callpath]") {
  Engine& engine = started_engine();
  std::uint64_t deep = 0;
  recurse(1000, engine, deep);
  const CallPath path = path_of(deep);
  REQUIRE(path.frames.size() >= 3);
  CHECK(path.frames.back() == chameleon::kTruncatedFrame);
  CHECK_FALSE(path_of(wrapper(engine)).frames.back() == chameleon::kTruncatedFrame);
}

TEST_CASE("a path starts at the call site and ends in main", "[callpath]") {
  Engine& engine = started_engine();
  const CallPath path = path_of(wrapper(engine));
  REQUIRE(path.frames.size() >= 2);
  const auto modules = Engine::modules();
  // This program is one module with a build-id: first frame and last, main's.
  CHECK(path.frames.front().module == path.frames.back().module);
  REQUIRE(modules.count(path.frames.front().module) == 1);
  char self[4096];
  const auto size = readlink("/proc/self/exe", self, sizeof self);
  CHECK(modules.at(path.frames.front().module).path ==
        std::string(self, static_cast<std::size_t>(size)));
  CHECK(modules.at(path.frames.front().module).build_id_hex.size() == 40);
}

TEST_CASE("threads share paths", "[callpath][threads]") {
  REQUIRE(Engine::start());
  std::uint64_t signatures[2] = {};
  for (auto& signature : signatures) {
    std::thread([&signature] {
      Engine engine;
      signature = wrapper(engine);
    }).join();
  }
  CHECK(signatures[0] == signatures[1]);
  CHECK_FALSE(path_of(signatures[0]).frames.empty());
}

TEST_CASE("print a path", "[.callpath-print]") {
  Engine& engine = started_engine();
  const std::uint64_t here = wrapper(engine);
  const std::uint64_t plugin = through_plugin(CHAMELEON_CALLPATH_PLUGIN_NO_ID, engine);
  std::printf("callpath signatures %016llx %016llx\n", static_cast<unsigned long long>(here),
              static_cast<unsigned long long>(plugin));
  std::printf("callpath address %p\n", reinterpret_cast<void*>(&capture_callback));
  std::fflush(stdout);
}

TEST_CASE("processes agree, wherever they are loaded", "[callpath]") {
  const std::string first = run_self("print a path");
  const auto end_of_line = first.find('\n');
  REQUIRE(first.starts_with("callpath signatures "));
  bool is_elsewhere = false;
  for (int i = 0; i < 3; ++i) {
    const std::string other = run_self("print a path");
    CHECK(first.substr(0, end_of_line) == other.substr(0, end_of_line));
    is_elsewhere = is_elsewhere || first != other;
  }
  if (!is_elsewhere) WARN("no address-space randomization here");
}

TEST_CASE("a module without build-id is known by name and content", "[callpath]") {
  Engine& engine = started_engine();
  const std::uint64_t signature = through_plugin(CHAMELEON_CALLPATH_PLUGIN_NO_ID, engine);
  CHECK(signature != through_plugin(CHAMELEON_CALLPATH_PLUGIN, engine));
  bool is_listed = false;
  for (const auto& [id, module] : Engine::modules()) {
    if (module.path != CHAMELEON_CALLPATH_PLUGIN_NO_ID) continue;
    is_listed = true;
    CHECK(module.build_id_hex.empty());
    CHECK(path_of(signature).frames[1].module == id);
  }
  CHECK(is_listed);
}

TEST_CASE("a library loaded in place of another is not mistaken for it", "[callpath]") {
  Engine& engine = started_engine();
  const char* const files[] = {CHAMELEON_CALLPATH_PLUGIN, CHAMELEON_CALLPATH_PLUGIN_NO_ID};
  std::set<std::uint64_t> signatures[2];
  void* where[2];
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 2; ++i) signatures[i].insert(through_plugin(files[i], engine, &where[i]));
  INFO("loaded at " << where[0] << " and " << where[1]);
  CHECK(signatures[0].size() == 1);
  CHECK(signatures[1].size() == 1);
  CHECK(signatures[0] != signatures[1]);
}

TEST_CASE("exceptions of the application still work", "[callpath]") {
  Engine& engine = started_engine();
  for (int i = 0; i < 10; ++i) {
    CHECK_THROWS_AS(
        [&] {
          wrapper(engine);
          throw std::runtime_error("thrown below a captured frame");
        }(),
        std::runtime_error);
  }
  for (const char* symbol : {"_Unwind_RaiseException", "_Unwind_Backtrace", "backtrace"}) {
    Dl_info info{};
    void* address = dlsym(RTLD_DEFAULT, symbol);
    REQUIRE(address != nullptr);
    REQUIRE(dladdr(address, &info) != 0);
    CHECK(std::string(info.dli_fname).find("libunwind") == std::string::npos);
  }
}

TEST_CASE("callbacks from the C library keep their path to main", "[callpath]") {
  Engine& engine = started_engine();
  callbacks_seen.clear();
  int values[] = {5, 3, 8, 1};
  std::qsort(values, 4, sizeof values[0], capture_and_compare);
  const std::set<std::uint64_t>& seen = callbacks_seen;
  REQUIRE_FALSE(seen.empty());
  const CallPath outside = path_of(wrapper(engine));
  for (const std::uint64_t signature : seen) {
    const CallPath path = path_of(signature);
    CHECK(path.frames.size() > outside.frames.size());
    CHECK(path.frames.back() == outside.frames.back());
    CHECK(path.frames[1].module != path.frames[0].module);
  }
}

TEST_CASE("a relaxed path keeps frames at both ends, and any stand between") {
  using chameleon::callpath::FramesMatched;
  const auto relaxed = [](std::vector<std::uint64_t> offsets, FramesMatched matched) {
    std::vector<Frame> frames;
    for (const std::uint64_t offset : offsets) frames.push_back({9, offset});
    return chameleon::callpath::relax(frames, matched, [&](std::size_t i) {
      return Frame{9, offsets[i] / 10 * 10};
    });
  };
  const Frame any = chameleon::kAnyFrames;
  using Frames = std::vector<Frame>;
  CHECK(relaxed({11, 22, 33}, {}) == Frames{{9, 11}, {9, 22}, {9, 33}});
  CHECK(relaxed({11, 22, 33}, {1, 1}) == Frames{{9, 11}, any, {9, 30}});
  // Outermost frames are compared as functions, and there may be none between.
  CHECK(relaxed({11, 22, 33}, {1, 1}) == relaxed({11, 44, 55, 36}, {1, 1}));
  CHECK(relaxed({11, 22, 33}, {1, 1}) == relaxed({11, 39}, {1, 1}));
  CHECK_FALSE(relaxed({11, 22, 33}, {1, 1}) == relaxed({12, 22, 33}, {1, 1}));
  CHECK_FALSE(relaxed({11, 22, 33}, {1, 1}) == relaxed({11, 22, 43}, {1, 1}));
  CHECK(relaxed({11, 22, 33}, {2, 0}) == Frames{{9, 11}, {9, 22}, any});
  CHECK(relaxed({11}, {1, 1}) == Frames{{9, 11}});
  CHECK(relaxed({11, 22}, {1, 7}) == Frames{{9, 11}, any, {9, 20}});
}

[[gnu::noinline, gnu::noclone]] std::uint64_t through_one(Engine& engine) {
  const std::uint64_t signature = wrapper(engine);
  keep_frame();
  return signature;
}
[[gnu::noinline, gnu::noclone]] std::uint64_t first_caller(Engine& engine) {
  const std::uint64_t signature = through_one(engine);
  keep_frame();
  return signature;
}
[[gnu::noinline, gnu::noclone]] std::uint64_t second_caller(Engine& engine) {
  const std::uint64_t signature = through_one(engine);
  keep_frame();
  return signature;
}

TEST_CASE("an engine keeps the relaxed form of each path beside the path") {
  REQUIRE(Engine::start());
  Engine engine(chameleon::callpath::FramesMatched{1, 1});
  const std::uint64_t first = first_caller(engine), second = second_caller(engine);
  CHECK(first != second);
  const std::uint64_t relaxed = Engine::relaxed(first);
  CHECK(relaxed == Engine::relaxed(second));
  CHECK(relaxed != first);
  const CallPath path = path_of(relaxed), whole = path_of(first);
  REQUIRE(path.frames.size() == 3);
  CHECK(path.frames[0] == whole.frames[0]);
  CHECK(path.frames[1] == chameleon::kAnyFrames);
  // `main` as a function: before the return address in it.
  CHECK(path.frames[2].module == whole.frames.back().module);
  CHECK(path.frames[2].offset < whole.frames.back().offset);
  // An engine that matches all frames gives the same signature.
  Engine plain;
  const std::uint64_t own = through_one(plain);
  CHECK(Engine::relaxed(own) == own);
}
