// SPDX-License-Identifier: BSD-3-Clause
#include "base/own_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string_view>
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

namespace {

constexpr int kMost = 512;  // select(2) takes numbers below 1,024
constexpr int kFirst = 3;

/// Half of the descriptors that the process may have, or `kMost`.
int most_within_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kMost;
  return static_cast<int>(std::min<rlim_t>(kMost, limit.rlim_cur / 2));
}

/// Numbers from here on are high: the last quarter of those for which the kernel has room.
int high_number() {
  static std::atomic<int> found{0};
  if (const int known = found.load(std::memory_order_relaxed); known != 0) return known;
  int high = kMost;
  char text[2048];
  const int status = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t size = status < 0 ? -1 : ::read(status, text, sizeof text);
  if (status >= 0) ::close(status);
  constexpr std::string_view kName = "FDSize:";
  const std::string_view lines(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  if (const std::size_t at = lines.find(kName); at != std::string_view::npos) {
    int room = 0;
    for (const char letter : lines.substr(at + kName.size())) {
      if (letter >= '0' && letter <= '9') room = 10 * room + (letter - '0');
      if (letter == '\n') break;
    }
    high = std::min(high, room - room / 4);
  }
  high = std::max(std::min(high, most_within_limit()), kFirst);
  found.store(high, std::memory_order_relaxed);
  return high;
}

}  // namespace

void make_room_for_own_descriptors() {
  const int error = errno;
  const int some = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int high = some < 0 ? -1 : ::fcntl(some, F_DUPFD_CLOEXEC, most_within_limit());
  if (high >= 0) ::close(high);
  if (some >= 0) ::close(some);
  errno = error;
}

int moved_away(int descriptor) {
  if (descriptor < 0) return descriptor;
  int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, high_number());
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
