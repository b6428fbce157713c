// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/python_frames.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "callpath/path_store.h"
#include "callpath/python_lines.h"
#include "callpath/stack_memo.h"

namespace chameleon::callpath {
namespace {

constexpr std::uint64_t kMostLetters = 4096;
constexpr std::uint64_t kMostTableBytes = std::uint64_t{16} << 20;

template <class T>
bool read_checked_as(std::uintptr_t address, T& value) {
  return read_checked(address, &value, sizeof value);
}

/// One letter as UTF-8. What Python could not decode in a file's name is the byte that it was.
void append_letter(std::uint32_t letter, std::string& text) {
  const auto add = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (letter < 0x80) {
    add(letter);
  } else if (letter >= 0xdc80 && letter <= 0xdcff) {
    add(letter - 0xdc00);
  } else if (letter < 0x800) {
    add(0xc0 | letter >> 6);
    add(0x80 | (letter & 63));
  } else if (letter < 0x10000) {
    add(0xe0 | letter >> 12);
    add(0x80 | (letter >> 6 & 63));
    add(0x80 | (letter & 63));
  } else {
    add(0xf0 | (letter >> 18 & 7));
    add(0x80 | (letter >> 12 & 63));
    add(0x80 | (letter >> 6 & 63));
    add(0x80 | (letter & 63));
  }
}

std::uint32_t bytes_a_letter(std::uint32_t state) {
  return (state & kTextKindMask) >> kTextKindShift;
}

std::string utf8(const std::string& letters, std::uint32_t state) {
  if ((state & kTextAscii) != 0) return letters;
  std::string text;
  const std::size_t size = bytes_a_letter(state);
  for (std::size_t at = 0; at + size <= letters.size(); at += size) {
    std::uint32_t letter = 0;
    std::memcpy(&letter, letters.data() + at, size);
    append_letter(letter, text);
  }
  return text;
}

std::uintptr_t letters_of(const PythonLayout& at, std::uintptr_t object, std::uint32_t state) {
  return object + ((state & kTextAscii) != 0 ? at.text_ascii : at.text_letters);
}

constexpr std::uint32_t kTextFlags = kTextKindMask | kTextCompact | kTextAscii;

}  // namespace

/// By the system, which refuses what cannot be read.
class PythonFrames::Checked {
 public:
  static constexpr bool kTrusts = false;
  static bool word(std::uintptr_t address, std::uintptr_t& value) {
    return read_checked_as(address, value);
  }
  static bool byte(std::uintptr_t address, std::uint8_t& value) {
    return read_checked_as(address, value);
  }
};

class PythonFrames::Direct {
 public:
  static constexpr bool kTrusts = true;
  static bool word(std::uintptr_t address, std::uintptr_t& value) {
    value = read_word(address);
    return true;
  }
  static bool byte(std::uintptr_t address, std::uint8_t& value) {
    value = *reinterpret_cast<const std::uint8_t*>(address);
    return true;
  }
};

bool PythonFrames::read(const PythonRuntime& python, std::size_t activations, bool may_have_more,
                        Found& found) {
  if (is_trusted_) {
    if (read_by<Direct>(python, activations, may_have_more, found)) return true;
  } else if (not_read_ < kMostTries &&
             read_by<Checked>(python, activations, may_have_more, found)) {
    return is_trusted_ = true;
  }
  ++not_read_;
  PythonRuntime::note_not_read();
  return false;
}

template <class Memory>
bool PythonFrames::read_by(const PythonRuntime& python, std::size_t activations, bool may_have_more,
                           Found& found) {
  const PythonLayout& at = python.layout;
  found.size = found.activations = 0;
  found.is_truncated = false;
  auto place = reinterpret_cast<std::uintptr_t>(python.thread_state());
  if (place == 0) return false;
  place += at.thread_frame;
  if (at.through_cframe) {
    if (!Memory::word(place, place) || place == 0) return false;
    place += at.cframe_frame;
  }
  std::uintptr_t frame = 0;
  if (!Memory::word(place, frame)) return false;
  for (std::size_t functions = 0; frame != 0;) {
    if (found.activations == activations) return false;  // more than the stack has
    std::uint8_t mark = 0;
    if (!Memory::byte(frame + at.frame_mark, mark)) return false;
    const bool is_entry = mark == at.mark_of_entry;
    if (!is_entry || at.entry_is_function) {
      if (functions++ == kMostFrames) {
        found.is_truncated = true;
        return true;
      }
      std::uintptr_t code = 0, instruction = 0;
      if (!Memory::word(frame + at.frame_code, code) ||
          !Memory::word(frame + at.frame_instruction, instruction) ||
          !add<Memory>(python, code, instruction, found))
        return false;
    }
    if (is_entry) {
      if (found.size == found.ids.size()) return false;
      found.ids[found.size++] = 0;
      if (++found.activations == activations && may_have_more) return true;
    }
    if (!Memory::word(frame + at.frame_previous, frame)) return false;
  }
  return found.activations == activations;
}

template <class Memory>
bool PythonFrames::add(const PythonRuntime& python, std::uintptr_t code, std::uintptr_t instruction,
                       Found& found) {
  if (found.size == found.ids.size()) return false;
  Site* const* const place = table_.empty() ? nullptr : place_of(code, instruction);
  const Site* site = place == nullptr ? nullptr : *place;
  if (site == nullptr || !Memory::kTrusts || !holds(python.layout, *site))
    site = learn(python, code, instruction);
  if (site == nullptr) return false;
  if (site->id != 0) found.ids[found.size++] = site->id;
  return true;
}

/// Whether a code object says what it said.
bool PythonFrames::holds(const PythonLayout& at, const Site& site) {
  const auto word = [](std::uintptr_t address) { return read_word(address); };
  const auto half = [](std::uintptr_t address) {
    std::uint32_t value;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
  };
  const auto same = [&](std::uintptr_t object, const Text& text) {
    return word(object + at.text_length) == text.length &&
           (half(object + at.text_state) & kTextFlags) == text.state &&
           std::memcmp(reinterpret_cast<const void*>(letters_of(at, object, text.state)),
                       text.letters.data(), text.letters.size()) == 0;
  };
  if (half(site.code + at.code_firstlineno) != site.first_line) return false;
  const std::uintptr_t table = word(site.code + at.code_linetable);
  return same(word(site.code + at.code_filename), site.file) &&
         same(word(site.code + at.code_qualname), site.function) &&
         word(table + at.object_size) >= site.table.size() &&
         std::memcmp(reinterpret_cast<const void*>(table + at.bytes_data), site.table.data(),
                     site.table.size()) == 0;
}

bool PythonFrames::read_text(const PythonRuntime& python, std::uintptr_t object, Text& text) {
  const PythonLayout& at = python.layout;
  std::uintptr_t type = 0;
  if (!read_checked_as(object + at.object_type, type) || type != python.text_type ||
      !read_checked_as(object + at.text_length, text.length) || text.length > kMostLetters ||
      !read_checked_as(object + at.text_state, text.state) || (text.state & kTextCompact) == 0)
    return false;
  text.state &= kTextFlags;
  const std::uint32_t size = bytes_a_letter(text.state);
  if (size != 1 && size != 2 && size != 4) return false;
  text.letters.resize(text.length * size);
  return read_checked(letters_of(at, object, text.state), text.letters.data(), text.letters.size());
}

/// Reads a place for the first time, or anew; null if it is none.
PythonFrames::Site* PythonFrames::learn(const PythonRuntime& python, std::uintptr_t code,
                                        std::uintptr_t instruction) {
  const PythonLayout& at = python.layout;
  Site site{code, instruction};
  std::uintptr_t type = 0, file = 0, function = 0, table = 0;
  std::uint64_t units = 0, table_size = 0;
  if (!read_checked_as(code + at.object_type, type) || type != python.code_type ||
      !read_checked_as(code + at.object_size, units) ||
      !read_checked_as(code + at.code_firstlineno, site.first_line) ||
      !read_checked_as(code + at.code_filename, file) ||
      !read_checked_as(code + at.code_qualname, function) ||
      !read_checked_as(code + at.code_linetable, table) || !read_text(python, file, site.file) ||
      !read_text(python, function, site.function) ||
      !read_checked_as(table + at.object_type, type) || type != python.bytes_type ||
      !read_checked_as(table + at.object_size, table_size) || table_size > kMostTableBytes)
    return nullptr;
  site.table.resize(table_size);
  if (!read_checked(table + at.bytes_data, site.table.data(), table_size)) return nullptr;

  // A function that has not begun is one unit before its first instruction.
  const auto unit = static_cast<std::int64_t>(instruction - code - at.code_instructions) / 2;
  if (unit < -1 || unit > static_cast<std::int64_t>(units)) return nullptr;
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(site.table.data()), table_size);
  const auto location = python_location(bytes, site.first_line, unit);
  if (!location) return nullptr;
  site.table.resize(location->table_bytes);
  site.table.shrink_to_fit();
  SourceFrame source{utf8(site.file.letters, site.file.state),
                     utf8(site.function.letters, site.function.state),
                     site.first_line,
                     location->line,
                     location->column,
                     location->end_line,
                     location->end_column};
  // Below an `__init__` whose call it has made faster, Python has a frame that is no function.
  const bool is_function = source.line != 0 || source.file != source.function;
  if (source.line == 0) source.line = source.begin;
  if (is_function) site.id = PathStore::process().add_source(std::move(source));

  if (sites_.size() == kMostSites) clear();
  if ((sites_.size() + 1) * 2 > table_.size()) {
    std::vector<Site*> larger(std::max<std::size_t>(64, table_.size() * 2));
    table_.swap(larger);
    for (Site& one : sites_) *place_of(one.code, one.instruction) = &one;
  }
  Site*& place = *place_of(code, instruction);
  if (place == nullptr)
    place = &sites_.emplace_back(std::move(site));
  else
    *place = std::move(site);
  return place;
}

/// Where a place is in the table, or would be.
PythonFrames::Site** PythonFrames::place_of(std::uintptr_t code, std::uintptr_t instruction) {
  for (std::size_t i = hash(code, instruction);; ++i) {
    Site*& place = table_[i & (table_.size() - 1)];
    if (place == nullptr || (place->code == code && place->instruction == instruction))
      return &place;
  }
}

void PythonFrames::clear() {
  std::fill(table_.begin(), table_.end(), nullptr);
  sites_.clear();
}

}  // namespace chameleon::callpath
