// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The operations of rules, for their parser and for their evaluation.

#include "signature/rules.h"

namespace chameleon::signature {

enum class RuleOperation : std::uint8_t {
  kNumber,
  kMe,
  kNp,
  kTag,
  kCount,
  kSite,
  kNegate,
  kNot,
  kFlip,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kLeft,
  kRight,
  kBitAnd,
  kBitOr,
  kBitXor,
  kEqual,
  kUnequal,
  kLess,
  kLessEqual,
  kMore,
  kMoreEqual,
  kAnd,
  kOr,
  kMin,
  kMax,
  kRoot,
  kChoose,  ///< b if a, else c
};

}  // namespace chameleon::signature
