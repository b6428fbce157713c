// SPDX-License-Identifier: BSD-3-Clause
#include "model/param.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/read_budget.h"
#include "model/group_index.h"

namespace chameleon::inline model {
namespace {

/// Terms copied at most when groups are split; beyond, nodes stay apart.
constexpr std::uint64_t kMostCopied = 1U << 16;
constexpr std::int64_t kMostIterations = 1LL << 48;
/// Of a group of one rank and one value, packed; and while it is not.
constexpr std::uint64_t kPackedGroup = 32, kPlainGroup = 2 * sizeof(ParamGroup);

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
  if (!a.grouped() || !b.grouped() || a.groups().size() != b.groups().size()) return false;
  auto theirs = b.groups().begin();
  for (const ParamGroup& group : a.groups()) {
    if (group.ranks != theirs->ranks) return false;
    ++theirs;
  }
  return true;
}

/// An interval of the ranks of a group.
struct Piece {
  RankList::Rank first, last;
  std::size_t group;
  EndPointForm form;
  const ValueSequence* values;
};

/// The groups' intervals in ascending order, one at a time: there may be as many as ranks. Memory
/// O(groups that ranks come between), O(log of these) for each; of groups in no order, O(groups).
class Pieces {
 public:
  /// Valid until the next piece.
  Pieces(const Param& param, const RankList& all) {
    if (param.grouped()) {
      ascending_ = param.groups().ascending();
      next_.emplace(param.groups());
      load();
    } else {
      open(all, param.form(), param.values(), nullptr);
    }
  }

  explicit operator bool() const { return !open_.empty(); }
  const Piece& operator*() const { return open_.front().piece; }
  Pieces& operator++() {
    std::pop_heap(open_.begin(), open_.end(), behind);
    auto& [at, piece, own] = open_.back();
    ++at;
    if (at == std::default_sentinel) {
      open_.pop_back();
    } else {
      piece.first = at->first;
      piece.last = at->last;
      std::push_heap(open_.begin(), open_.end(), behind);
    }
    if (next_) load();
    return *this;
  }

 private:
  struct OfGroup {
    RankIntervals::Iterator at;
    Piece piece;
    std::unique_ptr<ParamGroup> own;  ///< where the parameter has it packed
  };
  static bool behind(const OfGroup& a, const OfGroup& b) { return a.piece.first > b.piece.first; }

  void open(const RankList& ranks, EndPointForm form, const ValueSequence& values,
            std::unique_ptr<ParamGroup> own) {
    const auto first = ranks.intervals().begin();
    if (first != std::default_sentinel) {
      open_.push_back({first, {first->first, first->last, group_, form, &values}, std::move(own)});
      std::push_heap(open_.begin(), open_.end(), behind);
    }
    ++group_;
  }
  /// Groups that may come before those open.
  void load() {
    for (; *next_ != std::default_sentinel; ++*next_) {
      const ParamGroup& group = **next_;
      if (ascending_ && !open_.empty() && open_.front().piece.first < group.ranks.first()) return;
      if (next_->stays()) {
        open(group.ranks, group.form, group.values, nullptr);
      } else {
        auto own = std::make_unique<ParamGroup>(group);
        const ParamGroup& kept = *own;
        open(kept.ranks, kept.form, kept.values, std::move(own));
      }
    }
  }

  std::vector<OfGroup> open_;  ///< a heap
  std::optional<ParamGroups::Iterator> next_;
  std::size_t group_ = 0;
  bool ascending_ = true;
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
  ParamGroup packed;
  const ParamGroup* group = groups_->list.find(rank, packed);
  if (group == nullptr) return nullptr;
  form = group->form;
  if (group != &packed) return &group->values;
  own = std::move(packed.values);
  return &own;
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
  take_groups(ranks).consume([&](ParamGroup&& group) {
    for (const RankCount& one : counts) {
      const bool whole = group.ranks == one.ranks || counts.size() == 1;
      RankList members = whole ? group.ranks : group.ranks.intersection(one.ranks);
      if (members.empty()) continue;
      ValueSequence values = whole ? std::move(group.values) : group.values;
      last.push_back({members, group.form, take_last_values(values, one.count)});
      left.push_back({std::move(members), group.form, std::move(values)});
      if (whole) break;
    }
  });
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
  result.groups_ = std::make_unique<Groups>(*groups_);
  result.groups_->list.change_each([&](ParamGroup& group) {
    group.form = EndPointForm::kBoth;
    group.values = ones_like(group.values);
  });
  return result;
}

ParamGroups Param::take_groups(const RankList& ranks) {
  if (spread() != nullptr) return spread()->groups();
  if (groups_) return std::move(groups_->list);
  std::vector<ParamGroup> one;
  one.push_back({ranks, form_, std::move(values_)});
  return one;
}

void Param::set_groups(ParamGroups groups) {
  if (groups.size() == 1) {
    groups_.reset();
    values_ = std::move(groups.open(0).values);
    form_ = groups.open(0).form;
    return;
  }
  groups.settle();
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
  if (spread() == nullptr) return;
  ReadBudget::take(spread()->ranks.size(), kPackedGroup);
  groups_ = std::make_unique<Groups>(Groups{spread()->groups(), std::nullopt});
}

Param Param::apart() const {
  Param copy = *this;
  copy.take_apart();
  return copy;
}

/// Takes the values apart to groups within which `later` has one group too: `f(group, later's)`.
template <class F>
void Param::take_common(Param later, const RankList& mine, const RankList& theirs, F f) {
  std::map<std::pair<std::size_t, std::size_t>, RankList> parts;
  refine(*this, mine, later, theirs,
         [&](const Piece& a, const Piece& b, RankList::Rank first, RankList::Rank last) {
           parts[{a.group, b.group}].merge(RankList::range(first, last));
         });
  if (parts.empty()) return;
  const ReadBudget::Loan loan;
  ReadBudget::take(group_count(*this) + group_count(later), kPlainGroup);
  std::vector<ParamGroup> before = take_groups(mine).take();
  const std::vector<ParamGroup> after = later.take_groups(theirs).take();
  for (auto part = parts.begin(); part != parts.end();) {
    const auto [from, to] = part->first;
    ParamGroup group{std::move(part->second), before[from].form, {}};
    const bool last_use = ++part == parts.end() || part->first.first != from;
    group.values = last_use ? std::move(before[from].values) : before[from].values;
    f(std::move(group), after[to]);
  }
}

bool Param::spread_like(const Param& other) const {
  return spread() != nullptr && other.spread() != nullptr && spread()->is_like(*other.spread());
}

bool Param::can_append(const Param& later, const RankList& mine, const RankList& theirs) const {
  if (!groups_ && !later.groups_)
    return common_form(form_, later.form_) && fit(values_, later.values_);
  if (spread_like(later)) return spread()->times + later.spread()->times <= kMostValues;
  if (spread() != nullptr || later.spread() != nullptr) {
    const ReadBudget::Loan loan;
    return apart().can_append(later.apart(), mine, theirs);
  }
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
  const ReadBudget::Loan loan;  // for what `later` becomes
  later.take_apart();
  if (same_groups(*this, later)) {
    auto next = later.groups_->list.begin();
    groups_->list.change_each([&](ParamGroup& group) {
      append_values(group.values, group.form, next->values, next->form);
      ++next;
    });
    return;
  }
  std::vector<ParamGroup> joined;
  take_common(std::move(later), mine, theirs, [&](ParamGroup&& group, const ParamGroup& next) {
    append_values(group.values, group.form, next.values, next.form);
    joined.push_back(std::move(group));
  });
  if (!joined.empty()) set_groups(std::move(joined));
}

bool Param::can_extend_last(const Param& more, const RankList& mine, const RankList& theirs) const {
  if (spread() != nullptr || more.spread() != nullptr) {
    const ReadBudget::Loan loan;
    return apart().can_extend_last(more.apart(), mine, theirs);
  }
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
  take_apart();
  const ReadBudget::Loan loan;
  if (more.spread() != nullptr) return extend_last(more.apart(), mine, theirs);
  std::vector<ParamGroup> extended;
  take_common(more, mine, theirs, [&](ParamGroup&& group, const ParamGroup& next) {
    group.values.set_back(group.values.back() + next.values.back());
    extended.push_back(std::move(group));
  });
  ParamGroups groups;
  GroupIndex index(groups, extended.size(), FieldKind::kPlain);
  for (ParamGroup& group : extended) index.absorb(std::move(group));  // some may be equal now
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
  ParamGroups groups = take_groups(mine), more = other.take_groups(theirs);
  {
    GroupIndex index(groups, more.size(), kind);
    std::move(more).consume([&](ParamGroup&& group) { index.absorb(std::move(group)); });
  }
  set_groups(std::move(groups).by_rank());
}

void Param::canonicalize(bool prefer_relative) {
  const EndPointForm form = prefer_relative ? EndPointForm::kRelative : EndPointForm::kAbsolute;
  if (!groups_) {
    if (form_ == EndPointForm::kBoth) values_ = values_.map_linear(ProjectEndPoint{form});
    if (form_ == EndPointForm::kBoth) form_ = form;
    return;
  }
  if (spread() != nullptr && spread()->form != EndPointForm::kBoth) return;
  ParamGroups before = take_groups({}), merged;
  {
    GroupIndex index(merged, before.size(), FieldKind::kEndPoint);
    std::move(before).consume([&](ParamGroup&& group) {
      if (group.form == EndPointForm::kBoth) {
        group.values = group.values.map_linear(ProjectEndPoint{form});
        group.form = form;
      }
      index.absorb(std::move(group));
    });
  }
  set_groups(std::move(merged).by_rank());
}

}  // namespace chameleon::inline model
