// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Numbers on the command line, with errors that say what is expected.

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <string>

namespace chameleon::tools {

/// Accepts whole numbers from 1 to the largest `int`. `what` is the thing counted, in the plural.
inline CLI::Validator count_of(const std::string& what) {
  return CLI::Validator(
      [what](std::string& text) -> std::string {
        int number = 0;
        const char* end = text.data() + text.size();
        const auto [read, error] = std::from_chars(text.data(), end, number);
        if (error == std::errc() && read == end && number > 0) return "";
        return "'" + text + "' is not a number of " + what + ": it takes a whole number from 1";
      },
      "");
}

/// Accepts finite numbers from `least` to `most`.
inline CLI::Validator number_from(double least, double most = HUGE_VAL) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        double number = 0;
        const char* end = text.data() + text.size();
        const auto [read, error] = std::from_chars(text.data(), end, number);
        if (error == std::errc() && read == end && std::isfinite(number) && number >= least &&
            number <= most)
          return "";
        const auto plain = [](double value) {
          std::string digits = std::to_string(value);
          digits.erase(digits.find_last_not_of('0') + 1);
          return digits.back() == '.' ? digits.substr(0, digits.size() - 1) : digits;
        };
        return "'" + text + "' is malformed: it takes a number from " + plain(least) +
               (std::isfinite(most) ? " to " + plain(most) : "");
      },
      "");
}

}  // namespace chameleon::tools
