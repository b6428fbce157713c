// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The time of certain call sites (CHAMELEON_EFFORT=WHAT@FUNCTIONS): computation before MPI calls,
/// or time in them, if a function on their call path has one of some names. Each path is looked
/// up once, when the first interval with it ends. From then on an interval costs an addition for
/// each of its events, and a call nothing.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "callpath/function_names.h"
#include "record/interval_log.h"
#include "record/options.h"

namespace chameleon::record {

class SiteEffort {
 public:
  explicit SiteEffort(const RecordOptions& options) : options_(options) {}

  /// The events of the log belong to the present interval.
  void add(const IntervalLog& log) {
    if (!options_.effort_sites.functions.empty()) add_all(log);
  }
  /// Ticks since the last `take`.
  std::uint64_t take();

 private:
  void add_all(const IntervalLog& log);
  bool is_wanted(const EventTable::Entry& entry);
  bool has_function(std::uint64_t path);

  const RecordOptions& options_;
  std::uint64_t ticks_ = 0;
  std::vector<std::uint8_t> wanted_;     ///< by event
  std::uint32_t generation_ = 0;         ///< of the table that these are of
  std::map<std::uint64_t, bool> paths_;  ///< whether such a function is on them
  callpath::FunctionNames names_;
};

/// Whether a glob is a function's name: as the linker knows it, without what compilers append
/// (`.part.0`), or, of C++, as it is written: with parameters or without, with its scope or
/// without.
bool names_function(const std::vector<std::string>& globs, const std::string& symbol);

}  // namespace chameleon::record
