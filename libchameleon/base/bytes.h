// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Growing byte strings to write to, and bounded ones to read from. Integers
/// are LEB128 varints (signed ones zigzag), so small values take one byte.
/// `ByteReader` never reads past its end: after the first failure every read
/// gives 0 and `ok()` stays false, so callers check once per structure.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.h"

namespace chameleon::inline base {

using Bytes = std::vector<std::uint8_t>;

/// Appends values to a byte string.
class ByteWriter {
 public:
  void u8(std::uint8_t value) { bytes_.push_back(value); }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  void svarint(std::int64_t value) {
    varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  /// Many at once, each as `svarint`: in a third of the time.
  void svarints(std::span<const std::int64_t> values) {
    constexpr std::size_t kAtOnce = 256, kLongest = 10;
    while (!values.empty()) {
      const auto some = values.first(std::min(values.size(), kAtOnce));
      const std::size_t begin = bytes_.size();
      bytes_.resize(begin + kLongest * some.size());
      std::uint8_t* at = bytes_.data() + begin;
      for (const std::int64_t one : some) {
        auto value = (static_cast<std::uint64_t>(one) << 1) ^ static_cast<std::uint64_t>(one >> 63);
        for (; value >= 0x80; value >>= 7) *at++ = static_cast<std::uint8_t>(value | 0x80);
        *at++ = static_cast<std::uint8_t>(value);
      }
      bytes_.resize(static_cast<std::size_t>(at - bytes_.data()));
      values = values.subspan(some.size());
    }
  }
  /// Eight bytes, little-endian: for hashes, which varints would lengthen.
  void u64(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void text(std::string_view value) {
    varint(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void raw(std::span<const std::uint8_t> value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  /// Puts `value` before what was written from place `at` on.
  void insert(std::size_t at, std::span<const std::uint8_t> value) {
    bytes_.insert(bytes_.begin() + static_cast<std::ptrdiff_t>(at), value.begin(), value.end());
  }
  /// Puts the first `count` bytes behind all others. The fewer of both are there twice meanwhile.
  void move_back(std::size_t count) {
    const auto middle = bytes_.begin() + static_cast<std::ptrdiff_t>(count);
    if (2 * count <= bytes_.size()) {
      const Bytes front(bytes_.begin(), middle);
      std::copy(front.begin(), front.end(), std::copy(middle, bytes_.end(), bytes_.begin()));
    } else {
      const Bytes back(middle, bytes_.end());
      std::copy_backward(bytes_.begin(), middle, bytes_.end());
      std::copy(back.begin(), back.end(), bytes_.begin());
    }
  }
  /// Makes room for `more` bytes more, and no others.
  void reserve(std::size_t more) { bytes_.reserve(bytes_.size() + more); }
  const Bytes& bytes() const { return bytes_; }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Reads what `ByteWriter` wrote; hostile input gives `ok() == false`.
class ByteReader {
 public:
  static constexpr std::uint64_t kMostExpanded = std::uint64_t{1} << 25;
  static constexpr std::uint64_t kMostCoded = std::uint64_t{1} << 22;

  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint8_t u8() {
    if (position_ >= bytes_.size()) return fail();
    return bytes_[position_++];
  }
  std::uint64_t varint() {
    if (position_ < bytes_.size() && bytes_[position_] < 0x80) return bytes_[position_++];
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift == 63 && byte > 1) return fail();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  std::int64_t svarint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  std::uint64_t u64() {
    if (remaining() < 8) return fail();
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value |= static_cast<std::uint64_t>(bytes_[position_ + static_cast<std::size_t>(i)])
               << (8 * i);
    position_ += 8;
    return value;
  }
  /// A count of items of at least `least` bytes each: larger than what is
  /// left in the input is a failure, so a count can be trusted to allocate.
  std::uint64_t count(std::uint64_t least = 1) {
    const std::uint64_t value = varint();
    if (least != 0 && value > remaining() / least) return fail();
    return value;
  }
  std::string text() {
    const std::uint64_t size = count();
    std::string value(reinterpret_cast<const char*>(bytes_.data()) + position_, size);
    position_ += size;
    return value;
  }
  std::span<const std::uint8_t> raw(std::uint64_t size) {
    if (size > remaining()) {
      fail();
      return {};
    }
    auto value = bytes_.subspan(position_, size);
    position_ += size;
    return value;
  }
  /// Counts items that take memory but no bytes of the input; too many in all are a failure.
  bool expand(std::uint64_t items) {
    expanded_ += items;
    if (expanded_ > kMostExpanded) fail();
    return ok_;
  }
  /// The same for steps of decoding.
  bool decode(std::uint64_t steps) {
    decoded_ += steps;
    if (decoded_ > kMostCoded) fail();
    return ok_;
  }
  /// Marks the input as bad; every later read gives 0.
  std::uint8_t fail() {
    ok_ = false;
    position_ = bytes_.size();
    return 0;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return position_ == bytes_.size(); }
  std::uint64_t remaining() const { return bytes_.size() - position_; }
  std::uint64_t position() const { return position_; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  std::uint64_t expanded_ = 0, decoded_ = 0;
  bool ok_ = true;
};

}  // namespace chameleon::inline base
