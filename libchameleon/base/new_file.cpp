// SPDX-License-Identifier: BSD-3-Clause
#include "base/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/size_limit.h"

namespace chameleon::inline base {
namespace {

constexpr int kMostTries = 1000;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Error unwritable(const std::string& path, const std::string& why) {
  return {ErrorKind::kSystem, path + ": cannot be written: " + why, 0};
}

/// The descriptor that a name of /dev stands for; -1: none.
int named_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  constexpr const char* kFolder = "/dev/fd/";
  if (path.compare(0, std::strlen(kFolder), kFolder) != 0) return -1;
  char* end = nullptr;
  const long number = std::strtol(path.c_str() + std::strlen(kFolder), &end, 10);
  return *end == 0 && end != path.c_str() + std::strlen(kFolder) && number >= 0 && number < 1 << 20
             ? static_cast<int>(number)
             : -1;
}

bool is_device(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode);
}

}  // namespace

OpenFile create_free(const std::string& path) {
  return OpenFile(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kNewFileMode));
}

FileBeside create_beside(const std::string& path) {
  FileBeside made;
  for (int i = 0; i < kMostTries; ++i) {
    made.name = path + ".new" + (i == 0 ? "" : std::to_string(i));
    made.file = create_free(made.name);
    if (made.file.fd() >= 0 || errno != EEXIST) break;
  }
  return made;
}

Status may_be_replaced(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISLNK(status.st_mode))
    return Unit{};
  return unwritable(path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file");
}

Result<OpenFile> create_in_place(const std::string& path) {
  if (const Status may = may_be_replaced(path); !may) return may.error();
  OpenFile file = create_free(path);
  if (file.fd() >= 0) return file;
  if (errno != EEXIST) return unwritable(path, std::strerror(errno));
  FileBeside made = create_beside(path);
  if (made.file.fd() < 0) return unwritable(path, std::strerror(errno));
  if (::rename(made.name.c_str(), path.c_str()) == 0) return std::move(made.file);
  const Error error = unwritable(path, std::strerror(errno));
  ::unlink(made.name.c_str());
  return error;
}

OpenFile create_nameless(const std::string& path) {
  OpenFile file(::open(folder_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.fd() >= 0) return file;
  FileBeside made = create_beside(path);  // not all file systems can
  if (made.file.fd() >= 0) ::unlink(made.name.c_str());
  return std::move(made.file);
}

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  if (const int descriptor = named_descriptor(path_); descriptor >= 0) {
    file_ = OpenFile(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (file_.fd() < 0) fail(std::strerror(errno));
    return;
  }
  if (is_device(path_)) {
    file_ =
        OpenFile(::open(path_.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file_.fd() < 0) fail(std::strerror(errno));
    return;
  }
  if (const Status may = may_be_replaced(path_); !may) {
    why_ = may.error().message;
    return;
  }
  FileBeside made = create_beside(path_);
  if (made.file.fd() < 0) {
    fail(std::strerror(errno));
    return;
  }
  file_ = std::move(made.file);
  beside_ = std::move(made.name);
  // A page that only its owner could read stays so.
  struct stat former {};
  if (::lstat(path_.c_str(), &former) == 0 && S_ISREG(former.st_mode) &&
      (former.st_mode & 0777) != 0) {
    struct stat mine {};
    if (::fstat(file_.fd(), &mine) == 0) ::fchmod(file_.fd(), mine.st_mode & former.st_mode & 0777);
  }
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      beside_(std::exchange(other.beside_, {})),
      why_(std::move(other.why_)),
      file_(std::move(other.file_)) {}

NewFile::~NewFile() {
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void NewFile::fail(const std::string& why) {
  if (why_.empty()) why_ = unwritable(path_, why).message;
}

bool NewFile::write(const char* bytes, std::size_t size) {
  const NoSizeSignal guard;
  while (size > 0 && why_.empty()) {
    const ssize_t done = ::write(file_.fd(), bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      fail(std::strerror(errno));
      break;
    }
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
  return why_.empty();
}

Status NewFile::commit() {
  if (why_.empty() && !beside_.empty() && ::rename(beside_.c_str(), path_.c_str()) != 0)
    fail(std::strerror(errno));
  if (!why_.empty()) return Error{ErrorKind::kSystem, why_, 0};
  beside_.clear();
  return Unit{};
}

Status write_new_file(const std::string& path, const std::string& text) {
  NewFile file(path);
  file.write(text.data(), text.size());
  return file.commit();
}

}  // namespace chameleon::inline base
