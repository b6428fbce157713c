// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Names in a trace are what its writer made them, and a terminal obeys control characters: while
/// one of these lives, what goes to a stream has a space for each of them, save line breaks, tabs
/// and colours. Bytes go on at once, in order with what others write to the same file.

#include <ostream>
#include <streambuf>
#include <string>

namespace chameleon::tools {

class SafeOutput : std::streambuf {
 public:
  explicit SafeOutput(std::ostream& stream) : stream_(stream), to_(stream.rdbuf(this)) {}
  ~SafeOutput() override { stream_.rdbuf(to_); }
  SafeOutput(const SafeOutput&) = delete;
  SafeOutput& operator=(const SafeOutput&) = delete;

 private:
  int_type overflow(int_type letter) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;
  void put(std::string& safe, char letter);

  std::ostream& stream_;
  std::streambuf* to_;
  std::string held_;  ///< the begin of what may be a colour, or of a character of two bytes
};

}  // namespace chameleon::tools
