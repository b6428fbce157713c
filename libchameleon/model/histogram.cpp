// SPDX-License-Identifier: BSD-3-Clause
#include "model/histogram.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace chameleon::inline model {

namespace {
__extension__ using Wide = unsigned __int128;
}

void Histogram::add_bin(std::uint8_t bin, std::uint64_t count) {
  const unsigned near = bin - nearest_;
  if (near < kNear && count <= UINT32_MAX - std::uint64_t{near_[near]}) {
    near_[near] = static_cast<std::uint32_t>(near_[near] + count);
    return;
  }
  add_far(bin, count);
}

/// The first duration may have been a rare one (of a cold cache): after 32 outliers the counters
/// move to where the last one is, the next time after twice as many.
void Histogram::add_outlier(std::uint8_t bin) {
  constexpr std::uint8_t kMostMoves = 10;  // even: rare ones do not come last
  add_bin(bin, 1);
  if (++outliers_ < 32U << moves_ || moves_ == kMostMoves) return;
  ++moves_;
  outliers_ = 0;
  const Bins all = bins();
  far_.reset();
  near_ = {};
  look_around(bin);
  for (const auto& [number, count] : all) add_bin(number, count);
}

void Histogram::add_far(std::uint8_t bin, std::uint64_t count) {
  if (!far_) far_.reset(new Bins);
  const auto place =
      std::lower_bound(far_->begin(), far_->end(), bin,
                       [](const auto& entry, std::uint8_t number) { return entry.first < number; });
  if (place != far_->end() && place->first == bin) {
    place->second += count;
  } else {
    far_->insert(place, {bin, count});
  }
}

Histogram::Bins Histogram::bins() const {
  Bins all;
  std::span<const Bins::value_type> rest;
  if (far_) rest = *far_;
  auto far = rest.begin();
  for (unsigned i = 0; i < kNear; ++i) {
    const unsigned bin = nearest_ + i;
    for (; far != rest.end() && far->first < bin; ++far) all.push_back(*far);
    std::uint64_t count = near_[i];
    if (far != rest.end() && far->first == bin) count += (far++)->second;
    if (count != 0) all.emplace_back(static_cast<std::uint8_t>(bin), count);
  }
  all.insert(all.end(), far, rest.end());
  return all;
}

void Histogram::merge(const Histogram& other) {
  if (other.empty()) return;
  if (empty()) {
    *this = other;
    return;
  }
  if (this == &other) return merge(Histogram(other));
  count_ += other.count_;
  if (__builtin_add_overflow(sum_, other.sum_, &sum_)) sum_ = UINT64_MAX;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  squares_ += other.squares_;
  for (unsigned i = 0; i < kNear; ++i)
    if (other.near_[i] != 0) add_bin(static_cast<std::uint8_t>(other.nearest_ + i), other.near_[i]);
  if (!other.far_) return;
  for (const auto& [bin, count] : *other.far_) add_bin(bin, count);
}

void Histogram::add(const Counted& many) {
  if (empty()) {
    min_ = many.min;
    max_ = many.max;
    const auto most = [](const auto& a, const auto& b) { return a.second < b.second; };
    look_around(std::max_element(many.bins.begin(), many.bins.end(), most)->first);
  }
  count_ += many.count;
  if (__builtin_add_overflow(sum_, many.sum, &sum_)) sum_ = UINT64_MAX;
  min_ = std::min(min_, many.min);
  max_ = std::max(max_, many.max);
  squares_ += many.squares;
  for (const auto& [bin, count] : many.bins) add_bin(bin, count);
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

double Histogram::deviation() const {
  if (count_ < 2 || min_ == max_) return 0;
  const double average = mean();
  const double variance = squares_ / static_cast<double>(count_) - average * average;
  return variance > 0 ? std::sqrt(variance) : 0;
}

double Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const double lowest = static_cast<double>(min_), highest = static_cast<double>(max_);
  if (!(q > 0)) return lowest;
  if (q >= 1) return highest;
  double left = q * static_cast<double>(count_);
  for (const auto& [bin, count] : bins()) {
    const double here = static_cast<double>(count);
    if (left <= here) {
      const double low = std::max(lowest, static_cast<double>(bin_low(bin)));
      const double high = std::min(highest, static_cast<double>(bin_low(bin + 1U)));
      return low + (high - low) * left / here;
    }
    left -= here;
  }
  return highest;
}

bool Histogram::operator==(const Histogram& other) const {
  return count_ == other.count_ && sum_ == other.sum_ && min_ == other.min_ && max_ == other.max_ &&
         squares_ == other.squares_ && bins() == other.bins();
}

// What a file keeps of the bins must not grow with the number of events: at most
// kStoredBins of them, by joining the emptiest neighbours, and of many events
// shares in kShares of the count. The first and last bin stay those of min and max.
namespace {

constexpr std::size_t kStoredBins = 16;
constexpr std::uint64_t kShares = 127;

/// Above this, counts are kept as shares; below, exactly.
constexpr bool shared(std::uint64_t count) { return count > 2 * kShares; }

Histogram::Bins coarsened(Histogram::Bins bins) {
  while (bins.size() > kStoredBins) {
    std::size_t join = 0;
    for (std::size_t i = 1; i + 1 < bins.size(); ++i)
      if (bins[i].second + bins[i + 1].second < bins[join].second + bins[join + 1].second) join = i;
    if (join + 2 == bins.size()) bins[join].first = bins[join + 1].first;
    bins[join].second += bins[join + 1].second;
    bins.erase(bins.begin() + static_cast<std::ptrdiff_t>(join) + 1);
  }
  return bins;
}

std::size_t fullest(std::span<const Histogram::Bins::value_type> bins) {
  std::size_t found = 0;
  for (std::size_t i = 1; i < bins.size(); ++i)
    if (bins[i].second > bins[found].second) found = i;
  return found;
}

/// Scales the bins to a total of `to`, none to nothing; the fullest takes what is left.
void scale_bins(std::span<Histogram::Bins::value_type> bins, std::uint64_t from, std::uint64_t to,
                bool round) {
  const std::size_t rest = fullest(bins);
  std::uint64_t left = to;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (i == rest) continue;
    const auto scaled = static_cast<std::uint64_t>(
        (static_cast<unsigned __int128>(bins[i].second) * to + (round ? from / 2 : 0)) / from);
    bins[i].second = scaled == 0 ? 1 : scaled;
    left -= bins[i].second;
  }
  bins[rest].second = left;
}

}  // namespace

Histogram::Bins Histogram::encode_moments(ByteWriter& writer) const {
  writer.varint(count_);
  if (count_ == 0) return {};
  writer.varint(min_);
  if (count_ == 1) return {};
  writer.varint(max_ - min_);
  if (max_ == min_) return {};
  const Wide least = Wide{min_} * count_;
  writer.varint(sum_ > least ? static_cast<std::uint64_t>(sum_ - least) : 0);
  writer.varint(static_cast<std::uint64_t>(deviation() + 0.5));
  Bins bins = coarsened(this->bins());
  if (shared(count_)) scale_bins(bins, count_, kShares, true);
  writer.varint(bins.size());
  return bins;
}

// Count; minimum; past one duration: the width, the sum above count * min, the
// deviation, the number of bins, and each bin less the one before with its
// count or share, except that of the last, which is what is left.
void Histogram::encode(ByteWriter& writer) const {
  const Bins bins = encode_moments(writer);
  unsigned previous = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    writer.varint(bins[i].first - previous);
    previous = bins[i].first;
    if (i + 1 < bins.size()) writer.varint(bins[i].second);
  }
}

namespace {

/// A packed bin: its count in the low four bits, and how far the next one is in the others, both
/// less 1; or, if they do not fit, this and both.
constexpr std::uint8_t kApart = 255;

}  // namespace

// The bins of the minimum and the maximum are known, and what the last one has.
void Histogram::pack(ByteWriter& writer) const {
  const Bins bins = encode_moments(writer);
  for (std::size_t i = 0; i + 1 < bins.size(); ++i) {
    const std::uint64_t count = bins[i].second - 1;
    const std::uint64_t step =
        i + 2 == bins.size() ? 0 : std::uint64_t{bins[i + 1].first} - bins[i].first - 1;
    if (step < 15 && count < 15) {
      writer.u8(static_cast<std::uint8_t>(step << 4 | count));
      continue;
    }
    writer.u8(kApart);
    writer.varint(step);
    writer.varint(count);
  }
}

namespace {

using Bin = Histogram::Bins::value_type;

std::span<Bin> unpack_bins(ByteReader& reader, std::uint64_t total, std::uint8_t first,
                           std::uint8_t last, std::span<Bin> room) {
  const std::uint64_t bins = reader.varint();
  if (bins == 0 || bins > room.size()) return {};
  std::uint64_t bin = first, left = total;
  for (std::uint64_t i = 0; i + 1 < bins; ++i) {
    const std::uint8_t both = reader.u8();
    const std::uint64_t step = both == kApart ? reader.varint() : both >> 4;
    const std::uint64_t less = both == kApart ? reader.varint() : both & 15;
    if (step >= Histogram::kBins || less >= left - 1 || bin >= last) return {};
    room[i] = {static_cast<std::uint8_t>(bin), less + 1};
    bin += step + 1;
    left -= less + 1;
  }
  // The step to the last bin is known: 0 stands for it.
  if (bins == 1 ? first != last : bin > last) return {};
  room[bins - 1] = {last, left};
  return room.first(bins);
}

std::span<Bin> decode_bins(ByteReader& reader, std::uint64_t total, std::uint8_t first,
                           std::uint8_t last, std::span<Bin> room) {
  const std::uint64_t bins = reader.count();
  std::uint64_t bin = 0, left = total;
  if (bins == 0 || bins > room.size()) return {};
  for (std::uint64_t i = 0; i < bins; ++i) {
    const std::uint64_t step = reader.varint();
    const std::uint64_t here = i + 1 < bins ? reader.varint() : left;
    if (step >= Histogram::kBins || (i != 0 && step == 0) || here == 0 || here > left) return {};
    bin += step;
    left -= here;
    if (bin >= Histogram::kBins) return {};
    room[i] = {static_cast<std::uint8_t>(bin), here};
  }
  if (left != 0 || room.front().first != first || room[bins - 1].first != last) return {};
  return room.first(bins);
}

}  // namespace

bool Histogram::decode(ByteReader& reader, Histogram& histogram) {
  return read(reader, histogram, decode_bins);
}

bool Histogram::unpack(ByteReader& reader, Histogram& histogram) {
  return read(reader, histogram, unpack_bins);
}

bool Histogram::read(ByteReader& reader, Histogram& histogram, ReadBins bins) {
  histogram = Histogram();
  const auto refuse = [&] {
    histogram = Histogram();
    reader.fail();
    return false;
  };
  histogram.count_ = reader.varint();
  if (histogram.count_ == 0) return reader.ok();
  histogram.min_ = histogram.max_ = reader.varint();
  if (histogram.count_ > 1 &&
      __builtin_add_overflow(histogram.min_, reader.varint(), &histogram.max_))
    return refuse();
  histogram.look_around(bin_of(histogram.min_));
  const double count = static_cast<double>(histogram.count_);
  const Wide least = Wide{histogram.min_} * histogram.count_;
  if (histogram.min_ == histogram.max_) {
    histogram.sum_ = static_cast<std::uint64_t>(std::min(least, Wide{UINT64_MAX}));
    const double value = static_cast<double>(histogram.min_);
    histogram.squares_ = value * value * count;
    histogram.add_bin(bin_of(histogram.min_), histogram.count_);
  } else {
    const Wide sum = least + reader.varint();
    if (sum > Wide{histogram.max_} * histogram.count_) return refuse();
    histogram.sum_ = static_cast<std::uint64_t>(std::min(sum, Wide{UINT64_MAX}));
    const double deviation = static_cast<double>(reader.varint());
    const double mean = histogram.mean();
    histogram.squares_ = (deviation * deviation + mean * mean) * count;
    const std::uint64_t total = shared(histogram.count_) ? kShares : histogram.count_;
    std::array<Bins::value_type, kStoredBins> room;
    const std::span stored =
        bins(reader, total, bin_of(histogram.min_), bin_of(histogram.max_), room);
    if (stored.empty()) return refuse();
    if (shared(histogram.count_)) scale_bins(stored, kShares, histogram.count_, false);
    for (const auto& [number, here] : stored) histogram.add_bin(number, here);
  }
  if (!reader.ok()) return refuse();
  return true;
}

}  // namespace chameleon::inline model
