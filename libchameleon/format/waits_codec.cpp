// SPDX-License-Identifier: BSD-3-Clause
#include "format/waits_codec.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/time_code.h"

namespace chameleon::format {

void write_waits(ByteWriter& out, const TimeTable& times) {
  const MarkerWaits::Places& places = times.waits().places();
  out.varint(places.size());
  for (const auto& [place, at] : places) {
    out.u64(place.symbol);
    out.u64(place.predecessor);
  }
  for (const auto& [place, at] : places) {
    const std::uint64_t markers = std::max<std::uint64_t>(at.all.markers, 1);
    out.varint(markers);
    out.varint(static_cast<std::uint64_t>(encode_time(at.all.ahead_ns / markers)));
  }
  for (std::uint32_t i = 0; i < times.classes().size(); ++i) {
    const std::uint64_t streams = times.classes()[i].streams.size();
    for (const auto& [place, at] : places) {
      const auto found = at.ns.find(i);
      const std::uint64_t ns = found == at.ns.end() ? 0 : found->second;
      out.varint(static_cast<std::uint64_t>(encode_time((ns + streams / 2) / streams)));
    }
  }
}

void read_waits(ByteReader& in, TimeTable& times) {
  constexpr std::uint64_t kMostMarkers = std::uint64_t{1} << 48;
  const auto read_time = [&in] {
    return decode_time(static_cast<std::int64_t>(in.varint() & INT64_MAX));
  };
  std::vector<std::pair<Place, MarkerWait>> places(in.count(18 + times.classes().size()));
  for (auto& [place, wait] : places) {
    place.symbol = in.u64();
    place.predecessor = in.u64();
  }
  for (auto& [place, wait] : places) {
    wait.markers = in.varint();
    wait.ahead_ns = read_time();
    if (wait.markers == 0 || wait.markers > kMostMarkers) in.fail();
    wait.ahead_ns = std::min(wait.ahead_ns, UINT64_MAX / std::max<std::uint64_t>(wait.markers, 1));
    wait.ahead_ns *= wait.markers;
  }
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i - 1].first >= places[i].first) in.fail();
  MarkerWaits waits;
  for (std::uint32_t i = 0; i < times.classes().size() && in.ok(); ++i) {
    const std::uint64_t streams = times.classes()[i].streams.size();
    for (auto& [place, wait] : places) {
      const std::uint64_t mean = read_time();
      if (mean == 0) continue;
      wait.ns = std::min(mean, (std::uint64_t{1} << 60) / streams) * streams;
      waits.add(place, i, wait);
      wait = {};  // of all classes once
    }
  }
  if (in.ok()) times.set_waits(std::move(waits));
}

}  // namespace chameleon::format
