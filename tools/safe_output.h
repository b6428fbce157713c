// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A trace may contain any names, and a terminal obeys control characters. While an object lives,
/// its stream replaces them by spaces, except line breaks, tabs and colours. Bytes are written at
/// once, in order with other output to the same file.

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
  std::string held_;  ///< the beginning of what may be a colour, or of a character of two bytes
};

}  // namespace chameleon::tools
