// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Numbers of events without those of iterations that others stood for: the event before one has
/// the number below, also where loops are analysed at once. O(1), 24 bytes a stream.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace chameleon::analysis {

class KeptNumbers {
 public:
  /// Takes note of a stream's next event, and gives its number here.
  std::uint64_t next(std::uint32_t stream, std::uint64_t event) {
    if (streams_.size() <= stream) streams_.resize(stream + std::size_t{1});
    streams_[stream].last = event;
    return kept(stream, event);
  }
  /// Events from here on, until the next call, stand for so many each (RoundWatch::take).
  void take(std::uint64_t times) {
    for (Stream& stream : streams_) {
      stream.left_out += (times_ - 1) * (stream.last - stream.taken);
      stream.taken = stream.last;
    }
    times_ = times;
  }
  std::uint64_t kept(std::uint32_t stream, std::uint64_t event) const {
    return event - std::min(event, left_out(stream));
  }
  /// The event that has this number here, or the last one that it stands for.
  std::uint64_t told(std::uint32_t stream, std::uint64_t number) const {
    return number + left_out(stream);
  }

 private:
  struct Stream {
    std::uint64_t left_out = 0;
    std::uint64_t last = 0, taken = 0;  ///< numbers of the last event, now and at `take`
  };

  std::uint64_t left_out(std::uint32_t stream) const {
    return stream < streams_.size() ? streams_[stream].left_out : 0;
  }

  std::uint64_t times_ = 1;
  std::vector<Stream> streams_;
};

}  // namespace chameleon::analysis
