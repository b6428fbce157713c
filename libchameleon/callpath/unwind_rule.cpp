// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/unwind_rule.h"

#include <array>
#include <cstring>
#include <limits>
#include <optional>

namespace chameleon::callpath {
namespace {

// DWARF's numbers for the registers of x86-64.
constexpr std::uint64_t kRbpColumn = 6;
constexpr std::uint64_t kRspColumn = 7;
constexpr std::uint64_t kReturnColumn = 16;

/// DWARF's encoding of pointers: format in the low four bits, then what it is relative to.
constexpr std::uint8_t kOmitted = 0xff;
constexpr std::uint8_t kFormat = 0x0f;
constexpr std::uint8_t kRelation = 0x70;
constexpr std::uint8_t kPcRelative = 0x10;
/// What linkers write: signed 4 bytes, relative to the table.
constexpr std::uint8_t kSortedTable = 0x3b;

constexpr std::uint8_t kOpDeref = 0x06;
constexpr std::uint8_t kOpBreg6 = 0x76;

/// Reads bytes up to an end; one bad read makes all later ones read 0.
class Cursor {
 public:
  Cursor(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}

  template <class T>
  T fixed() {
    T value{};
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
      fail();
    } else {
      std::memcpy(&value, at_, sizeof value);
      at_ += sizeof value;
    }
    return value;
  }

  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  /// A pointer of the given encoding; the cursor fails on one that is not known here.
  std::uintptr_t pointer(std::uint8_t encoding) {
    const auto here = reinterpret_cast<std::uintptr_t>(at_);
    std::uint64_t value = 0;
    switch (encoding & kFormat) {
      case 0x00:
      case 0x04:
      case 0x0c: value = fixed<std::uint64_t>(); break;
      case 0x01: value = uleb(); break;
      case 0x02: value = fixed<std::uint16_t>(); break;
      case 0x03: value = fixed<std::uint32_t>(); break;
      case 0x09: value = static_cast<std::uint64_t>(sleb()); break;
      case 0x0a: value = static_cast<std::uint64_t>(std::int64_t{fixed<std::int16_t>()}); break;
      case 0x0b: value = static_cast<std::uint64_t>(std::int64_t{fixed<std::int32_t>()}); break;
      default: fail();
    }
    if ((encoding & kRelation) == kPcRelative) return here + value;
    if ((encoding & kRelation) != 0) fail();
    return value;
  }

  void skip(std::uint64_t bytes) {
    if (bytes > static_cast<std::size_t>(end_ - at_))
      fail();
    else
      at_ += bytes;
  }

  Cursor take(std::uint64_t bytes) {
    const std::uint8_t* const begin = at_;
    skip(bytes);
    return ok_ ? Cursor(begin, at_) : Cursor(begin, begin);
  }

  void fail() {
    ok_ = false;
    at_ = end_;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  const std::uint8_t* at() const { return at_; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

/// One record of `.eh_frame` from its length on; empty where it is of the rare 64-bit kind.
Cursor record_at(const std::uint8_t* at) {
  std::uint32_t length = 0;
  std::memcpy(&length, at, sizeof length);
  if (length == 0xffffffff) length = 0;
  at += sizeof length;
  return Cursor(at, at + length);
}

/// What all functions of a compilation have in common.
struct CommonInfo {
  Cursor program{nullptr, nullptr};
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation = false;
  bool is_known = false;  ///< and not a signal frame
};

CommonInfo read_common(const std::uint8_t* at) {
  CommonInfo info;
  Cursor cursor = record_at(at);
  if (cursor.fixed<std::uint32_t>() != 0) return info;
  const auto version = cursor.fixed<std::uint8_t>();
  if (version != 1 && version != 3) return info;
  std::array<char, 8> augmentation{};
  std::size_t letters = 0;
  while (const auto letter = cursor.fixed<char>()) {
    if (letters == augmentation.size()) return info;
    augmentation[letters++] = letter;
  }
  info.code_unit = cursor.uleb();
  info.data_unit = cursor.sleb();
  if ((version == 1 ? cursor.fixed<std::uint8_t>() : cursor.uleb()) != kReturnColumn) return info;
  std::size_t i = 0;
  if (letters > 0) {
    if (augmentation[i++] != 'z') return info;
    info.has_augmentation = true;
    Cursor data = cursor.take(cursor.uleb());
    for (; i < letters; ++i) {
      if (augmentation[i] == 'R') {
        info.pointer_encoding = data.fixed<std::uint8_t>();
      } else if (augmentation[i] == 'P') {
        const auto encoding = data.fixed<std::uint8_t>();
        data.pointer(encoding & static_cast<std::uint8_t>(~0x80));
      } else if (augmentation[i] == 'L') {
        data.fixed<std::uint8_t>();
      } else {
        return info;  // above all 'S', a signal frame
      }
    }
    if (!data.ok()) return info;
  }
  info.program = cursor;
  info.is_known = cursor.ok();
  return info;
}

/// The row of the table that is being computed. Any other register does not matter.
struct Row {
  enum class Base : std::uint8_t { kRegister, kAtRbp, kOther };
  Base base = Base::kOther;
  std::uint64_t reg = 0;
  std::int64_t offset = 0;
  UnwindRule::Rbp rbp = UnwindRule::Rbp::kKept;
  std::int64_t rbp_offset = 0;
  bool is_outermost = false;
  std::int64_t return_offset = 0;
  bool is_strange = false;  ///< something set that a rule cannot say
};

/// Runs the programs of call frame instructions up to the row at one address.
class RowMachine {
 public:
  RowMachine(const CommonInfo& info, std::uintptr_t begin, std::uintptr_t call)
      : info_(info), location_(begin), call_(call) {}

  /// False if there is an instruction that is not known.
  bool run(Cursor program) {
    while (!program.at_end() && location_ <= call_)
      if (!step(program)) return false;
    return program.ok();
  }
  void keep_as_initial() { initial_ = row_; }
  const Row& row() const { return row_; }

 private:
  /// Leaves the row as it is when the address lies before the next one.
  bool advance(std::uint64_t units) {
    location_ += units * info_.code_unit;
    return true;
  }

  bool saved(std::uint64_t reg, std::int64_t offset) {
    if (reg == kRbpColumn) {
      row_.rbp = UnwindRule::Rbp::kAtCfa;
      row_.rbp_offset = offset;
    } else if (reg == kReturnColumn) {
      row_.is_outermost = false;
      row_.return_offset = offset;
    } else if (reg == kRspColumn) {
      row_.is_strange = true;
    }
    return true;
  }

  bool restore(std::uint64_t reg) {
    if (reg == kRbpColumn) {
      row_.rbp = initial_.rbp;
      row_.rbp_offset = initial_.rbp_offset;
    } else if (reg == kReturnColumn) {
      row_.is_outermost = initial_.is_outermost;
      row_.return_offset = initial_.return_offset;
    } else if (reg == kRspColumn) {
      row_.is_strange = true;
    }
    return true;
  }

  bool strange(std::uint64_t reg) {
    if (reg == kRbpColumn)
      row_.rbp = UnwindRule::Rbp::kLost;
    else if (reg == kReturnColumn || reg == kRspColumn)
      row_.is_strange = true;
    return true;
  }

  bool define(std::uint64_t reg, std::int64_t offset) {
    row_.base = Row::Base::kRegister;
    row_.reg = reg;
    row_.offset = offset;
    return true;
  }

  /// The CFA as the word at rbp + n, where an over-aligned frame keeps it.
  bool define_by(Cursor expression) {
    row_.base = Row::Base::kOther;
    if (expression.fixed<std::uint8_t>() != kOpBreg6) return true;
    row_.offset = expression.sleb();
    if (expression.fixed<std::uint8_t>() == kOpDeref && expression.ok() && expression.at_end())
      row_.base = Row::Base::kAtRbp;
    return true;
  }

  bool saved_by(std::uint64_t reg, Cursor expression) {
    if (reg != kRbpColumn) return strange(reg);
    row_.rbp = UnwindRule::Rbp::kLost;
    if (expression.fixed<std::uint8_t>() != kOpBreg6) return true;
    row_.rbp_offset = expression.sleb();
    if (expression.ok() && expression.at_end()) row_.rbp = UnwindRule::Rbp::kAtRbp;
    return true;
  }

  bool undefined(std::uint64_t reg) {
    if (reg == kReturnColumn) row_.is_outermost = true;
    return reg == kReturnColumn ? true : strange(reg);
  }

  bool same_value(std::uint64_t reg) {
    if (reg == kRbpColumn) row_.rbp = UnwindRule::Rbp::kKept;
    return reg == kRbpColumn ? true : strange(reg);
  }

  bool step(Cursor& at) {
    const auto code = at.fixed<std::uint8_t>();
    const std::uint64_t low = code & 0x3f;
    const auto scaled = [&](std::uint64_t n) {
      return static_cast<std::int64_t>(n) * info_.data_unit;
    };
    switch (code >> 6) {
      case 1: return advance(low);
      case 2: return saved(low, scaled(at.uleb()));
      case 3: return restore(low);
      default: break;
    }
    std::uint64_t reg = 0;
    switch (code) {
      case 0x00: return true;  // nop
      case 0x01: location_ = at.pointer(info_.pointer_encoding); return true;
      case 0x02: return advance(at.fixed<std::uint8_t>());
      case 0x03: return advance(at.fixed<std::uint16_t>());
      case 0x04: return advance(at.fixed<std::uint32_t>());
      case 0x05: reg = at.uleb(); return saved(reg, scaled(at.uleb()));
      case 0x06: return restore(at.uleb());
      case 0x07: return undefined(at.uleb());
      case 0x08: return same_value(at.uleb());
      case 0x09:
        reg = at.uleb();
        at.uleb();
        return strange(reg);  // in another register
      case 0x0a:
        if (depth_ == stack_.size()) return false;
        stack_[depth_++] = row_;
        return true;
      case 0x0b:
        if (depth_ == 0) return false;
        row_ = stack_[--depth_];
        return true;
      case 0x0c: reg = at.uleb(); return define(reg, static_cast<std::int64_t>(at.uleb()));
      case 0x0d: return define(at.uleb(), row_.offset);
      case 0x0e: return define(row_.reg, static_cast<std::int64_t>(at.uleb()));
      case 0x0f: return define_by(at.take(at.uleb()));
      case 0x10: reg = at.uleb(); return saved_by(reg, at.take(at.uleb()));
      case 0x11: reg = at.uleb(); return saved(reg, at.sleb() * info_.data_unit);
      case 0x12: reg = at.uleb(); return define(reg, at.sleb() * info_.data_unit);
      case 0x13: return define(row_.reg, at.sleb() * info_.data_unit);
      case 0x14:
        reg = at.uleb();
        at.uleb();
        return strange(reg);  // a value, not a place
      case 0x15:
        reg = at.uleb();
        at.sleb();
        return strange(reg);
      case 0x16:
        reg = at.uleb();
        at.skip(at.uleb());
        return strange(reg);
      case 0x2e: at.uleb(); return true;  // size of arguments
      default: return false;
    }
  }

  const CommonInfo& info_;
  std::uintptr_t location_;
  std::uintptr_t call_;
  Row row_;
  Row initial_;
  std::array<Row, 16> stack_;
  std::size_t depth_ = 0;
};

/// The record of the function around `call`, or null: the last that begins at or before it.
const std::uint8_t* find_function(std::span<const std::uint8_t> header, std::uintptr_t call) {
  Cursor cursor(header.data(), header.data() + header.size());
  const auto version = cursor.fixed<std::uint8_t>();
  const auto frames = cursor.fixed<std::uint8_t>();
  const auto counts = cursor.fixed<std::uint8_t>();
  const auto table = cursor.fixed<std::uint8_t>();
  if (version != 1 || counts == kOmitted || table != kSortedTable) return nullptr;
  if (frames != kOmitted) cursor.pointer(frames);
  const std::uint64_t count = cursor.pointer(counts);
  struct Entry {
    std::int32_t begin;
    std::int32_t record;
  };
  const std::uint8_t* const entries = cursor.at();
  if (count == 0 || !cursor.ok() ||
      count > static_cast<std::size_t>(header.data() + header.size() - entries) / sizeof(Entry))
    return nullptr;
  const auto entry = [&](std::uint64_t i) {
    Entry e;
    std::memcpy(&e, entries + i * sizeof e, sizeof e);
    return e;
  };
  const auto base = reinterpret_cast<std::uintptr_t>(header.data());
  const auto wanted = static_cast<std::int64_t>(call - base);
  if (wanted < entry(0).begin) return nullptr;
  std::uint64_t low = 0, high = count;  // entry(low) begins at or before, entry(high) after
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (entry(middle).begin <= wanted ? low : high) = middle;
  }
  return header.data() + entry(low).record;
}

/// The record of a function, read up to where its length is.
struct Function {
  CommonInfo info;
  std::uintptr_t begin = 0;
  Cursor rest;
};

std::optional<Function> read_function(std::span<const std::uint8_t> header, std::uintptr_t call) {
  const std::uint8_t* const record = find_function(header, call);
  if (record == nullptr) return {};
  Cursor at = record_at(record);
  const std::uint8_t* const id = at.at();
  const auto distance = at.fixed<std::uint32_t>();
  if (!at.ok() || distance == 0) return {};
  const CommonInfo info = read_common(id - distance);
  if (!info.is_known) return {};
  const std::uintptr_t begin = at.pointer(info.pointer_encoding);
  const std::uintptr_t size = at.pointer(info.pointer_encoding & kFormat);
  if (!at.ok() || call < begin || call - begin >= size) return {};
  return Function{info, begin, at};
}

bool fits(std::int64_t offset) {
  return offset >= std::numeric_limits<std::int32_t>::min() &&
         offset <= std::numeric_limits<std::int32_t>::max();
}

UnwindRule to_rule(const Row& row) {
  UnwindRule rule;
  if (row.is_outermost) {
    rule.cfa = UnwindRule::Cfa::kOutermost;
    return rule;
  }
  if (row.is_strange || row.return_offset != -8 || !fits(row.offset) || !fits(row.rbp_offset))
    return rule;
  rule.rbp = row.rbp;
  rule.cfa_offset = static_cast<std::int32_t>(row.offset);
  rule.rbp_offset = static_cast<std::int32_t>(row.rbp_offset);
  const bool by_register = row.base == Row::Base::kRegister;
  if (row.base == Row::Base::kAtRbp)
    rule.cfa = UnwindRule::Cfa::kAtRbp;
  else if (by_register && row.reg == kRspColumn)
    rule.cfa = UnwindRule::Cfa::kRsp;
  else if (by_register && row.reg == kRbpColumn)
    rule.cfa = UnwindRule::Cfa::kRbp;
  return rule;
}

}  // namespace

UnwindRule read_rule(std::span<const std::uint8_t> eh_frame_hdr,
                     std::uintptr_t return_address) noexcept {
  // The row of the call itself: what follows it may belong to another row or function.
  const std::uintptr_t call = return_address - 1;
  std::optional<Function> function = read_function(eh_frame_hdr, call);
  if (!function) return {};
  const CommonInfo& info = function->info;
  if (info.has_augmentation) function->rest.skip(function->rest.uleb());
  if (!function->rest.ok()) return {};

  RowMachine machine(info, function->begin, call);
  if (!machine.run(info.program)) return {};
  machine.keep_as_initial();
  if (!machine.run(function->rest)) return {};
  return to_rule(machine.row());
}

std::uintptr_t function_begin(std::span<const std::uint8_t> eh_frame_hdr,
                              std::uintptr_t return_address) noexcept {
  const std::optional<Function> function = read_function(eh_frame_hdr, return_address - 1);
  return function ? function->begin : 0;
}

}  // namespace chameleon::callpath
