// SPDX-License-Identifier: BSD-3-Clause
// What may happen to a stack, and to the code on it, between two captures. Every answer is compared
// with that of an engine that unwinds by libunwind each time.
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "callpath/engine.h"
#include "callpath/unwind_rule.h"
#include "unit/catch.h"

using chameleon::callpath::Engine;

namespace {

void keep() { asm volatile("" ::: "memory"); }

/// An engine and what it has to agree with.
struct Pair {
  Engine fast;
  Engine reference{Engine::Unwinder::kLibunwind};
  std::uint64_t captures = 0;
  std::uint64_t differences = 0;
  std::uint64_t last = 0;

  Pair() {
    if (!Engine::start()) std::abort();  // on any thread, and Catch's assertions are for one
  }
};

[[gnu::noinline, gnu::noclone]] void check(Pair& pair) {
  void* const site = __builtin_return_address(0);
  ++pair.captures;
  pair.last = pair.fast.capture(site);
  if (pair.last != pair.reference.capture(site)) ++pair.differences;
}

/// `depth` frames by a path of its own for each `way`, then a capture.
[[gnu::noinline, gnu::noclone]] void descend(Pair& pair, int depth, unsigned way) {
  char* room = static_cast<char*>(alloca(16 + 16 * (way % 7)));
  asm volatile("" : : "r"(room) : "memory");
  if (depth == 0)
    check(pair);
  else if (way % 2 == 0)
    descend(pair, depth - 1, way / 2), keep();
  else
    descend(pair, depth - 1, way / 2 + 5), keep();
  asm volatile("" : : "r"(room) : "memory");
}

bool lists(std::uint64_t signature) {
  bool found = false;
  Engine::for_each_path(
      [&](std::uint64_t key, std::uint64_t, auto) { found = found || key == signature; });
  return found;
}

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A copy of the plugin that differs in one byte of the build-id only.
std::string twin_of_plugin() {
  std::string bytes = bytes_of(CHAMELEON_CALLPATH_PLUGIN);
  const std::size_t note = bytes.find(std::string("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16));
  REQUIRE(note != std::string::npos);
  bytes[note + 16] = static_cast<char>(bytes[note + 16] ^ 1);
  const std::string twin = "/tmp/callpath_twin." + std::to_string(getpid()) + ".so";
  std::ofstream(twin, std::ios::binary) << bytes;
  return twin;
}

void check_callback(void* with) {
  for (int i = 0; i < 3; ++i) check(*static_cast<Pair*>(with));
}

Pair* in_handler = nullptr;
volatile sig_atomic_t handled = 0;

void handle(int) {
  check(*in_handler);
  handled = handled + 1;
}

void set_handler(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  REQUIRE(sigaction(signal, &action, nullptr) == 0);
}

}  // namespace

TEST_CASE("a library that takes another's place is told from it by the loader", "[callpath]") {
  Pair pair;
  const std::string files[] = {CHAMELEON_CALLPATH_PLUGIN, twin_of_plugin()};
  std::set<std::uint64_t> signatures[2];
  std::set<void*> where;
  for (int i = 0; i < 8; ++i) {
    void* const library = dlopen(files[i % 2].c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    const auto call =
        reinterpret_cast<void (*)(void (*)(void*), void*)>(dlsym(library, "callpath_plugin_call"));
    where.insert(reinterpret_cast<void*>(call));
    call(check_callback, &pair);
    signatures[i % 2].insert(pair.last);
    dlclose(library);
  }
  unlink(files[1].c_str());
  CHECK(pair.differences == 0);
  CHECK(pair.fast.counts().libunwind == 0);
  CHECK(signatures[0].size() == 1);
  CHECK(signatures[1].size() == 1);
  CHECK(signatures[0] != signatures[1]);
  if (where.size() > 1) WARN("never loaded at the same place");
}

TEST_CASE("what may be unloaded is known", "[callpath]") {
  void* const library = dlopen(CHAMELEON_CALLPATH_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  chameleon::callpath::ModuleTable modules;
  modules.refresh();
  const auto is_permanent = [&](void* function) {
    const auto* module = modules.find(reinterpret_cast<std::uintptr_t>(function) + 1);
    REQUIRE(module != nullptr);
    return module->is_permanent;
  };
  CHECK(is_permanent(reinterpret_cast<void*>(&check_callback)));
  CHECK(is_permanent(dlsym(RTLD_DEFAULT, "qsort")));
  CHECK_FALSE(is_permanent(dlsym(library, "callpath_plugin_call")));
  dlclose(library);
}

// Without the tag `threads`: libunwind takes a lock at the end of each thread that used it, when
// ThreadSanitizer knows the thread no more and crashes.
TEST_CASE("threads have an engine each, or take turns with one", "[callpath]") {
  std::mutex mutex;
  Pair shared;
  std::atomic<std::uint64_t> differences{0};
  const auto work = [&](unsigned seed) {
    Pair own;
    for (unsigned i = 0; i < 2000; ++i) {
      descend(own, static_cast<int>((i + seed) % 12), i / 64 * seed);
      const std::scoped_lock lock(mutex);
      descend(shared, static_cast<int>((i + seed) % 9), i / 64 * seed);
    }
    differences += own.differences;
  };
  for (int round = 0; round < 3; ++round) {  // later threads get the stacks of earlier ones
    std::thread threads[3];
    for (unsigned i = 0; i < 3; ++i) threads[i] = std::thread(work, i + 3u * round + 1);
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(differences == 0);
  CHECK(shared.captures == 3 * 3 * 2000);
  CHECK(shared.differences == 0);
  CHECK(shared.fast.counts().libunwind == 0);
}

TEST_CASE("a handler's path leads through the signal to what it interrupted", "[callpath]") {
  Pair pair;
  in_handler = &pair;
  set_handler(SIGUSR1, handle, 0);
  for (int i = 0; i < 3; ++i) raise(SIGUSR1);
  CHECK(pair.fast.counts().libunwind == 3);

  // On a stack of its own.
  static char stack[1 << 16];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  REQUIRE(sigaltstack(&alternate, nullptr) == 0);
  set_handler(SIGUSR1, handle, SA_ONSTACK);
  for (int i = 0; i < 3; ++i) raise(SIGUSR1);
  alternate.ss_flags = SS_DISABLE;
  sigaltstack(&alternate, nullptr);
  set_handler(SIGUSR1, SIG_DFL, 0);
  CHECK(pair.captures == 6);
  CHECK(pair.differences == 0);
}

namespace {
Engine* interrupted = nullptr;
volatile sig_atomic_t answered_unknown = 0;

void capture_in_handler(int) {
  handled = handled + 1;
  const chameleon::Frame unknown[] = {chameleon::kUnknownFrame};
  if (interrupted->capture(__builtin_return_address(0)) == chameleon::stack_signature(unknown))
    answered_unknown = answered_unknown + 1;
}
}  // namespace

TEST_CASE("a capture in a handler leaves the capture it interrupts as it was", "[callpath]") {
  Engine engine;
  REQUIRE(Engine::start());
  const auto one = [&engine]() __attribute__((noinline)) {
    const std::uint64_t signature = engine.capture(__builtin_return_address(0));
    keep();
    return signature;
  };
  interrupted = &engine;
  handled = 0;
  answered_unknown = 0;
  std::set<std::uint64_t> signatures;
  for (int warm = 0; warm < 2; ++warm) {
    // Installed once the engine knows the stack: what is new allocates, and no handler may.
    if (warm == 1) set_handler(SIGALRM, capture_in_handler, 0);
    itimerval timer{};
    timer.it_interval.tv_usec = timer.it_value.tv_usec = warm == 1 ? 50 : 0;
    setitimer(ITIMER_REAL, &timer, nullptr);
    std::uint64_t first = 0, others = 0;
    for (int i = 0; i < (warm == 1 ? 1000000 : 1); ++i) {
      const std::uint64_t signature = one();
      if (first == 0) first = signature;
      others += signature != first;
    }
    timer = {};
    setitimer(ITIMER_REAL, &timer, nullptr);
    CHECK(others == 0);
    signatures.insert(first);
  }
  set_handler(SIGALRM, SIG_DFL, 0);
  CHECK(signatures.size() == 1);
  CHECK(handled > 0);
  if (answered_unknown == 0) {
    WARN("no capture was interrupted");
  } else {
    const chameleon::Frame unknown[] = {chameleon::kUnknownFrame};
    CHECK(lists(chameleon::stack_signature(unknown)));
  }
}

TEST_CASE("what longjmp leaves on the stack is not taken for frames", "[callpath]") {
  Pair pair;
  static jmp_buf back;
  struct Jump {
    // It ends by a jump, which the compiler takes for no end.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
    [[gnu::noinline, gnu::noclone]] static void out(Pair& pair, int depth) {
      check(pair);
      if (depth == 0)
        longjmp(back, 1);
      else
        out(pair, depth - 1);
      keep();
    }
#pragma GCC diagnostic pop
  };
  static unsigned i;  // not in a register that longjmp brings back
  for (i = 0; i < 2000; ++i) {
    if (setjmp(back) == 0) Jump::out(pair, static_cast<int>(i % 17));
    descend(pair, static_cast<int>(i % 11), i % 40);
    descend(pair, static_cast<int>(i % 11), i % 40);
  }
  CHECK(pair.differences == 0);
  CHECK(pair.fast.counts().walks < pair.captures);
}

namespace {
Pair* on_other_stack = nullptr;
std::size_t room_on_other_stack = 0;
void* place_on_other_stack = nullptr;

[[gnu::noinline]] void* run_on_other_stack(void*) {
  char* room = static_cast<char*>(alloca(room_on_other_stack));
  asm volatile("" : : "r"(room) : "memory");
  place_on_other_stack = room;
  for (int i = 0; i < 3; ++i) check(*on_other_stack);
  asm volatile("" : : "r"(room) : "memory");
  return nullptr;
}

void run_on(char* stack, std::size_t size, std::size_t room) {
  room_on_other_stack = room;
  pthread_attr_t attributes;
  pthread_t thread;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstack(&attributes, stack, size) == 0);
  REQUIRE(pthread_create(&thread, &attributes, run_on_other_stack, nullptr) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}
}  // namespace

TEST_CASE("a stack that is unmapped is not looked at again", "[callpath]") {
  Pair pair;
  on_other_stack = &pair;
  constexpr std::size_t kSize = std::size_t{1} << 18;
  const auto map = [](void* where, std::size_t size, int more) {
    void* const stack =
        mmap(where, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);
    REQUIRE(stack != MAP_FAILED);
    return static_cast<char*>(stack);
  };
  // First across both halves, then in the lower one at the very same address, the other half gone.
  char* const stack = map(nullptr, 2 * kSize, 0);
  run_on(stack, 2 * kSize, kSize + 1024);
  const void* const place = place_on_other_stack;
  for (int round = 0; round < 4; ++round) {
    munmap(stack, 2 * kSize);
    map(stack, kSize, MAP_FIXED_NOREPLACE);
    run_on(stack, kSize, 1024);
    CHECK(place_on_other_stack == place);
    munmap(stack, kSize);
    map(stack, 2 * kSize, MAP_FIXED_NOREPLACE);
    run_on(stack, 2 * kSize, kSize + 1024);
  }
  munmap(stack, 2 * kSize);
  CHECK(pair.captures == 27);
  CHECK(pair.differences == 0);
  CHECK(pair.fast.counts().libunwind == 0);
  CHECK(pair.fast.counts().walks < pair.captures);
}

TEST_CASE("a child of fork goes on where its parent was", "[callpath][threads]") {
  Pair pair;
  descend(pair, 5, 3);
  std::atomic<bool> stop{false};
  std::thread other([&stop] {  // so that the store is locked in most of the forks
    const chameleon::Frame unknown[] = {chameleon::kUnknownFrame};
    while (!stop) chameleon::callpath::PathStore::process().intern(unknown);
  });
  for (unsigned i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      descend(pair, 5, 3);
      descend(pair, 6, 1000 + i);
      _exit(pair.differences == 0 && pair.fast.counts().libunwind == 0 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  stop = true;
  other.join();
}

#if defined(__x86_64__)
TEST_CASE("code made at run time is left to libunwind", "[callpath]") {
  Pair pair;
  // push rbp; mov rbp, rsp; mov rax, rdi; mov rdi, rsi; call rax; pop rbp; ret
  const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
                                0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  std::memcpy(page, code, sizeof code);
  REQUIRE(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  reinterpret_cast<void (*)(void (*)(void*), void*)>(page)(check_callback, &pair);
  CHECK(pair.captures == 3);
  CHECK(pair.differences == 0);
  CHECK(pair.fast.counts().libunwind == 3);
  munmap(page, 4096);
}
#endif

TEST_CASE("a memo looks at rbp where a walk did, and at every word", "[callpath]") {
  using chameleon::callpath::StackMemo;
  const auto memo = StackMemo::make();
  REQUIRE(memo != nullptr);
  std::uint64_t stack[3] = {1, 2, 3};
  int site = 0;
  const chameleon::callpath::Registers here{10, reinterpret_cast<std::uintptr_t>(stack), 30};
  const auto elsewhere = [&](std::uintptr_t pc, std::uintptr_t sp, std::uintptr_t bp) {
    return memo->find(&site, {here.pc + pc, here.sp + sp, here.bp + bp}) == nullptr;
  };
  CHECK(elsewhere(0, 0, 0));
  StackMemo::Slot* const slot = memo->replace(&site, here);
  REQUIRE(slot != nullptr);
  slot->start = here;
  slot->count = 3;
  slot->uses_bp = false;
  for (std::size_t i = 0; i < 3; ++i)
    slot->words[i] = {reinterpret_cast<std::uintptr_t>(&stack[i]), stack[i]};
  memo->fill(*slot, &site);
  CHECK(memo->find(&site, here) == slot);
  CHECK_FALSE(elsewhere(0, 0, 8));
  slot->uses_bp = true;
  CHECK(elsewhere(0, 0, 8));
  CHECK(elsewhere(1, 0, 0));
  CHECK(elsewhere(0, 8, 0));
  for (std::uint64_t& word : stack) {
    ++word;
    CHECK(elsewhere(0, 0, 0));
    --word;
    CHECK_FALSE(elsewhere(0, 0, 0));
  }
  memo->clear();
  CHECK(elsewhere(0, 0, 0));
}

TEST_CASE("a memo touches no page that a walk would not", "[callpath]") {
  using chameleon::callpath::StackMemo;
  constexpr std::size_t kPage = 4096, kWords = 9;
  auto* const pages = static_cast<std::uint8_t*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  auto* const words = reinterpret_cast<std::uint64_t*>(pages + kPage) - 5;  // five, and four
  const auto memo = StackMemo::make();
  const chameleon::callpath::Registers here{10, reinterpret_cast<std::uintptr_t>(words), 30};
  int site = 0;
  StackMemo::Slot* const slot = memo->replace(&site, here);
  slot->start = here;
  slot->count = kWords;
  slot->uses_bp = false;
  for (std::size_t i = 0; i < kWords; ++i) {
    words[i] = i + 1;
    slot->words[i] = {reinterpret_cast<std::uintptr_t>(&words[i]), words[i]};
  }
  memo->fill(*slot, &site);
  CHECK(memo->find(&site, here) == slot);
  for (std::size_t i = 0; i < kWords; ++i) {
    ++words[i];
    CHECK(memo->find(&site, here) == nullptr);
    --words[i];
  }
  CHECK(memo->find(&site, here) == slot);
  words[4] = 0;  // a walk would end here
  REQUIRE(mprotect(pages + kPage, kPage, PROT_NONE) == 0);
  CHECK(memo->find(&site, here) == nullptr);
  munmap(pages, 2 * kPage);
}

TEST_CASE("tables that are not as expected prove nothing", "[callpath]") {
  using chameleon::callpath::read_rule;
  using chameleon::callpath::UnwindRule;
  const auto here = reinterpret_cast<std::uintptr_t>(&check_callback) + 1;
  const std::uint8_t other_version[] = {2, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 1, 0, 0, 0};
  const std::uint8_t no_table[] = {1, 0x1b, 0xff, 0xff, 0, 0, 0, 0};
  const std::uint8_t cut_short[] = {1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 255, 0, 0, 0};
  const std::uint8_t unsorted[] = {1, 0x1b, 0x03, 0x0b, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
  for (const std::span<const std::uint8_t> bytes :
       {std::span<const std::uint8_t>{}, std::span<const std::uint8_t>(other_version),
        std::span<const std::uint8_t>(no_table), std::span<const std::uint8_t>(cut_short),
        std::span<const std::uint8_t>(unsorted)})
    CHECK(read_rule(bytes, here).cfa == UnwindRule::Cfa::kUnknown);
}
