// SPDX-License-Identifier: BSD-3-Clause
// Needs this program built with -g.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "analysis/symbolizer.h"
#include "callpath/engine.h"
#include "unit/catch.h"

namespace symbolizer_test {

using chameleon::Frame;
using chameleon::callpath::Engine;

// Not in an unnamed namespace, so that the names are what they seem.
[[gnu::noinline]] std::uint64_t wrapper(Engine& engine) {
  return engine.capture(__builtin_return_address(0));
}

int line_of_call = 0;

[[gnu::noinline, gnu::noclone]] std::uint64_t outer(Engine& engine) {
  const std::uint64_t signature = wrapper(engine);
  line_of_call = __LINE__ - 1;
  return signature;
}

[[gnu::always_inline]] inline std::uint64_t inlined(Engine& engine) {
  const std::uint64_t signature = wrapper(engine);
  asm volatile("" ::: "memory");
  return signature;
}

[[gnu::noinline, gnu::noclone]] std::uint64_t around_inlined(Engine& engine) {
  const std::uint64_t signature = inlined(engine);
  asm volatile("" ::: "memory");
  return signature;
}

int line_of_middle = 0, line_of_inner = 0;

[[gnu::always_inline]] inline std::uint64_t middle(Engine& engine) {
  const std::uint64_t signature = inlined(engine);
  line_of_inner = __LINE__ - 1;
  return signature;
}

[[gnu::noinline, gnu::noclone]] std::uint64_t around_both(Engine& engine) {
  const std::uint64_t signature = middle(engine);
  line_of_middle = __LINE__ - 1;
  asm volatile("" ::: "memory");
  return signature;
}

struct Capture {
  Engine engine;
  std::uint64_t signature = 0;
};

[[gnu::noinline]] void capture_callback(void* argument) {
  auto* capture = static_cast<Capture*>(argument);
  capture->signature = wrapper(capture->engine);
}

std::vector<Frame> capture(std::uint64_t (*function)(Engine&)) {
  Engine engine;
  REQUIRE(Engine::start());
  const std::uint64_t wanted = function(engine);
  std::vector<Frame> found;
  Engine::for_each_path([&](std::uint64_t signature, std::uint64_t, std::span<const Frame> frames) {
    if (signature == wanted) found.assign(frames.begin(), frames.end());
  });
  REQUIRE(found.size() >= 2);
  return found;
}

TEST_CASE("a frame has function, file and line", "[symbolizer]") {
  const auto frames = capture(outer);
  const auto module = Engine::modules().at(frames[0].module);
  chameleon::analysis::Symbolizer symbolizer;
  const auto& location = symbolizer.resolve(module, frames[0]);
  CHECK(location.function == "symbolizer_test::outer(chameleon::callpath::Engine&)");
  CHECK(location.file.ends_with("test_symbolizer.cpp"));
  CHECK(location.line == line_of_call);
  CHECK(module.path.ends_with("/" + location.module));
  CHECK(location.inlined_in.empty());
  CHECK(&symbolizer.resolve(module, frames[0]) == &location);
  const auto& last = symbolizer.resolve(module, frames.back());
  CHECK((last.inlined_in.empty() ? last.function : last.inlined_in) == "main");
  CHECK(to_string(location).find("test_symbolizer.cpp:") != std::string::npos);
}

TEST_CASE("an inlined function is named with the one it is in", "[symbolizer]") {
  const auto frames = capture(around_inlined);
  const auto module = Engine::modules().at(frames[0].module);
  chameleon::analysis::Symbolizer symbolizer;
  const auto& location = symbolizer.resolve(module, frames[0]);
  CHECK(location.function == "symbolizer_test::inlined(chameleon::callpath::Engine&)");
  CHECK(location.inlined_in == "symbolizer_test::around_inlined(chameleon::callpath::Engine&)");
}

TEST_CASE("all functions around an inlined one are named, with the lines of their calls",
          "[symbolizer]") {
  const auto frames = capture(around_both);
  const auto module = Engine::modules().at(frames[0].module);
  chameleon::analysis::Symbolizer symbolizer;
  const auto& location = symbolizer.resolve(module, frames[0]);
  CHECK(location.function == "symbolizer_test::inlined(chameleon::callpath::Engine&)");
  REQUIRE(location.callers.size() == 2);
  const auto& [middle_one, outer_one] = std::tie(location.callers[0], location.callers[1]);
  CHECK(middle_one.function == "symbolizer_test::middle(chameleon::callpath::Engine&)");
  CHECK(middle_one.line == line_of_inner);
  CHECK(middle_one.begin == line_of_inner - 1);
  CHECK(middle_one.file.ends_with("test_symbolizer.cpp"));
  CHECK(outer_one.function == location.inlined_in);
  CHECK(outer_one.line == line_of_middle);
  CHECK(outer_one.line == location.outer_line);
  CHECK(outer_one.begin == line_of_middle - 1);
}

TEST_CASE("a library without debug information gives symbols", "[symbolizer]") {
  const auto file =
      GENERATE(as<std::string>(), CHAMELEON_CALLPATH_PLUGIN, CHAMELEON_CALLPATH_PLUGIN_NO_ID);
  REQUIRE(Engine::start());
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  Capture capture;
  reinterpret_cast<void (*)(void (*)(void*), void*)>(dlsym(library, "callpath_plugin_call"))(
      capture_callback, &capture);
  dlclose(library);
  std::vector<Frame> path;
  Engine::for_each_path([&](std::uint64_t signature, std::uint64_t, std::span<const Frame> frames) {
    if (signature == capture.signature) path.assign(frames.begin(), frames.end());
  });
  REQUIRE(path.size() >= 3);
  chameleon::analysis::Symbolizer symbolizer;
  const auto& location = symbolizer.resolve(Engine::modules().at(path[1].module), path[1]);
  CHECK(location.function == "callpath_plugin_call");
  CHECK(location.file.empty());
  CHECK(location.module == file.substr(file.rfind('/') + 1));
}

TEST_CASE("what cannot be found is module and offset", "[symbolizer]") {
  const auto frames = capture(outer);
  const auto real = Engine::modules().at(frames[0].module);
  char junk[] = "/tmp/chameleon-symbolizer-XXXXXX";
  const int file = mkstemp(junk);
  REQUIRE(file >= 0);
  std::ofstream(junk) << "\x7f"
                      << "ELF, but not really";
  const chameleon::Module modules[] = {
      {"", ""},
      {"ab", "relative"},
      {std::string(40, '0'), "/nowhere/libgone.so.1"},
      {"", "/"},
      {"", "/dev/null"},
      {std::string(40, 'f'), junk},
      {"", junk},
      {std::string(40, '0'), real.path},  // rebuilt since
      {"", real.path},
  };
  std::uint64_t id = 1;
  chameleon::analysis::Symbolizer symbolizer;
  for (const auto& module : modules) {
    const auto& location = symbolizer.resolve(module, {id++, 0x1234});
    INFO(module.path << ": " << location.function);
    CHECK(location.function.ends_with("+0x1234"));
    CHECK(location.file.empty());
  }
  CHECK(symbolizer.resolve(modules[2], {3, 0x10}).function == "libgone.so.1+0x10");
  CHECK(symbolizer.resolve(real, {frames[0].module, ~std::uint64_t{0}}).file.empty());
  CHECK(symbolizer.resolve(real, {frames[0].module, 0}).function.ends_with("+0x0"));
  close(file);
  remove(junk);
}

TEST_CASE("special frames have names", "[symbolizer]") {
  chameleon::analysis::Symbolizer symbolizer;
  std::vector<std::string> names;
  for (const Frame& frame :
       {chameleon::kAnonymousFrame, chameleon::kTruncatedFrame, chameleon::kUnknownFrame})
    names.push_back(symbolizer.resolve({}, frame).function);
  CHECK(names ==
        std::vector<std::string>{"[code without a file]", "[outer frames not kept]", "[unknown]"});
}

}  // namespace symbolizer_test
