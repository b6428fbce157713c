// SPDX-License-Identifier: BSD-3-Clause
#include "signature/rules.h"

#include "signature/rule_operations.h"

namespace chameleon::signature {
namespace {

using Kind = RuleOperation;
using Number = std::optional<std::int64_t>;

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }

Number divided(Kind kind, std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  return kind == Kind::kDivide ? a / b : a % b;
}

Number shifted(Kind kind, std::int64_t a, std::int64_t b) {
  if (b < 0 || b > 63) return std::nullopt;
  return kind == Kind::kLeft ? wrapped(bits(a) << b) : a >> b;
}

Number root_of(std::int64_t value) {
  if (value < 0) return std::nullopt;
  std::int64_t root = 0;
  for (std::int64_t bit = std::int64_t{1} << 31; bit != 0; bit >>= 1)
    if (const std::int64_t more = root + bit; more <= value / more) root = more;
  return root;
}

Number binary(Kind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case Kind::kAdd: return wrapped(bits(a) + bits(b));
    case Kind::kSubtract: return wrapped(bits(a) - bits(b));
    case Kind::kMultiply: return wrapped(bits(a) * bits(b));
    case Kind::kDivide:
    case Kind::kRemainder: return divided(kind, a, b);
    case Kind::kLeft:
    case Kind::kRight: return shifted(kind, a, b);
    case Kind::kBitAnd: return a & b;
    case Kind::kBitOr: return a | b;
    case Kind::kBitXor: return a ^ b;
    case Kind::kEqual: return a == b ? 1 : 0;
    case Kind::kUnequal: return a != b ? 1 : 0;
    case Kind::kLess: return a < b ? 1 : 0;
    case Kind::kLessEqual: return a <= b ? 1 : 0;
    case Kind::kMore: return a > b ? 1 : 0;
    case Kind::kMoreEqual: return a >= b ? 1 : 0;
    case Kind::kMin: return a < b ? a : b;
    case Kind::kMax: return a < b ? b : a;
    default: return std::nullopt;
  }
}

/// Of two, of which one may decide alone.
Number logical(Kind kind, const Number& a, const Number& b) {
  if (!a) return std::nullopt;
  const bool first = *a != 0;
  if (first == (kind == Kind::kOr)) return first ? 1 : 0;
  return b ? Number(*b != 0 ? 1 : 0) : std::nullopt;
}

Number result_of(const Rules::Operation& one, const std::vector<Number>& results,
                 const RuleCaller& caller) {
  switch (one.kind) {
    case Kind::kNumber: return one.number;
    case Kind::kMe: return caller.me;
    case Kind::kNp: return caller.np;
    case Kind::kTag: return caller.tag;
    case Kind::kCount: return caller.count;
    case Kind::kSite: return caller.site;
    case Kind::kAnd:
    case Kind::kOr: return logical(one.kind, results[one.a], results[one.b]);
    case Kind::kChoose:
      return results[one.a] ? results[*results[one.a] != 0 ? one.b : one.c] : std::nullopt;
    default: break;
  }
  const Number& a = results[one.a];
  if (!a) return std::nullopt;
  switch (one.kind) {
    case Kind::kNegate: return wrapped(0 - bits(*a));
    case Kind::kNot: return *a == 0 ? 1 : 0;
    case Kind::kFlip: return ~*a;
    case Kind::kRoot: return root_of(*a);
    default: return results[one.b] ? binary(one.kind, *a, *results[one.b]) : std::nullopt;
  }
}

}  // namespace

// What a rule needs comes before it, each operation once: definitions that use each other many
// times over cost no more than their text.
std::vector<Number> Rules::results(std::uint32_t last, const RuleCaller& caller) const {
  std::vector<Number> results;
  results.reserve(last + 1);
  for (std::size_t i = 0; i <= last; ++i)
    results.push_back(result_of(operations_[i], results, caller));
  return results;
}

bool Rules::applies(std::size_t rule, const RuleCaller& caller) const {
  const std::optional<std::uint32_t> condition = rules_[rule].condition;
  return !condition || results(*condition, caller)[*condition].value_or(0) != 0;
}

std::optional<std::int64_t> Rules::value(std::size_t rule, const RuleCaller& caller) const {
  const Rule& asked = rules_[rule];
  if (!applies(rule, caller)) return std::nullopt;
  return results(asked.value, caller)[asked.value];
}

}  // namespace chameleon::signature
