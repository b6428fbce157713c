// SPDX-License-Identifier: BSD-3-Clause
#include "flush/time_classes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cluster/selection.h"
#include "model/time_code.h"

namespace chameleon::flush {
namespace {

double ns_of(const Durations& times) {
  return static_cast<double>(times.compute.sum()) + static_cast<double>(times.communication.sum());
}

double total_of(const Accounts& accounts) {
  double total = 0;
  for (const Account& one : accounts) total += ns_of(one.times);
  return total;
}

void write_ns(ByteWriter& writer, double ns) {
  writer.varint(static_cast<std::uint64_t>(encode_sum(static_cast<std::uint64_t>(ns + 0.5))));
}
double read_ns(ByteReader& reader) {
  return static_cast<double>(decode_sum(static_cast<std::int64_t>(reader.varint())));
}

/// Times of a vector, within ns / 512: less than what makes streams differ.
std::int64_t code_of(double ns) { return encode_ns<8>(static_cast<std::uint64_t>(ns + 0.5)); }
double ns_of_code(std::int64_t code) { return static_cast<double>(decode_ns<8>(code)); }

/// The times at a place in the vector before, which are mostly similar.
using Codes = std::vector<std::array<std::int64_t, 2>>;

void write_code(ByteWriter& writer, double ns, std::int64_t& before) {
  const std::int64_t code = code_of(ns);
  writer.svarint(code - std::exchange(before, code));
}
double read_code(ByteReader& reader, std::int64_t& before) {
  before = static_cast<std::int64_t>(static_cast<std::uint64_t>(before) +
                                     static_cast<std::uint64_t>(reader.svarint()));
  return ns_of_code(before);
}

/// The class for which the stream stands, or the nearest of `classes`, the first of equals.
std::uint32_t class_of(const StreamAccounts& of, const std::vector<TimeVector>& classes,
                       const TimeDistance& distance) {
  for (std::uint32_t i = 0; i < classes.size(); ++i)
    if (classes[i].stream == of.stream) return i;
  const TimeVector stream = vector_of(of.accounts);
  std::uint32_t best = 0;
  double least = INFINITY;
  for (std::uint32_t i = 0; i < classes.size(); ++i) {
    const double far = distance(stream, classes[i]);
    if (far < least) least = far, best = i;
  }
  return best;
}

/// Distances by kind.
struct Apart {
  double compute = 0, communication = 0;
};

Apart apart(const TimeVector& a, const TimeVector& b) {
  Apart squares;
  const auto add = [&](double compute, double communication) {
    squares.compute += compute * compute;
    squares.communication += communication * communication;
  };
  auto mine = a.parts.begin();
  auto theirs = b.parts.begin();
  while (mine != a.parts.end() || theirs != b.parts.end()) {
    if (theirs == b.parts.end() || (mine != a.parts.end() && mine->place < theirs->place)) {
      add(mine->compute_ns, mine->communication_ns);
      ++mine;
    } else if (mine == a.parts.end() || theirs->place < mine->place) {
      add(theirs->compute_ns, theirs->communication_ns);
      ++theirs;
    } else {
      add(mine->compute_ns - theirs->compute_ns, mine->communication_ns - theirs->communication_ns);
      ++mine, ++theirs;
    }
  }
  return {std::sqrt(squares.compute), std::sqrt(squares.communication)};
}

/// How far means between `least` and `most` are from `mean`, relative to themselves.
double spread_of(double mean, double least, double most) {
  double spread = 0;
  if (least > most) return spread;
  for (const double one : {least, most})
    if (one > 0) spread = std::max(spread, std::abs(mean - one) / one);
  return spread;
}

}  // namespace

// Times are rounded as they are on the way, so that all worlds choose alike.
TimeVector vector_of(const Accounts& accounts) {
  const auto rounded = [](double ns) { return ns_of_code(code_of(ns)); };
  TimeVector vector;
  vector.total_ns = static_cast<double>(
      decode_sum(encode_sum(static_cast<std::uint64_t>(total_of(accounts) + 0.5))));
  for (const Account& one : accounts) {
    const auto compute = static_cast<double>(one.times.compute.sum());
    const auto communication = static_cast<double>(one.times.communication.sum());
    if (std::max(compute, communication) >= kLeastShare * vector.total_ns)
      vector.parts.push_back({static_cast<std::uint32_t>(Place::Hash()(one.place)),
                              rounded(compute), rounded(communication)});
  }
  std::sort(vector.parts.begin(), vector.parts.end(),
            [](const auto& a, const auto& b) { return a.place < b.place; });
  return vector;
}

// The first stream stands for a centre: the widest distance is at most twice that from it.
TimeDistance::TimeDistance(const std::vector<TimeVector>& vectors) {
  for (const TimeVector& one : vectors) longest_ns_ = std::max(longest_ns_, one.total_ns);
  Apart spread{kStandsOut * longest_ns_, kStandsOut * longest_ns_};
  for (const TimeVector& one : vectors) {
    const Apart from_first = apart(vectors.front(), one);
    spread.compute = std::max(spread.compute, from_first.compute);
    spread.communication = std::max(spread.communication, from_first.communication);
  }
  if (longest_ns_ == 0) return;
  const double widest = std::max(spread.compute, spread.communication);
  compute_weight_ = widest / spread.compute;
  communication_weight_ = widest / spread.communication;
}

double TimeDistance::operator()(const TimeVector& a, const TimeVector& b) const {
  const Apart by = apart(a, b);
  const double plain = std::hypot(by.compute, by.communication);
  if (plain < alike()) return plain;
  return std::hypot(compute_weight_ * by.compute, communication_weight_ * by.communication);
}

void select_vectors(std::vector<TimeVector>& vectors, std::uint32_t most) {
  const TimeDistance distance(vectors);
  const cluster::Dissimilarities matrix(vectors.size(), [&](std::size_t i, std::size_t j) {
    return distance(vectors[i], vectors[j]);
  });
  std::vector<TimeVector> kept;
  for (const std::size_t i : cluster::k_farthest(matrix, most, distance.alike()))
    kept.push_back(std::move(vectors[i]));
  vectors = std::move(kept);
}

TimeVectors candidates_of(const std::vector<StreamAccounts>& streams, std::uint32_t most) {
  TimeVectors candidates;
  candidates.streams = streams.size();
  if (most == 1) return candidates;
  for (const StreamAccounts& one : streams) {
    candidates.all.push_back(vector_of(one.accounts));
    candidates.all.back().stream = one.stream;
  }
  select_vectors(candidates.all, most);
  return candidates;
}

void join_vectors(TimeVectors& mine, TimeVectors&& theirs, std::uint32_t most) {
  for (TimeVector& one : theirs.all) mine.all.push_back(std::move(one));
  mine.streams += theirs.streams;
  select_vectors(mine.all, most);
}

void TimeVectors::leave_names_if_complete() {
  if (all.size() != streams) return;
  for (TimeVector& one : all) one = TimeVector{one.stream, 0, {}};
}

void TimeVectors::encode(ByteWriter& writer) const {
  std::map<std::uint32_t, std::uint64_t> places;  // with their numbers
  for (const TimeVector& one : all)
    for (const TimeVector::Part& part : one.parts) places.emplace(part.place, 0);
  writer.varint(places.size());
  std::uint32_t place_before = 0;
  for (std::uint64_t number = 0; auto& [place, numbered] : places) {
    writer.varint(place - std::exchange(place_before, place));
    numbered = ++number;
  }
  writer.varint(streams);
  writer.varint(all.size());
  std::uint32_t stream_before = 0;
  Codes before(places.size());
  for (const TimeVector& one : all) {
    writer.svarint(std::int64_t{one.stream} - std::exchange(stream_before, one.stream));
    write_ns(writer, one.total_ns);
    writer.varint(one.parts.size());
    std::uint64_t number_before = 0;
    for (const TimeVector::Part& part : one.parts) {
      const std::uint64_t number = places[part.place];
      writer.varint(number - std::exchange(number_before, number));
      auto& [compute, communication] = before[number - 1];
      write_code(writer, part.compute_ns, compute);
      write_code(writer, part.communication_ns, communication);
    }
  }
}

bool TimeVectors::decode(ByteReader& reader, TimeVectors& value) {
  std::vector<std::uint32_t> places(reader.count(1));
  for (std::uint32_t before = 0; std::uint32_t & place : places)
    place = before += static_cast<std::uint32_t>(reader.varint());
  value.streams = reader.varint();
  value.all.resize(reader.count(3));
  std::uint32_t stream = 0;
  Codes before(places.size());
  for (TimeVector& one : value.all) {
    one.stream = stream += static_cast<std::uint32_t>(reader.svarint());
    one.total_ns = read_ns(reader);
    one.parts.resize(reader.count(3));
    std::uint64_t number = 0;
    for (TimeVector::Part& part : one.parts) {
      number += reader.varint();
      if (number == 0 || number > places.size()) return false;
      part.place = places[number - 1];
      auto& [compute, communication] = before[number - 1];
      part.compute_ns = read_code(reader, compute);
      part.communication_ns = read_code(reader, communication);
    }
  }
  return reader.ok();
}

void ClassSums::add(const StreamAccounts& stream, std::uint32_t time_class) {
  const Accounts& accounts = stream.accounts;
  for (const auto& [place, wait] : stream.waits) waits_.add(place, time_class, wait);
  const double matters = (1 - kOff) * kMatters * total_of(accounts);
  const auto note = [matters](const Histogram& times, double& least, double& most) {
    if (static_cast<double>(times.sum()) < matters) return;
    least = most = times.mean();
  };
  for (const Account& one : accounts) {
    ClassSum mine{one.times};
    note(one.times.compute, mine.least_compute, mine.most_compute);
    note(one.times.communication, mine.least_communication, mine.most_communication);
    join(places_[one.place][time_class], mine);
  }
}

void ClassSums::join(ClassSum& mine, const ClassSum& theirs) {
  const auto widen = [](double& least, double& most, double other_least, double other_most) {
    if (other_least > other_most) return;
    least = least > most ? other_least : std::min(least, other_least);
    most = std::max(most, other_most);
  };
  mine.times.compute.merge(theirs.times.compute);
  mine.times.communication.merge(theirs.times.communication);
  widen(mine.least_compute, mine.most_compute, theirs.least_compute, theirs.most_compute);
  widen(mine.least_communication, mine.most_communication, theirs.least_communication,
        theirs.most_communication);
}

ClassSums ClassSums::of(const std::vector<StreamAccounts>& streams,
                        const std::vector<TimeVector>& classes) {
  ClassSums sums;
  sums.streams_.resize(classes.size());
  if (classes.empty()) return sums;
  const TimeDistance distance(classes);
  for (const StreamAccounts& one : streams) {
    const std::uint32_t time_class = class_of(one, classes, distance);
    sums.streams_[time_class].insert(one.stream);
    sums.add(one, time_class);
  }
  return sums;
}

std::uint32_t ClassSums::first_class() const {
  std::uint32_t first = 0;
  const auto lowest = [&](std::uint32_t of) {
    return streams_[of].empty() ? UINT32_MAX : streams_[of].first();
  };
  for (std::uint32_t i = 1; i < streams_.size(); ++i)
    if (lowest(i) < lowest(first)) first = i;
  return first;
}

void ClassSums::join(ClassSums&& other) {
  streams_.resize(std::max(streams_.size(), other.streams_.size()));
  for (std::size_t i = 0; i < other.streams_.size(); ++i) streams_[i].merge(other.streams_[i]);
  for (auto& [place, theirs] : other.places_) {
    auto& mine = places_[place];
    for (auto& [time_class, sum] : theirs) join(mine[time_class], sum);
  }
  waits_.merge(other.waits_);
}

TimeTable ClassSums::table() && {
  TimeTable table;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < streams_.size(); ++i)
    if (!streams_[i].empty()) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return streams_[a].first() < streams_[b].first();
  });
  std::vector<std::uint32_t> numbers(streams_.size(), 0);
  std::vector<double> spreads(streams_.size(), 0);
  std::vector<double> totals(streams_.size(), 0);
  for (const auto& [place, classes] : places_)
    for (const auto& [time_class, sum] : classes) {
      const Durations& times = sum.times;
      totals[time_class] += ns_of(times);
      double& spread = spreads[time_class];
      spread = std::max(
          {spread, spread_of(times.compute.mean(), sum.least_compute, sum.most_compute),
           spread_of(times.communication.mean(), sum.least_communication, sum.most_communication)});
    }
  for (const std::uint32_t i : order) {
    const double spread = streams_[i].size() > 1 ? spreads[i] : 0;
    numbers[i] = table.add_class({std::move(streams_[i]), spread});
  }
  for (auto& [place, classes] : places_) {
    // A class may have so many streams that what matters to one of them is little of it.
    ClassTimes::ByKind matters{};
    for (const auto& [time_class, sum] : classes) {
      matters[0] = matters[0] || sum.least_compute <= sum.most_compute;
      matters[1] = matters[1] || sum.least_communication <= sum.most_communication;
    }
    const bool apart = matters[0] || matters[1] ||
                       std::any_of(classes.begin(), classes.end(), [&](const auto& one) {
                         return ns_of(one.second.times) >= kTellsClasses * totals[one.first];
                       });
    for (auto& [time_class, sum] : classes)
      table.add(place, apart ? numbers[time_class] : ClassTimes::kAll, std::move(sum.times),
                matters);
  }
  waits_.renumber(numbers, std::vector<double>(numbers.size(), 1));
  table.set_waits(std::move(waits_));
  return table;
}

namespace {

/// Symbols on their way, by their order.
using Numbers = std::map<std::uint64_t, std::uint64_t>;

void write_waits(ByteWriter& writer, const MarkerWaits& waits, const Numbers& symbols) {
  writer.varint(waits.places().size());
  for (const auto& [place, at] : waits.places()) {
    for (const std::uint64_t symbol : {place.symbol, place.predecessor})
      writer.varint(symbols.at(symbol));
    for (const std::uint64_t number : {at.all.markers, at.all.ahead_ns}) writer.varint(number);
    writer.varint(at.ns.size());
    for (const auto& [time_class, ns] : at.ns) {
      writer.varint(time_class);
      writer.varint(ns);
    }
  }
}

/// A place of which the symbols are numbers of such as these.
Place read_place(ByteReader& reader, const std::vector<std::uint64_t>& symbols) {
  const std::uint64_t symbol = reader.varint(), predecessor = reader.varint();
  if (symbol < symbols.size() && predecessor < symbols.size())
    return {symbols[symbol], symbols[predecessor]};
  reader.fail();
  return {};
}

void read_waits(ByteReader& reader, const std::vector<std::uint64_t>& symbols, MarkerWaits& waits) {
  const std::uint64_t places = reader.count(5);
  for (std::uint64_t i = 0; i < places && reader.ok(); ++i) {
    const Place place = read_place(reader, symbols);
    MarkerWait wait{0, reader.varint(), 0};
    wait.ahead_ns = reader.varint();
    const std::uint64_t classes = reader.count(2);
    for (std::uint64_t j = 0; j < classes && reader.ok(); ++j) {
      const auto time_class = static_cast<std::uint32_t>(reader.varint());
      wait.ns = reader.varint();
      waits.add(place, time_class, wait);
      wait = {};
    }
  }
}

}  // namespace

namespace {

/// Means of the streams to which a place matters: none, all like that of the account (which has
/// then been joined to no other), or the least and the most.
enum Means : std::uint8_t { kNobodys, kOwn, kRange };

void write_means(ByteWriter& writer, const Histogram& times, double least, double most) {
  const Means means = least > most                             ? kNobodys
                      : least == most && least == times.mean() ? kOwn
                                                               : kRange;
  writer.u8(means);
  if (means != kRange) return;
  write_ns(writer, least);
  write_ns(writer, most);
}

void read_means(ByteReader& reader, const Histogram& times, double& least, double& most) {
  switch (reader.u8()) {
    case kNobodys: return;
    case kOwn: least = most = times.mean(); return;
    case kRange:
      least = read_ns(reader);
      most = read_ns(reader);
      return;
    default: reader.fail();
  }
}

}  // namespace

void ClassSums::encode(ByteWriter& writer) const {
  writer.varint(streams_.size());
  for (const RankList& streams : streams_) streams.encode(writer);
  // Most symbols follow another event, and precede one.
  Numbers symbols;
  const auto occurs = [&](const Place& place) {
    symbols.emplace(place.symbol, 0);
    symbols.emplace(place.predecessor, 0);
  };
  for (const auto& [place, classes] : places_) occurs(place);
  for (const auto& [place, at] : waits_.places()) occurs(place);
  writer.varint(symbols.size());
  for (std::uint64_t number = 0; auto& [symbol, numbered] : symbols) {
    writer.u64(symbol);
    numbered = number++;
  }
  writer.varint(places_.size());
  for (const auto& [place, classes] : places_) {
    writer.varint(symbols[place.symbol]);
    writer.varint(symbols[place.predecessor]);
    writer.varint(classes.size());
    for (const auto& [time_class, sum] : classes) {
      writer.varint(time_class);
      sum.times.compute.pack(writer);
      sum.times.communication.pack(writer);
      write_means(writer, sum.times.compute, sum.least_compute, sum.most_compute);
      write_means(writer, sum.times.communication, sum.least_communication, sum.most_communication);
    }
  }
  write_waits(writer, waits_, symbols);
}

bool ClassSums::decode(ByteReader& reader, ClassSums& value) {
  value = {};
  value.streams_.resize(reader.count(1));
  for (RankList& streams : value.streams_)
    if (!RankList::decode(reader, streams)) return false;
  std::vector<std::uint64_t> symbols(reader.count(8));
  for (std::uint64_t& symbol : symbols) symbol = reader.u64();
  const std::uint64_t places = reader.count(3);
  for (std::uint64_t i = 0; i < places && reader.ok(); ++i) {
    const Place place = read_place(reader, symbols);
    const std::uint64_t count = reader.count(5);
    if (!reader.ok()) return false;
    auto& classes = value.places_[place];
    for (std::uint64_t j = 0; j < count && reader.ok(); ++j) {
      ClassSum& sum = classes[static_cast<std::uint32_t>(reader.varint())];
      if (!Histogram::unpack(reader, sum.times.compute) ||
          !Histogram::unpack(reader, sum.times.communication))
        return false;
      read_means(reader, sum.times.compute, sum.least_compute, sum.most_compute);
      read_means(reader, sum.times.communication, sum.least_communication, sum.most_communication);
    }
  }
  read_waits(reader, symbols, value.waits_);
  return reader.ok();
}

}  // namespace chameleon::flush
