// SPDX-License-Identifier: BSD-3-Clause
#include "compress/commute.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

namespace chameleon::compress {
namespace {

constexpr std::size_t kReach = 512;        ///< nodes looked back at
constexpr std::int64_t kMostSteps = 1024;  ///< a node of the list

class Commuter {
 public:
  Commuter(std::vector<Node>& nodes, const RankList& all, const CallSchema& schema)
      : nodes_(nodes),
        all_(all),
        schema_(schema),
        budget_(kMostSteps * static_cast<std::int64_t>(nodes.size())) {}

  void join() {
    for (std::size_t at = 1; at < nodes_.size() && budget_ > 0; ++at)
      if (!nodes_[at].ranks.empty() && join_before(at)) --at;
  }

 private:
  /// What all ranks execute separates what is before from what is after.
  bool join_before(std::size_t at) {
    const std::size_t oldest = at - std::min(at, kReach);
    for (std::size_t i = at; i-- > oldest && !nodes_[i].ranks.empty() && --budget_ > 0;)
      if (are_equal(nodes_[i], nodes_[at]) && commute(i, at)) {
        join(i, at);
        return true;
      }
    return false;
  }

  static bool are_equal(const Node& a, const Node& b) {
    return a.shape == b.shape && a.is_loop() == b.is_loop() && alignable({&a, 1}, {&b, 1});
  }

  /// Whether nothing after `first` need be before `last`. Notes what must come after `first`.
  bool commute(std::size_t first, std::size_t last) {
    RankList after = nodes_[first].ranks;
    const RankList& wanted = nodes_[last].ranks;
    is_after_.assign(last - first, false);
    if (after.intersects(wanted)) return false;
    for (std::size_t i = first + 1; i < last; ++i) {
      --budget_;
      if (!nodes_[i].ranks.intersects(after)) continue;
      if (nodes_[i].ranks.intersects(wanted)) return false;
      after.merge(nodes_[i].ranks);
      is_after_[i - first] = true;
    }
    return true;
  }

  /// The two become one, behind what need not follow the first and before what must.
  void join(std::size_t first, std::size_t last) {
    Node joined = std::move(nodes_[first]);
    merge_node(joined, nodes_[last], all_, all_, schema_);
    if (joined.ranks == all_) joined.ranks = RankList();
    later_.clear();
    std::size_t to = first;
    for (std::size_t i = first + 1; i < last; ++i) {
      if (is_after_[i - first])
        later_.push_back(std::move(nodes_[i]));
      else
        nodes_[to++] = std::move(nodes_[i]);
    }
    nodes_[to++] = std::move(joined);
    std::move(later_.begin(), later_.end(), nodes_.begin() + static_cast<std::ptrdiff_t>(to));
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(last));
  }

  std::vector<Node>& nodes_;
  const RankList& all_;
  const CallSchema& schema_;
  std::int64_t budget_;
  std::vector<bool> is_after_;
  std::vector<Node> later_;
};

}  // namespace

void join_commuting(std::vector<Node>& nodes, const RankList& all, const CallSchema& schema) {
  Commuter(nodes, all, schema).join();
}

}  // namespace chameleon::compress
