// SPDX-License-Identifier: BSD-3-Clause
// What the tool does aside leaves nothing behind in the thread that it was done in.
#include <fcntl.h>
#include <unistd.h>

#include <cfenv>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/own_descriptor.h"
#include "record/aside.h"
#include "temporary_file.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::record;

namespace {

volatile double g_three = 3;

std::uintptr_t here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

#if defined(__x86_64__)
struct FloatState {
  std::uint16_t control, status;
  std::uint32_t sse;
  bool operator==(const FloatState&) const = default;
};
FloatState float_state() {
  FloatState now{0, 0, __builtin_ia32_stmxcsr()};
  asm volatile("fnstcw %0" : "=m"(now.control));
  asm volatile("fnstsw %0" : "=m"(now.status));
  return now;
}
#endif

}  // namespace

#if defined(__x86_64__)
TEST_CASE("floating point is the program's") {
  // Not as sections: the test's own floating point would trap at their ends.
  void (*const ways[])() = {
      [] {},
      [] { std::feraiseexcept(FE_DIVBYZERO); },
      [] { ::feenableexcept(FE_ALL_EXCEPT); },
      [] { std::fesetround(FE_UPWARD); },
      [] { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); },  // tiny numbers are zero
  };
  for (const auto way : ways) {
    double third = 0;
    long double long_third = 0;
    std::fenv_t usual;
    std::fegetenv(&usual);
    std::feclearexcept(FE_ALL_EXCEPT);
    way();
    const FloatState before = float_state();
    errno = 77;
    aside([&] {
      third = 1 / g_three;
      long_third = 1.0L / static_cast<long double>(g_three);
      errno = 5;
    });
    const FloatState after = float_state();
    const int error = errno;
    std::fesetenv(&usual);
    CHECK((after == before));
    CHECK(error == 77);
    CHECK(third == 1.0 / 3);
    CHECK(long_third != 0);
  }
}
#endif

TEST_CASE("a stack of the tool's own") {
  REQUIRE(has_own_stack());
  const std::uintptr_t outside = here();
  std::uintptr_t inside = 0, within = 0;
  on_own_stack([&] {
    inside = here();
    on_own_stack([&] { within = here(); });  // goes on there
    volatile char room[200 << 10];
    room[0] = 1;
    room[sizeof room - 1] = 1;
    CHECK(stack_left(here()) == 0);
  });
  const auto distance = [](std::uintptr_t a, std::uintptr_t b) { return a < b ? b - a : a - b; };
  CHECK(distance(inside, outside) > (1U << 20));
  CHECK(distance(inside, within) < 4096);
  CHECK(stack_left(here()) > kRoomForAll);

  for (int i = 0; i < 100; ++i)  // an exception passes on, and the stack is free again
    CHECK_THROWS_AS(on_own_stack([] { throw std::runtime_error("thrown"); }), std::runtime_error);
}

TEST_CASE("a descriptor of the tool's own") {
  const auto room = [] {  // for descriptors, in the kernel's table
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line) && !line.starts_with("FDSize:")) {
    }
    return line;
  };
  const std::string before = room();
  const testing::TemporaryFile file;
  OwnDescriptor own(file.path, O_RDWR | O_CREAT, 0600);
  const int number = own.get();
  REQUIRE(number > 2);
  CHECK(number >= 32);
  CHECK(room() == before);
  CHECK((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);

  const OwnDescriptor none("/nowhere/at/all", O_RDONLY);
  CHECK((none.get() == -1 && errno == ENOENT));

  // The program closes it, and opens something there.
  ::close(number);
  CHECK(own.get() == -1);
  const int others = ::open("/dev/null", O_RDWR);
  REQUIRE(::dup2(others, number) == number);
  CHECK(own.get() == -1);
  CHECK(own.close());
  CHECK(::fcntl(number, F_GETFD) >= 0);  // that stays open
  ::close(number);
  ::close(others);
}
