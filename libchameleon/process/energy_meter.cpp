// SPDX-License-Identifier: BSD-3-Clause
#include "process/energy_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace chameleon::process {
namespace {

/// The first line of a file; without it errno says why.
std::optional<std::string> line_of(const std::string& path) {
  char text[64] = "";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  const ssize_t size = ::read(file, text, sizeof text - 1);
  const int error = errno;
  ::close(file);
  errno = error;
  if (size < 0) return std::nullopt;
  const std::string whole(text, static_cast<std::size_t>(size));
  return whole.substr(0, whole.find('\n'));
}

std::optional<std::uint64_t> number_of(const std::string& path) {
  const std::optional<std::string> line = line_of(path);
  if (!line) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = line->data() + line->size();
  const auto [rest, error] = std::from_chars(line->data(), end, number);
  errno = EINVAL;
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// A package, with all that its counter includes; or memory, which no package includes.
bool counts(const std::string& name) { return name.rfind("package", 0) == 0 || name == "dram"; }

std::vector<std::string> zones(const std::string& folder) {
  std::vector<std::string> found;
  DIR* const list = ::opendir(folder.c_str());
  if (list == nullptr) return found;
  while (const dirent* const entry = ::readdir(list))
    if (std::strncmp(entry->d_name, "intel-rapl:", 11) == 0)
      found.push_back(folder + "/" + entry->d_name);
  ::closedir(list);
  return found;
}

}  // namespace

std::string EnergyMeter::open(const std::string& folder, double seconds) {
  *this = EnergyMeter();
  read_at_ = seconds;
  std::vector<Counter> counters;
  for (const std::string& zone : zones(folder)) {
    if (!counts(line_of(zone + "/name").value_or(""))) continue;
    Counter counter;
    counter.file = zone + "/energy_uj";
    const auto now = number_of(counter.file);
    if (!now) return counter.file + ": " + std::strerror(errno);
    const auto range = number_of(zone + "/max_energy_range_uj");
    if (!range || *range == 0) return zone + "/max_energy_range_uj cannot be read";
    counter.last = *now;
    counter.range = *range;
    counters.push_back(std::move(counter));
  }
  if (counters.empty()) return "no counters in " + folder;
  counters_ = std::move(counters);
  return "";
}

void EnergyMeter::read(double seconds) {
  const double passed = seconds - read_at_;
  read_at_ = seconds;
  for (Counter& counter : counters_) {
    const auto now = number_of(counter.file);
    if (!now || 1e6 * kMostPower * passed >= static_cast<double>(counter.range)) {
      lost_ = true;
      return;
    }
    sum_ += *now >= counter.last ? *now - counter.last : counter.range - counter.last + *now;
    counter.last = *now;
  }
}

std::optional<std::uint64_t> EnergyMeter::microjoules() const {
  if (!is_open() || lost_) return std::nullopt;
  return sum_;
}

}  // namespace chameleon::process
