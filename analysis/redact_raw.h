// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The same for raw records: their lines hold the texts of calls as they were passed. Texts get
/// the names that redact() gave them, so that the records still verify the redacted trace. Arrays
/// of calls that the trace does not describe are emptied. A line at a time, O(lines).

#include <string>

#include "analysis/redact.h"
#include "base/result.h"

namespace chameleon::analysis {

/// Writes the records of all ranks in folder `from` into folder `to`, which must be free. Gives the
/// number of files. Error: there are none, or they cannot be read or written.
Result<std::size_t> redact_raw(const Trace& trace, RedactedTexts texts, const std::string& from,
                               const std::string& to);

}  // namespace chameleon::analysis
