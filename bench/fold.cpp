// SPDX-License-Identifier: BSD-3-Clause
// bench/fold: nanoseconds of processor time per event of the fold, by shape of the loop. Prints a
// line a shape: the shape, events, ns per event (best of three), nodes left. Durations vary,
// as those of calls do.
//   bench/fold                 shapes made up
//   bench/fold TRACE.cham...   what a rank in the middle did in each of these, again and again
#include "compress/fold.h"

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "format/file.h"
#include "model/view.h"

namespace {

using chameleon::Event;
using chameleon::compress::Folder;

/// Calls emit(site) for `events` events of a shape.
using Shape = std::function<void(std::uint64_t events, const std::function<void(int)>& emit)>;

Shape flat(int body) {
  return [body](std::uint64_t events, const auto& emit) {
    for (std::uint64_t i = 0; i < events; ++i)
      emit(static_cast<int>(i % static_cast<unsigned>(body)));
  };
}

Shape nested(int outer, int inner) {
  return [=](std::uint64_t events, const auto& emit) {
    for (std::uint64_t i = 0; i < events;) {
      for (int o = 0; o < outer; ++o, ++i) emit(1000 + o);
      for (int j = 0; j < inner; ++j, ++i) emit(j % 2);
    }
  };
}

Shape varying() {
  return [](std::uint64_t events, const auto& emit) {
    for (std::uint64_t i = 0, step = 0; i < events; ++step) {
      for (int o = 0; o < 6; ++o, ++i) emit(100 + o);
      for (std::uint64_t j = 0; j < 20 + step * 7 % 11; ++j, i += 2) emit(1), emit(2);
    }
  };
}

constexpr int kRequests = 100'000;  ///< from this site on, events of two sites differ by a value

/// Eight requests posted in a loop, and waited for.
Shape requests() {
  return [](std::uint64_t events, const auto& emit) {
    for (std::uint64_t i = 0; i < events; ++i) {
      for (int k = 0; k < 8; ++k, ++i) emit(kRequests + k);
      emit(0);
    }
  };
}

/// An adaptive mesh: in each step some blocks come and some go; each has a kind, of which its calls
/// follow; messages are completed in whatever order they arrive, by kind of what they bring.
Shape adaptive() {
  return [](std::uint64_t events, const auto& emit) {
    std::uint64_t state = 1, done = 0;
    const auto below = [&](std::uint64_t n) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<int>((state >> 33) % n);
    };
    const auto call = [&](int site) {
      emit(site);
      ++done;
    };
    std::vector<int> blocks(12, 0);
    while (done < events) {
      for (int& kind : blocks)
        if (below(4) == 0) kind = below(5);
      if (below(2) == 0 && blocks.size() > 8) blocks.pop_back();
      if (below(2) == 0 && blocks.size() < 24) blocks.push_back(below(5));
      std::vector<int> messages;
      for (const int kind : blocks) {
        for (int k = 0; k < 2 + kind; ++k) call(200 + 10 * kind + k);
        for (int k = below(3); k >= 0; --k) messages.push_back(kind);
      }
      for (; !messages.empty(); messages.pop_back()) {
        std::swap(messages[static_cast<std::size_t>(below(messages.size()))], messages.back());
        call(300 + messages.back());
      }
      call(0);
    }
  };
}

double cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Factors, in 256ths, by which a duration is not the same each time: 0.8 to 1.3, rarely 5.
std::vector<std::uint64_t> jitter() {
  std::vector<std::uint64_t> factors(4096);
  std::uint64_t state = 1;
  for (std::uint64_t& factor : factors) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    factor = state >> 58 == 0 ? 1280 : 205 + (state >> 57);
  }
  return factors;
}

/// Folds events given by their places among the distinct ones, as the tracer does its log.
void measure(const char* name, const std::vector<Event>& distinct,
             const std::vector<std::uint32_t>& log) {
  const std::size_t events = log.size();
  const std::vector<std::uint64_t> factors = jitter();
  const auto vary = [&](std::uint64_t ns, std::size_t i) { return ns * factors[i % 4096] / 256; };
  double best = 1e30;
  std::size_t nodes = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    Folder folder(false);  // as the tracer does: times are kept elsewhere
    const double begin = cpu_ns();
    for (std::size_t at = 0; at < events;) {
      const std::size_t repeated = folder.repeat(
          events - at, [&](std::size_t i) { return distinct[log[at + i]].identity; },
          [&](std::size_t i) {
            const Event& event = distinct[log[at + i]];
            return chameleon::Node::event_symbol(event.call, event.path);
          },
          [&](std::size_t i) {
            const Event& event = distinct[log[at + i]];
            return std::pair(vary(event.compute, at + i), vary(event.communication, at + i + 1));
          });
      at += repeated;
      if (repeated != 0) continue;
      Event event = distinct[log[at]];
      event.compute = vary(event.compute, at);
      event.communication = vary(event.communication, at + 1);
      folder.push(event);
      ++at;
    }
    best = std::min(best, (cpu_ns() - begin) / static_cast<double>(events));
    nodes = folder.node_count();
  }
  std::printf("%-28s %10llu events %8.1f ns/event %8zu top-level nodes\n", name,
              static_cast<unsigned long long>(events), best, nodes);
}

void measure_shape(const char* name, const Shape& shape, std::uint64_t events = 4'000'000) {
  std::deque<std::vector<std::int64_t>> values;  // stay where they are
  std::vector<Event> distinct;
  std::vector<std::uint32_t> log;
  std::map<int, std::uint32_t> known;
  shape(events, [&](int site) {
    const auto [place, added] = known.try_emplace(site, static_cast<std::uint32_t>(known.size()));
    log.push_back(place->second);
    if (!added) return;
    values.push_back({0, 1000, -2, 4294967297, 7, 0, 1, 1000, 2, 0, 7, 0, 3, 0});
    auto path = static_cast<std::uint64_t>(site);
    if (site >= kRequests) {
      path = static_cast<std::uint64_t>(kRequests + site % 2);
      values.back()[9] = site;
    }
    distinct.push_back({1, path, 250, 900, values.back(), known.size()});
  });
  measure(name, distinct, log);
}

/// What one rank of a recorded run did, as often as makes a million events.
void measure_trace(const char* path) {
  const auto trace = chameleon::format::read_trace(path);
  if (!trace) {
    std::fprintf(stderr, "fold: %s\n", trace.error().message.c_str());
    std::exit(1);
  }
  const std::uint32_t rank = trace->world_size / 2;
  auto view = chameleon::RankView::make(*trace, rank);
  if (!view) {
    std::fprintf(stderr, "fold: %s\n", view.error().message.c_str());
    std::exit(1);
  }
  std::deque<std::vector<std::int64_t>> values;  // stay where they are
  std::vector<Event> distinct;
  std::vector<std::uint32_t> log;
  std::map<std::tuple<std::uint16_t, std::uint64_t, std::vector<std::int64_t>>, std::uint32_t>
      known;
  chameleon::EventView seen;
  while (log.size() < 1'000'000 && view->next(seen)) {
    const auto [place, added] = known.try_emplace({seen.node->call, seen.node->path, seen.values},
                                                  static_cast<std::uint32_t>(known.size()));
    log.push_back(place->second);
    if (!added) continue;
    const auto& times = seen.node->times;
    const auto mean = [&](auto part) {
      return times.empty() ? 0 : static_cast<std::uint64_t>((times.front().*part).mean());
    };
    distinct.push_back({seen.node->call, seen.node->path, mean(&chameleon::TimeEntry::compute),
                        mean(&chameleon::TimeEntry::communication),
                        values.emplace_back(seen.values), known.size()});
  }
  const std::size_t once = log.size();
  for (std::size_t i = 0; once != 0 && log.size() < 1'000'000; ++i) log.push_back(log[i % once]);
  const std::string name = std::filesystem::path(path).stem();
  measure(name.c_str(), distinct, log);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) measure_trace(argv[i]);
    return 0;
  }
  measure_shape("one event", flat(1));
  measure_shape("body of 10", flat(10));
  measure_shape("body of 100", flat(100));
  measure_shape("body of 1,000", flat(1000));
  measure_shape("body of 10,000", flat(10000));
  measure_shape("6 events + 100 in a loop", nested(6, 100));
  measure_shape("inner count varies", varying());
  measure_shape("8 requests in a loop", requests());
  measure_shape("adaptive", adaptive(), 40'000);
}
