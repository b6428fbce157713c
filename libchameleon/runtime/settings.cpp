// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/settings.h"

#include <fnmatch.h>

#include <charconv>
#include <cstring>
#include <functional>
#include <map>

namespace chameleon {
namespace {

constexpr const char* kPrefix = "CHAMELEON_";

struct Variable {
  const char* takes;
  std::function<bool(Settings&, const std::string&)> set;
};

bool set_timing(Settings& settings, const std::string& value) {
  if (value == "none") settings.timing = Timing::kNone;
  else if (value == "histogram") settings.timing = Timing::kHistogram;
  else if (value == "full") settings.timing = Timing::kFull;
  else return false;
  return true;
}

bool set_events(Settings& settings, const std::string& value) {
  settings.all_events = value == "all";
  return value == "all" || value == "communication";
}

bool set_exclude(Settings& settings, const std::string& value) {
  std::size_t start = 0;
  while (start <= value.size()) {
    const std::size_t end = std::min(value.find(',', start), value.size());
    std::string name = value.substr(start, end - start);
    if (name.rfind("MPI_", 0) == 0) name.erase(0, 4);
    if (name.empty()) return false;
    settings.exclude.push_back(std::move(name));
    start = end + 1;
  }
  return true;
}

auto size_of(std::uint64_t Settings::*field) {
  return [field](Settings& settings, const std::string& value) {
    const auto size = parse_size(value);
    if (!size || *size < 65536) return false;
    settings.*field = *size;
    return true;
  };
}

const std::map<std::string, Variable>& variables() {
  static const std::map<std::string, Variable> list{
      {"ENABLE", {"0 or 1", [](Settings& s, const std::string& v) {
         s.enable = v == "1";
         return v == "0" || v == "1";
       }}},
      {"OUTPUT", {"a path", [](Settings& s, const std::string& v) {
         s.output = v;
         return !v.empty();
       }}},
      {"TIMING", {"none, histogram or full", set_timing}},
      {"EVENTS", {"communication or all", set_events}},
      {"EXCLUDE", {"call names or globs, separated by commas", set_exclude}},
      {"BUFFER", {"a size of at least 64K, such as 8M", size_of(&Settings::buffer)}},
      {"RAW", {"a directory", [](Settings& s, const std::string& v) {
         s.raw = v;
         return !v.empty();
       }}},
      {"VERBOSE", {"0, 1 or 2", [](Settings& s, const std::string& v) {
         s.verbose = v.size() == 1 ? v[0] - '0' : -1;
         return s.verbose >= 0 && s.verbose <= 2;
       }}},
      // Read by the `chameleon` command, not here.
      {"LIBRARY", {"a path", [](Settings&, const std::string&) { return true; }}},
  };
  return list;
}

}  // namespace

Result<std::uint64_t> parse_size(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  unsigned shift = 0;
  const char* unit = rest;
  if (unit != end && error == std::errc()) {
    if (*unit == 'K' || *unit == 'k') shift = 10;
    if (*unit == 'M' || *unit == 'm') shift = 20;
    if (*unit == 'G' || *unit == 'g') shift = 30;
    if (shift != 0) ++unit;
  }
  if (error != std::errc() || unit != end || value > (UINT64_MAX >> shift))
    return Error{ErrorKind::kUsage, "'" + text + "' is not a size", 0};
  return value << shift;
}

bool Settings::excludes(const std::string& call) const {
  for (const std::string& pattern : exclude)
    if (fnmatch(pattern.c_str(), call.c_str(), 0) == 0) return true;
  return false;
}

Result<Settings> parse_settings(const char* const* environment) {
  Settings settings;
  for (; *environment != nullptr; ++environment) {
    const std::string entry = *environment;
    if (entry.rfind(kPrefix, 0) != 0) continue;
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(std::strlen(kPrefix), equals - std::strlen(kPrefix));
    const std::string value = entry.substr(equals + 1);
    const auto variable = variables().find(name);
    if (variable == variables().end()) {
      settings.warnings.push_back("unknown variable " + entry.substr(0, equals) +
                                  " (see docs/reference/environment.md)");
      continue;
    }
    if (!variable->second.set(settings, value))
      return Error{ErrorKind::kUsage,
                   entry.substr(0, equals) + "='" + value + "' is malformed: it takes " +
                       variable->second.takes,
                   0};
  }
  return settings;
}

}  // namespace chameleon
