// SPDX-License-Identifier: BSD-3-Clause
// Time of calls that certain functions make: names of functions while the program runs, and what
// intervals come to.
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "callpath/engine.h"
#include "callpath/function_names.h"
#include "record/rank_trace.h"
#include "record/site_effort.h"
#include "unit/catch.h"

namespace site_effort_test {

using chameleon::callpath::Engine;

void keep() { asm volatile("" ::: "memory"); }

[[gnu::noinline, gnu::noclone]] std::uint64_t capture(Engine& engine) {
  const std::uint64_t path = engine.capture(__builtin_return_address(0));
  keep();
  return path;
}
[[gnu::noinline, gnu::noclone]] std::uint64_t solve(Engine& engine) {
  const std::uint64_t path = capture(engine);
  keep();
  return path;
}
[[gnu::noinline, gnu::noclone]] std::uint64_t exchange(Engine& engine) {
  const std::uint64_t path = capture(engine);
  keep();
  return path;
}

}  // namespace site_effort_test

namespace chameleon {
using namespace callpath;
using namespace mpi;
using namespace record;
namespace {

struct Paths {
  Paths() {
    REQUIRE(Engine::start());
    solve = site_effort_test::solve(engine);
    exchange = site_effort_test::exchange(engine);
    REQUIRE(solve != exchange);
  }
  Engine engine;
  std::uint64_t solve = 0, exchange = 0;
};

void append(RankTrace& trace, CallId call, std::uint64_t path, std::uint64_t compute,
            std::uint64_t communication) {
  const std::int64_t comm = 0;
  IntervalLog& log = trace.log();
  log.append(log.find(static_cast<std::uint16_t>(call), path, &comm, 1), compute, communication);
  if (log.full()) trace.spill(1.0);
}

/// Ticks of the interval that this ends.
std::uint64_t closed(RankTrace& trace, bool keeps) {
  trace.close_interval(1.0);
  const std::uint64_t ticks = trace.interval().site_ticks;
  if (keeps)
    trace.join(1.0);
  else
    trace.drop(1.0);
  return ticks;
}

std::string own_file() {
  char path[PATH_MAX] = {};
  return ::readlink("/proc/self/exe", path, sizeof path - 1) > 0 ? path : "";
}

}  // namespace

TEST_CASE("functions on a call path have the names that the linker knows") {
  const Paths paths;
  const std::vector<Frame> frames = Engine::frames(paths.solve);
  REQUIRE(frames.size() > 2);
  FunctionNames names;
  std::vector<std::string> found;
  for (const Frame& frame : frames)
    found.push_back(names.of(frame, Engine::module_file(frame.module)));
  CHECK(names_function({"site_effort_test::solve"}, found.front()));
  CHECK(names_function({"*::solve(*Engine&)"}, found.front()));
  CHECK(names_function({"solve"}, found.front()));
  CHECK_FALSE(names_function({"exchange", "site_effort_test"}, found.front()));
  CHECK(found.back() == "main");
  CHECK(names_function({"solve"}, "_ZN4heat5solve17h0123456789abcdefE"));
  CHECK(names_function({"heat::solve"}, "_RINvCs1234_4heat5solvedE"));
  CHECK(names.of(kAnonymousFrame, own_file()).empty());
  CHECK(names.of({frames.front().module, UINT64_MAX}, own_file()).empty());
  CHECK(Engine::frames(~paths.solve).empty());
}

TEST_CASE("a file that is none, is cut or changed has no names, or others, and is no crash") {
  std::ifstream in(own_file(), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(bytes.size() > 1000);
  const std::string path = "program_of_test_site_effort";
  const auto name_in = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
    FunctionNames names;
    return names.of({1, 0x2000}, path);
  };
  CHECK(FunctionNames().of({1, 0x2000}, "/no/such/file").empty());
  CHECK(FunctionNames().of({1, 0x2000}, "/dev/zero").empty());
  CHECK(FunctionNames().of({1, 0x2000}, "/").empty());
  CHECK(name_in("").empty());
  CHECK(name_in("no program").empty());
  CHECK(name_in(bytes.substr(0, bytes.size() / 2)).empty());
  for (std::size_t i = 0; i < 64; ++i) {  // the head
    std::string damaged = bytes.substr(0, 4096) + bytes.substr(bytes.size() - 4096);
    damaged[i] = static_cast<char>(0xff);
    static_cast<void>(name_in(damaged));
  }
  std::remove(path.c_str());
}

TEST_CASE("names of functions: without what compilers append, and as C++ writes them") {
  CHECK(names_function({"step"}, "step"));
  CHECK(names_function({"a", "st*"}, "step.part.0"));
  CHECK(names_function({"memcpy"}, "memcpy@@GLIBC_2.14"));
  CHECK(names_function({"flow::step"}, "_ZN4flow4stepEi"));
  CHECK(names_function({"flow::step(int)"}, "_ZN4flow4stepEi"));
  CHECK(names_function({"_ZN4flow*"}, "_ZN4flow4stepEi"));
  CHECK(names_function({"step"}, "_ZN4flow4stepEi"));
  CHECK(names_function({"exchange"}, "_ZN12_GLOBAL__N_16Solver8exchangeEv"));
  CHECK(names_function({"operator()"}, "_ZNK4flow4ItemclEi"));
  CHECK_FALSE(names_function({"flow", "tep"}, "_ZN4flow4stepEi"));
  CHECK_FALSE(names_function({"*"}, ""));
  CHECK_FALSE(names_function({}, "step"));
}

TEST_CASE("an interval comes to the time of the calls that certain functions make") {
  const Paths paths;
  const bool spills = GENERATE(false, true), keeps = GENERATE(false, true);
  RecordOptions options;
  if (spills) options.buffer = 16384;
  options.effort_sites = {{"*::solve"}, true, true};
  std::uint64_t each = 11;
  SECTION("computation before them") {
    options.effort_sites.communication = false;
    each = 10;
  }
  SECTION("time in them") {
    options.effort_sites.compute = false;
    each = 1;
  }
  SECTION("both") {}
  SECTION("those of certain MPI calls") {
    options.effort_calls = {"Allreduce"};
    options.effort_sites.compute = false;
    each = 0;
  }
  RankTrace trace(options);
  for (std::uint64_t interval = 0; interval < 4; ++interval) {
    const std::uint64_t events = spills ? 3000 : 30;
    for (std::uint64_t i = 0; i < events; ++i) {
      append(trace, CallId::kBarrier, i % 3 == 0 ? paths.solve : paths.exchange, 10, 1);
      if (i % 5 == 0) append(trace, CallId::kAllreduce, paths.exchange, 100, 100);
    }
    CHECK(closed(trace, keeps) == each * events / 3);
  }
  CHECK(closed(trace, keeps) == 0);
}

}  // namespace chameleon
