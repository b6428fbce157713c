// SPDX-License-Identifier: BSD-3-Clause
#include "format/facts_codec.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/read_budget.h"
#include "format/column.h"
#include "format/file.h"
#include "format/node_codec.h"

namespace chameleon::format {
namespace {

/// Facts that came before this minor version have numbers in section 14; others say what they are.
constexpr unsigned kSelfDescribing = 4;

enum How : unsigned { kPacked = 1, kText = 2 };

template <std::size_t n>
constexpr bool known_to_format(const Fact (&rows)[n]) {
  for (const Fact& row : rows)
    if (row.since_minor() > kFormatMinor) return false;
  return true;
}
static_assert(known_to_format(kRankFacts) && known_to_format(kRunFacts) &&
                  known_to_format(kOnlineFacts),
              "a new fact raises kFormatMinor");

/// Columns, one after the other: of each a head, and its values for all ranks.
class ColumnWriter {
 public:
  explicit ColumnWriter(ByteWriter& out) : out_(out) {}

  void add(const Fact& fact, std::uint64_t number, const column::Encoded& values,
           const std::vector<std::string>& texts) {
    add_column(fact.since_minor() < kSelfDescribing ? number : 0,
               {fact.name, fact.unit, static_cast<std::uint8_t>(fact.join)}, values, texts);
  }
  void add(const CarriedFact& fact, const RankList& ranks) {
    std::vector<std::string> texts = fact.texts;
    const auto absent = static_cast<std::int64_t>(fact.is_text ? texts.size() : 0);
    std::vector<std::int64_t> values;
    ValueSequence::Cursor cursor(fact.values);
    ranks.for_each([&](std::uint32_t rank) {
      values.push_back(fact.ranks.contains(rank) ? cursor.next() : absent);
    });
    if (fact.is_text && fact.values.size() < values.size()) texts.emplace_back();
    add_column(0, {fact.name, fact.unit, fact.join}, column::encode(values), texts);
  }

 private:
  struct Description {
    std::string name, unit;
    std::uint8_t join;
  };

  void add_column(std::uint64_t number, const Description& described,
                  const column::Encoded& encoded, const std::vector<std::string>& texts) {
    out_.varint(4 * number + (encoded.packed ? kPacked : 0U) + (texts.empty() ? 0U : kText));
    if (number == 0) {
      out_.text(described.name);
      out_.text(described.unit);
      out_.u8(described.join);
    }
    if (!texts.empty()) out_.varint(texts.size());
    for (const std::string& text : texts) out_.text(text);
    out_.raw(encoded.bytes);
  }

  ByteWriter& out_;
};

template <class T>
void write_value(ByteWriter& out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    out.text(value);
  else
    out.varint(static_cast<std::uint64_t>(value));
}

template <class T>
void read_value(ByteReader& in, T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    value = in.text();
  else
    value = static_cast<T>(in.varint());
}

/// The head of a fact that says itself what it is.
CarriedFact read_description(ByteReader& in, bool is_text, bool of_run) {
  CarriedFact fact;
  fact.name = in.text();
  fact.unit = in.text();
  fact.join = in.u8();
  fact.is_text = is_text;
  fact.of_run = of_run;
  return fact;
}

bool carries(const Trace& trace, const CarriedFact& like) {
  return std::any_of(trace.carried.begin(), trace.carried.end(), [&](const CarriedFact& fact) {
    return fact.name == like.name && fact.of_run == like.of_run;
  });
}

std::vector<std::string> read_texts(ByteReader& in) {
  const std::uint64_t count = in.count(1);
  ReadBudget::take(count, sizeof(std::string));
  std::vector<std::string> texts(count);
  for (std::string& text : texts) text = in.text();
  return texts;
}

/// Room for a copy of one of these for each of so many ranks.
void take_copies(const std::vector<std::string>& texts, std::uint64_t ranks) {
  std::size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  if (longest >= sizeof(std::string) / 2)
    ReadBudget::take(ranks, longest + sizeof(std::string) / 2);
}

/// Reads one of the numbers of `texts` texts, or any number.
std::uint64_t place_in(ByteReader& in, std::int64_t number, std::size_t texts) {
  const auto place = static_cast<std::uint64_t>(number);
  if (place < texts) return place;
  in.fail();
  return 0;
}

/// The columns of section 14, and those before.
class ColumnReader {
 public:
  ColumnReader(ByteReader& in, Trace& trace) : in_(in), trace_(trace) {}

  void read() {
    const std::uint64_t head = in_.varint();
    const unsigned how = head & 3;
    CarriedFact described;
    if (head / 4 == 0) described = read_description(in_, (how & kText) != 0, false);
    bool known = false;
    std::uint64_t number = 0;
    for_each_rank_fact([&](const Fact& fact, auto member) {
      ++number;
      const bool named = head / 4 == 0 && described.name == fact.name;
      const bool numbered = number == head / 4 && fact.since_minor() < kSelfDescribing;
      if (!named && !numbered) return;
      known = true;
      if (fact.is_text != ((how & kText) != 0) || std::exchange(seen_[number], true)) in_.fail();
      values(member, (how & kPacked) != 0);
    });
    if (known) return;
    if (head / 4 != 0 || carries(trace_, described) || trace_.carried.size() == kMostCarriedFacts)
      in_.fail();
    else
      carry(std::move(described), (how & kPacked) != 0);
  }

  template <class T>
  void values(T RankFacts::*member, bool packed) {
    auto facts = trace_.facts.begin();
    column::read(in_, packed, trace_.facts.size(),
                 [&](std::int64_t value) { (facts++->second).*member = static_cast<T>(value); });
  }
  void values(std::string RankFacts::*member, bool packed) {
    const std::vector<std::string> texts = read_texts(in_);
    take_copies(texts, trace_.facts.size());
    auto facts = trace_.facts.begin();
    column::read(in_, packed, trace_.facts.size(), [&](std::int64_t number) {
      const std::uint64_t place = place_in(in_, number, texts.size());
      if (in_.ok()) (facts->second).*member = texts[place];
      ++facts;
    });
  }

 private:
  void carry(CarriedFact fact, bool packed) {
    if (fact.is_text) fact.texts = read_texts(in_);
    if (!in_.expand(trace_.facts.size())) return;
    if (packed) ReadBudget::take(trace_.facts.size(), 2 * sizeof(std::int64_t));
    for (const auto& [rank, facts] : trace_.facts) fact.ranks.insert(rank);
    column::read(in_, packed, trace_.facts.size(), [&](std::int64_t number) {
      if (fact.is_text) place_in(in_, number, fact.texts.size());
      fact.values.append(number);
    });
    trace_.carried.push_back(std::move(fact));
  }

  ByteReader& in_;
  Trace& trace_;
  std::map<std::uint64_t, bool> seen_;
};

/// Makes room for the facts of the ranks in a list.
void read_ranks(ByteReader& in, Trace& trace) {
  RankList ranks;
  if (!RankList::decode(in, ranks) || ranks.size() > rank_count(trace) || !trace.facts.empty())
    return static_cast<void>(in.fail());
  ReadBudget::take(ranks.size(), sizeof(RankFacts) + ReadBudget::kMapNode);
  ranks.for_each(
      [&](std::uint32_t rank) { trace.facts.emplace_hint(trace.facts.end(), rank, RankFacts()); });
}

bool possible(const RankFacts& facts) {
  // Sums and differences of such do not overflow.
  constexpr std::int64_t kMostNs = 1LL << 60, kMostPpb = 500'000'000;
  return facts.clock_begin_ns <= kMostNs && facts.clock_begin_ns >= -kMostNs &&
         facts.clock_drift_ppb <= kMostPpb && facts.clock_drift_ppb >= -kMostPpb;
}

void check_clocks(ByteReader& in, const Trace& trace) {
  for (const auto& [rank, facts] : trace.facts)
    if (!possible(facts)) in.fail();
}

/// Facts of the run that are in no other section.
void write_later_facts(ByteWriter& out, const Trace& trace) {
  ByteWriter later;
  std::uint64_t count = 0;
  const auto head = [&](const auto& name, const auto& unit, std::uint8_t join, bool is_text) {
    ++count;
    later.text(name);
    later.text(unit);
    later.u8(join);
    later.u8(is_text ? 1 : 0);
  };
  const auto write = [&](const Fact& fact, const auto& value) {
    if (fact.since_minor() < kSelfDescribing || value == std::decay_t<decltype(value)>{}) return;
    head(fact.name, fact.unit, static_cast<std::uint8_t>(fact.join), fact.is_text);
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
      later.text(value);
    else
      later.svarint(static_cast<std::int64_t>(value));
  };
  for_each_run_fact([&](const Fact& fact, auto member) { write(fact, trace.*member); });
  for_each_online_fact([&](const Fact& fact, auto member) { write(fact, trace.online.*member); });
  for (const CarriedFact& fact : trace.carried) {
    if (!fact.of_run || fact.values.empty()) continue;
    head(fact.name, fact.unit, fact.join, fact.is_text);
    if (fact.is_text)
      later.text(fact.texts.at(static_cast<std::size_t>(fact.values.front())));
    else
      later.svarint(fact.values.front());
  }
  out.varint(count);
  out.raw(later.bytes());
}

void read_later_fact(ByteReader& in, Trace& trace) {
  CarriedFact read = read_description(in, false, true);
  const std::uint8_t is_text = in.u8();
  if (is_text > 1) in.fail();
  read.is_text = is_text == 1;
  if (read.is_text)
    read.texts.push_back(in.text());
  else
    read.values = ValueSequence(in.svarint());
  if (read.is_text) read.values = ValueSequence(0);
  bool known = false;
  const auto take = [&](const Fact& fact, auto& value) {
    if (fact.since_minor() < kSelfDescribing || read.name != fact.name) return;
    known = true;
    if (fact.is_text != read.is_text)
      in.fail();
    else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
      value = read.texts.front();
    else
      value = static_cast<std::decay_t<decltype(value)>>(read.values.front());
  };
  for_each_run_fact([&](const Fact& fact, auto member) { take(fact, trace.*member); });
  for_each_online_fact([&](const Fact& fact, auto member) { take(fact, trace.online.*member); });
  if (known) return;
  if (carries(trace, read) || trace.carried.size() == kMostCarriedFacts)
    in.fail();
  else
    trace.carried.push_back(std::move(read));
}

}  // namespace

void write_facts(ByteWriter& out, const Trace& trace, const PackedFacts& of_ranks) {
  of_ranks.ranks().encode(out);
  std::uint64_t count = 0;
  std::size_t bytes = 0;
  of_ranks.for_each([&](const Fact&, std::uint64_t, const column::Encoded& values, const auto&) {
    ++count;
    bytes += values.bytes.size();
  });
  for (const CarriedFact& fact : trace.carried)
    if (!fact.of_run) ++count;
  out.varint(count);
  out.reserve(bytes + bytes / 4);  // and for what follows: doubling takes three times as much
  ColumnWriter columns(out);
  of_ranks.for_each([&](const Fact& fact, std::uint64_t number, const auto& values,
                        const auto& texts) { columns.add(fact, number, values, texts); });
  for (const CarriedFact& fact : trace.carried)
    if (!fact.of_run) columns.add(fact, of_ranks.ranks());
  write_later_facts(out, trace);
}

void read_facts(ByteReader& in, Trace& trace) {
  read_ranks(in, trace);
  ColumnReader columns(in, trace);
  for (std::uint64_t left = in.count(2); left != 0 && in.ok(); --left) columns.read();
  for (std::uint64_t left = in.count(5); left != 0 && in.ok(); --left) read_later_fact(in, trace);
  check_clocks(in, trace);
}

void read_former_facts(ByteReader& in, Trace& trace, unsigned minor) {
  if (minor == 0) read_ranks(in, trace);
  ColumnReader columns(in, trace);
  std::vector<std::int64_t> hosts;
  for_each_rank_fact([&]<class T>(const Fact& fact, T RankFacts::*member) {
    if (fact.since_minor() != minor || !in.ok()) return;
    if constexpr (std::is_same_v<T, std::string>)  // the names come last
      column::read(in, false, trace.facts.size(),
                   [&](std::int64_t host) { hosts.push_back(host); });
    else
      columns.values(member, false);
  });
  if (minor == 0 && in.ok()) {
    const std::vector<std::string> names = read_texts(in);
    take_copies(names, trace.facts.size());
    auto host = hosts.begin();
    for (auto& [rank, facts] : trace.facts)
      if (const auto place = place_in(in, *host++, names.size()); in.ok())
        facts.host = names[place];
  }
  check_clocks(in, trace);
}

void write_run_facts(ByteWriter& out, const RunFacts& facts) {
  for_each_run_fact([&](const Fact& fact, auto member) {
    if (fact.since_minor() < kSelfDescribing) write_value(out, facts.*member);
  });
}

void read_run_facts(ByteReader& in, RunFacts& facts) {
  for_each_run_fact([&](const Fact& fact, auto member) {
    if (fact.since_minor() < kSelfDescribing) read_value(in, facts.*member);
  });
}

void write_online_facts(ByteWriter& out, const MarkerFacts& facts) {
  for_each_online_fact([&](const Fact& fact, auto member) {
    if (fact.since_minor() < kSelfDescribing) write_value(out, facts.*member);
  });
}

void read_online_facts(ByteReader& in, MarkerFacts& facts) {
  for_each_online_fact([&](const Fact& fact, auto member) {
    if (fact.since_minor() < kSelfDescribing) read_value(in, facts.*member);
  });
}

}  // namespace chameleon::format
