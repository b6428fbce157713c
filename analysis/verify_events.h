// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Compares one event of a rank, parameter by parameter, with its raw record,
/// and keeps the model of handles in step. Partners are ranks of the communicator that the trace
/// says. Every raw parameter counts once in
/// the column of its kind, matched or not; a status counts as three (source,
/// tag, bytes), which the trace holds only as far as the posted receive does
/// not tell them. What a call does not read (`?`) is not compared.

#include <optional>
#include <string_view>
#include <unordered_map>

#include "analysis/verify.h"
#include "analysis/verify_model.h"
#include "analysis/verify_seen.h"
#include "mpi/call_table.h"

namespace chameleon::analysis {

class Comparison {
 public:
  /// `model` is of the rank, and of all of its streams.
  Comparison(const Trace& trace, RawModel& model, std::uint32_t stream, VerifyReport& report)
      : trace_(trace), model_(model), stream_(stream), report_(report) {}

  /// Whether the two are at the same place in the order; kDeclared: but for
  /// events declared to be missing or additional.
  enum class Place : std::uint8_t { kSame, kDeclared, kOther };

  /// The same call on both sides.
  void both(const RawEvent& raw, const SeenEvent& seen, Place place, std::uint64_t number);
  /// A raw event that the trace lacks. `kinds`: what the trace declares inexact here.
  void missing(const RawEvent& raw, std::uint32_t kinds, std::uint64_t number);
  /// An event of the trace that did not happen.
  void extra(const SeenEvent& seen, std::uint64_t number);
  /// Kinds in which declared differences were found.
  std::uint32_t found() const { return found_; }

 private:
  struct Param {
    std::string name;
    Kind kind = Kind::kOther;
    Direction direction = Direction::kIn;
    Column column = Column::kOther;
    int field = -1;  ///< of the trace's values; -1: it has none
  };
  struct Plan {
    const CallInfo* info = nullptr;
    std::vector<Param> params;              ///< in the order of the line
    const CallDescription* call = nullptr;  ///< of the trace; null: only records were seen so far
  };

  /// The values of a status; `place`: of the source.
  struct SeenStatus {
    EndPoint source{EndPointForm::kBoth, pack_special(SpecialRank::kNone)};
    std::int64_t tag = kNotRecorded, bytes = kNotRecorded;
    CommPlace place;
    bool has_source() const { return !resolve(source, place).is(SpecialRank::kNone); }
  };
  /// Which parts of all statuses of a call agree.
  struct StatusParts {
    bool source = true, tag = true, bytes = true;
  };

  Plan& plan(const RawEvent& raw, const SeenEvent* seen);
  void count(Column column, bool matched);
  void mismatch(Column column, std::string parameter, std::string raw, std::string trace);

  void path(std::uint64_t called, std::uint64_t told);
  void value(const RawEvent& raw, const RawValue& token, const Param& param, const SeenEvent& seen);
  bool array_matches(const RawEvent& raw, const RawValue& token, const Param& param,
                     std::span<const std::int64_t> stored);
  bool end_point_matches(std::int64_t rank, const EndPoint& end, CommPlace place,
                         std::optional<CommPlace> recorded) const;
  std::span<const std::int64_t> array(const SeenEvent& seen, int field) const;
  std::int64_t id_of(const SeenEvent* seen, std::string_view field, std::size_t i) const;

  // verify_statuses.cpp
  void statuses(const RawEvent& raw, const RawValue& token, const Param& param,
                const SeenEvent& seen);
  SeenStatus seen_status(const SeenEvent& seen, const Param& param, bool many, std::size_t i) const;
  void compare_status(const RawStatus& got, const RawRequest* posted, const SeenStatus& seen,
                      bool probes, StatusParts& same) const;
  void judge_statuses(const RawValue& token, const Param& param, const SeenEvent& seen,
                      const StatusParts& same);

  // verify_objects.cpp
  /// The request that status `at` is of.
  RawRequest* request_of_status(const RawEvent& raw, const SeenEvent* seen, std::size_t at);
  void follow(const RawEvent& raw, const Plan& plan, const SeenEvent* seen);
  void make(const RawEvent& raw, const Plan& plan, const Param& param, std::int64_t handle,
            const SeenEvent* seen);
  void start(const RawEvent& raw, const SeenEvent* seen);
  void complete(const RawEvent& raw, const SeenEvent* seen);

  const Trace& trace_;
  RawModel& model_;
  std::uint32_t stream_;
  VerifyReport& report_;
  std::unordered_map<std::string, Plan> plans_;
  std::string call_;
  std::uint64_t number_ = 0;
  std::uint32_t kinds_ = 0;  ///< declared at the current event
  std::uint32_t found_ = 0;
};

}  // namespace chameleon::analysis
