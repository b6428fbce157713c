// SPDX-License-Identifier: BSD-3-Clause
#include "record/site_effort.h"

#include <cxxabi.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/rust_names.h"
#include "callpath/engine.h"
#include "mpi/call_table.h"

namespace chameleon::record {

namespace {

/// `a::b(int) const` without its parameters: `a::b`.
std::string without_parameters(const std::string& name) {
  int open = 0;
  for (std::size_t i = name.rfind(')'); i < name.size(); --i) {
    open += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (open == 0) return name.substr(0, i);
  }
  return name;
}

/// `b` of `a::b`.
std::string without_scope(const std::string& name) {
  const std::size_t scope = name.rfind("::");
  return scope == name.npos ? name : name.substr(scope + 2);
}

}  // namespace

bool names_function(const std::vector<std::string>& globs, const std::string& symbol) {
  if (symbol.empty()) return false;
  const auto is = [&](const std::string& name) {
    return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
      return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
    });
  };
  if (is(symbol) || is(symbol.substr(0, symbol.find_first_of(".@")))) return true;
  if (const std::optional<std::string> rust = rust_name(symbol)) {
    const std::string name = rust->substr(0, rust->rfind("::<"));
    return is(*rust) || is(name) || is(without_scope(name));
  }
  if (symbol.compare(0, 2, "_Z") != 0) return false;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (text == nullptr) return false;
  const std::string name = without_parameters(text.get());
  return is(text.get()) || is(name) || is(without_scope(name));
}

std::uint64_t SiteEffort::take() { return std::exchange(ticks_, 0); }

void SiteEffort::add_all(const IntervalLog& log) {
  const EventTable& table = log.table();
  if (std::exchange(generation_, table.generation()) != table.generation()) wanted_.clear();
  while (wanted_.size() < table.size())
    wanted_.push_back(is_wanted(table[static_cast<std::uint32_t>(wanted_.size())]) ? 1 : 0);
  const EffortSites& of = options_.effort_sites;
  log.for_each([&](const IntervalLog::Record& record) {
    if (wanted_[record.event()] == 0) return;
    ticks_ += (of.compute ? record.compute() : 0) + (of.communication ? record.communication() : 0);
  });
}

bool SiteEffort::is_wanted(const EventTable::Entry& entry) {
  const std::vector<std::string>& calls = options_.effort_calls;
  const mpi::CallInfo* const call = mpi::find_call(static_cast<mpi::CallId>(entry.call));
  if (!calls.empty() && (call == nullptr || !names_call(calls, call->name))) return false;
  const auto known = paths_.find(entry.path);
  if (known != paths_.end()) return known->second;
  return paths_[entry.path] = has_function(entry.path);
}

bool SiteEffort::has_function(std::uint64_t path) {
  const std::vector<Frame> frames = callpath::Engine::frames(path);
  return std::any_of(frames.begin(), frames.end(), [&](const Frame& frame) {
    const std::string file = callpath::Engine::module_file(frame.module);
    return names_function(options_.effort_sites.functions, names_.of(frame, file));
  });
}

}  // namespace chameleon::record
