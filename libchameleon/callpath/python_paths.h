// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Call paths through Python: native stacks that pass through the interpreter, the Python functions
/// that were seen with each, and the signature of the path that the two make up. A native stack has
/// a number, which the tables of an engine keep in place of a signature. The number and the ids of
/// all functions are compared whole. If the functions of a stack cannot be read, its path is the
/// native one. Cost beyond that of the native stack: 20 ns, and the time to read the
/// functions.

#include <cstdint>
#include <span>
#include <vector>

#include "callpath/python_frames.h"
#include "callpath/raw_table.h"

namespace chameleon::callpath {

/// A stack with known activations of the interpreter's loop, and the functions that they run;
/// `functions` is null if these could not be read.
struct PythonStack {
  RawStack native;
  bool is_truncated = false;
  const PythonFrames::Found* functions = nullptr;
};

class PythonPaths {
 public:
  static constexpr std::size_t kMostStacks = std::size_t{1} << 16;

  /// Whether there is no room for another stack: then all tables with numbers have to be cleared.
  bool is_full() const { return stacks_.size() >= kMostStacks; }

  /// The number of a native stack not numbered before.
  std::uint64_t number(const PythonRuntime& python, RawStack native, bool is_truncated) {
    Stack stack{{native.begin(), native.end()}, is_truncated};
    for (void* address : native)
      if (python.runs_functions(reinterpret_cast<std::uintptr_t>(address))) ++stack.activations;
    stacks_.push_back(std::move(stack));
    return stacks_.size() - 1;
  }

  /// The signature of the present stack, whose native stack has this number. For a path not seen
  /// before, `resolve(PythonStack)` makes it.
  template <class Resolve>
  std::uint64_t signature(const PythonRuntime& python, std::uint64_t number, Resolve&& resolve) {
    const Stack& stack = stacks_[number];
    const bool is_read = frames_.read(python, stack.activations, stack.is_truncated, functions_);
    key_[0] = reinterpret_cast<void*>(number + 1);
    std::size_t size = 1;
    for (std::size_t i = 0; is_read && i < functions_.size; ++i)
      key_[size++] = reinterpret_cast<void*>(functions_.ids[i]);
    if (is_read && functions_.is_truncated) key_[size++] = key_[0];
    const RawStack key(key_.data(), size);
    const std::uint64_t hash = hash_stack(key);
    if (const std::uint64_t* known = signatures_.find(hash, key)) return *known;
    const std::uint64_t result =
        resolve(PythonStack{stack.addresses, stack.is_truncated, is_read ? &functions_ : nullptr});
    signatures_.insert(hash, key, result);
    return result;
  }

  /// Forgets the stacks, but not Python's functions: they do not depend on what is loaded.
  void clear() {
    stacks_.clear();
    signatures_.clear();
  }

 private:
  struct Stack {
    std::vector<void*> addresses;
    bool is_truncated = false;
    std::size_t activations = 0;
  };

  std::vector<Stack> stacks_;
  RawTable signatures_;
  PythonFrames frames_;
  PythonFrames::Found functions_;
  std::array<void*, 2 * PythonFrames::kMostFrames + 2> key_;
};

}  // namespace chameleon::callpath
