// SPDX-License-Identifier: BSD-3-Clause
#include "process/instruction_counter.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/own_descriptor.h"

namespace chameleon::process {
namespace {

std::string paranoia() {
  char text[16] = "";
  const int file = ::open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : ::read(file, text, sizeof text - 1);
  if (file >= 0) ::close(file);
  const std::string whole(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  return whole.substr(0, whole.find('\n'));
}

std::string reason(int error) {
  switch (error) {
    case EACCES:
    case EPERM: return "not permitted (perf_event_paranoid " + paranoia() + ")";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "the processor has no such counter";
    case ENOSYS: return "the kernel has no perf_event_open";
    default: return std::string("perf_event_open: ") + std::strerror(error);
  }
}

}  // namespace

InstructionCounter::Event InstructionCounter::Event::instructions() {
  return {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS};
}

std::string InstructionCounter::open(Event event) {
  close();
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.number;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  file_ = moved_away(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (file_ < 0) return reason(errno);
  if (::ioctl(file_, PERF_EVENT_IOC_ID, &id_) == 0) return "";
  const std::string why = reason(errno);
  ::close(std::exchange(file_, -1));
  return why;
}

bool InstructionCounter::is_mine() const {
  std::uint64_t id = 0;
  return file_ >= 0 && ::ioctl(file_, PERF_EVENT_IOC_ID, &id) == 0 && id == id_;
}

std::optional<std::uint64_t> InstructionCounter::read() {
  struct {
    std::uint64_t value, enabled, running;
  } now{};
  if (!is_mine() || ::read(file_, &now, sizeof now) != sizeof now || now.running == 0)
    return std::nullopt;
  if (now.running >= now.enabled) return now.value;
  return static_cast<std::uint64_t>(static_cast<double>(now.value) *
                                    static_cast<double>(now.enabled) /
                                    static_cast<double>(now.running));
}

void InstructionCounter::close() {
  if (is_mine()) ::close(file_);
  file_ = -1;
}

}  // namespace chameleon::process
