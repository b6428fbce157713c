// SPDX-License-Identifier: BSD-3-Clause
// bench/accounts: nanoseconds of processor time an event to enter its times into a rank's accounts,
// by how many places take turns and how far times differ, and with the look for outliers beside it;
// the least of 400 logs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <vector>

#include "model/account_book.h"
#include "record/outlier_log.h"

namespace {

using namespace chameleon;

constexpr std::size_t kEvents = 16'000;  // a log
constexpr int kLogs = 400;
constexpr double kNsPerTick = 0.385;

struct Event {
  std::uint32_t symbol;
  std::uint64_t compute, communication;  // ticks
};

double processor_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

double least_ns(std::uint32_t places, std::uint64_t range, bool outliers) {
  record::OutlierLog log_of_outliers;
  AccountBook book;
  std::mt19937 random(1);
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < kEvents; ++i)
    events.push_back(
        {book.number_of(100 + i % places), range / 2 + random() % range, random() % range});
  double least = 1e9;
  for (int log = 0; log < kLogs; ++log) {
    const double begin = processor_ns();
    if (outliers)
      for (const Event& event : events) {
        book.add_ticks(event.symbol, event.compute, event.communication, kNsPerTick);
        log_of_outliers.add(book, event.compute, event.communication, kNsPerTick);
      }
    else
      for (const Event& event : events)
        book.add_ticks(event.symbol, event.compute, event.communication, kNsPerTick);
    least = std::min(least, processor_ns() - begin);
  }
  return least / static_cast<double>(kEvents);
}

}  // namespace

int main() {
  for (const std::uint32_t places : {1U, 8U, 100U})
    for (const std::uint64_t range : {30U, 400U, 20'000U})
      std::printf("%4u places, times within %6llu ticks %8.2f, with outliers %8.2f\n", places,
                  static_cast<unsigned long long>(range), least_ns(places, range, false),
                  least_ns(places, range, true));
}
