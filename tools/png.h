// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Pictures as PNG (ISO/IEC 15948), colours by index.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace chameleon::tools {

using Colour = std::array<std::uint8_t, 3>;

/// `pixels`: width x height indices into `palette` (at most 256), by rows from the top.
Status write_png(const std::string& path, std::uint32_t width, std::uint32_t height,
                 const std::vector<std::uint8_t>& pixels, const std::vector<Colour>& palette);

}  // namespace chameleon::tools
