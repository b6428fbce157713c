// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Sizes of one rank's datatypes, followed through its events: predefined ones from the trace's
/// list, derived ones from the arguments of their constructors (datatype_size.h). O(1) to look up;
/// memory of the ids in use.

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "analysis/check_plan.h"
#include "analysis/datatype_size.h"
#include "analysis/type_elements.h"
#include "model/trace.h"
#include "model/view.h"

namespace chameleon::analysis {

class Datatypes {
 public:
  explicit Datatypes(const Trace& trace);

  /// Bytes of data in one element, as `thread` knows the type; or `kUnknownSize`.
  std::int64_t size(std::int64_t type, std::uint32_t thread) const;
  /// Bytes of `count` elements; `kUnknownSize` if it cannot be known.
  std::int64_t bytes(std::int64_t count, std::int64_t type, std::uint32_t thread) const;

  /// What all of it is made of, as `thread` knows the type.
  Element element(std::int64_t type, std::uint32_t thread) const;

  /// Follows a constructor (`Action::kDatatype`) that `thread` calls.
  void apply(const CallDescription& call, const CallPlan& plan, const EventView& event,
             std::uint32_t thread);

  /// Ids that stood for types of several sizes so far: a thread other than the maker's may mean
  /// any of them.
  const std::unordered_set<std::int64_t>& resized() const { return resized_; }
  /// From here on only the maker's thread may use the size of these.
  void doubt(std::unordered_set<std::int64_t> ids) { doubted_ = std::move(ids); }

 private:
  /// The size for an id that was not made yet.
  static constexpr std::int64_t kNoType = kUnknownSize - 1;
  /// Types of a rank at once: larger ids are of a damaged trace.
  static constexpr std::int64_t kMost = std::int64_t{1} << 24;

  const Trace* trace_;
  const std::vector<Predefined>* predefined_ = nullptr;
  Element element_made(const CallDescription& call, const CallPlan& plan, const EventView& event,
                       std::uint32_t thread) const;

  std::vector<std::int64_t> sizes_;  ///< by place (`place_of_object`)
  std::vector<Element> elements_;    ///< likewise
  std::unordered_set<std::int64_t> resized_, doubted_;
};

}  // namespace chameleon::analysis
