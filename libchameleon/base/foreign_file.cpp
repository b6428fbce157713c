// SPDX-License-Identifier: BSD-3-Clause
#include "base/foreign_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace chameleon::inline base {
namespace {

Error unreadable(const std::string& path, const std::string& why) {
  return {ErrorKind::kSystem, path + ": cannot be read: " + why, 0};
}

}  // namespace

std::string OpenFile::real_path() const {
  char link[40];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd());
  char path[PATH_MAX];
  const ssize_t size = ::readlink(link, path, sizeof path);
  const bool whole = size > 0 && static_cast<std::size_t>(size) < sizeof path && path[0] == '/';
  return whole ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

Result<OpenFile> open_foreign(const std::string& path) {
  OpenFile file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (file.fd() < 0 || ::fstat(file.fd(), &status) != 0)
    return unreadable(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return unreadable(path, "it is not a regular file");
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

Result<std::string> read_foreign(const OpenFile& file, const std::string& path,
                                 std::uint64_t most) {
  const auto too_large = [&](std::uint64_t size) {
    return Error{ErrorKind::kRefused,
                 path + ": it has " + std::to_string(size) + " bytes, and at most " +
                     std::to_string(most) + " are read",
                 0};
  };
  if (file.size() > most) return too_large(file.size());
  // Files of /proc say that they are empty: those are read by others, whose names we know.
  std::string text(file.size(), 0);
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got =
        ::pread(file.fd(), text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path, std::strerror(errno));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

Result<std::string> read_foreign(const std::string& path, std::uint64_t most) {
  const Result<OpenFile> file = open_foreign(path);
  if (!file) return file.error();
  return read_foreign(*file, path, most);
}

}  // namespace chameleon::inline base
