// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/read_budget.h"
#include "format/node_codec.h"
#include "format/times_codec.h"
#include "format/times_layout.h"
#include "model/time_code.h"

namespace chameleon::format {
namespace {

using namespace times;

/// A distribution as it is read, column by column.
struct Parts {
  std::uint64_t count = 0, sum = 0, mean = 0;
  Shape shape;
  Histogram::Bins bins;

  Histogram histogram() const {
    if (count == 0) return {};
    Histogram::Moments moments{count, sum, 0, 0, 0};
    const std::uint64_t middle = sum / count;
    if (count == 1 || shape.below + shape.above == 0) {
      moments.min = middle;
      moments.max = middle + (sum % count == 0 ? 0 : 1);
      return Histogram::of(moments, {});
    }
    const auto bin = static_cast<int>(bin_of_mean(mean));
    const auto last = static_cast<int>(Histogram::kBins) - 1;
    const auto at = [&](int number) { return static_cast<unsigned>(std::clamp(number, 0, last)); };
    moments.min = std::min(middle, Histogram::bin_low(at(bin - static_cast<int>(shape.below))));
    moments.max =
        std::max(middle + 1, Histogram::bin_low(at(bin + static_cast<int>(shape.above)) + 1) - 1);
    const unsigned deviation = at(bin + shape.deviation);
    moments.deviation = static_cast<double>(Histogram::bin_low(deviation)) / 2 +
                        static_cast<double>(Histogram::bin_low(deviation + 1)) / 2;
    if (deviation < 4) moments.deviation = static_cast<double>(deviation);
    return Histogram::of(moments, bins);
  }
};

class Reader {
 public:
  Reader(ByteReader& in, Trace& trace)
      : in_(in), trace_(trace), symbols_(node_symbols(trace.nodes)) {}

  void read() {
    if (classes() && places() && counts() && sums() && means() && shapes() && bins() && whole())
      make_table();
  }

 private:
  struct Place {
    model::Place place;
    bool by_class = false;
    std::array<std::uint8_t, 2> detail{};
    std::array<std::uint64_t, 2> sums{};      ///< or, pooled, means
    std::array<std::vector<Parts>, 2> parts;  ///< by kind and class, or one
  };

  bool classes() {
    const std::uint64_t count = in_.count(2);
    if (count > kMostClasses) in_.fail();
    RankList all;
    for (std::uint64_t i = 0; i < count && in_.ok(); ++i) {
      TimeClass one;
      if (!RankList::decode(in_, one.streams) || one.streams.empty() || all.intersects(one.streams))
        in_.fail();
      all.merge(one.streams);
      one.spread = static_cast<double>(in_.varint()) / kSpreadUnits;
      streams_.push_back(one.streams.size());
      if (in_.ok()) table_.add_class(std::move(one));
    }
    return in_.ok();
  }

  std::uint64_t symbol(std::uint64_t number) {
    if (number == 0) return 0;
    if (number <= symbols_.size()) return symbols_[number - 1];
    if (number - symbols_.size() > foreign_.size()) return in_.fail();
    return foreign_[number - symbols_.size() - 1];
  }

  bool places() {
    const std::uint64_t foreign = in_.count(8);
    for (std::uint64_t i = 0; i < foreign && in_.ok(); ++i) foreign_.push_back(in_.u64());
    const std::uint64_t count = in_.count(6);
    ReadBudget::take(count, 3 * sizeof(Place));
    places_.resize(count);
    std::uint64_t number = 0;
    for (Place& one : places_) {
      const std::uint64_t step = in_.varint();
      if (step > symbols_.size() + foreign_.size()) in_.fail();
      one.place.symbol = symbol(number += step);
    }
    for (Place& one : places_) one.place.predecessor = symbol(in_.varint());
    for (Place& one : places_) {
      const std::uint8_t head = in_.u8();
      one.by_class = (head & kByClass) != 0;
      one.detail = {static_cast<std::uint8_t>(head & 3), static_cast<std::uint8_t>(head >> 2 & 3)};
      if (head > (kByClass | 15) || std::max(one.detail[0], one.detail[1]) > kComplete ||
          (one.by_class ? streams_.empty() : head != 0))
        in_.fail();
    }
    return in_.ok();
  }

  bool counts() {
    for (Place& one : places_) {
      if (!in_.ok()) return false;
      std::vector<Parts>& parts = one.parts[0];
      if (!one.by_class) {
        parts.resize(1);
        parts[0].count = in_.varint();
      } else {
        ReadBudget::take(streams_.size(), 4 * sizeof(Parts) + 2 * sizeof(ClassTimes));
        std::uint64_t before = 0;
        for (std::size_t i = 0; i < streams_.size() && in_.ok(); ++i) {
          before += static_cast<std::uint64_t>(in_.svarint());
          const std::uint64_t rest = in_.varint();
          if (before > kMostCount / streams_[i] || rest >= streams_[i]) in_.fail();
          parts.push_back({before * streams_[i] + rest, 0, 0, {}, {}});
        }
      }
      std::uint64_t all = 0;
      for (const Parts& part : parts) all += std::min(part.count, kMostCount);
      if (all == 0 || all > kMostCount) in_.fail();
      one.parts[1] = parts;
    }
    return in_.ok();
  }

  bool sums() {
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
      for (Place& one : places_) {
        const auto code = static_cast<std::int64_t>(in_.varint() & INT64_MAX);
        one.sums[kind] =
            one.detail[kind] == kPooled ? decode_ns<kPooledBits>(code) : decode_sum(code);
      }
    return in_.ok();
  }

  static std::uint64_t times(std::uint64_t count, double each) {
    return static_cast<std::uint64_t>(std::min(static_cast<double>(count) * each + 0.5, 0x1p63));
  }

  bool means() {
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
      for (Place& one : places_) {
        std::uint64_t count = 0;
        for (const Parts& part : one.parts[kind]) count += part.count;
        if (one.detail[kind] == kPooled) {
          for (Parts& part : one.parts[kind]) {
            part.mean = one.sums[kind];
            part.sum = times(part.count, static_cast<double>(part.mean));
          }
          continue;
        }
        double all = 0;
        for (Parts& part : one.parts[kind]) {
          if (part.count == 0) continue;
          const std::int64_t step = in_.svarint();
          if (std::abs(step) > kMostStep) in_.fail();
          part.mean = in_.ok() ? decode_time(encode_time(one.sums[kind] / count) + step) : 0;
          all += static_cast<double>(part.mean) * static_cast<double>(part.count);
        }
        // Rounded means add up to what was summed exactly.
        const double right = all > 0 ? static_cast<double>(one.sums[kind]) / all : 0;
        for (Parts& part : one.parts[kind])
          part.sum = times(part.count, static_cast<double>(part.mean) * right);
      }
    return in_.ok();
  }

  /// Calls f(parts of one shape, detail) as they are written.
  template <class F>
  void each_shape(F f) {
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
      for (Place& one : places_) {
        if (!in_.ok()) return;
        const std::span<Parts> all(one.parts[kind]);
        if (one.detail[kind] == kMeans) f(all, kMeans);
        for (std::size_t i = 0; one.detail[kind] == kComplete && i < all.size(); ++i)
          if (all[i].count != 0) f(all.subspan(i, 1), kComplete);
      }
  }

  bool shapes() {
    each_shape([&](std::span<Parts> parts, Detail) {
      std::uint64_t count = 0;
      for (const Parts& part : parts) count += part.count;
      if (count == 1) return;
      Shape shape;
      const std::uint64_t below = in_.varint(), above = in_.varint();
      if (below >= Histogram::kBins || above >= Histogram::kBins) in_.fail();
      shape.below = static_cast<unsigned>(below);
      shape.above = static_cast<unsigned>(above);
      const std::int64_t deviation = below + above != 0 ? in_.svarint() : 0;
      if (std::abs(deviation) >= static_cast<std::int64_t>(Histogram::kBins)) in_.fail();
      shape.deviation = static_cast<int>(deviation);
      for (Parts& part : parts) part.shape = shape;
    });
    return in_.ok();
  }

  bool bins() {
    each_shape([&](std::span<Parts> parts, Detail detail) {
      if (detail != kComplete || parts.front().count == 1) return;
      const std::uint64_t bins = in_.varint();
      if (bins > kMostBins) in_.fail();
      std::uint64_t bin = 0;
      for (std::uint64_t i = 0; i < bins && in_.ok(); ++i) {
        const std::uint64_t step = in_.varint(), share = in_.varint();
        if (step >= Histogram::kBins || (i != 0 && step == 0) || share == 0 || share > kShares)
          in_.fail();
        bin += step;
        if (bin >= Histogram::kBins) in_.fail();
        parts.front().bins.emplace_back(static_cast<std::uint8_t>(bin), share);
      }
    });
    return in_.ok();
  }

  /// Since 1.5: what all places add up to. Each takes its share of what rounding left.
  bool whole() {
    for (std::size_t kind = 0; kind < kKinds.size() && !in_.at_end(); ++kind) {
      const auto exact = static_cast<double>(in_.varint());
      double sum = 0;
      for (const Place& one : places_)
        for (const Parts& part : one.parts[kind]) sum += static_cast<double>(part.sum);
      if (sum <= 0) continue;
      const double right = std::clamp(exact / sum, 1 - kMostRounded, 1 + kMostRounded);
      for (Place& one : places_)
        for (Parts& part : one.parts[kind]) part.sum = times(part.sum, right);
    }
    return in_.ok();
  }

  void make_table() {
    for (const Place& one : places_) {
      std::vector<ClassTimes> times;
      for (std::size_t i = 0; i < one.parts[0].size(); ++i) {
        if (one.parts[0][i].count == 0) continue;
        const std::uint32_t of = one.by_class ? static_cast<std::uint32_t>(i) : ClassTimes::kAll;
        times.push_back({of, {one.parts[0][i].histogram(), one.parts[1][i].histogram()}});
      }
      if (!table_.set(one.place, std::move(times))) in_.fail();  // a place twice
    }
    if (in_.ok()) trace_.times = std::move(table_);
  }

  static constexpr std::uint64_t kMostCount = std::uint64_t{1} << 48;
  static constexpr std::int64_t kMostStep = 1 << 14;
  static constexpr double kMostRounded = 1.0 / 256;

  ByteReader& in_;
  Trace& trace_;
  TimeTable table_;
  std::vector<std::uint64_t> streams_;  ///< of each class
  std::vector<std::uint64_t> symbols_, foreign_;
  std::vector<Place> places_;
};

}  // namespace

void read_times(ByteReader& in, Trace& trace) { Reader(in, trace).read(); }

}  // namespace chameleon::format
