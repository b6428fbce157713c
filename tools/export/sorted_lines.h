// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Lines put in the order of their times: formats that want all ranks' records in
/// one sequence get them rank by rank. A run of them is sorted in memory, spilled
/// to a temporary file when it reaches `limit` bytes, and the runs are merged at
/// the end (external merge sort). Equal times keep the order of `add`.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/export/export_shape.h"
#include "tools/export/text_file.h"

namespace chameleon::tools {

class SortedLines {
 public:
  static constexpr std::size_t kLimit = std::size_t{64} << 20;
  explicit SortedLines(std::size_t limit = kLimit) : limit_(limit) {}

  /// Bytes of temporary files for a number of lines that have `bytes` in all.
  static double temporary(double lines, double bytes) {
    const bool spills = bytes + lines * sizeof(Line) >= kLimit;
    return spills ? bytes + lines * kHead : 0;
  }

  void add(std::uint64_t time, std::string line);
  /// Writes all lines; nothing can be added after it.
  Status write(TextFile& file);

 private:
  static constexpr std::size_t kHead =
      3 * sizeof(std::uint64_t);  ///< before a line that is spilled
  struct Line {
    std::uint64_t time = 0, order = 0;
    std::string text;
    bool operator<(const Line& other) const {
      return time != other.time ? time < other.time : order < other.order;
    }
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Run = std::unique_ptr<std::FILE, Close>;

  void spill();
  static bool read(std::FILE* file, Line& line);

  const std::size_t limit_;
  std::vector<Line> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t order_ = 0;
  std::vector<Run> runs_;
  bool failed_ = false;
};

/// The room that sorted lines will take.
class SortedSize {
 public:
  void add(double lines, double each) {
    lines_ += lines;
    bytes_ += lines * each;
  }
  /// With what is beside them.
  ExportSize size(double beside) const {
    return {bytes_ + beside, SortedLines::temporary(lines_, bytes_)};
  }

 private:
  double lines_ = 0, bytes_ = 0;
};

}  // namespace chameleon::tools
