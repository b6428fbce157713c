// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/path_store.h"

#include <pthread.h>

namespace chameleon::callpath {

PathStore& PathStore::process() {
  static auto* const store = [] {
    auto* const made = new PathStore;
    // Else a child of `fork` could find the mutex taken by a thread that it does not have.
    pthread_atfork([] { process().mutex_.lock(); }, [] { process().mutex_.unlock(); },
                   [] { process().mutex_.unlock(); });
    return made;
  }();
  return *store;
}

std::uint64_t PathStore::unknown_path() noexcept {
  has_unknown_.store(true, std::memory_order_relaxed);
  return stack_signature(kUnknown);
}

std::uint64_t PathStore::intern(std::span<const Frame> frames) {
  const std::uint64_t hash = stack_signature(frames);
  const std::scoped_lock lock(mutex_);
  const auto [entry, is_new] = paths_.try_emplace(hash);
  if (is_new) entry->second.frames.assign(frames.begin(), frames.end());
  return hash;
}

std::uint64_t PathStore::intern(std::span<const Frame> frames, std::span<const Frame> relaxed) {
  const std::uint64_t stands = intern(relaxed);
  const std::uint64_t signature = intern(frames);
  const std::scoped_lock lock(mutex_);
  relaxed_.try_emplace(signature, stands);
  return signature;
}

std::uint64_t PathStore::relaxed(std::uint64_t signature) {
  const std::scoped_lock lock(mutex_);
  const auto found = relaxed_.find(signature);
  return found == relaxed_.end() ? signature : found->second;
}

std::vector<Frame> PathStore::frames(std::uint64_t signature) {
  const std::scoped_lock lock(mutex_);
  const auto found = paths_.find(signature);
  return found == paths_.end() ? std::vector<Frame>() : found->second.frames;
}

void PathStore::add_module(std::uint64_t id, const Module& module) {
  const std::scoped_lock lock(mutex_);
  modules_.try_emplace(id, module);
}

std::map<std::uint64_t, Module> PathStore::modules() {
  const std::scoped_lock lock(mutex_);
  return modules_;
}

std::string PathStore::module_file(std::uint64_t id) {
  const std::scoped_lock lock(mutex_);
  const auto found = modules_.find(id);
  return found == modules_.end() ? std::string() : found->second.path;
}

std::uint64_t PathStore::add_source(SourceFrame source) {
  const std::uint64_t id = source_id(source);
  const std::scoped_lock lock(mutex_);
  sources_.try_emplace(id, std::move(source));
  return id;
}

std::map<std::uint64_t, SourceFrame> PathStore::sources() {
  const std::scoped_lock lock(mutex_);
  return sources_;
}

Frame PathStore::function_of_source(std::uint64_t id) {
  SourceFrame function;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = sources_.find(id);
    if (found == sources_.end()) return {0, id};
    function = {found->second.file, found->second.function, found->second.begin,
                found->second.begin};
  }
  return {0, add_source(std::move(function))};
}

}  // namespace chameleon::callpath
