// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/divergence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace chameleon::statistics {
namespace {

constexpr std::array<const char*, 5> kCriterionNames = {"aic", "bic", "hqc", "aicc", "caic"};
/// Divergences this close are equal: the first place of them is taken.
constexpr double kTie = 1e-9;
constexpr double kNearTie = 0.99;

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

/// Counts of symbols with the sum of n ln n over them, kept up to date.
class Counts {
 public:
  explicit Counts(std::size_t kinds) : counts_(kinds) {}

  void add(std::uint32_t symbol) { change(counts_[symbol], +1); }
  void remove(std::uint32_t symbol) { change(counts_[symbol], -1); }
  double sum() const { return sum_; }

 private:
  struct Count {
    std::int64_t n = 0;
    double term = 0;
  };
  void change(Count& count, int by) {
    count.n += by;
    sum_ -= count.term;
    count.term = x_log_x(static_cast<double>(count.n));
    sum_ += count.term;
  }

  std::vector<Count> counts_;
  double sum_ = 0;
};

std::size_t kinds_of(std::span<const std::uint32_t> symbols) {
  std::uint32_t most = 0;
  for (const std::uint32_t symbol : symbols) most = std::max(most, symbol);
  return symbols.empty() ? 0 : std::size_t{most} + 1;
}

/// Calls f(i, divergence) for a split before each symbol i.
template <class F>
void for_each_split(std::span<const std::uint32_t> symbols, std::size_t kinds, bool published,
                    F f) {
  if (symbols.size() < 2) return;
  Counts left(kinds), right(kinds);
  for (const std::uint32_t symbol : symbols) right.add(symbol);
  const auto all = static_cast<double>(symbols.size());
  const double entropy = std::log(all) - right.sum() / all;
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    left.add(symbols[i - 1]);
    right.remove(symbols[i - 1]);
    const auto before = static_cast<double>(i);
    const double after = all - before;
    const double divisor = after + (published ? 1 : 0);
    // Entropies of both sides, each times the length of its side.
    const double left_part = x_log_x(before) - left.sum();
    const double right_part = after / divisor * (after * std::log(divisor) - right.sum());
    f(i, entropy - (left_part + right_part) / all);
  }
}

class Segmenter {
 public:
  Segmenter(std::span<const std::uint32_t> symbols, const SegmentationOptions& options)
      : symbols_(symbols), options_(options), kinds_(kinds_of(symbols)) {}

  Segmentation run() {
    if (!symbols_.empty()) found_.boundaries.push_back(0);
    visit(0, symbols_.size(), 0);
    return std::move(found_);
  }

 private:
  void visit(std::size_t first, std::size_t last, unsigned depth) {
    if (depth >= options_.depth || last - first <= std::max<std::size_t>(options_.length, 1))
      return;
    Split split = strongest(first, last);
    split.depth = depth;
    split.made = split.strength > options_.strength;
    found_.splits.push_back(split);
    if (!split.made) return;
    visit(first, split.at, depth + 1);
    found_.boundaries.push_back(split.at);
    visit(split.at, last, depth + 1);
  }

  // The curve is worked out twice rather than kept.
  Split strongest(std::size_t first, std::size_t last) {
    const auto part = symbols_.subspan(first, last - first);
    Split split;
    split.first = first;
    split.last = last;
    split.divergence = -std::numeric_limits<double>::infinity();
    for_each_split(part, kinds_, options_.published, [&](std::size_t, double divergence) {
      split.divergence = std::max(split.divergence, divergence);
    });
    // It may be below 0 where the arithmetic is the published one.
    const double tie = split.divergence - kTie;
    const double near_tie = std::min(kNearTie * split.divergence, tie);
    std::size_t at = 0, tie_first = 0, tie_last = 0;
    for_each_split(part, kinds_, options_.published, [&](std::size_t i, double divergence) {
      if (at == 0 && divergence >= tie) at = i;
      if (divergence < near_tie) return;
      if (tie_first == 0) tie_first = i;
      tie_last = i;
    });
    split.at = first + at;
    split.tie_first = first + tie_first;
    split.tie_last = first + tie_last;
    split.parameters =
        static_cast<double>(kinds_in(part.first(at)) + kinds_in(part.subspan(at)) + 1) -
        static_cast<double>(kinds_in(part));
    split.strength = strength(options_.criterion, split.divergence, split.parameters, part.size());
    return split;
  }

  std::size_t kinds_in(std::span<const std::uint32_t> part) {
    ++round_;
    seen_.resize(kinds_);
    std::size_t kinds = 0;
    for (const std::uint32_t symbol : part) {
      kinds += seen_[symbol] != round_ ? 1 : 0;
      seen_[symbol] = round_;
    }
    return kinds;
  }

  std::span<const std::uint32_t> symbols_;
  const SegmentationOptions& options_;
  std::size_t kinds_;
  std::vector<std::uint32_t> seen_;  ///< by symbol: the last part that had it
  std::uint32_t round_ = 0;
  Segmentation found_;
};

}  // namespace

const char* criterion_name(Criterion criterion) {
  return kCriterionNames[static_cast<std::size_t>(criterion)];
}

bool criterion_of(std::string_view name, Criterion& criterion) {
  const auto found = std::find(kCriterionNames.begin(), kCriterionNames.end(), name);
  if (found == kCriterionNames.end()) return false;
  criterion = static_cast<Criterion>(found - kCriterionNames.begin());
  return true;
}

double strength(Criterion criterion, double divergence, double parameters, std::size_t length) {
  const auto n = static_cast<double>(length);
  const double k = parameters;
  double cost = 0;
  switch (criterion) {
    case Criterion::kAic: cost = 2 * k; break;
    case Criterion::kBic: cost = k * std::log(n); break;
    case Criterion::kHqc: cost = 2 * k * std::log(std::log(n)); break;
    case Criterion::kAicc: cost = n > k + 1 ? 2 * k + 2 * k * (k + 1) / (n - k - 1) : 0; break;
    case Criterion::kCaic: cost = k * (std::log(n) + 1); break;
  }
  return cost > 0 ? 2 * n * divergence / cost - 1 : -1;
}

Segmentation segment(std::span<const std::uint32_t> symbols, const SegmentationOptions& options) {
  return Segmenter(symbols, options).run();
}

std::vector<double> divergence_curve(std::span<const std::uint32_t> symbols, bool published) {
  std::vector<double> curve;
  for_each_split(symbols, kinds_of(symbols), published,
                 [&](std::size_t, double divergence) { curve.push_back(divergence); });
  return curve;
}

}  // namespace chameleon::statistics
