// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Reads raw records (`CHAMELEON_RAW`): the calls of a rank, or of one thread of it, as text, a
/// line each, with plain C arguments and the handles MPI gave. Lines are read one by one; a
/// malformed one is an error with its number, and nothing is guessed.

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/foreign_lines.h"
#include "base/result.h"

namespace chameleon::analysis {

struct RawStatus {
  std::int64_t source = 0, tag = 0, bytes = 0, cancelled = 0;
};

/// One NAME=VALUE of a line.
struct RawValue {
  /// kNothing: `?`, an argument the call does not read, or `(?)`, a status ignored.
  enum class Shape : std::uint8_t { kNumber, kArray, kStatus, kStatuses, kNothing };
  std::string_view name;
  std::string_view text;  ///< as written
  Shape shape = Shape::kNumber;
  std::size_t first = 0, count = 0;  ///< in the event's numbers; a status takes four
};

/// One line. Its views point into itself: it is not moved while they are used.
struct RawEvent {
  std::string line;
  std::uint64_t line_number = 0;
  std::uint64_t place = 0;  ///< among the lines of all threads of the rank, from 1; 0: unknown
  std::uint64_t path = 0;   ///< stack signature of the call; 0: unknown
  std::string_view call;
  std::vector<RawValue> values;
  std::vector<std::int64_t> numbers;

  RawEvent() = default;
  RawEvent(const RawEvent&) = delete;
  RawEvent& operator=(const RawEvent&) = delete;

  const RawValue* find(std::string_view name) const;
  /// The number of this name, or `otherwise`.
  std::int64_t number(std::string_view name, std::int64_t otherwise) const;
  std::span<const std::int64_t> array(std::string_view name) const;
  std::int64_t scalar(const RawValue& value) const { return numbers[value.first]; }
  std::span<const std::int64_t> array(const RawValue& value) const {
    return std::span(numbers).subspan(value.first, value.count);
  }
  RawStatus status(const RawValue& value, std::size_t i) const;
};

struct RawPredefined {
  std::string kind, name;
  std::int64_t handle = 0, size = 0;
};

class RawReader {
 public:
  /// Opens `dir/rank.N.raw`, or `dir/rank.N.T.raw` of a thread but the first, and reads its head.
  static Result<RawReader> open(const std::string& directory, std::uint32_t rank,
                                std::uint32_t thread = 0);
  /// The file of a thread's records, and whether it exists.
  static std::string file_of(const std::string& directory, std::uint32_t rank,
                             std::uint32_t thread);
  static bool exists(const std::string& directory, std::uint32_t rank, std::uint32_t thread);

  /// The next event, false at the end.
  Result<bool> next(RawEvent& event);
  /// Unsuccessful polls are counted, and no events, as in a trace that leaves them out.
  void leave_out_polls() { leaves_out_polls_ = true; }
  std::uint64_t polls() const { return polls_; }
  /// A last line without its end is no event, instead of an error: of a killed job.
  void allow_cut() { cut_allowed_ = true; }
  /// Whether a Test or a probe was carried out, and found nothing, or had nothing to test.
  bool is_unsuccessful_poll(const RawEvent& event) const;

  /// Markers before the event read last, or before the end.
  std::uint64_t markers() const { return markers_; }
  const std::string& path() const { return path_; }
  std::uint32_t world_size() const { return world_size_; }
  const std::vector<RawPredefined>& predefined() const { return predefined_; }
  /// MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ROOT, MPI_ANY_TAG, MPI_UNDEFINED.
  std::int64_t constant(const std::string& name, std::int64_t otherwise) const;

 private:
  Status head(std::uint32_t rank, std::uint32_t thread);
  Result<bool> read(RawEvent& event);
  bool read_line(std::string& line);
  Status read_path(RawEvent& event);
  Error malformed(const std::string& what) const;

  std::string path_;
  ForeignLines file_;
  std::uint64_t line_number_ = 0, markers_ = 0;
  std::string pending_;  ///< a line that was read ahead
  bool has_pending_ = false;
  bool cut_allowed_ = false;
  bool leaves_out_polls_ = false;
  std::uint64_t polls_ = 0;
  std::uint32_t world_size_ = 0;
  std::vector<RawPredefined> predefined_;
  std::map<std::string, std::int64_t> constants_;
};

}  // namespace chameleon::analysis
