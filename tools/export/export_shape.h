// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The output of an export, call by call of the folded trace: from this each format
/// says, beside where it writes, how many bytes that will be at most. Nothing is expanded, so that
/// a disk is not filled before anybody knows; and what is said is in most traces less than twice
/// what comes. O(calls x streams), with `Looks::kShort` O(calls): a higher bound.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/check_plan.h"
#include "base/result.h"
#include "tools/export/export.h"

namespace chameleon::tools {

/// A call of the folded trace, with the sums over all its executions. A request and its
/// completion count where it began.
struct CallShape {
  const CallDescription* call = nullptr;
  const CallPlan* plan = nullptr;
  double streams = 0;  ///< that make it
  double times = 0;    ///< it is made
  double waits = 0;    ///< of these, behind a marker at which the stream waited
  double frames = 0;   ///< functions left and entered before
  double sends = 0, receives = 0, collectives = 0;
  bool requests = false;   ///< these are completed by other calls
  bool on_world = true;    ///< a collective of all ranks, as far as is known
  double members = 1;      ///< of the communicator
  unsigned bytes = 1;      ///< digits of what one of them moves
  std::uint16_t id = 0;    ///< of the call
  std::uint64_t path = 0;  ///< of it
  double befores = 0;      ///< calls that it comes after
  std::string site;

  double messages() const { return sends + receives; }
  bool completes() const;
};

struct ExportShape {
  enum class Looks : std::uint8_t { kShort, kExact };

  const ExportRequest* request = nullptr;
  std::vector<CallPlan> plans;
  std::vector<CallShape> calls;
  double events = 0, sends = 0, receives = 0, waits = 0;
  double lanes = 0, world = 0;
  double places = 0;  ///< streams that make a call, over all calls
  /// Digits of ranks, of a stream's events, of times in ns, and of tags.
  unsigned rank = 1, event = 1, time = 1, tag = 1;
  std::size_t longest_site = 0, deepest = 0;

  static Result<ExportShape> make(const ExportRequest& request, Looks looks);
  /// The calls' sum of `f(call)`.
  template <class F>
  double sum(F f) const {
    double all = 0;
    for (const CallShape& call : calls) all += f(call);
    return all;
  }
};

/// The most that a format writes.
struct ExportSize {
  double bytes = 0;
  double temporary = 0;  ///< in files that are gone at the end
  double memory = 0;     ///< that a library takes meanwhile
};

/// OTF2 keeps a location's events in memory, in chunks of at least this many bytes.
inline constexpr std::uint64_t kBytesOfOtf2Chunk = 256U << 10;

unsigned digits_of(double number);
constexpr double length(std::string_view text) { return static_cast<double>(text.size()); }

/// Messages of one rank, on average, when a collective of `members` is taken apart into messages
/// (collective_steps.h): those that go alone, and those that are sent while another is received.
struct StepCount {
  double single = 0, exchanged = 0;
};
StepCount step_count(const CallPlan& plan, double members);

ExportSize csv_size(const ExportShape& shape);
ExportSize json_size(const ExportShape& shape);
ExportSize folded_size(const ExportShape& shape);
ExportSize speedscope_size(const ExportShape& shape);
ExportSize chrome_size(const ExportShape& shape);
ExportSize perfetto_size(const ExportShape& shape);
ExportSize otf2_size(const ExportShape& shape);
ExportSize simgrid_size(const ExportShape& shape);
ExportSize paje_size(const ExportShape& shape);
ExportSize paraver_size(const ExportShape& shape);
ExportSize goal_size(const ExportShape& shape);

}  // namespace chameleon::tools
