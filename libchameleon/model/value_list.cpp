// SPDX-License-Identifier: BSD-3-Clause
#include "model/value_list.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "base/read_budget.h"
#include "model/value_sequence.h"
#include "model/value_terms.h"

namespace chameleon::inline model {
namespace {

using value_terms::GroupKind;
using value_terms::wrap;

constexpr std::size_t kShortList = 2048;  ///< such a list is a sequence
constexpr std::size_t kLook = 1024;  ///< values after which terms are counted; twice, four times …
constexpr std::size_t kRegular = 4;  ///< values for a term, at least
constexpr std::size_t kForeseen =
    3 * kLook / 8;  ///< of the first values, in a list that may repeat
/// In a run, which takes three bytes at least.
constexpr std::size_t kMostInRun = 2 * kListValuesPerByte;
constexpr std::size_t kLeastRun = 3;  ///< shorter ones are single values

std::uint64_t stride_at(std::span<const std::int64_t> values, std::size_t i) {
  return wrap(values[i + 1]) - wrap(values[i]);
}

/// The end of the run or progression that begins at `begin`.
std::size_t run_end(std::span<const std::int64_t> values, std::size_t begin) {
  if (begin + 1 >= values.size()) return values.size();
  const std::uint64_t stride = stride_at(values, begin);
  const std::size_t most = std::min(values.size(), begin + kMostInRun);
  std::size_t end = begin + 2;
  while (end < most && stride_at(values, end - 1) == stride) ++end;
  return end;
}

/// Where the first run or progression of kLeastRun values begins, or the end of the list.
std::size_t next_run(std::span<const std::int64_t> values, std::size_t begin) {
  static_assert(kLeastRun == 3);
  const std::int64_t* const all = values.data();
  std::uint64_t before = 0;
  for (std::size_t i = begin; i + 1 < values.size(); ++i) {
    const std::uint64_t stride = wrap(all[i + 1]) - wrap(all[i]);
    if (i != begin && stride == before) return i - 1;
    before = stride;
  }
  return values.size();
}

/// A group's values, which are single ones if they are no run.
struct Group {
  std::size_t end;
  bool run;
};

std::vector<Group> groups_of(std::span<const std::int64_t> values) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t run = next_run(values, i);
    if (run != i) groups.push_back({run, false});
    if (run != values.size()) groups.push_back({run_end(values, run), true});
    i = groups.back().end;
  }
  return groups;
}

/// Whether the list may repeat: enough of its first distances come after the same two as before. It
/// takes a hundredth of the time in which a sequence finds out.
bool may_repeat(std::span<const std::int64_t> values) {
  constexpr std::size_t kPlaces = 1024;
  std::array<std::uint64_t, kPlaces> after{};  // the distance that came last, by the two before
  std::uint64_t two_before = 0, before = 0;
  std::size_t foreseen = 0;
  for (std::size_t i = 0; i + 1 < std::min(values.size(), kLook); ++i) {
    const std::uint64_t stride = stride_at(values, i);
    std::uint64_t& guess = after[combine(two_before, before) % kPlaces];
    foreseen += guess == stride ? 1 : 0;
    guess = stride;
    two_before = std::exchange(before, stride);
  }
  return foreseen >= kForeseen;
}

void encode_irregular(ByteWriter& writer, std::span<const std::int64_t> values) {
  const std::vector<Group> groups = groups_of(values);
  writer.varint(values.size() << 1 | 1);
  writer.varint(groups.size());
  std::size_t i = 0;
  for (const auto& [end, run] : groups) {
    const std::uint64_t stride = run ? stride_at(values, i) : 0;
    writer.varint((end - i) << 2 | (!run          ? GroupKind::kSingles
                                    : stride == 0 ? GroupKind::kRun
                                                  : GroupKind::kStrided));
    if (run) {
      writer.svarint(values[i]);
      if (stride != 0) writer.svarint(static_cast<std::int64_t>(stride));
    } else {
      writer.svarints(values.subspan(i, end - i));
    }
    i = end;
  }
}

class ListReader {
 public:
  ListReader(ByteReader& reader, std::uint64_t most, std::vector<std::int64_t>& values)
      : reader_(reader), most_(most), values_(values) {}

  bool groups(int depth) {
    if (depth > value_terms::kMaxDepth) return false;
    std::uint64_t groups = reader_.count(2);
    if (groups == 0) return false;
    for (; groups != 0 && reader_.ok(); --groups) {
      const std::uint64_t head = reader_.varint();
      if (!group(head >> 2, static_cast<GroupKind>(head & 3), depth)) return false;
    }
    return reader_.ok();
  }

 private:
  std::uint64_t room() const { return most_ - values_.size(); }

  bool group(std::uint64_t count, GroupKind kind, int depth) {
    if (count == 0 || count > room()) return false;
    if (kind == GroupKind::kLoop) return loop(count, depth);
    if (kind == GroupKind::kSingles) {
      if (count > reader_.remaining()) return false;
      for (; count != 0; --count) values_.push_back(reader_.svarint());
      return true;
    }
    const std::uint64_t start = wrap(reader_.svarint());
    const std::uint64_t stride = kind == GroupKind::kStrided ? wrap(reader_.svarint()) : 0;
    if (count < 2 || (kind == GroupKind::kStrided && stride == 0)) return false;
    for (std::uint64_t i = 0; i < count; ++i)
      values_.push_back(static_cast<std::int64_t>(start + stride * i));
    return true;
  }

  bool loop(std::uint64_t count, int depth) {
    const std::size_t begin = values_.size();
    if (count < 2 || !groups(depth + 1)) return false;
    const std::size_t end = values_.size();
    if (count - 1 > room() / (end - begin)) return false;
    values_.reserve(end + (count - 1) * (end - begin));
    for (; count > 1; --count)
      values_.insert(values_.end(), values_.begin() + static_cast<std::ptrdiff_t>(begin),
                     values_.begin() + static_cast<std::ptrdiff_t>(end));
    return true;
  }

  ByteReader& reader_;
  const std::uint64_t most_;
  std::vector<std::int64_t>& values_;
};

}  // namespace

void encode_list(ByteWriter& writer, std::span<const std::int64_t> values, std::uint64_t& left) {
  const bool is_short = values.size() <= kShortList;
  if (!is_short && !may_repeat(values)) return encode_irregular(writer, values);
  ValueSequence sequence;
  std::size_t look = is_short ? SIZE_MAX : kLook;
  for (const std::int64_t value : values) {
    sequence.append(value);
    if (sequence.size() != look) continue;
    if (sequence.term_count() > look / kRegular) return encode_irregular(writer, values);
    look *= 2;
  }
  if (values.size() <= kListValuesPerByte) return sequence.encode(writer);
  ByteWriter bytes;
  sequence.encode(bytes);
  const std::uint64_t paid = kListValuesPerByte * bytes.bytes().size();
  const std::uint64_t beside = values.size() - std::min<std::uint64_t>(values.size(), paid);
  if (beside > left) return encode_irregular(writer, values);
  left -= beside;
  writer.raw(bytes.bytes());
}

bool decode_list(ByteReader& reader, std::uint64_t most, std::vector<std::int64_t>& values) {
  values.clear();
  ByteReader ahead = reader;
  const std::uint64_t head = ahead.varint(), count = head >> 1;
  if (head == value_terms::kCoded || (head & 1) == 0) {
    ValueSequence sequence;
    if (!ValueSequence::decode(reader, sequence)) return false;
    if (sequence.size() > most) return reader.fail(), false;
    ReadBudget::take(sequence.size(), sizeof values[0]);
    values.reserve(sequence.size());
    for (ValueSequence::Cursor cursor(sequence); !cursor.done();) values.push_back(cursor.next());
    return true;
  }
  reader = ahead;
  if (count <= most) ReadBudget::take(count, 2 * sizeof values[0]);
  if (count <= std::min<std::uint64_t>(most, reader.remaining())) values.reserve(count);
  if (!reader.ok() || count > most || !ListReader(reader, count, values).groups(0) ||
      values.size() != count)
    return reader.fail(), false;
  return true;
}

}  // namespace chameleon::inline model
