// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/python_lines.h"

namespace chameleon::callpath {
namespace {

/// Bytes of the table, one after the other; numbers of six bits a byte, lowest first.
class TableReader {
 public:
  explicit TableReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  std::size_t at() const { return at_; }
  std::uint32_t byte() {
    if (at_ < bytes_.size()) return bytes_[at_++];
    ok_ = false;
    return 0;
  }
  std::uint32_t number() {
    std::uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
      const std::uint32_t part = byte();
      value |= (part & 63) << shift;
      if ((part & 64) == 0) return value;
    }
    ok_ = false;
    return 0;
  }
  std::int32_t signed_number() {
    const std::uint32_t value = number();
    const auto half = static_cast<std::int32_t>(value >> 1);
    return (value & 1) != 0 ? -half : half;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

/// How an entry says where its instructions stand.
enum Form : std::uint8_t {
  kFirstOneLine = 10,  // below: on the line of the entry before
  kLastOneLine = 12,
  kNoColumns = 13,
  kLong = 14,
  kNowhere = 15,
};

}  // namespace

std::optional<PythonLocation> python_location(std::span<const std::uint8_t> table,
                                              std::uint32_t first_line, std::int64_t unit) {
  PythonLocation found{first_line};
  if (unit < 0) return found;
  TableReader in(table);
  std::uint32_t line = first_line;
  for (std::int64_t next = 0; in.ok();) {
    const std::uint32_t head = in.byte();
    if ((head & 0x80) == 0) return std::nullopt;
    const std::uint32_t form = head >> 3 & 15;
    found = {};
    if (form < kFirstOneLine) {
      const std::uint32_t columns = in.byte();
      found.column = form * 8 + (columns >> 4 & 7) + 1;
      found.end_column = found.column + (columns & 15);
      found.end_line = line;
    } else if (form <= kLastOneLine) {
      line += form - kFirstOneLine;
      found.column = in.byte() + 1;
      found.end_column = in.byte() + 1;
      found.end_line = line;
    } else if (form == kNoColumns) {
      line += static_cast<std::uint32_t>(in.signed_number());
      found.end_line = line;
    } else if (form == kLong) {
      line += static_cast<std::uint32_t>(in.signed_number());
      found.end_line = line + in.number();
      found.column = in.number();
      found.end_column = in.number();
    }
    found.line = form == kNowhere ? 0 : line;
    found.table_bytes = in.at();
    next += (head & 7) + 1;
    if (in.ok() && unit < next) return found;
  }
  return std::nullopt;
}

}  // namespace chameleon::callpath
