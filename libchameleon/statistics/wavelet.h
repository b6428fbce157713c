// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The biorthogonal CDF 9/7 wavelet transform by lifting (Cohen, Daubechies & Feauveau 1992;
/// Daubechies & Sweldens 1998), with mirrored ends: effort signatures of Gamblin et al. 2010,
/// section 4. The low band of a level is half as long and sqrt 2 times as high, so that Euclidean
/// distances between smooth series stay. O(length).

#include <span>
#include <vector>

#include "base/rooms.h"

namespace chameleon::statistics {

/// One level in place: the low band, then the high band. The length is even, or nothing is done.
void transform_level(std::span<double> values);

/// The low band after these levels; empty unless the length is a multiple of 2^levels.
std::vector<double> low_band(std::span<const double> values, unsigned levels);

/// The signature of a series of efforts: the low band after as many levels as leave at least
/// `length` values, all of even length.
std::vector<double> effort_signature(std::span<const double> efforts, std::size_t length = 16);

}  // namespace chameleon::statistics
