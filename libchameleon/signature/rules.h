// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Rules: what a user expects values of calls to be, computed from the rank (the plug-in functions
/// of dissertation section 3.3, Algorithms 2 and 3, as text). A line is a rule or a definition:
///
///     let n = isqrt(np)
///     Sendrecv.dest where tag == 3 = me % n * n + me / n
///
/// A value that is what its rule gives is signed by the rule's number instead, so ranks whose
/// values follow one rule are alike. A value is always compared: a wrong rule matches nothing, and
/// leaves the trace as it is.
///
/// Names: me, the rank in the call's communicator; np, its size; tag and count, the first ones of
/// the call; site, the number of the place that it is made from. Integers of 64 bits, which wrap;
/// the operators of C with C's precedence; min, max, isqrt. Rules without result (a division by
/// zero, a root of a negative number, a tag if the call has none) match nothing.
/// docs/reference/rules.md is for users.
///
/// Cost: O(length of the text) a parse, O(operations) an evaluation. Texts and what they hold are
/// bounded, so hostile ones are too.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chameleon::signature {

/// The caller, as rules see it.
struct RuleCaller {
  std::int64_t me = 0;
  std::int64_t np = 1;
  std::optional<std::int64_t> tag, count;
  std::optional<std::int64_t> site = std::nullopt;  ///< of the call (call_sites.h)
};

enum class RuleOperation : std::uint8_t;

class Rules {
 public:
  static constexpr std::size_t kMostText = 64 << 10;
  static constexpr std::size_t kMostRules = 256;
  static constexpr std::size_t kMostOperations = 4096;
  static constexpr int kMostNesting = 64;

  /// An operation on what earlier ones give: by place.
  struct Operation {
    RuleOperation kind{};
    std::int64_t number = 0;
    std::uint32_t a = 0, b = 0, c = 0;
  };
  struct Rule {
    std::string call, field;  ///< as in MPI, without MPI_
    std::uint32_t line = 0;   ///< of the text, from 1
    std::optional<std::uint32_t> condition;
    std::uint32_t value = 0;
  };

  /// Error: the line, and what is wrong with it.
  static Result<Rules> parse(std::string_view text);

  bool empty() const { return rules_.empty(); }
  const std::string& text() const { return text_; }
  std::span<const Rule> list() const { return rules_; }
  /// Whether a rule is of the caller's call: its condition holds, or it has none.
  bool applies(std::size_t rule, const RuleCaller& caller) const;
  /// The value that a rule gives a caller; nothing if its condition is false or has no result.
  std::optional<std::int64_t> value(std::size_t rule, const RuleCaller& caller) const;

 private:
  friend class RuleParser;

  /// The result of the operations up to one.
  std::vector<std::optional<std::int64_t>> results(std::uint32_t last,
                                                   const RuleCaller& caller) const;

  std::string text_;
  std::vector<Operation> operations_;
  std::vector<Rule> rules_;
};

}  // namespace chameleon::signature
