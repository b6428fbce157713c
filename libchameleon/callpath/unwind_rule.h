// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// From a return address to the rule that leads from its frame to the caller's, read from the
/// module's `.eh_frame` (DWARF 5, section 6.4, and the Linux Standard Base's `.eh_frame_hdr`).
/// A rule says only what a walk over x86-64 stacks needs: the canonical frame address (CFA), where
/// the caller's rbp is, and that the return address is just below the CFA. Whatever a table says
/// beyond that (signal frames, other registers, expressions other than those of over-aligned
/// frames) is `kUnknown`: never a guess. Reads only the module's mapped tables, so the module must
/// stay mapped; no allocation; some 100 ns.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/rooms.h"

namespace chameleon::callpath {

struct UnwindRule {
  enum class Cfa : std::uint8_t {
    kUnknown,    ///< no table, or one that says more than this type can
    kOutermost,  ///< the frame has no caller
    kRsp,        ///< rsp + cfa_offset
    kRbp,        ///< rbp + cfa_offset
    kAtRbp,      ///< the word at rbp + cfa_offset: a frame aligned beyond 16 bytes
  };
  enum class Rbp : std::uint8_t {
    kKept,   ///< the caller's rbp is the callee's
    kAtCfa,  ///< the word at CFA + rbp_offset
    kAtRbp,  ///< the word at the callee's rbp + rbp_offset
    kLost,
  };

  Cfa cfa = Cfa::kUnknown;
  Rbp rbp = Rbp::kKept;
  std::int32_t cfa_offset = 0;
  std::int32_t rbp_offset = 0;
  bool operator==(const UnwindRule&) const = default;
};

/// The rule at the call that returns to `return_address`; `eh_frame_hdr` is the PT_GNU_EH_FRAME
/// segment of the module it lies in, as mapped.
UnwindRule read_rule(std::span<const std::uint8_t> eh_frame_hdr,
                     std::uintptr_t return_address) noexcept;

/// Where the function begins that the call is in, which returns to `return_address`; 0 if the
/// tables do not tell.
std::uintptr_t function_begin(std::span<const std::uint8_t> eh_frame_hdr,
                              std::uintptr_t return_address) noexcept;

}  // namespace chameleon::callpath
