// SPDX-License-Identifier: BSD-3-Clause
#include "flush/rank_reports.h"

#include "compress/merge.h"
#include "format/codec.h"
#include "format/outliers_codec.h"
#include "format/pair_accounts_codec.h"
#include "format/totals_codec.h"

namespace chameleon::flush {

RankReports::RankReports(Trace own, bool large, std::uint32_t time_class) : rest(std::move(own)) {
  if (large) {
    for (auto& [rank, one] : rest.facts) one = format::rounded(std::move(one));
    for (const PhaseTotals::Entry& entry : rest.totals.entries()) totals.add(time_class, entry);
    rest.totals = PhaseTotals();
    if (!rest.ranks.empty()) rest.declarations.push_back({kRoundedDeclaration, rest.ranks});
  }
  facts = PackedFacts(rest.facts);
  rest.facts.clear();
}

namespace {

/// What there is of the rest, behind its number of ranks.
enum Part : std::uint8_t { kComplete = 1, kTotals = 2, kOutliers = 4, kPairAccounts = 8 };

void encode_rest(ByteWriter& writer, const Trace& rest) {
  const bool pairs = !rest.pair_accounts.empty() && rest.world_size > 0;
  writer.varint(rest.world_size);
  writer.varint(rest.threads);
  writer.u8(static_cast<std::uint8_t>(
      (rest.complete ? kComplete : 0) | (rest.totals.empty() ? 0 : kTotals) |
      (rest.outliers.known() ? kOutliers : 0) | (pairs ? kPairAccounts : 0)));
  writer.varint(rest.declarations.size());
  for (const Declaration& declared : rest.declarations) {
    writer.text(declared.what);
    declared.ranks.encode(writer);
  }
  if (!rest.totals.empty()) format::write_totals(writer, rest.totals);
  if (rest.outliers.known()) format::write_outliers(writer, rest.outliers);
  if (pairs) format::write_pair_accounts(writer, rest.pair_accounts, rest.world_size);
}

bool decode_rest(ByteReader& reader, Trace& rest) {
  rest.world_size = static_cast<std::uint32_t>(reader.varint());
  rest.threads = static_cast<std::uint32_t>(reader.varint());
  const std::uint8_t parts = reader.u8();
  rest.complete = (parts & kComplete) != 0;
  for (std::uint64_t left = reader.count(2); left != 0 && reader.ok(); --left) {
    Declaration declared{reader.text(), {}};
    if (!RankList::decode(reader, declared.ranks)) return false;
    rest.declarations.push_back(std::move(declared));
  }
  if ((parts & kTotals) != 0) format::read_totals(reader, rest.totals);
  if ((parts & kOutliers) != 0) format::read_outliers(reader, rest.outliers);
  if ((parts & kPairAccounts) != 0)
    format::read_pair_accounts(reader, rest.world_size, rest.pair_accounts);
  return reader.ok();
}

}  // namespace

void RankReports::encode(ByteWriter& writer) const {
  facts.encode(writer);
  totals.encode(writer);
  encode_rest(writer, rest);
}

bool RankReports::decode(ByteReader& reader, RankReports& value) {
  if (!PackedFacts::decode(reader, value.facts) || !TotalsByClass::decode(reader, value.totals))
    return false;
  value.rest.ranks = value.facts.ranks();
  return decode_rest(reader, value.rest);
}

namespace {

void join_all_but_facts(RankReports& mine, RankReports& theirs) {
  mine.totals.join(theirs.totals);
  if (mine.rest.ranks.empty()) {
    mine.rest = std::move(theirs.rest);
    return;
  }
  merge(mine.rest, std::move(theirs.rest));
}

}  // namespace

void join_reports(RankReports& mine, RankReports&& theirs) {
  join_all_but_facts(mine, theirs);
  std::vector<PackedFacts> parts(2);
  parts[0] = std::move(mine.facts);
  parts[1] = std::move(theirs.facts);
  mine.facts = PackedFacts::joined(std::move(parts));
}

RankReports joined(std::vector<RankReports> groups) {
  RankReports all;
  std::vector<PackedFacts> parts;
  for (RankReports& one : groups) {
    join_all_but_facts(all, one);
    parts.push_back(std::move(one.facts));
    one = RankReports();
  }
  all.facts = PackedFacts::joined(std::move(parts));
  return all;
}

FactsOfRanks facts_by_rank(const PackedFacts& facts, const Trace& run) {
  Trace only;
  only.world_size = run.world_size;
  only.threads = run.threads;
  only.ranks = facts.ranks();
  Result<Trace> read = format::decode_trace(format::encode_trace(only, facts));
  return read ? std::move(read->facts) : FactsOfRanks();
}

}  // namespace chameleon::flush
