// SPDX-License-Identifier: BSD-3-Clause
#include "model/call_path.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace chameleon::inline model {
namespace {

/// Hash of a regular file's bytes, 0 if it cannot be read.
std::uint64_t hash_file(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  struct stat status {};
  std::uint64_t hash = 0;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      hash = hash_bytes(bytes, size);
      munmap(bytes, size);
    }
  }
  close(file);
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
