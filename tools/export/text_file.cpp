// SPDX-License-Identifier: BSD-3-Clause
#include "tools/export/text_file.h"

#include <filesystem>

namespace chameleon::tools {

Status make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Error{ErrorKind::kSystem, path + ": " + error.message(), 0};
  return Unit{};
}

TextFile::TextFile(std::string path)
    : path_(std::move(path)), file_(path_, std::ios::binary | std::ios::trunc) {
  buffer_.reserve(kBuffer + 4096);
}

void TextFile::flush() {
  file_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

Status TextFile::close() {
  flush();
  file_.close();
  if (!file_) return Error{ErrorKind::kSystem, path_ + ": cannot be written", 0};
  return Unit{};
}

}  // namespace chameleon::tools
