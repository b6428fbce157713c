// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A trace says how its program was called, and is given to others. What looks like a secret in the
/// arguments is not recorded: the value of what is named after a password, token, secret, key or
/// credential (`--password=x`, `--password x`, `DB_PASSWORD=x`, `api_key: x`, `?token=x`), and the
/// user in an address (`https://user:word@host`). Rather too much is masked than too little: from
/// the name on, the rest of the argument. A secret without such a name is not known to be one,
/// unless the user names it (CHAMELEON_MASK).

#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.h"

namespace chameleon::inline base {

/// Stands for what was left out.
inline constexpr const char* kMasked = "***";

/// Names of arguments whose values are secret.
struct SecretNames {
  bool usual = true;                  ///< what is named after a password and the like
  std::vector<std::string> patterns;  ///< others, in lower letters, without dashes (fnmatch)

  /// Whether what has this name is to be kept secret: `--db-password`, `API_KEY`.
  bool contain(std::string_view name) const;
};

/// Names or globs, separated by commas, that are secret as well; `off` before them, or alone, means
/// that nothing else is. False if a name is empty.
bool secret_names_of(std::string_view text, SecretNames& names);

std::vector<std::string> masked_arguments(std::vector<std::string> arguments,
                                          const SecretNames& names = {});

}  // namespace chameleon::inline base
