// SPDX-License-Identifier: BSD-3-Clause
#include "model/call_path.h"

#include <sys/mman.h>

#include "base/foreign_file.h"

namespace chameleon::inline model {
namespace {

/// Hash of a regular file's bytes, 0 if it cannot be read.
std::uint64_t hash_file(const char* path) {
  const Result<OpenFile> file = open_foreign(path);
  if (!file || file->size() == 0) return 0;
  void* bytes = mmap(nullptr, file->size(), PROT_READ, MAP_PRIVATE, file->fd(), 0);
  if (bytes == MAP_FAILED) return 0;
  const std::uint64_t hash = hash_bytes(bytes, file->size());
  munmap(bytes, file->size());
  return hash;
}

/// Module 0 is taken by the frames that are no code.
std::uint64_t not_zero(std::uint64_t id) { return id == 0 ? 1 : id; }

}  // namespace

std::uint64_t module_id_of_build_id(std::span<const std::uint8_t> build_id) {
  return not_zero(hash_bytes(build_id.data(), build_id.size()));
}

std::uint64_t module_id_of_file(const std::string& path) {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return not_zero(combine(hash_bytes(name.data(), name.size()), hash_file(path.c_str())));
}

std::uint64_t source_id(const SourceFrame& source) {
  std::string text = source.file + '\0' + source.function;
  for (const std::uint32_t number :
       {source.begin, source.line, source.column, source.end_line, source.end_column})
    text += '\0' + std::to_string(number);
  return hash_bytes(text.data(), text.size()) | kFirstSourceId;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace chameleon::inline model
