// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Catch2, version 2 or 3.

#include <cstdint>
#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

namespace chameleon::testing {

inline auto contains(const std::string& text) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(text);
#else
  return Catch::Contains(text);
#endif
}

/// Of what a test takes by chance.
inline std::uint32_t seed() {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::getSeed();
#else
  return Catch::rngSeed();
#endif
}

}  // namespace chameleon::testing
