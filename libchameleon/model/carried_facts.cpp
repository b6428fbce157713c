// SPDX-License-Identifier: BSD-3-Clause
#include "model/carried_facts.h"

#include <algorithm>

namespace chameleon::inline model {
namespace {

/// The values of a fact, in the order of its ranks.
class Values {
 public:
  explicit Values(const CarriedFact& fact) : fact_(fact), cursor_(fact.values) {}

  std::int64_t number() { return cursor_.next(); }
  std::string text() {
    const auto place = static_cast<std::uint64_t>(cursor_.next());
    return place < fact_.texts.size() ? fact_.texts[place] : std::string();
  }

 private:
  const CarriedFact& fact_;
  ValueSequence::Cursor cursor_;
};

/// Takes values in the order of ranks.
class Collector {
 public:
  explicit Collector(CarriedFact& fact) : fact_(fact) {}

  void add(std::int64_t number) { fact_.values.append(number); }
  void add(const std::string& text) {
    const auto [place, added] =
        places_.emplace(text, static_cast<std::int64_t>(fact_.texts.size()));
    if (added) fact_.texts.push_back(text);
    fact_.values.append(place->second);
  }

 private:
  CarriedFact& fact_;
  std::map<std::string, std::int64_t> places_;
};

/// Gives `first` the values of both. Where both have one, `pick(rank, first, second)` is taken.
template <class Pick>
void unite(CarriedFact& first, const CarriedFact& second, Pick pick) {
  CarriedFact result{first.name, first.unit, first.join, first.is_text, first.of_run, {}, {}, {}};
  result.ranks = first.ranks;
  result.ranks.merge(second.ranks);
  Values mine(first), theirs(second);
  Collector collector(result);
  const auto add = [&](std::uint32_t rank, bool in_first, bool in_second) {
    const auto one = [&](auto next) {
      if (!in_second) return next(mine);
      if (!in_first) return next(theirs);
      const auto a = next(mine);
      return pick(rank, a, next(theirs));
    };
    if (first.is_text)
      collector.add(one([](Values& values) { return values.text(); }));
    else
      collector.add(one([](Values& values) { return values.number(); }));
  };
  if (first.of_run) add(0, true, true);
  result.ranks.for_each([&](std::uint32_t rank) {
    add(rank, first.ranks.contains(rank), second.ranks.contains(rank));
  });
  first = std::move(result);
}

template <class Facts>
auto* find(Facts& facts, const CarriedFact& like) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const CarriedFact& fact) {
    return fact.name == like.name && fact.of_run == like.of_run;
  });
  return found == facts.end() ? nullptr : &*found;
}

}  // namespace

bool fits(const CarriedFacts& first, const CarriedFacts& second) {
  std::size_t all = first.size();
  for (const CarriedFact& theirs : second) {
    const CarriedFact* const mine = find(first, theirs);
    if (mine != nullptr && mine->is_text != theirs.is_text) return false;
    all += mine == nullptr ? 1 : 0;
  }
  return all <= kMostCarriedFacts;
}

void join(CarriedFacts& first, const CarriedFacts& second, const FactsOfRanks& first_facts,
          const FactsOfRanks& second_facts) {
  for (const CarriedFact& theirs : second) {
    CarriedFact* const mine = find(first, theirs);
    if (mine == nullptr && first.size() < kMostCarriedFacts) first.push_back(theirs);
    if (mine == nullptr || mine->is_text != theirs.is_text) continue;
    const auto second_holds = [&](std::uint32_t rank) {
      const auto a = first_facts.find(rank);
      const auto b = second_facts.find(rank);
      if (a == first_facts.end() || b == second_facts.end()) return Precedence{};
      return precedence(a->second, b->second);
    };
    const Join how = mine->how();
    unite(*mine, theirs, [&](std::uint32_t rank, const auto& a, const auto& b) {
      return joined(a, b, how, second_holds(rank));
    });
  }
}

void supersede(CarriedFacts& carried, const CarriedFacts& said) {
  for (const CarriedFact& theirs : said) {
    if (theirs.of_run) continue;
    if (CarriedFact* mine = find(carried, theirs);
        mine != nullptr && mine->is_text == theirs.is_text)
      unite(*mine, theirs, [](std::uint32_t, const auto&, const auto& b) { return b; });
    else if (mine == nullptr && carried.size() < kMostCarriedFacts)
      carried.push_back(theirs);
  }
}

}  // namespace chameleon::inline model
