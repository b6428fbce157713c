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
  const bool pairs = pairs_.counts();
  if (pairs) pairs_.begin(log.table().generation());
  constexpr std::size_t kAhead = 6;
  constexpr std::size_t kCached = 128;  // accounts that stay in the first cache
  const std::span<const IntervalLog::Record> records = log.records();
  const auto enter = [&](const IntervalLog::Record& record) {
    book_.add_ticks(symbols_[record.event()], record.compute(), record.communication(),
                    ns_per_tick);
    if (looks_) outliers_.add(book_, record.compute(), record.communication(), ns_per_tick);
    if (pairs) pairs_.add(record.event(), record.communication());
  };
  std::size_t i = 0;
  if (!first_ && !records.empty()) {
    enter(records[i++]);
    first_ = book_.last_place();
  }
  while (i + kAhead < records.size() && book_.size() > kCached) {
    book_.prefetch(symbols_[records[i + kAhead].event()]);
    enter(records[i++]);
  }
  for (; i < records.size(); ++i) enter(records[i]);
}

void StreamBook::end_interval() {
  if (!first_) return;
  if (wait_.ns != 0) waits_[*first_].add(wait_);
  wait_ = {};
  first_.reset();
}

}  // namespace chameleon::record
