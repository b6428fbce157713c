// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "trace/file.h"

using namespace chameleon;

TEST_CASE("the last whole commit of a file counts", "[file]") {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("chameleon-file-" + std::to_string(::getpid()) + ".cham"))
                               .string();
  Trace first;
  first.program = "first";
  Trace second;
  second.program = "second";
  REQUIRE(create_trace_file(path, first));
  CHECK_FALSE(create_trace_file(path, second));  // never over an earlier one
  const auto whole = std::filesystem::file_size(path);
  REQUIRE(append_commit(path, second));

  FileFacts facts;
  auto read = read_trace(path, &facts);
  REQUIRE(read);
  CHECK(read->program == "second");
  CHECK(facts.commits == 2);

  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  read = read_trace(path, &facts);
  REQUIRE(read);
  CHECK(read->program == "first");
  CHECK(facts.commits == 1);
  CHECK(facts.ignored == facts.bytes - whole);
  std::filesystem::remove(path);
}
