// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Names of functions in Rust, as symbols have them: of the older mangling, `_ZN4core3fmt5write17h`
/// and a hash of 16 digits, and of the newer one, `_RNvCs1234_7mycrate3foo` (Rust's RFC 2603). The
/// hash, and the numbers that stand for versions of crates, are left out: they differ from build to
/// build.

#include <optional>
#include <string>
#include <string_view>

namespace chameleon::inline base {

/// The name in words, or nothing if it is not one of Rust's or is damaged.
std::optional<std::string> rust_name(std::string_view symbol);

}  // namespace chameleon::inline base
