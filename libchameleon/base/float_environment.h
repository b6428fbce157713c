// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The floating-point environment is the program's: which exceptions trap, which have been raised,
/// how results are rounded, whether tiny numbers are zero. The tool computes in an environment of
/// its own while one of these lives, where nothing traps, and leaves the program's as it was, with
/// no exception raised that was not. `UsualSse` does so for the SSE unit alone, which nearly all
/// code of the tool uses: it costs two stores of a register unless something differs. Code that
/// may use the x87 unit (`long double`, the C library's conversions) needs `UsualFloats`.

#include <cfenv>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::inline base {

#if defined(__x86_64__)

class UsualSse {
 public:
  [[gnu::always_inline]] UsualSse() : before_(__builtin_ia32_stmxcsr()) {
    if ((before_ & ~kRaised) != kUsual) [[unlikely]]
      __builtin_ia32_ldmxcsr(kUsual);
  }
  [[gnu::always_inline]] ~UsualSse() {
    if (__builtin_ia32_stmxcsr() != before_) [[unlikely]]
      __builtin_ia32_ldmxcsr(before_);
  }
  UsualSse(const UsualSse&) = delete;
  UsualSse& operator=(const UsualSse&) = delete;

 private:
  static constexpr std::uint32_t kRaised = 0x3f;   ///< the exceptions so far
  static constexpr std::uint32_t kUsual = 0x1f80;  ///< all masked, to the nearest, none is zero

  std::uint32_t before_;
};

class UsualFloats {
 public:
  UsualFloats() {
    asm volatile("fnstcw %0" : "=m"(control_));
    asm volatile("fnstsw %0" : "=m"(status_));
    if (control_ == kUsual) return;
    asm volatile("fnstenv %0" : "=m"(environment_));  // masks all, so that nothing traps here
    asm volatile("fldcw %0" : : "m"(kUsual));
  }
  ~UsualFloats() {
    std::uint16_t status = 0;
    asm volatile("fnstsw %0" : "=m"(status));
    if (control_ == kUsual && ((status ^ status_) & kRaised) == 0) return;
    if (control_ == kUsual) {
      asm volatile("fnstenv %0" : "=m"(environment_));
      environment_.status = static_cast<std::uint16_t>((status & ~kRaised) | (status_ & kRaised));
    }
    asm volatile("fldenv %0" : : "m"(environment_));
  }
  UsualFloats(const UsualFloats&) = delete;
  UsualFloats& operator=(const UsualFloats&) = delete;

 private:
  static constexpr std::uint16_t kUsual = 0x37f;
  static constexpr std::uint16_t kRaised = 0x7f;

  struct Environment {
    std::uint32_t control;
    std::uint16_t status, reserved;
    std::uint32_t rest[5];
  };

  UsualSse sse_;
  std::uint16_t control_ = 0, status_ = 0;
  Environment environment_;
};

#else

class UsualFloats {
 public:
  UsualFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~UsualFloats() { std::fesetenv(&before_); }
  UsualFloats(const UsualFloats&) = delete;
  UsualFloats& operator=(const UsualFloats&) = delete;

 private:
  std::fenv_t before_;
};
using UsualSse = UsualFloats;

#endif

}  // namespace chameleon::inline base
