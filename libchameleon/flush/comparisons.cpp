// SPDX-License-Identifier: BSD-3-Clause
#include "flush/comparisons.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "flush/node_params.h"

namespace chameleon::flush {

void Comparison::encode(ByteWriter& writer) const {
  writer.varint(lead);
  writer.u8(mixed);
  for (const std::uint64_t hash : hashes) writer.u64(hash);
  ranks.encode(writer);
}

bool Comparison::decode(ByteReader& reader, Comparison& value) {
  value.lead = static_cast<std::uint32_t>(reader.varint());
  value.mixed = reader.u8();
  for (std::uint64_t& hash : value.hashes) hash = reader.u64();
  return RankList::decode(reader, value.ranks);
}

namespace {

constexpr std::size_t kEventsHash = 0;

bool is_mixed(const Comparison& one, std::size_t hash) { return (one.mixed >> hash & 1) != 0; }

/// Adds ranks whose hashes may be others.
void mix_in(Comparison& crowd, const Comparison& one) {
  for (std::size_t i = 0; i < one.hashes.size(); ++i)
    if (is_mixed(one, i) || one.hashes[i] != crowd.hashes[i])
      crowd.mixed = static_cast<std::uint8_t>(crowd.mixed | 1U << i);
  crowd.ranks.merge(one.ranks);
}

/// Leaves the entries of leads themselves and the largest others; the rest of each lead with equal
/// events, or all the rest of it, becomes one.
void shorten(std::vector<Comparison>& list, bool by_events) {
  const auto joins = [&](const Comparison& one) {
    return !one.is_leads() && (!by_events || one.mixed == 0);
  };
  std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
    return std::pair(!joins(a), a.ranks.size()) > std::pair(!joins(b), b.ranks.size());
  });
  const auto key = [&](const Comparison& one) {
    const bool any = !by_events || is_mixed(one, kEventsHash);
    return std::tuple(one.lead, any, any ? 0 : one.hashes[kEventsHash]);
  };
  std::map<std::tuple<std::uint32_t, bool, std::uint64_t>, std::size_t> crowds;
  std::vector<Comparison> kept;
  for (Comparison& one : list) {
    const bool stays = !joins(one) || kept.size() < kMostComparisons / 2;
    if (stays && (by_events ? one.mixed == 0 : !is_mixed(one, kEventsHash))) {
      kept.push_back(std::move(one));
      continue;
    }
    const auto [crowd, added] = crowds.emplace(key(one), kept.size());
    if (added)
      kept.push_back(std::move(one));
    else
      mix_in(kept[crowd->second], one);
  }
  list = std::move(kept);
}

/// The kinds in which ranks' hashes differ from their lead's.
std::uint32_t kinds_between(const Comparison& ranks, const StreamHashes& lead) {
  const auto differs = [&](std::size_t hash) {
    return is_mixed(ranks, hash) || ranks.hashes[hash] != lead[hash];
  };
  std::uint32_t kinds = 0;
  for (std::size_t kind = 0; kind < kPollsHash; ++kind)
    if (differs(kind)) kinds |= 1U << kind;
  if (differs(kPollPlacesHash)) kinds |= kInexactEvents;
  if ((kinds & kInexactEvents) != 0) return kInexactAll;
  return differs(kPollsHash) ? kinds | kInexactPolls : kinds;
}

}  // namespace

std::vector<Comparison> comparison_of(std::uint32_t rank, const StreamHashes& hashes, bool keeps,
                                      const Clustering& clustering) {
  const SubCluster* cluster = clustering.find(rank);
  if (cluster == nullptr || (keeps && (cluster->lead != rank || cluster->ranks.size() == 1)))
    return {};
  return {{cluster->lead, hashes, RankList::single(rank)}};
}

void join_comparisons(std::vector<Comparison>& mine, std::vector<Comparison>&& theirs) {
  const auto key = [](const Comparison& one) {
    return std::tuple(one.lead, one.mixed, one.hashes);
  };
  std::map<std::tuple<std::uint32_t, std::uint8_t, StreamHashes>, std::size_t> index;
  for (std::size_t i = 0; i < mine.size(); ++i) index.emplace(key(mine[i]), i);
  for (Comparison& other : theirs) {
    const auto [place, added] = index.emplace(key(other), mine.size());
    if (added)
      mine.push_back(std::move(other));
    else
      mine[place->second].ranks.merge(other.ranks);
  }
  for (const bool by_events : {true, false})
    if (mine.size() > kMostComparisons) shorten(mine, by_events);
}

std::vector<Inexact> judge(std::uint32_t lead, const RankList& represented,
                           const std::vector<Comparison>& comparisons, bool otherwise) {
  std::vector<Inexact> result;
  const StreamHashes* own = nullptr;
  for (const Comparison& one : comparisons)
    if (one.lead == lead && one.is_leads()) own = &one.hashes;
  if (own == nullptr) return {{represented, kInexactAll}};  // nobody compared
  RankList compared;
  for (const Comparison& one : comparisons) {
    if (one.lead != lead) continue;
    std::uint32_t kinds = kinds_between(one, *own);
    if (otherwise) kinds |= kInexactSource | kInexactDest;
    RankList ranks = one.ranks.intersection(represented);
    compared.merge(ranks);
    if (kinds != 0 && !ranks.empty()) merge_inexact(result, {{std::move(ranks), kinds}});
  }
  RankList lost = represented.minus(compared);  // on the way here
  if (!lost.empty()) merge_inexact(result, {{std::move(lost), kInexactAll}});
  return result;
}

}  // namespace chameleon::flush
