// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Rules by the calls and values that they are of, by the table of MPI calls. In a header, so that
/// each runtime has that of its own table.

#include <string>
#include <vector>

#include "model/end_point.h"
#include "signature/call_parameters.h"
#include "signature/rules.h"

namespace chameleon::signature {

/// A value of a call that a rule may give.
struct RuledValue {
  SignedValue value;
  std::uint32_t rule = 0;  ///< by place in the list
};

/// Why a rule is of nothing that is signed; empty if it is of something.
inline std::string unknown_in(const Rules::Rule& rule) {
  const CallInfo* const call = find_call(rule.call);
  const std::string line = "line " + std::to_string(rule.line) + ": ";
  if (call == nullptr) return line + "there is no call MPI_" + rule.call;
  std::string known;
  for (const ParamInfo& param : params(*call)) {
    if (!is_signed(param) || parameter_of(param.kind) == Parameter::kDataOperation) continue;
    if (rule.field == param.name) return "";
    known += (known.empty() ? "" : ", ") + std::string(param.name);
  }
  return line + rule.call + " has no parameter '" + rule.field +
         "' that rules can give: " + (known.empty() ? "it has none" : "there are " + known);
}

/// Error: a rule of a call or parameter that there is not.
inline Status check_rules(const Rules& rules) {
  for (const Rules::Rule& rule : rules.list())
    if (std::string unknown = unknown_in(rule); !unknown.empty())
      return Error{ErrorKind::kUsage, std::move(unknown), 0};
  return Unit{};
}

class CallRules {
 public:
  /// `rules` must outlive it.
  explicit CallRules(const Rules& rules) : rules_(&rules), calls_(rules.empty() ? 0 : kCallIdEnd) {
    for (std::uint32_t i = 0; i < rules.list().size(); ++i) {
      const Rules::Rule& rule = rules.list()[i];
      const CallInfo* const call = find_call(rule.call);
      if (call == nullptr) continue;
      for_each_signed(*call, [&](const SignedValue& value) {
        if (value.parameter != Parameter::kDataOperation && rule.field == name_at(*call, value.at))
          calls_[call->id].values.push_back({value, i});
      });
      learn_places(*call, calls_[call->id]);
    }
  }

  bool empty() const { return calls_.empty(); }
  const Rules& rules() const { return *rules_; }
  /// The fields of a call that rules describe, in the order of the rules.
  const std::vector<RuledValue>& of(std::uint16_t call) const {
    static const std::vector<RuledValue> kNone;
    return call < calls_.size() ? calls_[call].values : kNone;
  }
  /// Where an event of the call has its communicator; -1: it has none.
  int comm_place(std::uint16_t call) const { return calls_[call].comm; }
  /// A rank of a communicator that makes a call with these values.
  RuleCaller caller(std::uint16_t call, std::span<const std::int64_t> values, std::int64_t me,
                    std::int64_t np) const {
    const auto at = [&](int place) {
      return place < 0 || static_cast<std::size_t>(place) >= values.size()
                 ? std::nullopt
                 : std::optional(values[static_cast<std::size_t>(place)]);
    };
    return {me, np, at(calls_[call].tag), at(calls_[call].count), std::nullopt};
  }
  /// Whether a rule is of a value of the caller's call.
  bool apply(std::uint16_t call, std::uint8_t at, const RuleCaller& caller) const {
    for (const RuledValue& one : of(call))
      if (one.value.at == at && rules_->applies(one.rule, caller)) return true;
    return false;
  }
  /// The first rule, from 1, that gives a caller this value, of partners the rank; 0: none does.
  std::uint32_t matching(std::uint16_t call, std::uint8_t at, std::int64_t value,
                         const RuleCaller& caller) const {
    for (const RuledValue& one : of(call))
      if (one.value.at == at && rules_->value(one.rule, caller) == value) return one.rule + 1;
    return 0;
  }
  /// The same of an event's values: partners are as recorded, in both readings.
  std::uint32_t matching(std::uint16_t call, const SignedValue& at,
                         std::span<const std::int64_t> values, const RuleCaller& caller) const {
    const std::int64_t value = values[at.at];
    return matching(call, at.at, at.end_point ? packed_absolute(value) : value, caller);
  }

 private:
  struct Call {
    std::vector<RuledValue> values;
    int comm = -1, tag = -1, count = -1;
  };

  static std::string_view name_at(const CallInfo& call, std::uint8_t at) {
    for (std::size_t i = 0; i < params(call).size(); ++i)
      if (value_offset(call, i) == at && stored_values(params(call)[i]) == 1)
        return params(call)[i].name;
    return "";
  }

  static void learn_places(const CallInfo& call, Call& places) {
    for (std::size_t i = 0; i < params(call).size(); ++i) {
      const ParamInfo& param = params(call)[i];
      if (!is_signed(param) || stored_values(param) != 1) continue;
      int* const place = param.kind == Kind::kComm    ? &places.comm
                         : param.kind == Kind::kTag   ? &places.tag
                         : param.kind == Kind::kCount ? &places.count
                                                      : nullptr;
      if (place != nullptr && *place < 0) *place = static_cast<int>(value_offset(call, i));
    }
  }

  const Rules* rules_;
  std::vector<Call> calls_;  ///< by id; empty without rules
};

}  // namespace chameleon::signature
