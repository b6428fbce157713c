// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compress/fold.h"
#include "model/trace.h"
#include "rank_calls.h"

namespace chameleon::tools {

/// A rank's events, kept to be given again, and the elements of arrays.
class RecordedEvents final : public EventSink {
 public:
  using Arrays = decltype(Trace::arrays);

  struct Kept {
    std::uint16_t call;
    std::uint64_t path, compute, communication;
    std::vector<std::int64_t> values;
  };
  void event(const Event& event) override {
    events.push_back({event.call,
                      event.path,
                      event.compute,
                      event.communication,
                      {event.values.begin(), event.values.end()}});
  }
  std::int64_t array(std::vector<std::int64_t> elements) override {
    const std::uint64_t id = array_id(elements);
    arrays.try_emplace(id, std::move(elements));
    return static_cast<std::int64_t>(id);
  }
  void push_to(Folder& folder) const {
    for (const Kept& one : events)
      folder.push({one.call, one.path, one.compute, one.communication, one.values});
  }
  std::vector<Kept> events;
  Arrays arrays;
};

}  // namespace chameleon::tools
