// SPDX-License-Identifier: BSD-3-Clause
#include "model/rank_unions.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

namespace chameleon::inline model {
namespace {

std::atomic<RankUnions*> g_present{nullptr};
std::atomic<pthread_t> g_thread_of_unions{};

}  // namespace

RankUnions::RankUnions() {
  RankUnions* none = nullptr;
  present_ = g_present.compare_exchange_strong(none, this);
  if (present_) g_thread_of_unions = pthread_self();
}

RankUnions::~RankUnions() {
  if (!present_) return;
  g_thread_of_unions = pthread_t{};
  g_present = nullptr;
}

RankUnions* RankUnions::present() {
  RankUnions* const present = g_present.load(std::memory_order_relaxed);
  if (present == nullptr || pthread_equal(g_thread_of_unions.load(), pthread_self()) == 0)
    return nullptr;
  return present;
}

const RankRuns* RankUnions::find(const RankRuns& mine, const RankRuns& other) const {
  const auto found = std::find_if(unions_.begin(), unions_.end(), [&](const Union& one) {
    return one.mine.is(mine) && one.other.is(other);
  });
  return found == unions_.end() ? nullptr : &found->both;
}

void RankUnions::clear() {
  unions_.clear();
  oldest_ = runs_ = 0;
}

void RankUnions::add(const RankRuns& mine, const RankRuns& other, const RankRuns& both) noexcept {
  Union next{mine, other, both};
  if (runs_ + next.runs() > kMostRuns) clear();
  runs_ += next.runs();
  if (unions_.size() == kMost) {
    runs_ -= unions_[oldest_].runs();
    unions_[oldest_] = std::move(next);
    oldest_ = (oldest_ + 1) % kMost;
    return;
  }
  try {
    unions_.push_back(std::move(next));
  } catch (const std::bad_alloc&) {
    clear();
  }
}

}  // namespace chameleon::inline model
