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

#include "tools/export/text_file.h"

namespace chameleon::tools {

class SortedLines {
 public:
  static constexpr std::size_t kLimit = std::size_t{64} << 20;
  explicit SortedLines(std::size_t limit = kLimit) : limit_(limit) {}

  void add(std::uint64_t time, std::string line);
  /// Writes all lines; nothing can be added after it.
  Status write(TextFile& file);

 private:
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

}  // namespace chameleon::tools
