// SPDX-License-Identifier: BSD-3-Clause
#include "call_sites.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "analysis/loop_frames.h"

namespace chameleon::tools {
namespace {

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// Names that only Python makes.
bool is_interpreted(const std::string& function) {
  const bool of_a_type = function.starts_with('<') && function.find("::") != std::string::npos;
  return !of_a_type && (function.starts_with('<') || function.find(".<") != std::string::npos);
}

}  // namespace

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const SourceLocation& CallSites::resolve(const Frame& frame) {
  if (const auto source = trace_.sources.find(frame.offset);
      is_source(frame) && source != trace_.sources.end()) {
    const auto [entry, fresh] = sources_.try_emplace(frame.offset);
    SourceLocation& at = entry->second;
    if (fresh) {
      at.function = source->second.function;
      at.file = source->second.file;
      at.line = static_cast<int>(source->second.line);
      at.begin = static_cast<int>(source->second.begin);
    }
    return at;
  }
  const auto module = trace_.modules.find(frame.module);
  return symbolizer_.resolve(module == trace_.modules.end() ? Module() : module->second, frame);
}

/// Finds the paths of each function that calls MPI, and how far they agree.
void CallSites::find_places() {
  using Path = std::pair<std::uint64_t, std::span<const Frame>>;  ///< from its innermost frame
  std::map<std::pair<std::uint64_t, std::string>, std::vector<Path>> functions;
  for (const auto& [path, stack] : trace_.paths) {
    if (stack.frames.empty()) continue;
    const auto frames = std::span(stack.frames).subspan(innermost_frame(trace_, stack.frames));
    if (is_named(frames[0]))
      functions[{unit_of(frames[0]), resolve(frames[0]).function}].emplace_back(path, frames);
  }
  for (const auto& [function, paths] : functions) {
    const auto agree = [&, &all = paths](std::size_t at) {
      return std::all_of(all.begin(), all.end(), [&](const Path& path) {
        return at + 1 < path.second.size() && unit_of(path.second[at + 1]) != 0 &&
               path.second[at] == all.front().second[at];
      });
    };
    // Those that differ in bindings only are one.
    const bool differ =
        std::any_of(paths.begin(), paths.end(), [&, &all = paths](const Path& path) {
          return !std::ranges::equal(path.second, all.front().second);
        });
    std::size_t at = 0;
    while (differ && agree(at)) ++at;
    for (const auto& [path, frames] : paths)
      if (at > 0) places_[path] = at;
  }
  has_places_ = true;
}

std::uint64_t CallSites::unit_of(const Frame& frame) {
  return is_source(frame) ? std::hash<std::string>{}(resolve(frame).file) | 1 : frame.module;
}

std::span<const Frame> CallSites::place_frames(std::uint64_t path) {
  if (!has_places_) find_places();
  const auto found = trace_.paths.find(path);
  if (found == trace_.paths.end() || found->second.frames.empty()) return {};
  const auto& frames = found->second.frames;
  const auto wrapped = places_.find(path);
  return std::span(frames).subspan(innermost_frame(trace_, frames) +
                                   (wrapped == places_.end() ? 0 : wrapped->second));
}

const Frame* CallSites::place_frame(std::uint64_t path) {
  const auto frames = place_frames(path);
  return frames.empty() ? nullptr : frames.data();
}

const SourceLocation* CallSites::location(std::uint64_t path) {
  const Frame* frame = place_frame(path);
  return frame == nullptr ? nullptr : &resolve(*frame);
}

std::string CallSites::function_text(const std::string& function) const {
  if (!full_ || is_interpreted(function)) return short_function(function);
  return function.empty() || function.find('(') != std::string::npos ? function : function + "()";
}

std::string CallSites::address_text(const Frame& frame) {
  return resolve(frame).module + "+" + hexadecimal(frame.offset);
}

std::string CallSites::describe(const Frame& frame) {
  const auto module = trace_.modules.find(frame.module);
  if (module == trace_.modules.end() && frame.module != 0)
    return "module " + hexadecimal(frame.module) + "+" + hexadecimal(frame.offset);
  const SourceLocation& at = resolve(frame);
  const std::string place = address_text(frame);
  if (at.file.empty() && (frame.module == 0 || at.function == place)) return at.function;
  const std::string function = function_text(at.function);
  if (at.file.empty()) return place + " " + function;
  return named_text(at.file, at.line, at.function);
}

std::string CallSites::named_text(const std::string& file, int line,
                                  const std::string& function) const {
  return std::string(base_name(file)) + ":" + std::to_string(line) + " " + function_text(function);
}

std::string CallSites::site(std::uint64_t path) {
  const Frame* frame = place_frame(path);
  if (frame == nullptr) return "path " + hexadecimal(path);
  if (is_interpreters_end(trace_, trace_.paths.find(path)->second.frames)) return kInterpretersEnd;
  std::string site = describe(*frame);
  if (places_.count(path) != 0) {
    const auto& frames = trace_.paths.find(path)->second.frames;
    site += " through " + function_text(resolve(frames[innermost_frame(trace_, frames)]).function);
  }
  return site;
}

// Of a frame without a name the symbolizer gives its place.
bool CallSites::is_named(const Frame& frame) {
  const SourceLocation& at = resolve(frame);
  return !at.function.empty() && at.function != address_text(frame) &&
         (frame.module == 0 || trace_.modules.count(frame.module) != 0);
}

std::string CallSites::function(std::uint64_t path) {
  const Frame* frame = place_frame(path);
  if (frame == nullptr || !is_named(*frame)) return site(path);
  return short_function(resolve(*frame).function);
}

std::uint64_t CallSites::context(std::uint64_t path) {
  const Frame* frame = place_frame(path);
  if (frame == nullptr) return 0;
  const std::string name = is_named(*frame) ? resolve(*frame).function : std::string();
  std::uint64_t context = combine(unit_of(*frame), std::hash<std::string>{}(name));
  const auto& frames = trace_.paths.find(path)->second.frames;
  for (const Frame* caller = frame + 1; caller < frames.data() + frames.size(); ++caller)
    context = combine(context, combine(caller->module, caller->offset));
  return context;
}

std::uint64_t CallSites::site_key(std::uint64_t path) {
  const Frame* frame = place_frame(path);
  return frame == nullptr ? path : combine(frame->module, frame->offset);
}

std::vector<NamedFrame> CallSites::named_frames(std::uint64_t path) {
  std::vector<NamedFrame> named;
  const auto found = trace_.paths.find(path);
  if (found != trace_.paths.end())
    for (const Frame& one : found->second.frames) {
      const SourceLocation& at = resolve(one);
      named.push_back({describe(one), at.file, at.begin});
      for (const auto& caller : at.callers)
        named.push_back({caller.file.empty()
                             ? address_text(one) + " " + function_text(caller.function)
                             : named_text(caller.file, caller.line, caller.function),
                         caller.file, caller.begin});
    }
  if (named.empty()) named.push_back({"path " + hexadecimal(path), "", 0});
  return named;
}

std::vector<std::string> CallSites::frames(std::uint64_t path) {
  std::vector<std::string> lines;
  for (NamedFrame& frame : named_frames(path)) lines.push_back(std::move(frame.text));
  return lines;
}

namespace {

/// Rust's `<a::S<4> as a::Work<&str>>::work` as `a::S<4>::work`.
std::string without_trait(const std::string& name) {
  int depth = 0;
  std::size_t type = 0, end = 0;
  for (; end < name.size(); ++end) {
    if (name[end] == '<') ++depth;
    if (depth == 1 && type == 0 && name.compare(end, 4, " as ") == 0) type = end;
    if (name[end] == '>' && name[end - 1] != '-' && --depth == 0) break;
  }
  if (end >= name.size()) return name.substr(1);
  return name.substr(1, (type == 0 ? end : type) - 1) + name.substr(end + 1);
}

}  // namespace

std::string short_function(const std::string& function) {
  if (is_interpreted(function)) return analysis::source_function(function);
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string name = function;
  for (auto at = name.find(kAnonymous); at != std::string::npos; at = name.find(kAnonymous))
    name.erase(at, kAnonymous.size());
  if (name.find("operator") != std::string::npos) return name;  // its <, ( and space are its name
  while (name.starts_with('<')) name = without_trait(name);
  std::string kept;
  int depth = 0;
  char before = '\0';
  for (const char letter : name) {
    if (letter == '(' && depth == 0) break;
    const bool arrow = letter == '>' && before == '-';  // fn() -> T
    before = letter;
    if (arrow && depth > 0) continue;
    if (letter == '<' && depth++ == 0 && kept.ends_with("::")) kept.erase(kept.size() - 2);
    if (depth == 0) kept += letter;
    if (letter == '>' && depth > 0) --depth;
  }
  // Templates are named with what they return.
  if (const auto space = kept.rfind(' '); space != std::string::npos) kept.erase(0, space + 1);
  return kept + "()";
}

}  // namespace chameleon::tools
