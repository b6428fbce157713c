// SPDX-License-Identifier: BSD-3-Clause
#include "tools/source_folders.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/foreign_file.h"

namespace chameleon::tools {
namespace {

constexpr std::uint64_t kMostSourceBytes = 4U << 20;
constexpr std::size_t kMostSourceLine = 200;

constexpr std::array<std::string_view, 42> kSuffixes = {
    "c",   "cc",  "cpp", "cxx", "c++", "h",   "hh",  "hpp", "hxx", "h++", "inl",
    "ipp", "tpp", "txx", "inc", "cu",  "cuh", "hip", "f",   "for", "ftn", "f77",
    "f90", "f95", "f03", "f08", "fpp", "py",  "pyx", "pxd", "pxi", "rs",  "jl",
    "d",   "m",   "mm",  "s",   "asm", "go",  "y",   "l",   "cl"};

/// Links resolved; empty if there is no such folder, or it is the root, which says nothing.
std::string real_folder(const std::string& folder) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(folder, error).string();
  return error || real == "/" ? std::string() : real;
}

/// The path from the folder, or nothing.
std::string_view within(std::string_view path, const std::string& folder) {
  if (folder.empty() || path.size() <= folder.size() + 1 || !path.starts_with(folder) ||
      path[folder.size()] != '/')
    return {};
  return path.substr(folder.size() + 1);
}

bool is_source_name(std::string_view relative) {
  if (relative.empty() || relative.front() == '.' || relative.find("/.") != std::string_view::npos)
    return false;
  const std::size_t dot = relative.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string suffix(relative.substr(dot + 1));
  std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

}  // namespace

SourceFolders::SourceFolders(const std::string& recorded, const std::vector<std::string>& named) {
  // A name in /proc would be the current folder, wherever that is.
  if (recorded.starts_with('/') && !recorded.starts_with("/proc/")) {
    std::error_code error;
    // "/" is no folder of a program, and would leave the choice to the trace alone.
    recorded_ = real_folder(recorded);
    current_ = real_folder(std::filesystem::current_path(error).string());
  }
  for (const std::string& folder : named) named_.push_back(real_folder(folder));
}

bool SourceFolders::shows(const std::string& real_path) const {
  if (is_source_name(within(real_path, recorded_)) && is_source_name(within(real_path, current_)))
    return true;
  return std::any_of(named_.begin(), named_.end(), [&](const std::string& folder) {
    return is_source_name(within(real_path, folder));
  });
}

std::vector<std::string> SourceFolders::lines_of(const std::string& file) const {
  std::vector<std::string> lines;
  const Result<OpenFile> opened = open_foreign(file);
  if (!opened || !shows(opened->real_path())) return lines;
  const Result<std::string> text = read_foreign(*opened, file, kMostSourceBytes);
  if (!text) return lines;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    lines.push_back(text->substr(at, std::min(end - at, kMostSourceLine)));
    at = end + 1;
  }
  return lines;
}

}  // namespace chameleon::tools
