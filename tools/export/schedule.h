// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A rank as simulators replay it: compute, then point-to-point operations with world
/// ranks, sizes and tags that match by themselves, and collectives, which a writer either
/// knows or gets as messages. Wildcards have the partner that the run matched. Tags are
/// renumbered so that a message is known by (source, dest, tag) as long as fewer than 4,096
/// of a channel are under way. Operations that an incomplete or inexact trace leaves
/// unmatched, according to `check`, are left out. Rank by rank: memory of one rank's open
/// requests.

#include <optional>

#include "analysis/check.h"
#include "tools/export/collective_steps.h"
#include "tools/export/export.h"
#include "tools/export/export_shape.h"

namespace chameleon::tools {

class ScheduleWriter {
 public:
  struct Message {
    std::uint32_t source = 0, dest = 0;  ///< world ranks
    std::int64_t tag = 0, bytes = 0;
  };
  virtual ~ScheduleWriter() = default;

  virtual void begin_rank(std::uint32_t rank) = 0;
  virtual void end_rank() = 0;
  virtual void compute(std::uint64_t ns) = 0;
  virtual void send(const Message& message) = 0;
  virtual void receive(const Message& message) = 0;
  /// Started, to be waited for under this number, of the rank's own.
  virtual void start_send(std::uint64_t request, const Message& message) = 0;
  virtual void start_receive(std::uint64_t request, const Message& message) = 0;
  virtual void wait(std::uint64_t request) = 0;
  /// A blocking collective of all ranks of the world in their order; false: not known.
  virtual bool collective(const Operation& operation, const VectorBytes& vectors,
                          std::uint32_t ranks) = 0;
  virtual void finalize() {}
};

/// How often a writer is called for a call, at most, with collectives as messages.
class ScheduleShape {
 public:
  explicit ScheduleShape(const ExportShape& shape);

  /// Digits of the tags.
  unsigned tag() const { return tag_; }
  double computes(const CallShape& call) const;
  double messages(const CallShape& call) const;
  double waits(const CallShape& call) const;
  double operations(const CallShape& call) const {
    return computes(call) + messages(call) + waits(call);
  }

 private:
  unsigned tag_ = 1;
};

/// Writes all ranks of the trace; adds to the report what was left out or stands for another.
Status write_schedule(const Trace& trace, ScheduleWriter& writer, ExportReport& report);

}  // namespace chameleon::tools
