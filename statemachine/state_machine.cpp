// SPDX-License-Identifier: BSD-3-Clause
#include "statemachine/state_machine.h"

namespace chameleon::statemachine {

const char* state_name(State state) {
  switch (state) {
    case State::kAllTracing: return "AT";
    case State::kClustering: return "C";
    case State::kLead: return "L";
    case State::kFinalize: return "F";
  }
  return "?";
}

const char* action_name(Action action) {
  switch (action) {
    case Action::kRemember: return "remember";
    case Action::kClusterAndElect: return "cluster and elect";
    case Action::kJoin: return "join";
    case Action::kFlushAndKeep: return "flush and keep";
    case Action::kKeep: return "keep";
    case Action::kJoinAndFlush: return "join and flush";
    case Action::kFlushHistory: return "flush history";
    case Action::kFlushAndElect: return "flush and elect";
    case Action::kTake: return "take clusters";
    case Action::kTakeAndFlush: return "take clusters and flush";
    case Action::kSwitch: return "switch clusters";
    case Action::kSwitchAndFlush: return "switch clusters and flush";
    case Action::kStandAlone: return "stand alone";
    case Action::kStandAloneAndFlush: return "stand alone and flush";
    case Action::kFinish: return "finish";
    case Action::kStop: return "stop";
  }
  return "?";
}

Decision StateMachine::step(const Vote& sum, bool flush_due, Recall phase, Astray astray) {
  if (state_ == State::kFinalize) return {State::kFinalize, Action::kStop};
  const Cell cell{.stopped = stopped_,
                  .halt = sum.halts(),
                  .first = acted_ == 0,
                  .changed = sum.changed() > 0,
                  .astray = astray,
                  .recluster = recluster_,
                  .flush_due = flush_due,
                  .seen = phase != Recall::kNew,
                  .known = phase == Recall::kClustered};
  // Once markers have stopped there is no vote: what comes then is no acted-on marker.
  if (stopped_) return {kStateTable[row_of(cell)].state, kStateTable[row_of(cell)].action};
  ++acted_;
  return decide(cell);
}

Decision StateMachine::finalize() {
  if (state_ == State::kFinalize) return {State::kFinalize, Action::kFinish};
  return decide({.finalize = true, .stopped = stopped_, .recluster = recluster_});
}

Decision StateMachine::stop() {
  if (state_ != State::kFinalize) state_ = State::kAllTracing;
  stopped_ = true;
  return {state_, Action::kStop};
}

Decision StateMachine::decide(const Cell& cell) {
  const TableRow& row = kStateTable[row_of(cell)];
  if (row.then != Recluster::kStays) recluster_ = row.then == Recluster::kSet;
  if (row.action == Action::kStop || row.action == Action::kFinish) stopped_ = true;
  if (merges(row.action) && row.action != Action::kClusterAndElect) ++flushes_;
  state_ = row.state;
  ++counts_[static_cast<std::size_t>(row.state)];
  return {row.state, row.action};
}

}  // namespace chameleon::statemachine
