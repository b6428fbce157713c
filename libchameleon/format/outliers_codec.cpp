// SPDX-License-Identifier: BSD-3-Clause
#include "format/outliers_codec.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/read_budget.h"
#include "format/column.h"
#include "model/time_code.h"

namespace chameleon::format {
namespace {

constexpr std::uint64_t kNsPerUs = 1000;
constexpr std::int64_t kMostValue = std::int64_t{1} << 60;
constexpr std::size_t kOutlierColumns = 6;
using OutlierRow = std::array<std::int64_t, kOutlierColumns>;

/// Numbers of a stream's events rise from one row to the next.
OutlierRow row_of(const Outlier& one, const Outlier* before, std::size_t place) {
  const std::uint32_t stream = before == nullptr ? 0 : before->stream;
  const bool follows = before != nullptr && stream == one.stream;
  return {static_cast<std::int64_t>(one.stream - stream),
          static_cast<std::int64_t>(one.event - (follows ? before->event : 0)),
          static_cast<std::int64_t>(2 * place + (one.in_call ? 1 : 0)),
          encode_sum(one.ns),
          encode_sum(one.usual_ns),
          static_cast<std::int64_t>(one.begin_ns / kNsPerUs)};
}

}  // namespace

void write_outliers(ByteWriter& out, const Outliers& outliers) {
  std::vector<Place> places;
  for (const Outlier& one : outliers.all()) places.push_back(one.place);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  out.varint(places.size());
  for (const Place& place : places) {
    out.u64(place.symbol);
    out.u64(place.predecessor);
  }
  out.varint(outliers.all().size());
  std::array<std::vector<std::int64_t>, kOutlierColumns> columns;
  const Outlier* before = nullptr;
  for (const Outlier& one : outliers.all()) {
    const auto place = std::lower_bound(places.begin(), places.end(), one.place) - places.begin();
    const OutlierRow row = row_of(one, before, static_cast<std::size_t>(place));
    for (std::size_t i = 0; i < kOutlierColumns; ++i) columns[i].push_back(row[i]);
    before = &one;
  }
  for (const std::vector<std::int64_t>& numbers : columns) column::write(out, numbers);
}

void read_outliers(ByteReader& in, Outliers& outliers) {
  if (outliers.known()) {  // two tables in a commit
    in.fail();
    return;
  }
  outliers.know();
  std::vector<Place> places(in.count(16));
  for (Place& place : places) {
    place.symbol = in.u64();
    place.predecessor = in.u64();
  }
  const std::uint64_t count = in.varint();
  if (count > Outliers::kMost || (count > 0 && places.empty())) in.fail();
  if (!in.ok()) return;
  ReadBudget::take(count, sizeof(OutlierRow) + 2 * sizeof(Outlier));
  std::vector<OutlierRow> rows(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < kOutlierColumns; ++i) {
    auto row = rows.begin();
    column::read(in, count, [&](std::int64_t number) {
      if (number < 0 || number > kMostValue) in.fail();
      (*row++)[i] = number;
    });
    if (!in.ok()) return;
  }
  Outlier one;
  for (const OutlierRow& row : rows) {
    const auto place = static_cast<std::uint64_t>(row[2]) / 2;
    const bool in_call = row[2] % 2 != 0;
    const auto stream = static_cast<std::uint64_t>(row[0]) + one.stream;
    if (row[0] > 0) one.event = 0;
    const std::uint64_t event = one.event + static_cast<std::uint64_t>(row[1]);
    // One after the other, computing before the call of the same event.
    const bool same = row[0] == 0 && row[1] == 0;
    if (stream > UINT32_MAX || event == 0 || place >= places.size() ||
        event > static_cast<std::uint64_t>(kMostValue) ||
        row[5] > kMostValue / static_cast<std::int64_t>(kNsPerUs) ||
        (same && (one.in_call || !in_call))) {
      in.fail();
      return;
    }
    one = {static_cast<std::uint32_t>(stream),
           event,
           in_call,
           places[static_cast<std::size_t>(place)],
           decode_sum(row[3]),
           decode_sum(row[4]),
           static_cast<std::uint64_t>(row[5]) * kNsPerUs};
    outliers.add(one);
  }
}

}  // namespace chameleon::format
