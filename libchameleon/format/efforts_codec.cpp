// SPDX-License-Identifier: BSD-3-Clause
#include "format/efforts_codec.h"

#include <algorithm>
#include <utility>

#include "base/read_budget.h"
#include "format/column.h"

namespace chameleon::format {
namespace {

constexpr std::uint64_t kMostNs = std::uint64_t{1} << 62;
constexpr std::uint64_t kMostMarker = std::uint64_t{1} << 60;
constexpr std::uint64_t kMostRank = std::uint64_t{1} << 24;

/// A number for each of `rows`, which `get(row)` gives.
template <class Rows, class Get>
void write_column(ByteWriter& out, const Rows& rows, Get get) {
  std::vector<std::int64_t> numbers;
  for (const auto& row : rows)
    numbers.push_back(static_cast<std::int64_t>(std::min<std::uint64_t>(get(row), kMostNs)));
  column::write(out, numbers);
}

void write_stratum(ByteWriter& out, const EffortStratum& stratum) {
  for (const std::uint64_t number : {std::uint64_t{stratum.medoid}, std::uint64_t{stratum.size},
                                     stratum.deviation_ns, stratum.least_ns, stratum.most_ns})
    out.varint(number);
  write_column(out, stratum.steps, [](const EffortCell& cell) { return cell.sum_ns; });
  write_column(out, stratum.steps, [](const EffortCell& cell) { return cell.deviation_ns; });
  out.varint(stratum.sampled.size());
  for (const SampledRank& sampled : stratum.sampled) {
    out.varint(sampled.rank);
    write_column(out, sampled.ns, [](std::uint64_t ns) { return ns; });
  }
}

void write_window(ByteWriter& out, const EffortWindow& window) {
  out.varint(window.first);
  out.varint(window.last - window.first);
  out.u8(static_cast<std::uint8_t>(window.gap));
  if (window.gap != EffortGap::kNone) return;
  out.varint(window.ranks);
  out.varint(window.unstratified);
  out.u8(window.strata_pay ? 1 : 0);
  out.varint(window.steps.size());
  write_column(out, window.steps,
               [&](const EffortStep& step) { return step.marker - window.first; });
  for (std::uint64_t EffortStep::*const field : {&EffortStep::sum_ns, &EffortStep::deviation_ns,
                                                 &EffortStep::least_ns, &EffortStep::most_ns})
    write_column(out, window.steps, [&](const EffortStep& step) { return step.*field; });
  out.varint(window.strata.size());
  for (const EffortStratum& stratum : window.strata) write_stratum(out, stratum);
}

/// Reads within a number of numbers.
class EffortsReader {
 public:
  explicit EffortsReader(ByteReader& in) : in_(in), numbers_((1U << 20) + 64 * in.remaining()) {}

  /// A number from `least` to `most`.
  std::uint64_t number(std::uint64_t least, std::uint64_t most) {
    const std::uint64_t value = in_.varint();
    if (value < least || value > most) in_.fail();
    return in_.ok() ? value : 0;
  }

  template <class Rows, class Set>
  void column(Rows& rows, std::uint64_t most, Set set) {
    if (rows.size() > numbers_) in_.fail();
    if (!in_.ok()) return;
    numbers_ -= rows.size();
    auto row = rows.begin();
    column::read(in_, rows.size(), [&](std::int64_t number) {
      if (number < 0 || static_cast<std::uint64_t>(number) > most) in_.fail();
      if (in_.ok()) set(*row++, static_cast<std::uint64_t>(number));
    });
  }

  EffortWindow window() {
    EffortWindow window;
    window.first = number(1, kMostMarker);
    const std::uint64_t more = number(0, Efforts::kMostLength - 1);
    window.last = window.first + more;
    const std::uint8_t gap = in_.u8();
    if (gap > static_cast<std::uint8_t>(EffortGap::kLost)) in_.fail();
    if (!in_.ok()) return window;
    window.gap = static_cast<EffortGap>(gap);
    if (window.gap != EffortGap::kNone) return window;
    window.ranks = static_cast<std::uint32_t>(number(1, kMostRank));
    window.unstratified = number(1, kMostRank);
    window.strata_pay = in_.u8() != 0;
    steps(window, more);
    window.strata.resize(number(1, Efforts::kMostStrata));
    std::uint64_t sampled = Efforts::kMostSampled;
    for (EffortStratum& one : window.strata)
      if (in_.ok()) stratum(one, window.steps.size(), sampled);
    if (in_.ok() && !adds_up(window)) in_.fail();
    return window;
  }

 private:
  /// Every rank is in one stratum, and no step has a least beyond its most.
  static bool adds_up(const EffortWindow& window) {
    std::uint64_t ranks = 0;
    std::vector<std::uint32_t> sampled;
    for (const EffortStratum& stratum : window.strata) {
      ranks += stratum.size;
      for (const SampledRank& one : stratum.sampled) sampled.push_back(one.rank);
    }
    std::sort(sampled.begin(), sampled.end());
    return ranks == window.ranks &&
           std::adjacent_find(sampled.begin(), sampled.end()) == sampled.end() &&
           std::none_of(window.steps.begin(), window.steps.end(),
                        [](const EffortStep& step) { return step.least_ns > step.most_ns; });
  }

  void steps(EffortWindow& window, std::uint64_t more) {
    window.steps.resize(number(1, more + 1));
    std::uint64_t next = 0;
    column(window.steps, more, [&](EffortStep& step, std::uint64_t marker) {
      if (marker < next) in_.fail();
      next = marker + 1;
      step.marker = window.first + marker;
    });
    for (std::uint64_t EffortStep::*const field : {&EffortStep::sum_ns, &EffortStep::deviation_ns,
                                                   &EffortStep::least_ns, &EffortStep::most_ns})
      column(window.steps, kMostNs, [&](EffortStep& step, std::uint64_t ns) { step.*field = ns; });
  }

  /// `most`: sampled ranks that the window may still have.
  void stratum(EffortStratum& stratum, std::size_t steps, std::uint64_t& most) {
    stratum.medoid = static_cast<std::uint32_t>(number(0, kMostRank - 1));
    stratum.size = static_cast<std::uint32_t>(number(1, kMostRank));
    stratum.deviation_ns = number(0, kMostNs);
    stratum.least_ns = number(0, kMostNs);
    stratum.most_ns = number(stratum.least_ns, kMostNs);
    if (!in_.ok()) return;
    ReadBudget::take(steps, sizeof(EffortCell));
    stratum.steps.resize(steps);
    column(stratum.steps, kMostNs, [](EffortCell& cell, std::uint64_t ns) { cell.sum_ns = ns; });
    column(stratum.steps, kMostNs,
           [](EffortCell& cell, std::uint64_t ns) { cell.deviation_ns = ns; });
    const std::uint64_t count = number(1, std::min<std::uint64_t>(most, stratum.size));
    most -= count;
    for (std::uint64_t i = 0, least = 0; i < count && in_.ok(); ++i) {
      ReadBudget::take(steps + 2, sizeof(SampledRank));
      SampledRank& sampled = stratum.sampled.emplace_back();
      sampled.rank = static_cast<std::uint32_t>(number(least, kMostRank - 1));
      least = sampled.rank + 1;
      if (steps > numbers_) in_.fail();
      if (in_.ok()) sampled.ns.resize(steps);
      column(sampled.ns, kMostNs, [](std::uint64_t& to, std::uint64_t ns) { to = ns; });
    }
    if (!stratum.has_medoid()) in_.fail();
  }

  ByteReader& in_;
  std::uint64_t numbers_;
};

bool can_be(const Efforts::Settings& settings) {
  const auto share = [](std::uint32_t ppm) { return ppm > 0 && ppm < 1'000'000; };
  return settings.length >= Efforts::kLeastLength && settings.length <= Efforts::kMostLength &&
         share(settings.error_ppm) && share(settings.confidence_ppm);
}

}  // namespace

void write_efforts(ByteWriter& out, const Efforts& efforts) {
  out.varint(efforts.settings().length);
  out.varint(efforts.settings().error_ppm);
  out.varint(efforts.settings().confidence_ppm);
  out.varint(efforts.windows().size());
  for (const EffortWindow& window : efforts.windows()) write_window(out, window);
}

void read_efforts(ByteReader& in, Efforts& efforts) {
  EffortsReader reader(in);
  Efforts::Settings settings;
  settings.length = in.varint();
  settings.error_ppm = static_cast<std::uint32_t>(reader.number(1, UINT32_MAX));
  settings.confidence_ppm = static_cast<std::uint32_t>(reader.number(1, UINT32_MAX));
  if (!can_be(settings)) in.fail();
  const std::uint64_t count = in.count(3);
  if (!in.ok()) return;
  efforts.set(settings);
  std::uint64_t next = 1;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    EffortWindow window = reader.window();
    if (window.first < next) in.fail();
    next = window.last + 1;
    if (in.ok()) efforts.add(std::move(window));
  }
}

}  // namespace chameleon::format
