// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/requests.h"

#include <algorithm>

namespace chameleon::analysis {
namespace {

/// Field by field: a temporary would be written in small pieces and read at once in large ones.
void clear(Posting& posting) {
  posting.kind = Posting::Kind::kOther;
  posting.persistent = posting.active = posting.any_source = posting.any_tag = false;
  posting.partner = {};
  posting.tag = 0;
  posting.bytes = kUnknownSize;
}

}  // namespace

std::int32_t Requests::at_other(std::int64_t id) const {
  const auto found = others_.find(id);
  return found == others_.end() ? kNone : found->second;
}

Posting& Requests::make(std::int64_t id) {
  std::uint32_t index = static_cast<std::uint32_t>(postings_.size());
  if (free_.empty()) {
    postings_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
    clear(postings_[index]);
  }
  const auto stored = static_cast<std::int32_t>(index);
  if (id >= 0 && id < kDense) {
    const auto place = static_cast<std::size_t>(id);
    if (dense_.size() <= place) dense_.resize(place + 1, kNone);
    dense_[place] = stored;
  } else {
    others_[id] = stored;
  }
  postings_[index].id = id;
  postings_[index].index = index;
  return postings_[index];
}

void Requests::end(std::int64_t id, const Posting& posting) {
  ended_.push_back(posting.index);
  if (id >= 0 && id < kDense)
    dense_[static_cast<std::size_t>(id)] = kNone;
  else
    others_.erase(id);
}

bool Requests::none_active() const {
  const auto idle = [this](std::int32_t index) {
    return index == kNone || (postings_[static_cast<std::size_t>(index)].persistent &&
                              !postings_[static_cast<std::size_t>(index)].active);
  };
  for (const auto& [id, index] : others_)
    if (!idle(index)) return false;
  return std::all_of(dense_.begin(), dense_.end(), idle);
}

void Requests::forget_ended() {
  if (ended_.empty()) return;
  free_.insert(free_.end(), ended_.begin(), ended_.end());
  ended_.clear();
}

}  // namespace chameleon::analysis
