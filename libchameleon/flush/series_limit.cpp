// SPDX-License-Identifier: BSD-3-Clause
#include "flush/series_limit.h"

#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/series_codec.h"

namespace chameleon::flush {

void limit_series(Series& series, std::size_t bytes) {
  for (;;) {
    const std::vector<SeriesSpan>& spans = series.spans();
    ByteWriter out;
    format::write_series(out, series);
    if (out.bytes().size() <= bytes || spans.size() < 2) return;
    Series fewer;
    for (std::size_t i = 0; i < spans.size(); i += 2) {
      SeriesSpan both = spans[i];
      if (i + 1 < spans.size()) join(both, spans[i + 1]);
      fewer.add(both);
    }
    series = std::move(fewer);
  }
}

}  // namespace chameleon::flush
