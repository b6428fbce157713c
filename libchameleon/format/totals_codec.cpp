// SPDX-License-Identifier: BSD-3-Clause
#include "format/totals_codec.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/read_budget.h"
#include "format/column.h"
#include "model/time_code.h"

namespace chameleon::format {
namespace {

/// Entries for each byte of the section, beyond the first `kMostByRank`.
constexpr std::uint64_t kEntriesOfByte = 64;

void write_ranks(ByteWriter& out, const PhaseTotals& totals) {
  const auto& entries = totals.entries();
  const bool by_rank = std::all_of(entries.begin(), entries.end(),
                                   [](const auto& entry) { return entry.ranks.size() == 1; });
  out.varint(by_rank ? 0 : entries.size());
  if (by_rank) return totals.ranks().encode(out);
  for (const PhaseTotals::Entry& entry : entries) entry.ranks.encode(out);
}

/// Fails on more ranks by themselves than `most`.
bool read_ranks(ByteReader& in, std::uint64_t most, std::vector<RankList>& entries) {
  constexpr std::uint64_t kMostClasses = std::uint64_t{1} << 16;
  const std::uint64_t count = in.count(2);
  if (count > kMostClasses) return false;
  RankList all;
  if (count == 0) {
    if (!RankList::decode(in, all) || all.size() > most) return false;
    ReadBudget::take(all.size(), 2 * sizeof(RankList));
    for (const RankList::Interval& interval : all.intervals())
      for (std::uint32_t rank = interval.first; rank <= interval.last; ++rank)
        entries.push_back(RankList::single(rank));
    return true;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    RankList one;
    if (!RankList::decode(in, one) || one.empty() || all.intersects(one)) return false;
    if (i != 0 && one.first() < entries.back().first()) return false;
    all.merge(one);
    entries.push_back(std::move(one));
  }
  return true;
}

}  // namespace

void write_totals(ByteWriter& out, const PhaseTotals& totals) {
  std::set<std::uint32_t> phases;
  for (const PhaseTotals::Entry& entry : totals.entries())
    for (const auto& [phase, times] : entry.phases) phases.insert(phase);
  out.varint(phases.size());
  for (const std::uint32_t phase : phases) out.varint(phase);
  write_ranks(out, totals);
  for (const std::uint32_t phase : phases)
    for (const SpentTime kind : kSpentTimes) {
      std::vector<std::int64_t> codes;
      for (const PhaseTotals::Entry& entry : totals.entries()) {
        const auto found = entry.phases.find(phase);
        codes.push_back(found == entry.phases.end() ? 0 : encode_time(found->second.*kind));
      }
      column::write(out, codes);
    }
}

void read_totals(ByteReader& in, PhaseTotals& totals) {
  const std::uint64_t most = PhaseTotals::kMostByRank + kEntriesOfByte * in.remaining();
  std::vector<std::uint32_t> phases;
  const std::uint64_t count = in.varint();
  if (count > PhaseTotals::kNoPhase + 1) in.fail();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t phase = in.varint();
    if (phase > PhaseTotals::kNoPhase || (i != 0 && phase <= phases.back())) in.fail();
    phases.push_back(static_cast<std::uint32_t>(phase));
  }
  std::vector<RankList> ranks;
  if (in.ok() && !read_ranks(in, most, ranks)) in.fail();
  if (!in.ok()) return;
  constexpr std::uint64_t kPhase = 64;
  ReadBudget::take(ranks.size(), 2 * sizeof(PhaseTotals::Entry) +
                                     phases.size() * (ReadBudget::kMapNode + kPhase));
  std::vector<PhaseTotals::ByPhase> spent(ranks.size());
  for (const std::uint32_t phase : phases)
    for (const SpentTime kind : kSpentTimes) {
      std::size_t at = 0;
      column::read(in, ranks.size(), [&](std::int64_t code) {
        if (code < 0) in.fail();
        if (in.ok()) spent[at++][phase].*kind = decode_time(code);
      });
      if (!in.ok()) return;
    }
  for (std::size_t i = 0; i < ranks.size(); ++i)
    totals.add(std::move(ranks[i]), std::move(spent[i]));
}

}  // namespace chameleon::format
