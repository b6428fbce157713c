// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Every call path of the process, once, and the modules and source lines they mention: what
/// goes into the trace file. Shared by all threads under a mutex, taken only
/// for stacks a thread has not seen before. Two different paths of one 64-bit
/// signature are held to be one: below 1e-9 for 100 000 paths. A child of `fork` has the store as
/// it was, and may go on with it.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/call_path.h"

namespace chameleon::callpath {

class PathStore {
 public:
  /// The store of this process; never destroyed, so usable while exiting.
  static PathStore& process();

  /// Remembers a path; returns its signature.
  std::uint64_t intern(std::span<const Frame> frames);

  /// Signature of the path of which nothing is known, which is listed from now on. Takes no lock
  /// and no memory: good in a signal handler.
  std::uint64_t unknown_path() noexcept;

  /// Remembers a path and the relaxed one that stands for it; returns the path's signature.
  std::uint64_t intern(std::span<const Frame> frames, std::span<const Frame> relaxed);

  /// The signature of the relaxed path that stands for a path; its own if none does.
  std::uint64_t relaxed(std::uint64_t signature);

  /// The frames of a path that was remembered, innermost first; none of another.
  std::vector<Frame> frames(std::uint64_t signature);

  /// Remembers what module an id stands for.
  void add_module(std::uint64_t id, const Module& module);

  /// Calls `visit(signature, that of its relaxed form, frames)` for each path, in no stated order.
  /// `visit` must not capture.
  template <class Visit>
  void for_each_path(Visit&& visit) {
    const std::scoped_lock lock(mutex_);
    for (const auto& [key, path] : paths_) {
      const auto stands = relaxed_.find(key);
      visit(key, stands == relaxed_.end() ? key : stands->second,
            std::span<const Frame>(path.frames));
    }
    const std::uint64_t unknown = stack_signature(kUnknown);
    if (has_unknown_) visit(unknown, unknown, std::span<const Frame>(kUnknown));
  }

  std::map<std::uint64_t, Module> modules();
  /// The file of a module; empty if the id stands for none.
  std::string module_file(std::uint64_t id);

  /// Remembers a source frame; returns its id.
  std::uint64_t add_source(SourceFrame source);
  /// The source frames, by id.
  std::map<std::uint64_t, SourceFrame> sources();
  /// The function that a source frame is in, as the frame of its first line.
  Frame function_of_source(std::uint64_t id);

 private:
  static constexpr Frame kUnknown[] = {kUnknownFrame};

  std::mutex mutex_;
  std::atomic<bool> has_unknown_{false};
  std::unordered_map<std::uint64_t, CallPath> paths_;
  std::unordered_map<std::uint64_t, std::uint64_t> relaxed_;  ///< of paths for which one stands
  std::map<std::uint64_t, Module> modules_;
  std::map<std::uint64_t, SourceFrame> sources_;
};

}  // namespace chameleon::callpath
