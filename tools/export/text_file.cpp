// SPDX-License-Identifier: BSD-3-Clause
#include "tools/export/text_file.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace chameleon::tools {

namespace fs = std::filesystem;

Status make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Error{ErrorKind::kSystem, path + ": " + error.message(), 0};
  return Unit{};
}

FolderBeside::~FolderBeside() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);  // without following links
}

Status FolderBeside::make() {
  if (const Status made = make_folder(output_); !made) return made;
  path_ = output_ + "/.new-XXXXXX";
  if (::mkdtemp(path_.data()) != nullptr) return Unit{};
  path_.clear();
  return Error{ErrorKind::kSystem, output_ + ": " + std::strerror(errno), 0};
}

Status FolderBeside::commit() {
  std::error_code error;
  const std::string former = path_ + "/former";
  fs::create_directory(former, error);
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    if (entry.path() == former) continue;
    const fs::path name = entry.path().filename(), to = fs::path(output_) / name;
    if (!fs::exists(fs::symlink_status(to, error)))
      error.clear();
    else
      fs::rename(to, fs::path(former) / name, error);
    if (!error) fs::rename(entry.path(), to, error);
    if (error) break;
  }
  if (error) return Error{ErrorKind::kSystem, output_ + ": " + error.message(), 0};
  return Unit{};
}

TextFile::TextFile(std::string path) : file_(std::move(path)) { buffer_.reserve(kBuffer + 4096); }

void TextFile::flush() {
  file_.write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

Status TextFile::close() {
  flush();
  return file_.commit();
}

}  // namespace chameleon::tools
