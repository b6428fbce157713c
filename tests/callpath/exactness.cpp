// SPDX-License-Identifier: BSD-3-Clause
// The engine's three ways and its parts beside libunwind, over stacks at random: every capture has
// to give the very same return addresses.  exactness VISITS [SEED]
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "callpath/engine.h"
#include "callpath/frames.h"

namespace chameleon::test {
using namespace callpath;
namespace {

using callpath::Engine;
using callpath::RawStack;
using callpath::StackMemo;
using callpath::StackWalker;

/// More than a capture looks at.
constexpr std::size_t kMost = StackWalker::kMostFrames + StackWalker::kOwnFrames;

/// One capture in so many has to find its stack in the memo. Under AddressSanitizer every frame has
/// red zones and more words that change, and stacks are the same less often.
#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t kCapturesPerHit = 40;
#else
constexpr std::uint64_t kCapturesPerHit = 10;
#endif

int (*unw_backtrace)(void**, int);

class Comparison {
 public:
  Comparison() : memo_(StackMemo::make()) { modules_.refresh(); }

  /// Compares return addresses from `site` on: libunwind's, the walk's, and a memo's.
  [[gnu::noinline]] void compare_addresses(void* site) {
    const callpath::Registers here = callpath::present_registers();
    void* addresses[kMost];
    const int count = unw_backtrace(addresses, static_cast<int>(kMost));
    const RawStack all(addresses, static_cast<std::size_t>(std::max(count, 0)));
    const auto first = std::find(all.begin(), all.end(), site);
    RawStack expected(first, std::min<std::size_t>(all.end() - first, StackWalker::kMostFrames));
    while (!expected.empty() && expected.back() == nullptr)
      expected = expected.first(expected.size() - 1);
    const std::uint64_t hash = callpath::hash_stack(expected);

    ++compared_;
    if (const StackMemo::Slot* slot = memo_->find(site, here)) {
      ++hits_;
      if (slot->signature != hash) complain("memo", expected, {});
    }
    StackMemo::Slot* const slot = memo_->replace(site, here);
    callpath::StackWord* const words = slot != nullptr ? slot->words : nullptr;
    auto outcome = walker_.walk(here, site, found_, words);
    if (outcome == StackWalker::Outcome::kStale) {
      walker_.clear();
      memo_->clear();
      modules_.refresh();
      outcome = walker_.walk(here, site, found_, words);
    }
    if (outcome != StackWalker::Outcome::kComplete) {
      ++unproven_;
      return;
    }
    if (!std::equal(expected.begin(), expected.end(), found_.stack.begin(), found_.stack.end()))
      complain("walk", expected, found_.stack);
    if (found_.words == 0) return;
    slot->start = here;
    slot->signature = hash;
    slot->count = static_cast<std::uint32_t>(found_.words);
    slot->uses_bp = found_.uses_bp;
    slot->depends = found_.needs_loader_check ? StackMemo::kOnLoader : 0;
    memo_->fill(*slot, site);
  }

  [[gnu::noinline]] void compare_signatures(void* site) {
    const std::uint64_t expected = by_libunwind_.capture(site);
    if (by_memo_.capture(site) != expected) complain("engine, memo", {}, {});
    if (by_walk_.capture(site) != expected) complain("engine, walk", {}, {});
  }

  [[gnu::noinline]] void visit() {
    void* const site = __builtin_return_address(0);
    compare_addresses(site);
    if (compared_ % 4 == 0) by_memo_.capture(site);  // stacks it has to know again
    if (compared_ % 32 == 0) compare_signatures(site);
    asm volatile("" ::: "memory");
  }

  /// Whether all agreed, and the fast ways were taken often enough for that to mean something.
  bool report() const {
    std::printf("%" PRIu64 " captures, %" PRIu64 " differences, %" PRIu64 " memo hits, %" PRIu64
                " not walked; engine: %" PRIu64 " walks, %" PRIu64 " by libunwind\n",
                compared_, differences_, hits_, unproven_, by_memo_.counts().walks,
                by_memo_.counts().libunwind);
    return differences_ == 0 && hits_ > compared_ / kCapturesPerHit && unproven_ < compared_ / 100;
  }

 private:
  void complain(const char* what, RawStack expected, RawStack found) {
    if (++differences_ > 3) return;
    std::printf("%s differs after %" PRIu64 " captures\n", what, compared_);
    for (std::size_t i = 0; i < std::max(expected.size(), found.size()); ++i)
      std::printf("  %p %p\n", i < expected.size() ? expected[i] : nullptr,
                  i < found.size() ? found[i] : nullptr);
  }

  callpath::ModuleTable modules_;
  StackWalker walker_{modules_};
  StackWalker::Found found_;
  StackMemo::Pointer memo_;
  Engine by_memo_;
  Engine by_walk_{Engine::Unwinder::kWalk};
  Engine by_libunwind_{Engine::Unwinder::kLibunwind};
  std::uint64_t compared_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t unproven_ = 0;
  std::uint64_t differences_ = 0;
};

}  // namespace
}  // namespace chameleon::test

int main(int count, char** arguments) {
  using namespace chameleon::test;
#ifdef CHAMELEON_TEST_AVX2
  if (!__builtin_cpu_supports("avx2")) return 77;
#endif
  if (!Engine::start()) return 77;
  unw_backtrace = reinterpret_cast<int (*)(void**, int)>(
      dlsym(dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL), "unw_backtrace"));
  const std::int64_t visits = count > 1 ? std::atoll(arguments[1]) : 100000;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t seed =
      count > 2 ? std::strtoull(arguments[2], nullptr, 10) : static_cast<std::uint64_t>(now);
  std::printf("seed %" PRIu64 "\n", seed);
  static Comparison comparison;
  Trip trip{
      {seed}, visits, 30, [](void* with) { static_cast<Comparison*>(with)->visit(); }, &comparison};
  wander(trip);
  return comparison.report() ? 0 : 1;
}
