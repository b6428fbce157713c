// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which calls a replay issues again, and why not the others. Stated once, for the replay itself,
/// for `chameleon check` and for docs/reference/mpi-coverage.md. No mpi.h. A look-up of a call
/// costs a few comparisons; an event costs O(objects that it names), in memory of the objects made.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/check.h"
#include "analysis/follow.h"
#include "mpi/call_meaning.h"

namespace chameleon::analysis {

/// Why a replay does not issue the call, as the end of a sentence ("it needs other processes"), or
/// null if it does.
const char* why_not_reissued(const CallInfo& call);

/// The call is on a file, which a replay issues if it is given a folder for scratch files.
bool needs_scratch(const CallInfo& call);

/// Which of one rank's events a replay leaves out: those of calls that it does not issue, those
/// that failed without effect, and those on objects that it does not have for that.
class Reissue {
 public:
  /// Of calls on files, which a replay issues if it has a folder for scratch files.
  static constexpr const char* kOnFile = "it is on a file, and needs --scratch";

  /// `plan` must outlive this.
  explicit Reissue(const FollowPlan& plan);

  /// Why a replay leaves the event out; null: it issues it. All events of the rank, in their order.
  const char* why_not(const FollowedEvent& event);
  /// Whether leaving it out is a loss: not of what the replay does by itself, or has no effect.
  static bool is_loss(const FollowedEvent& event);

 private:
  struct Object {
    std::uint8_t kind = 0;  ///< in `made_`
    int field = -1;
    bool array = false, in = false, out = false;
  };
  struct Call {
    const char* why = nullptr;
    bool on_file = false;
    bool finds_parent = false;
    std::vector<Object> objects;
  };
  static Call plan_of(const CallDescription& description, const CallPlan& plan);
  template <class Function>
  void for_each_id(const FollowedEvent& event, const Object& object, Function function) const;
  bool has_all(const FollowedEvent& event, const Call& call) const;
  void make(const FollowedEvent& event, const Call& call, bool issued);
  bool is_made(std::uint8_t kind, std::int64_t id) const;

  const Trace* trace_;
  std::vector<Call> calls_;  ///< by id
  std::map<std::pair<std::uint8_t, std::int64_t>, bool> made_;
};

/// Adds an event to what `check` says that a replay leaves out.
void note_left_out(LeftOut& left_out, Reissue& reissue, const FollowedEvent& event);
/// What is left out by a replay that has a folder for scratch files, or has not.
LeftOut find_left_out(const CheckReport& report, bool with_scratch);

}  // namespace chameleon::analysis
