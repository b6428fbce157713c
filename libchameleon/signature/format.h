// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Names of signatures, and of sets of them: signature formats as users write them.

#include <string>
#include <string_view>

#include "signature/signature.h"

namespace chameleon::signature {

/// Call-Path first, then parameters in their order: `callpath`, `src`, `dest`, `count`, `tag`,
/// `key`, `color`, `comp`, `comm`, `loop`, `data`, `sequence`. `bit` is one bit of a format.
const char* signature_name(SignatureFormat bit);

/// Names separated by commas; empty for no signature.
std::string format_text(SignatureFormat format);

/// Reads what `format_text` gives, and `all` (the eleven of ACURDION). A list that begins with a
/// name after `-` is all without those. False, and nothing changed, on anything else.
bool format_of(std::string_view text, SignatureFormat& format);

}  // namespace chameleon::signature
