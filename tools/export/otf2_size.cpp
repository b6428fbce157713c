// SPDX-License-Identifier: BSD-3-Clause
/// Bytes of an OTF2 archive at most. A record is its kind, its length and its attributes; a number
/// has a byte for its length and those that it needs. A time is a record of its own, where it is
/// not that of the record before.

#include <cmath>
#include <set>

#include "tools/export/export_shape.h"

namespace chameleon::tools {
namespace {

constexpr double kTime = 9, kRecord = 2;
/// The library holds a chunk of events for each location to the end, and more.
constexpr double kBytesOfLocation = kBytesOfOtf2Chunk + (64 << 10);

/// Bytes of a number of so many digits.
double number(unsigned digits) { return 1 + std::ceil(digits * std::log2(10) / 8); }

}  // namespace

ExportSize otf2_size(const ExportShape& shape) {
  constexpr double kHead = 4000, kLocation = 600, kDefinition = 40, kComm = 3;
  const double region = number(digits_of(static_cast<double>(shape.calls.size()) + 256));
  const double request = number(shape.event + 1), rank = number(shape.rank);
  const double passed = kRecord + region, timed = kTime + passed;
  const double message = kRecord + rank + kComm + number(shape.tag);
  double bytes = kHead + (kLocation + 2 * rank) * std::max(shape.lanes, shape.world);
  bytes += shape.lanes * static_cast<double>(shape.deepest) * passed;
  std::set<std::string> names;
  for (const CallShape& call : shape.calls) {
    names.insert(call.call->name);
    for (const std::string& frame : shape.request->names.frames(call.path)) {
      names.emplace(function_of(frame));
      if (const NamedFrame* declared = shape.request->names.declared(frame))
        names.insert(declared->file);
    }
    const double requested = call.requests ? kRecord + 2 * request : 0;
    bytes += call.times * 2 * timed + call.frames * passed + call.waits * 2 * timed;
    bytes += call.messages() * (message + number(call.bytes) + requested);
    bytes +=
        call.collectives * (2 * kRecord + 1 + kComm + rank + 2 * number(call.bytes) + requested);
    if (call.plan->new_comm >= 0) bytes += call.times * (2 * kDefinition + rank);
  }
  for (const std::string& name : names) bytes += kDefinition + static_cast<double>(name.size());
  return {bytes, 0, kBytesOfLocation * std::max(shape.lanes, shape.world)};
}

}  // namespace chameleon::tools
