// SPDX-License-Identifier: BSD-3-Clause
/// In place of otf2.cpp where the OTF2 library was not found.

#include "tools/export/export.h"

namespace chameleon::tools {

Result<ExportReport> export_otf2(const ExportRequest&) {
  return Error{ErrorKind::kRefused, "built without OTF2: install libotf2-trace-dev and build again",
               0};
}

}  // namespace chameleon::tools
