// SPDX-License-Identifier: BSD-3-Clause
/// The plots of a pair of ranks (Aguilera et al. 2006, figures 6 to 11).

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <sstream>

#include "base/new_file.h"
#include "tools/common.h"
#include "tools/pair_messages.h"

namespace chameleon::tools {
namespace {

constexpr double kWidth = 300, kHeight = 220, kLeft = 70, kTop = 24, kBelow = 46, kGap = 24;
constexpr std::array<const char*, 2> kColours = {"#08519c", "#d94801"};

/// A quantity of messages, and the line on which it is shown.
struct Axis {
  const char* title;
  std::function<double(const PairMessage&)> value;
  std::string (*text)(double);
  double base = 0;  ///< 0: linear, from 0; else lines are powers of it
  double low = 0, high = 1;

  double at(double value_) const {  // from 0 to 1
    return base > 0 ? std::log(std::max(value_, low) / low) / std::log(high / low)
                    : (value_ - low) / (high - low);
  }
};

void fit(Axis& axis, const PairMessages& messages) {
  double least = HUGE_VAL, most = 0;
  for (const PairMessage& one : messages.kept) {
    const double value = axis.value(one);
    most = std::max(most, value);
    if (value > 0) least = std::min(least, value);
  }
  if (axis.base == 0) {
    axis.high = most > 0 ? most : 1;
    return;
  }
  if (!(least <= most)) least = most = 1;
  const auto power = [&](double exponent) { return std::pow(axis.base, exponent); };
  axis.low = power(std::floor(std::log(least) / std::log(axis.base) + 1e-9));
  axis.high = power(std::ceil(std::log(most) / std::log(axis.base) - 1e-9));
  if (axis.high <= axis.low) {  // one value: in the middle
    axis.low /= axis.base;
    axis.high *= axis.base;
  }
}

/// Where lines of the grid are: at most six steps.
std::vector<double> lines(const Axis& axis) {
  constexpr int kMost = 6;
  std::vector<double> at;
  if (axis.base > 0) {
    const int powers =
        static_cast<int>(std::lround(std::log(axis.high / axis.low) / std::log(axis.base)));
    const int step = (powers + kMost - 1) / kMost;
    for (int i = 0; i <= powers; i += step) at.push_back(axis.low * std::pow(axis.base, i));
    return at;
  }
  double step = std::pow(10, std::floor(std::log10(axis.high / kMost)));
  for (const double factor : {2.0, 2.5, 2.0})
    if (axis.high / step > kMost) step *= factor;
  for (int i = 0; i * step <= axis.high * (1 + 1e-9); ++i) at.push_back(i * step);
  return at;
}

void draw(std::ostream& file, double left, const Axis& across, const Axis& up,
          const PairMessages& messages) {
  const auto x_of = [&](double value) { return left + kLeft + kWidth * across.at(value); };
  const auto y_of = [&](double value) { return kTop + kHeight * (1 - up.at(value)); };
  file << "<g>\n<g stroke=\"#ddd\">\n";
  for (const double value : lines(across))
    file << "<path d=\"M" << x_of(value) << " " << kTop << "v" << kHeight << "\"/>\n";
  for (const double value : lines(up))
    file << "<path d=\"M" << left + kLeft << " " << y_of(value) << "h" << kWidth << "\"/>\n";
  file << "</g>\n<g text-anchor=\"middle\">\n";
  for (const double value : lines(across))
    file << "<text x=\"" << x_of(value) << "\" y=\"" << kTop + kHeight + 14 << "\">"
         << across.text(value) << "</text>\n";
  file << "<text x=\"" << left + kLeft + kWidth / 2 << "\" y=\"" << kTop + kHeight + 32 << "\">"
       << across.title << "</text>\n</g>\n<g text-anchor=\"end\">\n";
  for (const double value : lines(up))
    file << "<text x=\"" << left + kLeft - 6 << "\" y=\"" << y_of(value) + 4 << "\">"
         << up.text(value) << "</text>\n";
  file << "</g>\n<text x=\"" << left + 4 << "\" y=\"14\">" << up.title << "</text>\n";
  for (std::size_t way = 0; way < kColours.size(); ++way) {
    file << "<g fill=\"" << kColours[way] << "\" fill-opacity=\"0.6\">\n";
    for (const PairMessage& one : messages.kept)
      if ((one.source == messages.a) == (way == 0))
        file << "<circle cx=\"" << x_of(across.value(one)) << "\" cy=\"" << y_of(up.value(one))
             << "\" r=\"2\"/>\n";
    file << "</g>\n";
  }
  file << "</g>\n";
}

}  // namespace

Status write_message_plots(const std::string& path, const PairMessages& messages) {
  Axis time = {"time in the run",
               [](const PairMessage& one) { return static_cast<double>(one.sent_ns); },
               duration_text};
  Axis size = {"size", [](const PairMessage& one) { return static_cast<double>(one.bytes); },
               bytes_text, 2};
  Axis transfer = {"send to receive",
                   [](const PairMessage& one) { return static_cast<double>(one.transfer_ns()); },
                   duration_text, 10};
  for (Axis* axis : {&time, &size, &transfer}) fit(*axis, messages);
  constexpr double kPlot = kLeft + kWidth + kGap;
  std::ostringstream file;
  file.precision(6);
  file << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << 3 * kPlot << "\" height=\""
       << kTop + kHeight + kBelow + 20
       << "\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
          "fill=\"white\"/>\n";
  draw(file, 0, time, size, messages);
  draw(file, kPlot, size, transfer, messages);
  draw(file, 2 * kPlot, time, transfer, messages);
  for (std::size_t way = 0; way < kColours.size() && messages.a != messages.b; ++way)
    file << "<text x=\"" << kLeft + 160 * static_cast<double>(way) << "\" y=\""
         << kTop + kHeight + kBelow + 10 << "\" fill=\"" << kColours[way] << "\">from rank "
         << (way == 0 ? messages.a : messages.b) << " to " << (way == 0 ? messages.b : messages.a)
         << "</text>\n";
  file << "</svg>\n";
  return write_new_file(path, file.str());
}

}  // namespace chameleon::tools
