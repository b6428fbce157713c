// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include "format/node_codec.h"
#include "format/times_codec.h"
#include "format/times_layout.h"
#include "model/time_code.h"

namespace chameleon::format {
namespace {

using namespace times;

/// A place in the file.
struct Row {
  Place place;
  std::array<std::uint8_t, 2> detail{};  ///< by kind
  std::vector<Durations> times;          ///< by class, or one for all
  bool by_class = false;
};

double ns_of(const Durations& times) {
  return static_cast<double>(times.compute.sum()) + static_cast<double>(times.communication.sum());
}

Histogram sum_of(const Row& row, Kind kind) {
  Histogram sum;
  for (const Durations& one : row.times) sum.merge(one.*kind);
  return sum;
}

/// ns of each class.
std::vector<double> totals_of(const TimeTable& table) {
  std::vector<double> totals(table.classes().size(), 0);
  for (const auto& [place, times] : table.places())
    for (const ClassTimes& one : times)
      if (one.of != ClassTimes::kAll) totals[one.of] += ns_of(one.times);
  return totals;
}

std::uint8_t detail_of(const Row& row, Kind kind, const std::vector<double>& totals, bool matters) {
  double most = matters ? kMeansFrom : 0;
  for (std::size_t i = 0; i < row.times.size(); ++i)
    if (totals[i] > 0)
      most = std::max(most, static_cast<double>((row.times[i].*kind).sum()) / totals[i]);
  return most < kMeansFrom ? kPooled : most < kCompleteFrom ? kMeans : kComplete;
}

/// Where some classes have entries of their own, the others get their part of what is of all.
Row row_of(const TimeTable& table, const Place& place, const std::vector<double>& totals) {
  const std::vector<ClassTimes>& there = table.places().at(place);
  Row row;
  row.place = place;
  if (there.size() == 1 && there.front().of == ClassTimes::kAll) {
    row.times.push_back(there.front().times);
    return row;
  }
  row.by_class = true;
  row.times.resize(table.classes().size());
  std::uint64_t streams = 0;
  const Durations* rest = nullptr;
  for (const ClassTimes& one : there)
    if (one.of == ClassTimes::kAll)
      rest = &one.times;
    else
      row.times[one.of] = one.times;
  for (std::size_t i = 0; rest != nullptr && i < row.times.size(); ++i)
    if (row.times[i].compute.empty()) streams += table.classes()[i].streams.size();
  for (std::size_t i = 0; streams != 0 && i < row.times.size(); ++i)
    if (row.times[i].compute.empty())
      for (const Kind kind : kKinds) {
        row.times[i].*kind = rest->*kind;
        (row.times[i].*kind)
            .scale(static_cast<double>(table.classes()[i].streams.size()) /
                   static_cast<double>(streams));
      }
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    const bool matters = std::any_of(there.begin(), there.end(),
                                     [i](const ClassTimes& one) { return one.matters[i]; });
    row.detail[i] = detail_of(row, kKinds[i], totals, matters);
  }
  return row;
}

Shape shape_of(const Histogram& times, std::uint64_t mean) {
  const unsigned middle = bin_of_mean(mean);
  const unsigned low = Histogram::bin_of(times.min()), high = Histogram::bin_of(times.max());
  Shape shape;
  shape.below = middle - std::min(middle, low);
  shape.above = std::max(middle, high) - middle;
  shape.deviation =
      static_cast<int>(Histogram::bin_of(static_cast<std::uint64_t>(times.deviation() + 0.5))) -
      static_cast<int>(middle);
  return shape;
}

/// Bins in shares, if there is more than one mode: of many durations, two maxima an octave apart
/// that have a tenth each, and less than half of the lower one somewhere between them.
Histogram::Bins modes_of(const Histogram& times) {
  constexpr std::uint64_t kFewest = 32;
  constexpr unsigned kOctave = 4;
  const Histogram::Bins bins = times.bins();
  const std::uint64_t least = times.count() / 10;
  std::array<std::uint64_t, Histogram::kBins> counts{};
  for (const auto& [bin, count] : bins) counts[bin] = count;
  unsigned peak = 0;
  std::uint64_t valley = 0;
  bool several = false;
  for (unsigned bin = 0; bin < counts.size(); ++bin) {
    valley = std::min(valley, counts[bin]);
    if (counts[peak] >= least && counts[bin] >= least && bin >= peak + kOctave &&
        valley < std::min(counts[peak], counts[bin]) / 2)
      several = true;
    if (counts[bin] > counts[peak]) peak = bin, valley = counts[bin];
  }
  Histogram::Bins shares;
  if (!several || times.count() < kFewest) return shares;
  for (const auto& [bin, count] : bins) {
    const std::uint64_t share = (count * kShares + times.count() / 2) / times.count();
    if (share != 0 && shares.size() < kMostBins) shares.emplace_back(bin, share);
  }
  return shares;
}

class Writer {
 public:
  Writer(ByteWriter& out, const Trace& trace) : out_(out), table_(trace.times) {
    symbols_ = node_symbols(trace.nodes);
    const std::vector<double> totals = totals_of(table_);
    for (const auto& [place, times] : table_.places())
      rows_.push_back(row_of(table_, place, totals));
    const std::size_t known = symbols_.size();
    for (const Row& row : rows_)
      for (const std::uint64_t symbol : {row.place.symbol, row.place.predecessor})
        if (symbol != 0 &&
            !std::binary_search(symbols_.begin(),
                                symbols_.begin() + static_cast<std::ptrdiff_t>(known), symbol))
          foreign_.push_back(symbol);
    std::sort(foreign_.begin(), foreign_.end());
    foreign_.erase(std::unique(foreign_.begin(), foreign_.end()), foreign_.end());
    std::sort(rows_.begin(), rows_.end(),
              [&](const Row& a, const Row& b) { return key(a.place) < key(b.place); });
  }

  void write() {
    classes();
    places();
    counts();
    sums();
    means();
    shapes();
    bins();
    whole();
  }

 private:
  /// From 1; 0 is no symbol.
  std::uint64_t number(std::uint64_t symbol) const {
    if (symbol == 0) return 0;
    const auto known = std::lower_bound(symbols_.begin(), symbols_.end(), symbol);
    if (known != symbols_.end() && *known == symbol)
      return static_cast<std::uint64_t>(known - symbols_.begin()) + 1;
    const auto other = std::lower_bound(foreign_.begin(), foreign_.end(), symbol);
    return symbols_.size() + static_cast<std::uint64_t>(other - foreign_.begin()) + 1;
  }
  std::pair<std::uint64_t, std::uint64_t> key(const Place& place) const {
    return {number(place.symbol), number(place.predecessor)};
  }

  void classes() {
    out_.varint(table_.classes().size());
    for (const TimeClass& one : table_.classes()) {
      one.streams.encode(out_);
      out_.varint(static_cast<std::uint64_t>(
          std::ceil(std::min(one.spread * kSpreadUnits, double{kMostSpread}))));
    }
  }

  void places() {
    out_.varint(foreign_.size());
    for (const std::uint64_t symbol : foreign_) out_.u64(symbol);
    out_.varint(rows_.size());
    std::uint64_t before = 0;
    for (const Row& row : rows_) {
      out_.varint(number(row.place.symbol) - before);
      before = number(row.place.symbol);
    }
    for (const Row& row : rows_) out_.varint(number(row.place.predecessor));
    for (const Row& row : rows_)
      out_.u8(static_cast<std::uint8_t>((row.by_class ? kByClass : 0) | row.detail[0] |
                                        row.detail[1] << 2));
  }

  void counts() {
    for (const Row& row : rows_) {
      if (!row.by_class) {
        out_.varint(row.times.front().compute.count());
        continue;
      }
      std::uint64_t before = 0;
      for (std::size_t i = 0; i < row.times.size(); ++i) {
        const std::uint64_t count = row.times[i].compute.count();
        const std::uint64_t streams = table_.classes()[i].streams.size();
        out_.svarint(static_cast<std::int64_t>(count / streams - before));
        out_.varint(count % streams);
        before = count / streams;
      }
    }
  }

  /// Calls f(row, detail, kind) for all compute times, then for all times in calls.
  template <class F>
  void each(F f) const {
    for (std::size_t i = 0; i < kKinds.size(); ++i)
      for (const Row& row : rows_) f(row, row.detail[i], kKinds[i]);
  }

  void sums() {
    each([&](const Row& row, std::uint8_t detail, Kind kind) {
      const Histogram all = sum_of(row, kind);
      out_.varint(static_cast<std::uint64_t>(
          detail == kPooled ? encode_ns<kPooledBits>(rounded(all.mean())) : encode_sum(all.sum())));
    });
  }

  void means() {
    each([&](const Row& row, std::uint8_t detail, Kind kind) {
      if (detail == kPooled) return;
      const Histogram all = sum_of(row, kind);
      const std::int64_t middle = encode_time(decode_sum(encode_sum(all.sum())) / all.count());
      for (const Durations& one : row.times)
        if (!(one.*kind).empty()) out_.svarint(encode_time(rounded((one.*kind).mean())) - middle);
    });
  }

  /// Calls f(histogram, mean, detail) for each distribution whose shape is written; the mean is
  /// what the reader takes it for.
  template <class F>
  void each_shape(F f) const {
    each([&](const Row& row, std::uint8_t detail, Kind kind) {
      if (detail == kMeans) {
        const Histogram all = sum_of(row, kind);
        f(all, decode_sum(encode_sum(all.sum())) / all.count(), detail);
      }
      for (const Durations& one : row.times)
        if (detail == kComplete && !(one.*kind).empty())
          f(one.*kind, decode_time(encode_time(rounded((one.*kind).mean()))), detail);
    });
  }

  void shapes() {
    each_shape([&](const Histogram& times, std::uint64_t mean, std::uint8_t) {
      if (times.count() == 1) return;
      const Shape shape = shape_of(times, mean);
      out_.varint(shape.below);
      out_.varint(shape.above);
      if (shape.below + shape.above != 0) out_.svarint(shape.deviation);
    });
  }

  void bins() {
    each_shape([&](const Histogram& times, std::uint64_t, std::uint8_t detail) {
      if (detail != kComplete || times.count() == 1) return;
      const Histogram::Bins bins = modes_of(times);
      out_.varint(bins.size());
      unsigned before = 0;
      for (const auto& [bin, share] : bins) {
        out_.varint(bin - before);
        out_.varint(share);
        before = bin;
      }
    });
  }

  /// Exact, where sums of places are rounded.
  void whole() {
    const Durations total = table_.total();
    for (const Kind kind : kKinds) out_.varint((total.*kind).sum());
  }

  static std::uint64_t rounded(double ns) { return static_cast<std::uint64_t>(ns + 0.5); }

  ByteWriter& out_;
  const TimeTable& table_;
  std::vector<std::uint64_t> symbols_, foreign_;  ///< ascending
  std::vector<Row> rows_;
};

}  // namespace

void write_times(ByteWriter& out, const Trace& trace) { Writer(out, trace).write(); }

}  // namespace chameleon::format
