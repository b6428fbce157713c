// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Where in the program a loop is: `sweep.cpp:40-58 sweep()`. The paths of its body have their
/// outer frames in common; the loop is in the function that they call next, if that is one, from
/// the first to the last line that does. Where loops of one function are called from several
/// places, the caller that tells them apart follows: `sweep.cpp:40-58 sweep() called at main.cpp:12
/// main()`. Without names of functions it is the addresses. Finds the places of all loops of a
/// trace at once: O(nodes x depth of the stack).

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "tools/call_sites.h"

namespace chameleon::tools {

class LoopPlaces {
 public:
  LoopPlaces(const Trace& trace, CallSites& sites) : trace_(trace), sites_(sites) {
    find(trace.nodes);
    tell_apart();
  }

  /// Empty if the paths of its body have nothing in common.
  const std::string& of(const Node& loop) const;

 private:
  using Frames = std::vector<Frame>;  ///< outermost first
  struct Before {
    bool operator()(const Frames& a, const Frames& b) const {
      return std::lexicographical_compare(
          a.begin(), a.end(), b.begin(), b.end(), [](const Frame& one, const Frame& other) {
            return std::tie(one.module, one.offset) < std::tie(other.module, other.offset);
          });
    }
  };
  using Paths = std::set<Frames, Before>;
  using Function = std::pair<std::uint64_t, std::string>;  ///< module and name
  /// The paths of a loop's body, and how many outer frames are the same in all.
  struct Common {
    Paths paths;
    std::size_t outer = 0;
  };
  struct Found {
    const Node* loop;
    Frames callers;  ///< of its function
  };

  void find(const std::vector<Node>& nodes);
  void locate(const Node& loop);
  void add_paths(const Node& node, Paths& paths);
  Common common_of(const Node& loop);
  Function function_of(const Frame& frame);
  Function next_function(const Common& common);
  bool in_one_inlined(const Common& common);
  std::string addresses_text(const Node& loop);
  std::string lines_text(const Common& common, const Function& function);
  void tell_apart();

  const Trace& trace_;
  CallSites& sites_;
  std::map<Function, std::vector<Found>> functions_;
  std::unordered_map<const Node*, std::string> texts_;
};

}  // namespace chameleon::tools
