// SPDX-License-Identifier: BSD-3-Clause
#include "record/stream_book.h"

namespace chameleon::record {

void StreamBook::learn(const EventTable& table) {
  if (generation_ != table.generation()) {
    generation_ = table.generation();
    symbols_.clear();
  }
  while (symbols_.size() < table.size()) {
    const EventTable::Entry& entry = table[static_cast<std::uint32_t>(symbols_.size())];
    symbols_.push_back(book_.number_of(paths_.symbol(entry)));
  }
}

void StreamBook::add(const IntervalLog& log, double ns_per_tick) {
  if (!keeps_) return;
  learn(log.table());
  constexpr std::size_t kAhead = 6;
  const auto ns = [&](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(
        static_cast<double>(static_cast<std::int64_t>(ticks)) * ns_per_tick));
  };
  const std::span<const IntervalLog::Record> records = log.records();
  const auto enter = [&](const IntervalLog::Record& record) {
    book_.add(symbols_[record.event()], ns(record.compute()), ns(record.communication()));
  };
  std::size_t i = 0;
  if (!first_ && !records.empty()) {
    enter(records[i++]);
    first_ = book_.last_place();
  }
  for (; i < records.size(); ++i) {
    if (i + kAhead < records.size()) book_.prefetch(symbols_[records[i + kAhead].event()]);
    enter(records[i]);
  }
}

void StreamBook::end_interval() {
  if (!first_) return;
  if (wait_.ns != 0) waits_[*first_].add(wait_);
  wait_ = {};
  first_.reset();
}

}  // namespace chameleon::record
