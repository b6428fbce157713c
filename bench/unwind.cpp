// SPDX-License-Identifier: BSD-3-Clause
// What a call path costs: nanoseconds a capture, by depth and by how much of the stack is the same
// as before, beside libunwind's fastest interface and what nothing at all costs.
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "callpath/engine.h"
#include "unwind_frames.h"

namespace chameleon::bench {
using namespace callpath;
namespace {

using callpath::Engine;

// Short batches, so that few of them are interrupted.
constexpr int kRepeats = 401;
constexpr int kCaptures = 800;
constexpr std::array kDepths{5, 10, 20, 40};

std::uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

std::uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return now_ns();
#endif
}

/// Nanoseconds for each of `times` runs of `body`: median over the repeats.
template <class Body>
double median_ns(int times, Body&& body) {
  std::vector<double> all;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const std::uint64_t begin = now_ns();
    for (int i = 0; i < times; ++i) body();
    all.push_back(static_cast<double>(now_ns() - begin) / times);
  }
  std::nth_element(all.begin(), all.begin() + kRepeats / 2, all.end());
  return all[kRepeats / 2];
}

volatile std::uint64_t sink;
int (*unw_backtrace)(void**, int);

/// What is measured, called as an MPI wrapper is.
[[gnu::noinline, gnu::noclone]] void nothing(Engine&) { asm volatile("" ::: "memory"); }
[[gnu::noinline, gnu::noclone]] void capture(Engine& engine) {
  sink = engine.capture(__builtin_return_address(0));
}
[[gnu::noinline, gnu::noclone]] void libunwind(Engine&) {
  void* addresses[160];
  sink = static_cast<std::uint64_t>(unw_backtrace(addresses, 160));
}

struct Job {
  void (*what)(Engine&);
  Engine* engine;
  double ns = 0;
};

void same_site(void* with) {
  auto& job = *static_cast<Job*>(with);
  job.ns = median_ns(kCaptures, [&] { job.what(*job.engine); });
}

void eight_sites(void* with) {
  auto& job = *static_cast<Job*>(with);
  job.ns = median_ns(kCaptures / 8,
                     [&] {
                       job.what(*job.engine), job.what(*job.engine), job.what(*job.engine),
                           job.what(*job.engine);
                       job.what(*job.engine), job.what(*job.engine), job.what(*job.engine),
                           job.what(*job.engine);
                     }) /
           8;
}

void once(void* with) {
  auto& job = *static_cast<Job*>(with);
  job.what(*job.engine);
  asm volatile("" ::: "memory");
}

using Call = void (*)(int, unsigned long, Leaf, void*);

struct InnerHalf {
  Call call;
  int depth;
  unsigned variants;
  Job* job;
};

/// The inner half of the stack is another one for each capture, of so many variants.
void inner_half(void* with) {
  auto& half = *static_cast<InnerHalf*>(with);
  unsigned long way = 0;
  half.job->ns = median_ns(kCaptures, [&] {
    half.call(half.depth, way, once, half.job);
    way = (way + 1) % half.variants;
  });
}

double measure_half(Call call, int depth, unsigned variants, void (*what)(Engine&),
                    Engine& engine) {
  Job job{what, &engine};
  InnerHalf half{call, depth / 2, variants, &job};
  call(depth - depth / 2, 0, inner_half, &half);
  return job.ns;
}

double measure(Call call, int depth, Leaf leaf, void (*what)(Engine&), Engine& engine) {
  Job job{what, &engine};
  call(depth, 0, leaf, &job);
  return job.ns;
}

struct Row {
  std::string what;
  bool frame_pointers;
  int depth;
  double ns;
};

void measure_stacks(bool frame_pointers, std::vector<Row>& rows) {
  const Call call = frame_pointers ? call_with_frame_pointers : call_without_frame_pointers;
  for (const int depth : kDepths) {
    Engine memo, walk(Engine::Unwinder::kWalk), old(Engine::Unwinder::kLibunwind);
    const auto add = [&](const char* what, double ns) {
      rows.push_back({what, frame_pointers, depth, ns});
    };
    add("same site", measure(call, depth, same_site, capture, memo));
    add("eight sites", measure(call, depth, eight_sites, capture, memo));
    for (const unsigned variants : {2u, 8u})
      add(variants == 2 ? "half of the stack alternates" : "half of the stack rotates, of eight",
          measure_half(call, depth, variants, capture, memo) -
              measure_half(call, depth, variants, nothing, memo));
    add("full walk", measure(call, depth, same_site, capture, walk));
    add("engine by libunwind", measure(call, depth, same_site, capture, old));
    add("unw_backtrace", measure(call, depth, same_site, libunwind, memo));
  }
}

void print_table(double call, double rdtsc, double clock, const std::vector<Row>& rows) {
  std::printf("floor: a call %.1f ns, rdtsc %.1f ns, clock_gettime %.1f ns\n", call, rdtsc, clock);
  std::printf("ns a capture (over unw_backtrace) at depth");
  for (const int depth : kDepths) std::printf(" %d", depth);
  std::printf("\n");
  const std::size_t lines = rows.size() / 2 / kDepths.size();
  for (int pointers = 0; pointers < 2; ++pointers) {
    std::printf("%s frame pointers\n", pointers == 0 ? "without" : "with");
    for (std::size_t line = 0; line < lines; ++line) {
      const std::size_t first = static_cast<std::size_t>(pointers) * lines * kDepths.size();
      std::printf("  %-38s", rows[first + line].what.c_str());
      for (std::size_t d = 0; d < kDepths.size(); ++d) {
        const double ns = rows[first + d * lines + line].ns;
        std::printf(" %8.1f (%.2f)", ns, ns / rows[first + d * lines + lines - 1].ns);
      }
      std::printf("\n");
    }
  }
}

void print_json(double call, double rdtsc, double clock, const std::vector<Row>& rows) {
  std::printf(
      "{\"schema\": \"chameleon.bench.unwind/1\", \"repeats\": %d, \"call_ns\": %.2f, "
      "\"rdtsc_ns\": %.2f, \"clock_gettime_ns\": %.2f, \"captures\": [",
      kRepeats, call, rdtsc, clock);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::printf("%s\n  {\"what\": \"%s\", \"frame_pointers\": %s, \"depth\": %d, \"ns\": %.2f}",
                i == 0 ? "" : ",", rows[i].what.c_str(), rows[i].frame_pointers ? "true" : "false",
                rows[i].depth, rows[i].ns);
  std::printf("]}\n");
}

}  // namespace
}  // namespace chameleon::bench

int main(int count, char** arguments) {
  using namespace chameleon::bench;
  const bool json = count == 2 && std::strcmp(arguments[1], "--json") == 0;
  if (count > 1 && !json) {
    std::fprintf(stderr, "usage: unwind [--json]\n");
    return 2;
  }
  if (const auto started = Engine::start(); !started) {
    std::fprintf(stderr, "unwind: %s\n", started.error().message.c_str());
    return 4;
  }
  unw_backtrace = reinterpret_cast<int (*)(void**, int)>(
      dlsym(dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL), "unw_backtrace"));
  Engine engine;
  const double call = median_ns(kCaptures, [&] { nothing(engine); });
  const double rdtsc = median_ns(kCaptures, [] { sink = ticks(); });
  const double clock = median_ns(kCaptures, [] { sink = now_ns(); });
  std::vector<Row> rows;
  measure_stacks(false, rows);
  measure_stacks(true, rows);
  (json ? print_json : print_table)(call, rdtsc, clock, rows);
}
