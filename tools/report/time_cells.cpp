// SPDX-License-Identifier: BSD-3-Clause
#include "tools/report/time_cells.h"

#include <algorithm>
#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>

namespace chameleon::tools::report {

std::string base64(const std::vector<std::uint8_t>& bytes) {
  namespace iterators = boost::archive::iterators;
  using Letters = iterators::base64_from_binary<
      iterators::transform_width<std::vector<std::uint8_t>::const_iterator, 6, 8>>;
  std::string text(Letters(bytes.begin()), Letters(bytes.end()));
  return text.append((3 - bytes.size() % 3) % 3, '=');
}

TimeCells::TimeCells(const Trace& trace, std::vector<RankList> rows, double expected_ns)
    : width_(std::max<std::uint64_t>(static_cast<std::uint64_t>(expected_ns / kColumns) + 1, 1)),
      cells_(rows.size() * kColumns) {
  for (RankList& ranks : rows) {
    Row row;
    for (const std::uint32_t rank : ranks.ranks())
      for (const std::uint32_t stream : trace.streams_of(rank)) {
        if (row_of_.size() <= stream) row_of_.resize(stream + 1, kNoRow);
        row_of_[stream] = static_cast<std::uint32_t>(rows_.size());
        ++row.threads;
      }
    row.ranks = std::move(ranks);
    rows_.push_back(std::move(row));
  }
}

std::vector<RankList> TimeCells::by_rank(const Load& load) {
  const std::size_t of = (load.ranks.size() + kMostRows - 1) / kMostRows;
  std::vector<RankList> rows;
  for (std::size_t i = 0; i < load.ranks.size(); ++i) {
    if (i % of == 0) rows.emplace_back();
    rows.back().insert(load.ranks[i].rank);
  }
  return rows;
}

std::vector<RankList> TimeCells::by_class(const Trace& trace) {
  std::vector<RankList> rows;
  if (trace.threads > 1) return rows;  // classes are of streams
  for (const TimeClass& one : trace.times.classes()) rows.push_back(one.streams);
  if (rows.size() < 2) {
    rows.clear();
    for (const Cluster& cluster : trace.online.clusters) rows.push_back(cluster.ranks);
  }
  const bool alone = std::all_of(rows.begin(), rows.end(),
                                 [](const RankList& ranks) { return ranks.size() == 1; });
  if (rows.size() < 2 || rows.size() > kMostRows || alone) rows.clear();
  return rows;
}

template <class Add>
void TimeCells::spread(std::uint32_t stream, std::uint64_t begin, std::uint64_t end,
                       const Add& add) {
  if (stream >= row_of_.size() || row_of_[stream] == kNoRow) return;
  while (end > width_ * kColumns) halve();
  Row& row = rows_[row_of_[stream]];
  row.begin = std::min(row.begin, begin);
  row.end = std::max(row.end, end);
  Cell* cells = &cells_[row_of_[stream] * kColumns];
  while (begin < end) {
    const std::uint64_t column = begin / width_;
    const std::uint64_t until = std::min(end, (column + 1) * width_);
    add(cells[column], until - begin);
    begin = until;
  }
}

void TimeCells::add_call(const TimedEvent& event, std::size_t kind) {
  spread(event.stream(), event.begin_ns, event.end_ns,
         [kind](Cell& cell, std::uint64_t ns) { cell.calls[kind] += ns; });
}

void TimeCells::add_wait(const WaitSpan& wait) {
  spread(wait.stream, wait.begin_ns, wait.end_ns, [&](Cell& cell, std::uint64_t ns) {
    (wait.kind == WaitClass::kMarker ? cell.marker_waits : cell.in_call_waits) += ns;
  });
}

Json TimeCells::write(std::uint64_t end_ns) const {
  const std::size_t columns =
      std::clamp<std::uint64_t>((end_ns + width_ - 1) / width_, 1, kColumns);
  std::vector<std::uint8_t> share, wait, kind;
  Json ranks = Json::array(), begin = Json::array(), end = Json::array();
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const double whole = static_cast<double>(width_) * static_cast<double>(rows_[row].threads);
    const auto part = [whole](std::uint64_t ns) {
      return static_cast<std::uint8_t>(
          std::min(255.0, 255.0 * static_cast<double>(ns) / whole + 0.5));
    };
    for (std::size_t column = 0; column < columns; ++column) {
      const Cell& cell = cells_[row * kColumns + column];
      std::uint64_t calls = 0;
      for (const std::uint64_t ns : cell.calls) calls += ns;
      share.push_back(part(calls + cell.marker_waits));
      wait.push_back(part(cell.in_call_waits + cell.marker_waits));
      kind.push_back(static_cast<std::uint8_t>(
          std::max_element(cell.calls.begin(), cell.calls.end()) - cell.calls.begin()));
    }
    ranks.push_back(rows_[row].ranks.to_string());
    begin.push_back(std::min(rows_[row].begin, end_ns));
    end.push_back(std::min(rows_[row].end, end_ns));
  }
  return {{"rows", rows_.size()},      {"columns", columns},        {"column_ns", width_},
          {"ranks", std::move(ranks)}, {"begin", std::move(begin)}, {"end", std::move(end)},
          {"share", base64(share)},    {"wait", base64(wait)},      {"kind", base64(kind)}};
}

/// Columns become twice as wide.
void TimeCells::halve() {
  width_ *= 2;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    Cell* cells = &cells_[row * kColumns];
    for (std::size_t column = 0; column < kColumns; ++column) {
      Cell sum;
      for (std::size_t from = 2 * column; from < std::min(2 * column + 2, kColumns); ++from) {
        for (std::size_t kind = 0; kind < kCallKinds; ++kind)
          sum.calls[kind] += cells[from].calls[kind];
        sum.in_call_waits += cells[from].in_call_waits;
        sum.marker_waits += cells[from].marker_waits;
      }
      cells[column] = sum;
    }
  }
}

}  // namespace chameleon::tools::report
