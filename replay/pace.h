// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The time a rank spends between its calls. What it should have spent and what it has spent are
/// running sums, and only their difference is ever slept or spun away: waking late, the replay's
/// own work, and computation too short for a sleep carry over to the next call, so the sum over a
/// run is kept. Two clock readings a call.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::replay {

enum class Compute { kSleep, kSpin, kNone };

class Pace {
 public:
  Pace(Compute compute, double scale) : compute_(compute), scale_(scale) {}

  /// Monotonic, ns.
  static std::int64_t now();

  /// Computation begins here: after a call.
  void resume() { since_ = now(); }
  /// Computation begins here, and nothing is owed.
  void restart() {
    owed_ = idle_ = 0;
    resume();
  }
  /// So much computation belongs before the next call.
  void owe(double ns) { owed_ += ns * scale_; }
  /// So much waiting at markers does, which never occupies the processor.
  void owe_idle(double ns) { (compute_ == Compute::kSpin ? idle_ : owed_) += ns * scale_; }
  /// Spends what is owed; `resume` follows the call.
  void settle();

 private:
  static std::int64_t spend(double& owed, Compute how, std::int64_t begin);

  Compute compute_;
  double scale_;
  double owed_ = 0;  ///< beyond what was spent, ns; negative when ahead
  double idle_ = 0;  ///< likewise, of waiting, where computation is spun away
  std::int64_t since_ = 0;
};

}  // namespace chameleon::replay
