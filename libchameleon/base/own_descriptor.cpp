// SPDX-License-Identifier: BSD-3-Clause
#include "base/own_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace chameleon::inline base {

DescriptorIdentity::DescriptorIdentity(int descriptor) {
  const int error = errno;
  struct stat found {};
  known_ = ::fstat(descriptor, &found) == 0;
  device_ = found.st_dev;
  special_ = found.st_rdev;
  number_ = found.st_ino;
  kind_ = found.st_mode & S_IFMT;
  errno = error;
}

bool DescriptorIdentity::holds(int descriptor) const {
  const DescriptorIdentity now(descriptor);
  return known_ && now.known_ && now.device_ == device_ && now.special_ == special_ &&
         now.number_ == number_ && now.kind_ == kind_;
}

int moved_away(int descriptor) {
  if (descriptor < 0) return descriptor;
  constexpr int kHigh = 512, kFirst = 3;  // select(2) takes numbers below 1,024
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const int high = known ? static_cast<int>(std::min<rlim_t>(kHigh, limit.rlim_cur / 2)) : kHigh;
  int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, std::max(high, kFirst));
  if (moved < 0 && descriptor < kFirst) moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirst);
  if (moved < 0 && descriptor >= kFirst) return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return moved;
}

OwnDescriptor::OwnDescriptor(int opened) : number_(moved_away(opened)) {
  if (number_ >= 0) identity_ = DescriptorIdentity(number_);
}

OwnDescriptor::OwnDescriptor(const std::string& path, int flags, unsigned mode)
    : OwnDescriptor(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}

int OwnDescriptor::release() { return std::exchange(number_, -1); }

OwnDescriptor::OwnDescriptor(OwnDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), identity_(other.identity_) {}

OwnDescriptor& OwnDescriptor::operator=(OwnDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(identity_, other.identity_);
  return *this;
}

int OwnDescriptor::get() const {
  if (number_ < 0 || identity_.holds(number_)) return number_;
  errno = EBADF;
  return -1;
}

bool OwnDescriptor::close() {
  const int number = std::exchange(number_, -1);
  return number < 0 || !identity_.holds(number) || ::close(number) == 0;
}

}  // namespace chameleon::inline base
