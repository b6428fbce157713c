// SPDX-License-Identifier: BSD-3-Clause
#include "model/coded_values.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace chameleon::inline model {
namespace {

constexpr std::uint32_t kOne = 1U << 16;     ///< a probability of 1
constexpr std::uint32_t kLeast = 64;         ///< probability
constexpr std::uint32_t kSlowest = 30;       ///< bits after which a probability adapts no slower
constexpr std::uint32_t kNarrow = 1U << 24;  ///< a range below this is widened by a byte

/// The probability that a bit is 1, from those before.
class BitModel {
 public:
  std::uint32_t one() const { return one_; }
  void learn(bool bit) {
    const std::uint32_t parts = 2 * seen_ + 3;
    if (bit)
      one_ += 2 * (kOne - one_) / parts;
    else
      one_ -= 2 * one_ / parts;
    one_ = std::clamp(one_, kLeast, kOne - kLeast);
    if (seen_ < kSlowest) ++seen_;
  }

 private:
  std::uint32_t one_ = kOne / 2;
  std::uint32_t seen_ = 0;
};

class RangeEncoder {
 public:
  void put(bool bit, BitModel& model) {
    const std::uint32_t bound = (range_ >> 16) * model.one();
    if (bit) {
      range_ = bound;
    } else {
      low_ += bound;
      range_ -= bound;
    }
    model.learn(bit);
    for (; range_ < kNarrow; range_ <<= 8) shift();
  }

  /// Ends with the number of the range that has most zeros behind it: these are not written.
  Bytes take() {
    for (std::uint64_t zeros = UINT32_MAX; zeros != 0; zeros >>= 1) {
      const std::uint64_t number = (low_ + zeros) & ~zeros;
      if (number - low_ >= range_) continue;
      low_ = number;
      break;
    }
    for (int i = 0; i < 5; ++i) shift();
    bytes_.erase(bytes_.begin());  // a carry would be here, but there is none
    while (!bytes_.empty() && bytes_.back() == 0) bytes_.pop_back();
    return std::move(bytes_);
  }

 private:
  /// Writes the highest byte, once it is known whether the ones below carry into it.
  void shift() {
    const bool carry = (low_ >> 32) != 0;
    if (carry || static_cast<std::uint32_t>(low_) < 0xff000000U) {
      for (std::uint8_t byte = held_; held_count_ > 0; --held_count_, byte = 0xff)
        bytes_.push_back(static_cast<std::uint8_t>(byte + (carry ? 1 : 0)));
      held_ = static_cast<std::uint8_t>(low_ >> 24);
    }
    ++held_count_;
    low_ = (low_ & 0x00ffffffU) << 8;
  }

  std::uint64_t low_ = 0;
  std::uint32_t range_ = UINT32_MAX;
  std::uint8_t held_ = 0;
  std::uint64_t held_count_ = 1;  ///< that byte, and bytes 255 after it
  Bytes bytes_;
};

class RangeDecoder {
 public:
  explicit RangeDecoder(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    for (int i = 0; i < 4; ++i) code_ = code_ << 8 | next();
  }

  bool get(BitModel& model) {
    const std::uint32_t bound = (range_ >> 16) * model.one();
    const bool bit = code_ < bound;
    if (bit) {
      range_ = bound;
    } else {
      code_ -= bound;
      range_ -= bound;
    }
    model.learn(bit);
    for (; range_ < kNarrow; range_ <<= 8) code_ = code_ << 8 | next();
    return bit;
  }

 private:
  std::uint8_t next() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::uint32_t code_ = 0;
  std::uint32_t range_ = UINT32_MAX;
};

/// The list of values, the one used last in front, and the probabilities of places in it.
class Places {
 public:
  Places(std::size_t distinct, std::uint64_t period)
      : period_(period), models_(distinct * (period == 0 ? distinct : period)) {
    for (std::size_t i = 0; i < distinct; ++i) recent_.push_back(static_cast<std::uint8_t>(i));
  }

  /// The next value. bit(value at a place, model of that bit) codes whether it is further behind.
  template <class Bit>
  std::uint8_t next(Bit bit) {
    const std::size_t last = recent_.size() - 1;
    BitModel* const models = &models_[context() * recent_.size()];
    std::size_t place = 0;
    while (place < last && bit(recent_[place], models[place])) ++place;
    const std::uint8_t value = recent_[place];
    recent_.erase(recent_.begin() + static_cast<std::ptrdiff_t>(place));
    recent_.insert(recent_.begin(), value);
    before_ = place;
    ++position_;
    return value;
  }

 private:
  std::size_t context() const { return period_ == 0 ? before_ : position_ % period_; }

  const std::uint64_t period_;
  std::size_t before_ = 0;
  std::uint64_t position_ = 0;
  std::vector<BitModel> models_;
  std::vector<std::uint8_t> recent_;
};

Bytes encoded(std::span<const std::uint8_t> numbers, std::size_t distinct, std::uint64_t period) {
  RangeEncoder out;
  Places places(distinct, period);
  for (const std::uint8_t number : numbers)
    places.next([&](std::uint8_t here, BitModel& model) {
      out.put(here != number, model);
      return here != number;
    });
  return out.take();
}

}  // namespace

std::optional<CodedValues> CodedValues::encode(std::span<const std::int64_t> values) {
  CodedValues coded;
  std::unordered_map<std::int64_t, std::uint8_t> numbers;
  std::vector<std::uint8_t> sequence;
  for (const std::int64_t value : values) {
    const auto [at, is_new] =
        numbers.try_emplace(value, static_cast<std::uint8_t>(coded.distinct.size()));
    if (is_new) coded.distinct.push_back(value);
    if (coded.distinct.size() > kMostDistinct) return std::nullopt;
    sequence.push_back(at->second);
  }
  const std::size_t distinct = coded.distinct.size();
  if (distinct < 2) return std::nullopt;
  coded.bytes = encoded(sequence, distinct, 0);
  Bytes by_position = encoded(sequence, distinct, distinct);
  if (by_position.size() < coded.bytes.size()) {
    coded.bytes = std::move(by_position);
    coded.period = distinct;
  }
  return coded;
}

std::vector<std::int64_t> CodedValues::decode(std::uint64_t count) const {
  RangeDecoder in(bytes);
  Places places(distinct.size(), period);
  std::vector<std::int64_t> values;
  values.reserve(count);
  for (; count > 0; --count)
    values.push_back(
        distinct[places.next([&](std::uint8_t, BitModel& model) { return in.get(model); })]);
  return values;
}

}  // namespace chameleon::inline model
