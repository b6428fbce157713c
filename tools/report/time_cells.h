// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The run as a picture: a row is a rank or some ranks, a column a stretch of time, and a cell what
/// the ranks did there. Memory: rows x kColumns cells, whatever the number of events.

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/place_waits.h"
#include "analysis/timeline.h"
#include "tools/report/report.h"

namespace chameleon::tools::report {

class TimeCells {
 public:
  static constexpr std::size_t kColumns = 512;
  static constexpr std::size_t kMostRows = 256;

  /// One row for each element of `rows`. `expected_ns` is the length of the run; if the run turns
  /// out longer, columns become twice as wide.
  TimeCells(const Trace& trace, std::vector<RankList> rows, double expected_ns);

  /// Ranks in their order, some to a row where there are more than kMostRows.
  static std::vector<RankList> by_rank(const Load& load);
  /// Ranks that are alike: classes of ranks with like times, or else clusters. Empty where that
  /// says nothing, because every rank is alone or all are alike.
  static std::vector<RankList> by_class(const Trace& trace);

  /// A call of this kind (`call_kind_index`).
  void add_call(const TimedEvent& event, std::size_t kind);
  void add_wait(const WaitSpan& wait);

  /// For each cell `share` of the time not spent computing, `wait` of the time spent waiting (both
  /// of 255), and the most frequent `kind` of call; for each row its `ranks`, and when the first of
  /// them began and the last ended.
  Json write(std::uint64_t end_ns) const;

 private:
  struct Cell {
    std::array<std::uint64_t, kCallKinds> calls{};  ///< ns
    std::uint64_t in_call_waits = 0, marker_waits = 0;
  };
  struct Row {
    RankList ranks;
    std::size_t threads = 0;
    std::uint64_t begin = UINT64_MAX, end = 0;  ///< of the first and the last call
  };
  static constexpr std::uint32_t kNoRow = UINT32_MAX;

  template <class Add>
  void spread(std::uint32_t stream, std::uint64_t begin, std::uint64_t end, const Add& add);
  void halve();

  std::vector<Row> rows_;
  std::vector<std::uint32_t> row_of_;  ///< by stream
  std::uint64_t width_;                ///< of a column, ns
  std::vector<Cell> cells_;
};

std::string base64(const std::vector<std::uint8_t>& bytes);

}  // namespace chameleon::tools::report
