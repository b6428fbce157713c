// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/loop_frames.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <span>
#include <string_view>

namespace chameleon::analysis {
namespace {

constexpr std::uint64_t kMostLoopFrames = 1U << 20;

/// Libraries that call MPI in place of those who call them: MPI itself and its bindings, and files
/// of numbers. docs/reference/command.md lists them.
constexpr std::string_view kBindings[] = {"libmpi",    "libchameleon", "libhdf5",
                                          "libnetcdf", "libpnetcdf",   "libadios2"};
/// Likewise, packages of Python: their extension modules, and their sources.
constexpr std::string_view kPackages[] = {"/mpi4py/", "/h5py/", "/netCDF4/"};

std::string_view path_of(const Trace& trace, const Frame& frame) {
  if (const auto source = trace.sources.find(frame.offset);
      is_source(frame) && source != trace.sources.end())
    return source->second.file;
  const auto module = trace.modules.find(frame.module);
  return module != trace.modules.end() ? std::string_view(module->second.path) : "";
}

bool is_binding(const Trace& trace, const Frame& frame) {
  const std::string_view path = path_of(trace, frame);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::any_of(
             std::begin(kBindings), std::end(kBindings),
             [&](std::string_view one) { return !is_source(frame) && name.starts_with(one); }) ||
         std::any_of(std::begin(kPackages), std::end(kPackages), [&](std::string_view one) {
           return path.find(one) != std::string_view::npos;
         });
}

/// Of an interpreter: its own code, and the sources that come with it. What is installed beside
/// these is the user's choice.
bool is_interpreter(const Trace& trace, const Frame& frame) {
  const std::string_view path = path_of(trace, frame);
  const auto has = [&](std::string_view part) { return path.find(part) != std::string_view::npos; };
  if (is_source(frame))
    return path.starts_with("<frozen ") ||
           (has("/lib/python3.") && !has("/site-packages/") && !has("/dist-packages/"));
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "python" || name.starts_with("python3") || name.starts_with("libpython3");
}

/// What a frame is in, and how far: a module and an offset, or a function of a source and a line.
struct Position {
  std::uint64_t code = 0;  ///< 0: nothing that has positions
  std::uint64_t at = 0;
};

Position position_of(const Trace& trace, const Frame& frame) {
  if (!is_source(frame)) return {frame.module, frame.offset};
  const auto source = trace.sources.find(frame.offset);
  if (source == trace.sources.end()) return {};
  const auto& [file, function, begin, line, column, end_line, end_column] = source->second;
  return {source_id({file, function, begin}), std::uint64_t{line} << 32 | column};
}

/// Some paths: their outer frames are the same, those next to them lie in `next`.
struct Paths {
  std::span<const Frame> some;  ///< one of them, innermost first
  std::size_t outer = 0;
  std::optional<LoopFrames> next;  ///< nothing: a path ends, or they are of several modules

  const Frame& at(std::size_t depth) const { return some[some.size() - 1 - depth]; }
  std::optional<LoopFrames> after(std::size_t depth) const {
    if (depth == outer) return next;
    return LoopFrames{at(depth), at(depth)};
  }
};

std::optional<LoopFrames> united(const Trace& trace, const std::optional<LoopFrames>& a,
                                 const std::optional<LoopFrames>& b) {
  if (!a || !b) return std::nullopt;
  const auto at = [&](const Frame& frame) { return position_of(trace, frame); };
  if (at(a->first).code != at(b->first).code || at(a->first).code == 0) return std::nullopt;
  return LoopFrames{at(a->first).at < at(b->first).at ? a->first : b->first,
                    at(a->last).at > at(b->last).at ? a->last : b->last};
}

Paths united(const Trace& trace, const Paths& a, const Paths& b) {
  std::size_t outer = 0;
  while (outer < std::min(a.outer, b.outer) && a.at(outer) == b.at(outer)) ++outer;
  return {a.some, outer, united(trace, a.after(outer), b.after(outer))};
}

/// Nothing if the path of some event is not known.
std::optional<Paths> paths_of(const Trace& trace, const Node& node) {
  if (!node.is_loop()) {
    const auto found = trace.paths.find(node.path);
    if (found == trace.paths.end() || found->second.frames.empty()) return std::nullopt;
    const auto& frames = found->second.frames;
    const auto some = std::span(frames).subspan(innermost_frame(trace, frames));
    return Paths{some, some.size(), std::nullopt};
  }
  std::optional<Paths> all = paths_of(trace, node.body.front());
  for (std::size_t i = 1; all && i < node.body.size(); ++i) {
    const std::optional<Paths> more = paths_of(trace, node.body[i]);
    all = more ? std::optional(united(trace, *all, *more)) : std::nullopt;
  }
  return all;
}

}  // namespace

std::size_t innermost_frame(const Trace& trace, const std::vector<Frame>& frames) {
  const auto first = [&](std::size_t from, auto wanted) {
    while (from < frames.size() && !wanted(frames[from])) ++from;
    return from;
  };
  const std::size_t outside =
      first(0, [&](const Frame& frame) { return !is_binding(trace, frame); });
  if (outside < frames.size() && !is_interpreter(trace, frames[outside])) return outside;
  const std::size_t line = first(outside, [&](const Frame& frame) {
    return is_source(frame) && !is_binding(trace, frame) && !is_interpreter(trace, frame);
  });
  if (line < frames.size()) return line;
  // A thread of mpi4py's own: its sources say more than their extension.
  const std::size_t source = first(0, [](const Frame& frame) { return is_source(frame); });
  if (source < frames.size()) return source;
  return outside < frames.size() ? outside : 0;
}

bool is_interpreters_end(const Trace& trace, const std::vector<Frame>& frames) {
  return !frames.empty() && std::ranges::none_of(frames, is_source) &&
         is_interpreter(trace, frames[innermost_frame(trace, frames)]);
}

std::optional<LoopFrames> loop_frames(const Trace& trace, const Node& loop) {
  const std::optional<Paths> paths = paths_of(trace, loop);
  if (!paths) return std::nullopt;
  if (paths->next) return paths->next;
  if (paths->outer == 0) return std::nullopt;
  const Frame& common = paths->at(paths->outer - 1);
  return position_of(trace, common).code == 0 ? std::nullopt
                                              : std::optional(LoopFrames{common, common});
}

namespace {

std::string number_text(const char* format, std::uint64_t number) {
  char text[40];
  std::snprintf(text, sizeof text, format, static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

std::string source_function(const std::string& function) {
  return function.ends_with('>') ? function : function + "()";
}

std::string frame_text(const Trace& trace, const Frame& frame) {
  if (const auto source = trace.sources.find(frame.offset);
      is_source(frame) && source != trace.sources.end()) {
    const std::string& file = source->second.file;
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(source->second.line) + " " +
           source_function(source->second.function);
  }
  const auto module = trace.modules.find(frame.module);
  const std::string offset = number_text("+0x%llx", frame.offset);
  if (module == trace.modules.end()) return number_text("module 0x%llx", frame.module) + offset;
  return module->second.path.substr(module->second.path.rfind('/') + 1) + offset;
}

std::string loop_place(const Trace& trace, const Node& loop) {
  const auto frames = loop_frames(trace, loop);
  if (!frames) return {};
  std::string text = frame_text(trace, frames->first);
  if (frames->last == frames->first) return text;
  if (!is_source(frames->first)) return text + number_text("-0x%llx", frames->last.offset);
  const std::uint32_t first = trace.sources.at(frames->first.offset).line;
  const std::uint32_t last = trace.sources.at(frames->last.offset).line;
  if (first != last) text.insert(text.find(' ', text.rfind(':')), "-" + std::to_string(last));
  return text;
}

std::uint64_t iterations_of(const Node& loop, std::uint32_t stream) {
  EndPointForm form{};
  ValueSequence own;
  const ValueSequence* counts = loop.iterations.find(stream, form, own);
  if (counts == nullptr) return 0;
  std::uint64_t sum = 0, segments = 0;
  for (ValueSequence::Cursor cursor(*counts); !cursor.done() && segments < kMostLoopFrames;
       ++segments) {
    const ValueSequence::Segment segment = cursor.segment();
    const auto start = static_cast<std::uint64_t>(segment.start);
    const auto stride = static_cast<std::uint64_t>(segment.stride);
    sum += start * segment.count + stride * (segment.count * (segment.count - 1) / 2);
    cursor.skip(segment.count);
  }
  return sum;
}

}  // namespace chameleon::analysis
