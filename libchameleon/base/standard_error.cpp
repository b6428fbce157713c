// SPDX-License-Identifier: BSD-3-Clause
#include "base/standard_error.h"

#include <unistd.h>

#include <atomic>

#include "base/own_descriptor.h"

namespace chameleon::inline base {
namespace {

constinit DescriptorIdentity g_standard_error;
constinit std::atomic<bool> g_is_remembered{false};

}  // namespace

void remember_standard_error() {
  if (!g_is_remembered.exchange(true)) g_standard_error = DescriptorIdentity(STDERR_FILENO);
}

void write_to_standard_error(std::string_view text) {
  remember_standard_error();
  if (!g_standard_error.holds(STDERR_FILENO)) return;
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nowhere left to say it
}

}  // namespace chameleon::inline base
