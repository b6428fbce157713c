// SPDX-License-Identifier: BSD-3-Clause
#include "record/outlier_log.h"

namespace chameleon::record {

void OutlierLog::keep(const Candidate& candidate) {
  const auto longer = [](const Candidate& a, const Candidate& b) { return a.ns > b.ns; };
  if (candidates_.size() == kMost) {
    if (candidates_.front().ns >= candidate.ns) return;
    std::pop_heap(candidates_.begin(), candidates_.end(), longer);
    candidates_.pop_back();
  }
  candidates_.push_back(candidate);
  std::push_heap(candidates_.begin(), candidates_.end(), longer);
}

void OutlierLog::note(const AccountBook& book, std::uint64_t compute, std::uint64_t communication,
                      double ns_per_tick) {
  const std::uint64_t longest = std::max(compute, communication);
  long_ = static_cast<std::uint64_t>(static_cast<double>(spent_) * kLeastShare);
  if (longest <= long_) return;
  const auto ns = [&](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick);
  };
  Candidate candidate;
  candidate.event = events_;
  candidate.account = book.last_account();
  candidate.begin_ns = ns(spent_) + waited_ns_;
  candidate.ns = ns(compute);
  if (compute > long_) keep(candidate);
  candidate.begin_ns += candidate.ns;
  candidate.ns = ns(communication);
  candidate.in_call = true;
  if (communication > long_) keep(candidate);
}

std::vector<Outlier> OutlierLog::outliers(const AccountBook& book, std::uint32_t stream,
                                          double ns_per_tick) const {
  constexpr std::uint64_t kFewest = 4;
  const double least = static_cast<double>(spent_) * ns_per_tick * kLeastShare;
  std::vector<Outlier> found;
  for (const Candidate& one : candidates_) {
    if (static_cast<double>(one.ns) <= least) continue;
    const Durations times = book.durations(one.account);
    const Histogram& like = one.in_call ? times.communication : times.compute;
    if (like.count() < kFewest) continue;
    const double median = like.quantile(0.5);
    const double spread = (like.quantile(0.75) - like.quantile(0.25)) / 2;
    const double beyond = static_cast<double>(one.ns) - median;
    if (beyond <= std::max(least, kSpreads * spread)) continue;
    found.push_back({stream, one.event, one.in_call, book.place(one.account), one.ns,
                     static_cast<std::uint64_t>(median), one.begin_ns});
  }
  return found;
}

}  // namespace chameleon::record
