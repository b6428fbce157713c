// SPDX-License-Identifier: BSD-3-Clause
#include "model/param.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/hash.h"

namespace chameleon::inline model {
namespace {

/// Values of form `present` read as `form`, if they still have that reading.
std::optional<ValueSequence> reading(const ValueSequence& values, EndPointForm present,
                                     EndPointForm form) {
  if (present == form) return values;
  if (present == EndPointForm::kBoth) return values.map_linear(ProjectEndPoint{form});
  return std::nullopt;
}

std::optional<ValueSequence> reading(const ParamGroup& group, EndPointForm form) {
  return reading(group.values, group.form, form);
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

/// Terms copied at most when groups are split; beyond, nodes stay apart.
constexpr std::uint64_t kMostCopied = 1U << 16;
constexpr std::int64_t kMostIterations = 1LL << 48;

std::optional<EndPointForm> common_form(EndPointForm a, EndPointForm b) {
  if (a == b || b == EndPointForm::kBoth) return a;
  if (a == EndPointForm::kBoth) return b;
  return std::nullopt;
}

void append_values(ValueSequence& values, EndPointForm& form, const ValueSequence& later,
                   EndPointForm later_form) {
  if (form == later_form) return values.append(later);
  const EndPointForm common = common_form(form, later_form).value_or(form);
  if (form != common) values = values.map_linear(ProjectEndPoint{common});
  form = common;
  if (later_form == common) return values.append(later);
  values.append(later.map_linear(ProjectEndPoint{common}));
}

/// No sequence is longer in a file.
constexpr std::uint64_t kMostValues = 1ULL << 48;
bool fit(const ValueSequence& a, const ValueSequence& b) {
  return a.size() <= kMostValues && b.size() <= kMostValues - a.size();
}

/// Removes the last `count` values and gives them.
ValueSequence take_last_values(ValueSequence& values, std::uint64_t count) {
  std::vector<std::int64_t> last;
  for (std::uint64_t i = 0; i < count; ++i) {
    last.push_back(values.back());
    values.drop_back();
  }
  ValueSequence taken;
  for (std::size_t i = last.size(); i-- > 0;) taken.append(last[i]);
  return taken;
}

bool same_groups(const Param& a, const Param& b) {
  return a.grouped() && b.grouped() &&
         std::equal(a.groups().begin(), a.groups().end(), b.groups().begin(), b.groups().end(),
                    [](const ParamGroup& x, const ParamGroup& y) { return x.ranks == y.ranks; });
}

/// An interval of the ranks of a group.
struct Piece {
  RankList::Rank first, last;
  std::size_t group;
  EndPointForm form;
  const ValueSequence* values;
};

/// The groups' intervals in ascending order, one at a time: there may be as many as ranks. Memory
/// O(groups), O(log groups) for each.
class Pieces {
 public:
  Pieces(const Param& param, const RankList& all) {
    std::size_t group = 0;
    param.for_each_group(
        all, [&](const RankList& ranks, EndPointForm form, const ValueSequence& values) {
          const auto first = ranks.intervals().begin();
          if (first != std::default_sentinel)
            next_.push_back({first, {first->first, first->last, group, form, &values}});
          ++group;
        });
    std::make_heap(next_.begin(), next_.end(), behind);
  }

  explicit operator bool() const { return !next_.empty(); }
  const Piece& operator*() const { return next_.front().piece; }
  Pieces& operator++() {
    std::pop_heap(next_.begin(), next_.end(), behind);
    auto& [at, piece] = next_.back();
    ++at;
    if (at == std::default_sentinel) {
      next_.pop_back();
      return *this;
    }
    piece.first = at->first;
    piece.last = at->last;
    std::push_heap(next_.begin(), next_.end(), behind);
    return *this;
  }

 private:
  struct OfGroup {
    RankIntervals::Iterator at;
    Piece piece;
  };
  static bool behind(const OfGroup& a, const OfGroup& b) { return a.piece.first > b.piece.first; }

  std::vector<OfGroup> next_;  ///< a heap
};

bool overlap(Pieces pieces) {
  for (std::uint64_t end = 0; pieces; ++pieces) {
    if ((*pieces).first < end) return true;
    end = std::uint64_t{(*pieces).last} + 1;
  }
  return false;
}

/// Calls `f(a, b, first, last)` for each interval that a group of either shares, in
/// ascending order. False, and not called, if groups of one parameter overlap.
template <class F>
bool refine(const Param& before, const RankList& mine, const Param& after, const RankList& theirs,
            F f) {
  if (overlap({before, mine}) || overlap({after, theirs})) return false;
  for (Pieces a(before, mine), b(after, theirs); a && b;) {
    const RankList::Rank first = std::max((*a).first, (*b).first);
    const RankList::Rank last = std::min((*a).last, (*b).last);
    if (first <= last) f(*a, *b, first, last);
    ++((*a).last < (*b).last ? a : b);
  }
  return true;
}

}  // namespace

Param& Param::operator=(const Param& other) {
  values_ = other.values_;
  form_ = other.form_;
  groups_ = other.groups_ ? std::make_unique<Groups>(*other.groups_) : nullptr;
  return *this;
}

const ValueSequence* Param::find(std::uint32_t rank, EndPointForm& form, ValueSequence& own) const {
  form = form_;
  if (!groups_) return &values_;
  if (const ParamSpread* one = spread()) {
    const std::optional<std::int64_t> value = one->value_of(rank);
    if (!value) return nullptr;
    form = one->form;
    own = ValueSequence(*value, one->times);
    return &own;
  }
  for (const ParamGroup& group : groups_->list)
    if (group.ranks.contains(rank)) {
      form = group.form;
      return &group.values;
    }
  return nullptr;
}

bool Param::each_has(const RankList& ranks, const RankCounts& counts) const {
  bool good = true;
  for_each_group(ranks, [&](const RankList& members, EndPointForm, const ValueSequence& values) {
    for (const RankCount& one : counts)
      good = good && (values.size() >= one.count || !members.intersects(one.ranks));
  });
  return good;
}

Param Param::take_last(const RankList& ranks, const RankCounts& counts) {
  std::vector<ParamGroup> left, last;
  for (ParamGroup& group : take_groups(ranks))
    for (const RankCount& one : counts) {
      const bool whole = group.ranks == one.ranks || counts.size() == 1;
      RankList members = whole ? group.ranks : group.ranks.intersection(one.ranks);
      if (members.empty()) continue;
      ValueSequence values = whole ? std::move(group.values) : group.values;
      last.push_back({members, group.form, take_last_values(values, one.count)});
      left.push_back({std::move(members), group.form, std::move(values)});
      if (whole) break;
    }
  set_groups(std::move(left));
  Param taken;
  taken.set_groups(std::move(last));
  return taken;
}

Param Param::ones() const {
  if (spread() != nullptr) return apart().ones();
  const auto ones_like = [](const ValueSequence& values) {
    ValueSequence ones;
    if (!values.empty()) ones.append(1, values.size());
    return ones;
  };
  Param result(ones_like(values_));
  if (!groups_) return result;
  result.groups_ = std::make_unique<Groups>();
  for (const ParamGroup& group : groups_->list)
    result.groups_->list.push_back({group.ranks, EndPointForm::kBoth, ones_like(group.values)});
  return result;
}

std::vector<ParamGroup> Param::take_groups(const RankList& ranks) {
  if (spread() != nullptr) return spread()->groups();
  if (groups_) return std::move(groups_->list);
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
  if (auto spread = ParamSpread::of(groups)) return set_spread(std::move(*spread));
  values_ = ValueSequence();
  form_ = EndPointForm::kBoth;
  groups_ = std::make_unique<Groups>(Groups{std::move(groups), std::nullopt});
}

void Param::set_spread(ParamSpread spread) {
  values_ = ValueSequence();
  form_ = EndPointForm::kBoth;
  groups_ = std::make_unique<Groups>(Groups{{}, std::move(spread)});
}

void Param::take_apart() {
  if (spread() != nullptr)
    groups_ = std::make_unique<Groups>(Groups{spread()->groups(), std::nullopt});
}

Param Param::apart() const {
  Param copy = *this;
  copy.take_apart();
  return copy;
}

/// What some ranks have in one group before and in one group after.
struct Param::Common {
  ParamGroup group;
  EndPointForm later_form = EndPointForm::kBoth;
  const ValueSequence* later = nullptr;
};

/// Takes the values apart to groups within which `later` has one group too.
std::vector<Param::Common> Param::take_common(const Param& later, const RankList& mine,
                                              const RankList& theirs) {
  std::map<std::pair<std::size_t, std::size_t>, Common> parts;
  refine(*this, mine, later, theirs,
         [&](const Piece& a, const Piece& b, RankList::Rank first, RankList::Rank last) {
           Common& part = parts[{a.group, b.group}];
           if (part.later == nullptr) part = {{RankList(), a.form, {}}, b.form, b.values};
           part.group.ranks.merge(RankList::range(first, last));
         });
  std::vector<Common> result;
  for (auto part = parts.begin(); part != parts.end();) {
    const std::size_t from = part->first.first;
    ValueSequence& values = groups_ ? groups_->list[from].values : values_;
    result.push_back(std::move(part->second));
    const bool last_use = ++part == parts.end() || part->first.first != from;
    result.back().group.values = last_use ? std::move(values) : ValueSequence(values);
  }
  return result;
}

bool Param::spread_like(const Param& other) const {
  return spread() != nullptr && other.spread() != nullptr && spread()->is_like(*other.spread());
}

bool Param::can_append(const Param& later, const RankList& mine, const RankList& theirs) const {
  if (!groups_ && !later.groups_)
    return common_form(form_, later.form_) && fit(values_, later.values_);
  if (spread_like(later)) return spread()->times + later.spread()->times <= kMostValues;
  if (spread() != nullptr || later.spread() != nullptr)
    return apart().can_append(later.apart(), mine, theirs);
  const bool alike = same_groups(*this, later);
  bool readable = true;
  std::uint64_t copied = 0;
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  std::set<std::size_t> split, shared;
  const bool refined =
      refine(*this, mine, later, theirs, [&](const Piece& before, const Piece& after, auto, auto) {
        readable =
            readable && common_form(before.form, after.form) && fit(*before.values, *after.values);
        if (alike || !pairs.emplace(before.group, after.group).second) return;
        if (!split.insert(before.group).second) copied += before.values->term_count();
        if (!shared.insert(after.group).second) copied += after.values->term_count();
      });
  return refined && readable && copied <= kMostCopied;
}

void Param::append(Param&& later, const RankList& mine, const RankList& theirs) {
  if (!groups_ && !later.groups_) return append_values(values_, form_, later.values_, later.form_);
  if (spread_like(later)) {
    groups_->spread->times += later.spread()->times;
    return;
  }
  take_apart();
  later.take_apart();
  if (same_groups(*this, later)) {
    for (std::size_t i = 0; i < groups_->list.size(); ++i) {
      ParamGroup& group = groups_->list[i];
      const ParamGroup& next = later.groups_->list[i];
      append_values(group.values, group.form, next.values, next.form);
    }
    return;
  }
  std::vector<ParamGroup> joined;
  for (Common& part : take_common(later, mine, theirs)) {
    append_values(part.group.values, part.group.form, *part.later, part.later_form);
    joined.push_back(std::move(part.group));
  }
  if (!joined.empty()) set_groups(std::move(joined));
}

bool Param::can_extend_last(const Param& more, const RankList& mine, const RankList& theirs) const {
  if (spread() != nullptr || more.spread() != nullptr)
    return apart().can_extend_last(more.apart(), mine, theirs);
  bool good = true;
  const bool refined =
      refine(*this, mine, more, theirs, [&](const Piece& before, const Piece& after, auto, auto) {
        good = good && !before.values->empty() && after.values->size() == 1 &&
               before.values->back() >= 0 && after.values->back() >= 0 &&
               before.values->back() < kMostIterations && after.values->back() < kMostIterations;
      });
  return good && refined;
}

void Param::extend_last(const Param& more, const RankList& mine, const RankList& theirs) {
  if (!groups_ && !more.groups_) return values_.set_back(values_.back() + more.values_.back());
  if (more.spread() != nullptr) return extend_last(more.apart(), mine, theirs);
  take_apart();
  std::vector<ParamGroup> groups;
  GroupIndex index(groups, FieldKind::kPlain);
  for (Common& part : take_common(more, mine, theirs)) {
    part.group.values.set_back(part.group.values.back() + part.later->back());
    index.absorb(std::move(part.group));  // counts that differed may have become equal
  }
  if (!groups.empty()) set_groups(std::move(groups));
}

bool Param::share_reading(const Param& other) {
  for (const EndPointForm form : kReadings) {
    auto mine = reading(values_, form_, form);
    const auto theirs = reading(other.values_, other.form_, form);
    if (!mine || !theirs || !(*mine == *theirs)) continue;
    values_ = std::move(*mine);
    form_ = form;
    return true;
  }
  return false;
}

static void sort_by_rank(std::vector<ParamGroup>& groups) {
  const auto before = [](const ParamGroup& a, const ParamGroup& b) {
    return a.ranks.first() < b.ranks.first();
  };
  if (!std::is_sorted(groups.begin(), groups.end(), before))
    std::sort(groups.begin(), groups.end(), before);
}

/// Whether the others' values continue this spread; then they are in it.
bool Param::extend_spread(const Param& other, const RankList& theirs) {
  if (spread() == nullptr) return false;
  ParamSpread& mine = *groups_->spread;
  if (other.spread() != nullptr) return mine.extend(*other.spread());
  ParamSpread all = mine;
  bool continues = true;
  other.for_each_group(theirs, [&](const RankList& ranks, EndPointForm form, const auto& values) {
    continues = continues && all.extend(ranks, form, values);
  });
  if (continues) mine = std::move(all);
  return continues;
}

void Param::merge(Param&& other, const RankList& mine, const RankList& theirs, FieldKind kind) {
  if (!groups_ && !other.groups_ && form_ == other.form_ && values_ == other.values_) return;
  if (!groups_ && !other.groups_ && kind == FieldKind::kEndPoint && share_reading(other)) return;
  if (kind != FieldKind::kEndPoint && extend_spread(other, theirs)) return;
  std::vector<ParamGroup> groups = take_groups(mine);
  GroupIndex index(groups, kind);
  for (ParamGroup& group : other.take_groups(theirs)) index.absorb(std::move(group));
  sort_by_rank(groups);
  set_groups(std::move(groups));
}

void Param::canonicalize(bool prefer_relative) {
  const EndPointForm form = prefer_relative ? EndPointForm::kRelative : EndPointForm::kAbsolute;
  if (!groups_) {
    if (form_ == EndPointForm::kBoth) values_ = values_.map_linear(ProjectEndPoint{form});
    if (form_ == EndPointForm::kBoth) form_ = form;
    return;
  }
  if (spread() != nullptr && spread()->form != EndPointForm::kBoth) return;
  std::vector<ParamGroup> merged;
  GroupIndex index(merged, FieldKind::kEndPoint);
  for (ParamGroup& group : take_groups({})) {
    if (group.form == EndPointForm::kBoth) {
      group.values = group.values.map_linear(ProjectEndPoint{form});
      group.form = form;
    }
    index.absorb(std::move(group));
  }
  sort_by_rank(merged);
  set_groups(std::move(merged));
}

}  // namespace chameleon::inline model
