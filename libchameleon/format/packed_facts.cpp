// SPDX-License-Identifier: BSD-3-Clause
#include "format/packed_facts.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

namespace chameleon::format {
namespace {

/// Values of a column, with its texts.
struct ColumnValues {
  std::vector<std::int64_t> numbers;
  std::vector<std::string> texts;

  bool all_zero() const {
    if (!texts.empty()) return texts.size() == 1 && texts.front().empty();
    return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n == 0; });
  }
};

/// Numbers texts in the order in which they come.
class TextPlaces {
 public:
  explicit TextPlaces(std::vector<std::string>& texts) : texts_(texts) {}
  std::int64_t of(const std::string& text) {
    const auto [place, added] = places_.emplace(text, static_cast<std::int64_t>(texts_.size()));
    if (added) texts_.push_back(text);
    return place->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::map<std::string, std::int64_t> places_;
};

}  // namespace

PackedFacts::PackedFacts(const FactsOfRanks& facts) {
  for (const auto& [rank, fact] : facts) ranks_.insert(rank);
  Column* column = columns_.data();
  for_each_rank_fact([&]<class T>(const Fact&, T RankFacts::*member) {
    ColumnValues all;
    TextPlaces places(all.texts);
    all.numbers.reserve(facts.size());
    for (const auto& [rank, fact] : facts)
      if constexpr (std::is_same_v<T, std::string>)
        all.numbers.push_back(places.of(fact.*member));
      else
        all.numbers.push_back(static_cast<std::int64_t>(fact.*member));
    if (!all.all_zero()) *column = {column::encode(all.numbers), std::move(all.texts)};
    ++column;
  });
}

PackedFacts PackedFacts::joined(std::vector<PackedFacts> parts) {
  PackedFacts all;
  std::vector<std::uint32_t> ranks;
  for (const PackedFacts& part : parts) {
    part.ranks_.for_each([&](std::uint32_t rank) { ranks.push_back(rank); });
    all.ranks_.merge(part.ranks_);
  }
  std::vector<std::uint32_t> order;  // where to find the ranks; empty: as they are
  if (!std::is_sorted(ranks.begin(), ranks.end())) {
    order.resize(ranks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return ranks[a] < ranks[b]; });
  }
  const std::size_t count = ranks.size();
  ranks = {};
  for (std::size_t i = 0; i < all.columns_.size(); ++i) {
    const auto has = [i](const PackedFacts& part) {
      return !part.columns_[i].values.bytes.empty();
    };
    if (std::none_of(parts.begin(), parts.end(), has)) continue;
    ColumnValues values;
    TextPlaces places(values.texts);
    values.numbers.reserve(count);
    for (PackedFacts& part : parts) {
      Column column = std::move(part.columns_[i]);
      if (column.values.bytes.empty()) {
        const std::int64_t none = kRankFacts[i].is_text ? places.of("") : 0;
        values.numbers.insert(values.numbers.end(), part.ranks_.size(), none);
        continue;
      }
      ByteReader in(column.values.bytes);
      column::read(in, column.values.packed, part.ranks_.size(), [&](std::int64_t number) {
        const auto place = static_cast<std::size_t>(number);
        values.numbers.push_back(
            !kRankFacts[i].is_text
                ? number
                : places.of(place < column.texts.size() ? column.texts[place] : std::string()));
      });
    }
    values.numbers.resize(count);  // of a message that is none
    if (!order.empty()) {
      std::vector<std::int64_t> sorted;
      sorted.reserve(count);
      for (const std::uint32_t at : order) sorted.push_back(values.numbers[at]);
      values.numbers = std::move(sorted);
    }
    all.columns_[i] = {column::encode(values.numbers), std::move(values.texts)};
  }
  return all;
}

double PackedFacts::sum(std::uint64_t RankFacts::*fact) const {
  double total = 0;
  const Column* column = columns_.data();
  for_each_rank_fact([&]<class T>(const Fact&, T RankFacts::*member) {
    if constexpr (std::is_same_v<T, std::uint64_t>)
      if (member == fact && !column->values.bytes.empty()) {
        ByteReader in(column->values.bytes);
        column::read(in, column->values.packed, ranks_.size(), [&](std::int64_t number) {
          total += static_cast<double>(static_cast<std::uint64_t>(number));
        });
      }
    ++column;
  });
  return total;
}

void PackedFacts::encode(ByteWriter& writer) const {
  ranks_.encode(writer);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const Bytes& bytes = column.values.bytes;
    writer.varint(bytes.size() * 2 + (column.values.packed ? 1 : 0));
    writer.raw(bytes);
    if (!kRankFacts[i].is_text || bytes.empty()) continue;
    writer.varint(column.texts.size());
    for (const std::string& text : column.texts) writer.text(text);
  }
}

bool PackedFacts::decode(ByteReader& reader, PackedFacts& value) {
  if (!RankList::decode(reader, value.ranks_)) return false;
  for (std::size_t i = 0; i < value.columns_.size(); ++i) {
    Column& column = value.columns_[i];
    const std::uint64_t head = reader.varint();
    const auto bytes = reader.raw(head / 2);
    column.values = {(head & 1) != 0, Bytes(bytes.begin(), bytes.end())};
    if (!kRankFacts[i].is_text || bytes.empty()) continue;
    column.texts.resize(reader.count(1));
    for (std::string& text : column.texts) text = reader.text();
  }
  return reader.ok();
}

RankFacts rounded(RankFacts facts) {
  const auto round = [](std::uint64_t& value) {
    constexpr int kBits = 7;
    const int shift = std::bit_width(value) - kBits;
    if (shift <= 0) return;
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    value = (value > UINT64_MAX - half ? value : value + half) >> shift << shift;
  };
  for_each_rank_fact([&]<class T>(const Fact& fact, T RankFacts::*member) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      const bool measured = std::strcmp(fact.unit, "ns") == 0 ||
                            std::strcmp(fact.unit, "bytes") == 0 ||
                            std::strcmp(fact.unit, "instructions") == 0;
      if (measured && fact.join != Join::kClock) round(facts.*member);
    }
  });
  return facts;
}

}  // namespace chameleon::format
