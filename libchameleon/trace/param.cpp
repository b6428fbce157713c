// SPDX-License-Identifier: BSD-3-Clause
#include "trace/param.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/hash.h"

namespace chameleon {
namespace {

ValueSequence project(const ParamGroup& group, EndPointForm form) {
  return group.values.map_linear(ProjectEndPoint{form});
}

/// The values of `group` read as `form`, if it still has that reading.
std::optional<ValueSequence> reading(const ParamGroup& group, EndPointForm form) {
  if (group.form == form) return group.values;
  if (group.form == EndPointForm::kBoth) return project(group, form);
  return std::nullopt;
}

constexpr EndPointForm kReadings[] = {EndPointForm::kBoth, EndPointForm::kRelative,
                                      EndPointForm::kAbsolute};

/// Finds groups by what they hold in each reading.
class GroupIndex {
 public:
  GroupIndex(std::vector<ParamGroup>& groups, FieldKind kind) : groups_(groups), kind_(kind) {
    for (std::size_t i = 0; i < groups_.size(); ++i) add(i);
  }

  void absorb(ParamGroup&& group) {
    for (const EndPointForm form : forms()) {
      auto values = reading(group, form);
      if (!values) continue;
      const auto [begin, end] = index_.equal_range(key(form, *values));
      for (auto it = begin; it != end; ++it) {
        ParamGroup& candidate = groups_[it->second];
        auto present = reading(candidate, form);
        if (!present || !(*present == *values)) continue;
        candidate.ranks.merge(group.ranks);
        if (candidate.form != form) {
          candidate.form = form;
          candidate.values = std::move(*present);
        }
        return;
      }
    }
    groups_.push_back(std::move(group));
    add(groups_.size() - 1);
  }

 private:
  std::span<const EndPointForm> forms() const {
    return {kReadings, kind_ == FieldKind::kEndPoint ? std::size_t{3} : std::size_t{1}};
  }
  static std::uint64_t key(EndPointForm form, const ValueSequence& values) {
    return combine(values.hash(), static_cast<std::uint64_t>(form));
  }
  void add(std::size_t i) {
    for (const EndPointForm form : forms())
      if (auto values = reading(groups_[i], form)) index_.emplace(key(form, *values), i);
  }

  std::vector<ParamGroup>& groups_;
  FieldKind kind_;
  std::unordered_multimap<std::uint64_t, std::size_t> index_;
};

}  // namespace

Param& Param::operator=(const Param& other) {
  values_ = other.values_;
  form_ = other.form_;
  groups_ = other.groups_ ? std::make_unique<std::vector<ParamGroup>>(*other.groups_) : nullptr;
  return *this;
}

const ValueSequence* Param::find(std::uint32_t rank, EndPointForm& form) const {
  form = form_;
  if (!groups_) return &values_;
  for (const ParamGroup& group : *groups_)
    if (group.ranks.contains(rank)) {
      form = group.form;
      return &group.values;
    }
  return nullptr;
}

Param Param::ones() const {
  const auto ones_like = [](const ValueSequence& values) {
    ValueSequence ones;
    if (!values.empty()) ones.append(1, values.size());
    return ones;
  };
  Param result(ones_like(values_));
  if (!groups_) return result;
  result.groups_ = std::make_unique<std::vector<ParamGroup>>();
  for (const ParamGroup& group : *groups_)
    result.groups_->push_back({group.ranks, EndPointForm::kBoth, ones_like(group.values)});
  return result;
}

std::vector<ParamGroup> Param::take_groups(const RankList& ranks) {
  if (groups_) return std::move(*groups_);
  std::vector<ParamGroup> groups;
  groups.push_back({ranks, form_, std::move(values_)});
  return groups;
}

void Param::set_groups(std::vector<ParamGroup> groups) {
  if (groups.size() == 1) {
    groups_.reset();
    values_ = std::move(groups.front().values);
    form_ = groups.front().form;
    return;
  }
  values_ = ValueSequence();
  form_ = EndPointForm::kBoth;
  groups_ = std::make_unique<std::vector<ParamGroup>>(std::move(groups));
}

void Param::append(Param&& later, const RankList& mine, const RankList& theirs) {
  if (!groups_ && !later.groups_ && form_ == later.form_) {
    values_.append(later.values_);
    return;
  }
  std::vector<ParamGroup> joined;
  const std::vector<ParamGroup> tail = later.take_groups(theirs);
  for (const ParamGroup& before : take_groups(mine))
    for (const ParamGroup& after : tail) {
      RankList common = before.ranks.intersection(after.ranks);
      if (common.empty()) continue;
      ParamGroup group{std::move(common), before.form, before.values};
      group.values.append(after.values);
      joined.push_back(std::move(group));
    }
  set_groups(std::move(joined));
}

void Param::merge(Param&& other, const RankList& mine, const RankList& theirs, FieldKind kind) {
  if (!groups_ && !other.groups_ && form_ == other.form_ && values_ == other.values_) return;
  std::vector<ParamGroup> groups = take_groups(mine);
  GroupIndex index(groups, kind);
  for (ParamGroup& group : other.take_groups(theirs)) index.absorb(std::move(group));
  set_groups(std::move(groups));
}

void Param::canonicalize(bool prefer_relative) {
  const EndPointForm form = prefer_relative ? EndPointForm::kRelative : EndPointForm::kAbsolute;
  if (!groups_) {
    if (form_ == EndPointForm::kBoth) values_ = values_.map_linear(ProjectEndPoint{form});
    if (form_ == EndPointForm::kBoth) form_ = form;
    return;
  }
  std::vector<ParamGroup> merged;
  GroupIndex index(merged, FieldKind::kEndPoint);
  for (ParamGroup& group : *groups_) {
    if (group.form == EndPointForm::kBoth) {
      group.values = project(group, form);
      group.form = form;
    }
    index.absorb(std::move(group));
  }
  std::sort(merged.begin(), merged.end(), [](const ParamGroup& a, const ParamGroup& b) {
    return a.ranks.first() < b.ranks.first();
  });
  set_groups(std::move(merged));
}

}  // namespace chameleon
