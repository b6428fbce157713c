// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A protocol buffer's message, written field by field into a string: varints,
/// 64-bit fixed numbers, texts and messages within messages, as
/// protobuf.dev/programming-guides/encoding has them. Nothing is read or checked
/// against a description; a message costs its bytes, and `clear` keeps the memory.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/rooms.h"

namespace chameleon::tools {

class WireMessage {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    varint((field << 3) | kVarint);
    varint(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    varint((field << 3) | kFixed64);
    for (int shift = 0; shift < 64; shift += 8)
      bytes_ += static_cast<char>((value >> shift) & 0xff);
  }
  void text(std::uint32_t field, std::string_view value) {
    varint((field << 3) | kLength);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const WireMessage& value) { text(field, value.bytes_); }

  void clear() { bytes_.clear(); }
  bool empty() const { return bytes_.empty(); }
  std::string_view bytes() const { return bytes_; }

 private:
  static constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kLength = 2;
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace chameleon::tools
