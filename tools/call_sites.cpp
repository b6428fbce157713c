// SPDX-License-Identifier: BSD-3-Clause
#include "call_sites.h"

#include <cstdio>
#include <functional>
#include <string_view>

namespace chameleon::tools {
namespace {

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

bool CallSites::is_binding(const Frame& frame) const {
  const auto module = trace_.modules.find(frame.module);
  if (module == trace_.modules.end()) return false;
  const std::string_view name = base_name(module->second.path);
  return name.substr(0, 6) == "libmpi" || name.substr(0, 12) == "libchameleon";
}

const SourceLocation& CallSites::resolve(const Frame& frame) {
  const auto module = trace_.modules.find(frame.module);
  return symbolizer_.resolve(module == trace_.modules.end() ? Module() : module->second, frame);
}

const Frame* CallSites::application_frame(std::uint64_t path) const {
  const auto found = trace_.paths.find(path);
  if (found == trace_.paths.end() || found->second.frames.empty()) return nullptr;
  const auto& frames = found->second.frames;
  for (const Frame& one : frames)
    if (!is_binding(one)) return &one;
  return &frames.front();
}

const SourceLocation* CallSites::location(std::uint64_t path) {
  const Frame* frame = application_frame(path);
  return frame == nullptr ? nullptr : &resolve(*frame);
}

std::string CallSites::describe(const Frame& frame) {
  const auto module = trace_.modules.find(frame.module);
  if (module == trace_.modules.end() && frame.module != 0)
    return "module " + hexadecimal(frame.module) + "+" + hexadecimal(frame.offset);
  const SourceLocation& at = resolve(frame);
  const std::string place = at.module + "+" + hexadecimal(frame.offset);
  if (at.file.empty() && (frame.module == 0 || at.function == place)) return at.function;
  std::string function = at.function;
  if (!full_)
    function = short_function(function);
  else if (!function.empty() && function.find('(') == std::string::npos)
    function += "()";
  if (at.file.empty()) return place + " " + function;
  return std::string(base_name(at.file)) + ":" + std::to_string(at.line) + " " + function;
}

std::string CallSites::site(std::uint64_t path) {
  const Frame* frame = application_frame(path);
  return frame == nullptr ? "path " + hexadecimal(path) : describe(*frame);
}

// Of a frame without a name the symbolizer gives its place.
bool CallSites::is_named(const Frame& frame) {
  const SourceLocation& at = resolve(frame);
  return !at.function.empty() && at.function != at.module + "+" + hexadecimal(frame.offset) &&
         (frame.module == 0 || trace_.modules.count(frame.module) != 0);
}

std::string CallSites::function(std::uint64_t path) {
  const Frame* frame = application_frame(path);
  if (frame == nullptr || !is_named(*frame)) return site(path);
  return short_function(resolve(*frame).function);
}

std::uint64_t CallSites::context(std::uint64_t path) {
  const Frame* frame = application_frame(path);
  if (frame == nullptr) return 0;
  const std::string name = is_named(*frame) ? resolve(*frame).function : std::string();
  std::uint64_t context = combine(frame->module, std::hash<std::string>{}(name));
  const auto& frames = trace_.paths.find(path)->second.frames;
  for (const Frame* caller = frame + 1; caller < frames.data() + frames.size(); ++caller)
    context = combine(context, combine(caller->module, caller->offset));
  return context;
}

std::uint64_t CallSites::site_key(std::uint64_t path) const {
  const Frame* frame = application_frame(path);
  return frame == nullptr ? path : combine(frame->module, frame->offset);
}

std::vector<std::string> CallSites::frames(std::uint64_t path) {
  std::vector<std::string> lines;
  const auto found = trace_.paths.find(path);
  if (found != trace_.paths.end())
    for (const Frame& one : found->second.frames) lines.push_back(describe(one));
  if (lines.empty()) lines.push_back("path " + hexadecimal(path));
  return lines;
}

std::string short_function(const std::string& function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string name = function;
  for (auto at = name.find(kAnonymous); at != std::string::npos; at = name.find(kAnonymous))
    name.erase(at, kAnonymous.size());
  if (name.find("operator") != std::string::npos) return name;  // its <, ( and space are its name
  std::string kept;
  int depth = 0;
  for (const char letter : name) {
    if (letter == '(' && depth == 0) break;
    if (letter == '<') ++depth;
    if (depth == 0) kept += letter;
    if (letter == '>' && depth > 0) --depth;
  }
  // Templates are named with what they return.
  if (const auto space = kept.rfind(' '); space != std::string::npos) kept.erase(0, space + 1);
  return kept + "()";
}

}  // namespace chameleon::tools
