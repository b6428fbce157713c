// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Descriptors of the tool's own in a process that is not its own. Programs close what they have
/// not opened (all descriptors up to a limit, or the same one twice), and their next file gets the
/// number. So a descriptor of the tool is moved out of the way of the program's, in particular of
/// 0, 1 and 2, and before it is used or closed it is compared with what was opened.

#include <sys/stat.h>

#include <string>

#include "base/rooms.h"

namespace chameleon::inline base {

/// The file, pipe or socket of a descriptor.
class DescriptorIdentity {
 public:
  DescriptorIdentity() = default;
  explicit DescriptorIdentity(int descriptor);
  /// Whether the descriptor is still of that; never if it was of nothing. Keeps `errno`.
  bool holds(int descriptor) const;

 private:
  bool known_ = false;
  dev_t device_{}, special_{};
  ino_t number_{};
  mode_t kind_{};
};

class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  /// As open(2), and closed when the program executes another; -1 and `errno` if that fails.
  OwnDescriptor(const std::string& path, int flags, unsigned mode = 0);
  /// Takes one that was just opened, or -1.
  explicit OwnDescriptor(int opened);
  OwnDescriptor(OwnDescriptor&& other) noexcept;
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept;
  ~OwnDescriptor() { close(); }

  bool is_open() const { return number_ >= 0; }
  /// The number if it is still the tool's, else -1 and EBADF; -1 alone if it was never open.
  int get() const;
  /// Gives the number away.
  int release();
  /// Closes it if it is still the tool's. False and `errno` if that fails.
  bool close();

 private:
  int number_ = -1;
  DescriptorIdentity identity_;
};

/// Makes room for high numbers in the kernel's table. Microseconds in a process that has no other
/// thread yet; some 7 ms, once, where a library of MPI has started one (a grace period of RCU).
void make_room_for_own_descriptors();

/// Moves a descriptor that was just made to a high number, closed when the program executes
/// another; to any above 2 where there is none. As it was if there is none either, unless that is
/// 0, 1 or 2: then it is closed, and -1 the answer.
int moved_away(int descriptor);

}  // namespace chameleon::inline base
