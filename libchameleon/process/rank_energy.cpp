// SPDX-License-Identifier: BSD-3-Clause
#include "process/rank_energy.h"

#include <time.h>

#include <algorithm>

namespace chameleon::process {
namespace {

double seconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void RankEnergy::start(bool reads_node) {
  read_at_ = seconds_now();
  if (reads_node) no_meter_ = meter_.open(EnergyMeter::kFolder, read_at_);
  no_counter_ = counter_.open();
}

void RankEnergy::enter() {
  if (counter_.is_open()) entered_ = counter_.read();
}

void RankEnergy::leave() {
  if (meter_.is_open()) read_node(1);
  if (!counter_.is_open()) return;
  const std::optional<std::uint64_t> left = counter_.read();
  if (left && entered_) tool_ += *left - std::min(*left, *entered_);
  if (!left) no_counter_ = "other programs have the counter, or this one closed it";
  entered_.reset();
  all_ = left.value_or(0);
}

void RankEnergy::end() {
  if (meter_.is_open()) read_node(0);
  counter_.close();
}

void RankEnergy::read_node(double least_seconds) {
  const double now = seconds_now();
  if (now < read_at_ + least_seconds) return;
  read_at_ = now;
  meter_.read(now);
}

void RankEnergy::report(RankFacts& facts) const {
  facts.no_instructions = no_counter_;
  facts.no_energy = no_meter_;
  if (no_counter_.empty()) {
    facts.instructions = all_;
    facts.tool_instructions = tool_;
  }
  facts.energy_uj = meter_.microjoules().value_or(0);
  if (meter_.is_open() && !meter_.microjoules())
    facts.no_energy = "a counter may have wrapped between two markers, or could not be read";
}

}  // namespace chameleon::process
