// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/pair_messages.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/timeline.h"
#include "statistics/outliers.h"

namespace chameleon::analysis {
namespace {

using Ranks = std::pair<std::uint32_t, std::uint32_t>;

/// A receive ends later than its send began by at least that.
constexpr std::uint64_t kShortest = 1;
/// Messages of which one is kept, at most: files may claim more than a job can send.
constexpr std::uint64_t kMostEvery = std::uint64_t{1} << 40;
/// ns of a file's timeline, at most.
constexpr double kMostNs = 9e18;

/// Those of one pair. A send and the receive of its message come in any order: the path of a send
/// is put in where its receive has been, and waits for it otherwise.
class Collector {
 public:
  Collector(Ranks pair, std::size_t most) : most_(std::max<std::size_t>(most, 1)) {
    found_.a = pair.first;
    found_.b = pair.second;
  }

  void send(std::uint64_t id, std::uint64_t path) {
    if (const auto at = received_.find(id); at != received_.end()) {
      add(std::move(at->second), path);
      received_.erase(at);
    } else {
      sent_.emplace(id, path);
    }
  }
  void receive(std::uint64_t id, const PairMessage& message, std::uint64_t times, double period) {
    Received received{message, times, period};
    if (const auto at = sent_.find(id); at != sent_.end()) {
      add(std::move(received), at->second);
      sent_.erase(at);
    } else {
      received_.emplace(id, received);
    }
  }

  PairMessages finish() {
    for (auto& [id, received] : received_) add(std::move(received), 0);
    std::stable_sort(
        found_.kept.begin(), found_.kept.end(),
        [](const PairMessage& x, const PairMessage& y) { return x.sent_ns < y.sent_ns; });
    add_middles();
    for (auto& [size, sums] : sizes_) found_.sizes.push_back(sums);
    std::stable_sort(
        found_.sizes.begin(), found_.sizes.end(),
        [](const SizeMessages& x, const SizeMessages& y) { return x.transfer_ns > y.transfer_ns; });
    return std::move(found_);
  }

 private:
  using Size = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
  /// That comes so many times, each so much later.
  struct Received {
    PairMessage message;
    std::uint64_t times = 1;
    double period_ns = 0;
  };

  static Size size_of(const PairMessage& message) {
    return {message.source, message.dest, message.bytes};
  }

  void add(Received received, std::uint64_t send_path) {
    PairMessage& message = received.message;
    message.send_path = send_path;
    SizeMessages& sums = sizes_[size_of(message)];
    std::tie(sums.source, sums.dest, sums.bytes) = size_of(message);
    sums.messages += received.times;
    if (message.transfer_ns() <= kShortest) found_.too_short += received.times;
    sums.transfer_ns +=
        static_cast<double>(received.times) * static_cast<double>(message.transfer_ns());
    if (sums.longest.received_ns == 0 || message.transfer_ns() > sums.longest.transfer_ns())
      sums.longest = message;
    for (std::uint64_t i = (found_.every - found_.messages % found_.every) % found_.every;
         i < received.times && !full_; i += found_.every - (found_.messages + i) % found_.every) {
      PairMessage one = message;
      const auto later = static_cast<std::uint64_t>(
          std::min(received.period_ns * static_cast<double>(i) + 0.5, kMostNs));
      one.sent_ns += later;
      one.received_ns += later;
      found_.kept.push_back(one);
      if (found_.kept.size() > most_) thin();
    }
    found_.messages += received.times;
  }

  /// Half of them go.
  void thin() {
    if (found_.every >= kMostEvery) {
      found_.kept.pop_back();
      full_ = true;
      return;
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < found_.kept.size(); i += 2) found_.kept[left++] = found_.kept[i];
    found_.kept.resize(left);
    found_.every *= 2;
  }

  void add_middles() {
    struct Kept {
      std::vector<double> ns;
      std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> places;  // send, receive
    };
    std::map<Size, Kept> kept;
    for (const PairMessage& message : found_.kept) {
      Kept& of = kept[size_of(message)];
      of.ns.push_back(static_cast<double>(message.transfer_ns()));
      ++of.places[{message.send_path, message.receive_path}];
    }
    for (auto& [size, of] : kept) {
      SizeMessages& sums = sizes_[size];
      sums.median_ns = statistics::median(std::move(of.ns));
      const auto most =
          std::max_element(of.places.begin(), of.places.end(),
                           [](const auto& x, const auto& y) { return x.second < y.second; });
      std::tie(sums.send_path, sums.receive_path) = most->first;
    }
  }

  const std::size_t most_;
  PairMessages found_;
  bool full_ = false;  ///< no more are kept
  std::map<Size, SizeMessages> sizes_;
  std::unordered_map<std::uint64_t, std::uint64_t> sent_;  ///< paths, by message
  std::unordered_map<std::uint64_t, Received> received_;   ///< by message
};

}  // namespace

Result<std::vector<PairMessages>> pair_messages(const Trace& trace, std::span<const Ranks> pairs,
                                                std::size_t most) {
  std::vector<Collector> collectors;
  std::map<Ranks, std::size_t> places;
  for (const Ranks& pair : pairs) {
    const Ranks ordered = std::minmax(pair.first, pair.second);
    places.emplace(ordered, collectors.size());
    collectors.emplace_back(ordered, most);
  }
  std::uint64_t times = 1;
  double period = 0;
  RoundWatch watch;
  watch.take = [&](std::uint64_t number, double period_ns) {
    times = number;
    period = period_ns;
  };
  const auto add = [&](const TimedEvent& event) {
    const auto operations = event.at->operations();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& operation = operations[i];
      const bool receives = operation.kind == Operation::Kind::kReceive;
      if (!receives && operation.kind != Operation::Kind::kSend) continue;
      const auto place = places.find(std::minmax(operation.channel.source, operation.channel.dest));
      if (place == places.end()) continue;
      const std::uint64_t path = event.at->event().path;
      if (!receives) {
        collectors[place->second].send(message_id(operation), path);
        continue;
      }
      PairMessage message;
      message.source = operation.channel.source;
      message.dest = operation.channel.dest;
      message.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(operation.bytes, 0));
      message.sent_ns = std::min(event.since_ns[i], event.end_ns) + event.later_ns;
      message.received_ns = event.end_ns + event.later_ns;
      message.receive_path = path;
      collectors[place->second].receive(message_id(operation), message, times, period);
    }
  };
  const Result<TimelineFacts> run =
      run_timeline(trace, trace.whole_ranks(), add, false, Network::kRecorded, &watch);
  if (!run) return run.error();
  std::vector<PairMessages> found;
  for (Collector& collector : collectors) found.push_back(collector.finish());
  return found;
}

}  // namespace chameleon::analysis
