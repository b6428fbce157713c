// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "process/energy_meter.h"
#include "process/instruction_counter.h"
#include "unit/catch.h"

using namespace chameleon::process;
namespace fs = std::filesystem;

namespace {

/// Counters as the kernel shows them, in a folder of their own.
struct Powercap {
  Powercap() {
    char name[] = "/tmp/powercapXXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    folder = name;
  }
  ~Powercap() { fs::remove_all(folder); }

  void show(const std::string& zone, const std::string& name, std::uint64_t energy,
            std::uint64_t range = 1'000'000'000) const {
    fs::create_directories(folder / zone);
    std::ofstream(folder / zone / "name") << name << "\n";
    std::ofstream(folder / zone / "energy_uj") << energy << "\n";
    std::ofstream(folder / zone / "max_energy_range_uj") << range << "\n";
  }

  fs::path folder;
};

/// The time that a thread runs: counted on every machine.
constexpr InstructionCounter::Event kTaskClock{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK};

std::uint64_t spin(std::uint64_t rounds) {
  volatile std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) sum = sum + i;
  return sum;
}

}  // namespace

TEST_CASE("energy is that of packages and memory") {
  const Powercap files;
  files.show("intel-rapl:0", "package-0", 1000);
  files.show("intel-rapl:0:0", "core", 500);  // part of the package
  files.show("intel-rapl:0:1", "dram", 300);
  files.show("intel-rapl:1", "package-1", 7000);
  files.show("intel-rapl:2", "psys", 90);           // all of them
  files.show("intel-rapl-mmio:0", "package-0", 1);  // the same counter once more
  EnergyMeter meter;
  REQUIRE(meter.open(files.folder, 10).empty());
  CHECK(meter.microjoules() == 0U);
  files.show("intel-rapl:0", "package-0", 1100);
  files.show("intel-rapl:0:0", "core", 560);
  files.show("intel-rapl:0:1", "dram", 320);
  files.show("intel-rapl:1", "package-1", 7003);
  files.show("intel-rapl:2", "psys", 290);
  meter.read(10.5);
  CHECK(meter.microjoules() == 100U + 20U + 3U);
}

TEST_CASE("a counter of energy wraps") {
  const Powercap files;
  constexpr std::uint64_t kRange = 5'000'000'000;  // 5 s of 1 kW
  files.show("intel-rapl:0", "package-0", kRange - 10, kRange);
  EnergyMeter meter;
  REQUIRE(meter.open(files.folder, 0).empty());
  files.show("intel-rapl:0", "package-0", 30, kRange);
  meter.read(4);
  CHECK(meter.microjoules() == 40U);
  files.show("intel-rapl:0", "package-0", 50, kRange);
  meter.read(8);
  CHECK(meter.microjoules() == 60U);
  SECTION("perhaps more than once") {
    files.show("intel-rapl:0", "package-0", 60, kRange);
    meter.read(14);
    CHECK_FALSE(meter.microjoules());
  }
  SECTION("or it cannot be read any more") {
    fs::remove(files.folder / "intel-rapl:0/energy_uj");
    meter.read(9);
    CHECK_FALSE(meter.microjoules());
    meter.read(10);
    CHECK_FALSE(meter.microjoules());
  }
}

TEST_CASE("why energy cannot be read") {
  const Powercap files;
  EnergyMeter meter;
  CHECK(meter.open(files.folder / "none") == "no counters in " + (files.folder / "none").string());
  CHECK_FALSE(meter.is_open());
  CHECK_FALSE(meter.microjoules());
  meter.read(1);
  files.show("intel-rapl:0", "package-0", 1);
  fs::remove(files.folder / "intel-rapl:0/energy_uj");
  CHECK(meter.open(files.folder) ==
        (files.folder / "intel-rapl:0/energy_uj").string() + ": No such file or directory");
  std::ofstream(files.folder / "intel-rapl:0/energy_uj") << "many\n";
  CHECK(meter.open(files.folder) ==
        (files.folder / "intel-rapl:0/energy_uj").string() + ": Invalid argument");
  files.show("intel-rapl:0", "package-0", 1, 0);
  CHECK_FALSE(meter.open(files.folder).empty());
  CHECK_FALSE(meter.is_open());
}

TEST_CASE("a counter of a thread") {
  InstructionCounter counter;
  CHECK_FALSE(counter.read());
  if (const std::string why = counter.open(kTaskClock); !why.empty()) {
    WARN(why);
    return;
  }
  const auto first = counter.read();
  REQUIRE(first);
  spin(1'000'000);
  const auto second = counter.read();
  REQUIRE(second);
  CHECK(*second > *first);
  counter.close();
  CHECK_FALSE(counter.is_open());
  CHECK_FALSE(counter.read());
}

TEST_CASE("why instructions cannot be counted") {
  InstructionCounter counter;
  const std::string why = counter.open({UINT32_MAX - 1, 0});
  CHECK_FALSE(why.empty());
  CHECK_FALSE(counter.is_open());
  CHECK_FALSE(counter.read());
}

TEST_CASE("a program may close the counter, and open a file under its number") {
  InstructionCounter counter;
  if (!counter.open(kTaskClock).empty()) return;
  int number = -1;  // high, where the program has none
  for (int one = 3; one < 1024; ++one) {
    char target[64] = "";
    const std::string link = "/proc/self/fd/" + std::to_string(one);
    if (::readlink(link.c_str(), target, sizeof target - 1) < 0) continue;
    if (std::string(target) == "anon_inode:[perf_event]") number = one;
  }
  REQUIRE(number >= 32);
  CHECK((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
  REQUIRE(::close(number) == 0);
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  REQUIRE(::dup2(pipe_ends[0], number) == number);
  REQUIRE(::write(pipe_ends[1], "mine", 4) == 4);
  CHECK_FALSE(counter.read());
  counter.close();
  char text[4] = "";
  CHECK(::read(number, text, 4) == 4);
  CHECK(std::string(text, 4) == "mine");
  ::close(number);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}
