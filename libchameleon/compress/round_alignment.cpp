// SPDX-License-Identifier: BSD-3-Clause
#include "compress/round_alignment.h"

namespace chameleon::compress {

RoundElements::RoundElements(std::span<const Node> list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool open = list[i].optional;
    for (const Node& node : open ? std::span<const Node>(list[i].body) : list.subspan(i, 1))
      elements_.push_back({&node, open ? i : kBare});
  }
}

std::size_t RoundElements::run_of(std::size_t i, std::uint64_t length) const {
  std::uint64_t have = 0;
  for (std::size_t end = i; end < elements_.size() && have < length; ++end) {
    if (elements_[end].node != elements_[i].node + (end - i)) return 0;
    have += elements_[end].node->shape.length;
    if (have == length) return end - i + 1;
  }
  return 0;
}

RoundAlignment::RoundAlignment(std::span<const Node> body, std::span<const Node> round)
    : body_(body), round_(round), width_(round_.size() + 1) {
  best_.resize((body_.size() + 1) * width_);
  for (std::size_t i = body_.size(); i-- > 0;)
    for (std::size_t j = round_.size(); j-- > 0;) choose(i, j);
}

std::vector<RoundAlignment::Part> RoundAlignment::parts() const {
  std::vector<Part> parts;
  for (std::size_t i = 0, j = 0; i < body_.size() || j < round_.size();) {
    Part part = i < body_.size() && j < round_.size() ? best_[i * width_ + j].part
                : i < body_.size()                    ? Part{i, 1, j, 0}
                                                      : Part{i, 0, j, 1};
    parts.push_back(part);
    i += part.a_count;
    j += part.b_count;
  }
  const auto common = [](const Part& part) { return part.a_count != 0 && part.b_count != 0; };
  if (!common(parts.front()) || !common(parts.back())) parts.clear();
  return parts;
}

void RoundAlignment::choose(std::size_t i, std::size_t j) {
  Cell& cell = best_[i * width_ + j];
  const auto consider = [&](std::size_t a, std::size_t b, std::uint64_t common) {
    const std::uint64_t sum = common + best_[(i + a) * width_ + j + b].common;
    if (cell.part.a_count + cell.part.b_count == 0 || sum > cell.common) cell = {sum, {i, a, j, b}};
  };
  const Node& mine = body_[i];
  const Node& theirs = round_[j];
  if (encloses(mine, theirs)) {
    const std::size_t run = round_.run_of(j, mine.shape.length);
    if (run != 0 && alignable(mine.body, std::span(&theirs, run)))
      consider(1, run, mine.shape.length);
  } else if (encloses(theirs, mine)) {
    const std::size_t run = body_.run_of(i, theirs.shape.length);
    if (run != 0 && alignable(std::span(&mine, run), theirs.body))
      consider(run, 1, theirs.shape.length);
  } else if (alignable(std::span(&mine, 1), std::span(&theirs, 1))) {
    consider(1, 1, mine.shape.length);
  }
  consider(1, 0, 0);
  consider(0, 1, 0);
}

}  // namespace chameleon::compress
