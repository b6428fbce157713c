// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Raw records as tests of `verify` write them, in a folder that goes with the test.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analysis/verify.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

namespace chameleon::testing {

constexpr std::int64_t kInt = -3;
inline const char* const kHead =
    "# predefined comm MPI_COMM_WORLD 100 0\n# predefined comm MPI_COMM_NULL 99 0\n"
    "# predefined datatype MPI_INT 200 4\n# predefined datatype MPI_FLOAT 201 4\n"
    "# predefined request MPI_REQUEST_NULL 300 0\n"
    "# constant MPI_ANY_SOURCE -2\n# constant MPI_PROC_NULL -1\n# constant MPI_ANY_TAG -1\n";

struct Directory {
  Directory() {
    const auto temporary = std::filesystem::temp_directory_path();
    std::string name = (temporary / "chameleon-verify-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Directory() { std::filesystem::remove_all(path); }
  void write(int rank, const std::vector<std::string>& lines, bool end = true,
             int ranks = 2) const {
    std::ofstream file(path + "/rank." + std::to_string(rank) + ".raw");
    file << "# chameleon raw 1\n# rank " << rank << " of " << ranks << "\n" << kHead;
    for (std::size_t i = 0; i < lines.size(); ++i)
      file << lines[i] << (i + 1 < lines.size() || end ? "\n" : "");
  }
  std::string path;
};

inline analysis::VerifyReport verified(const Directory& directory, TraceBuilder& job) {
  const Trace trace = job.build();
  Result<analysis::VerifyReport> report = analysis::verify(trace, directory.path);
  if (!report) FAIL(report.error().message);
  for (const auto& mismatch : report->mismatches)
    UNSCOPED_INFO(mismatch.rank << "/" << mismatch.event << " " << mismatch.call << " "
                                << mismatch.parameter << ": raw " << mismatch.raw << ", trace "
                                << mismatch.trace);
  return *report;
}

inline const analysis::VerifyReport::Share& column(const analysis::VerifyReport& report,
                                                   analysis::Column which) {
  return report.columns[static_cast<std::size_t>(which)];
}

}  // namespace chameleon::testing
