// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/read_budget.h"
#include "model/coded_values.h"
#include "model/value_terms.h"

namespace chameleon::inline model {

using Segment = ValueSequence::Segment;
using Term = ValueSequence::Term;
using namespace value_terms;

// --- Encoding ----------------------------------------------------------------
// varint 2 * size + general; a constant's value follows, or the number of
// groups and the groups: varint 4 * n + kind, then by kind. 1: coded values.

namespace {

constexpr std::uint64_t kMaxDecoded = std::uint64_t{1} << 48;

bool is_single(const Term& term) { return !term.loop && term.segment.count == 1; }

class TermWriter {
 public:
  TermWriter(ByteWriter& writer, const std::function<std::int64_t(std::int64_t)>* place)
      : writer_(writer), place_(place) {}

  void terms(const std::vector<Term>& terms) {
    const auto singles_end = [&](std::size_t i) {
      while (i < terms.size() && is_single(terms[i])) ++i;
      return i;
    };
    std::uint64_t groups = 0;
    for (std::size_t i = 0; i < terms.size(); i = std::max(i + 1, singles_end(i))) ++groups;
    writer_.varint(groups);
    for (std::size_t i = 0; i < terms.size();) {
      if (const std::size_t end = singles_end(i); end > i) {
        writer_.varint((end - i) << 2 | kSingles);
        for (; i < end; ++i) value(terms[i].segment.start);
      } else {
        group(terms[i++]);
      }
    }
  }

  void value(std::int64_t value) { writer_.svarint(place_ != nullptr ? (*place_)(value) : value); }

 private:
  void group(const Term& term) {
    const auto& [segment, loop] = term;
    if (!loop && segment.stride != 0 && place_ != nullptr) {
      writer_.varint(segment.count << 2 | kSingles);
      for (std::uint64_t i = 0; i < segment.count; ++i) value(at(segment, i));
      return;
    }
    writer_.varint(segment.count << 2 | (loop ? kLoop : segment.stride == 0 ? kRun : kStrided));
    if (loop) return terms(loop->terms);
    value(segment.start);
    if (segment.stride != 0) writer_.svarint(segment.stride);
  }

  ByteWriter& writer_;
  const std::function<std::int64_t(std::int64_t)>* const place_;
};

class TermReader {
 public:
  TermReader(ByteReader& reader, const std::vector<std::int64_t>* names)
      : reader_(reader), names_(names) {}

  /// False unless the terms have at most `kMaxDecoded` values; adds to `size`.
  bool terms(std::vector<Term>& terms, std::uint64_t& size, int depth) {
    if (depth > kMaxDepth) return false;
    std::uint64_t groups = reader_.count(2);
    if (groups == 0) return false;
    ReadBudget::take(groups, 2 * sizeof(Term));
    for (; groups != 0 && reader_.ok(); --groups) {
      const std::uint64_t head = reader_.varint(), n = head >> 2, kind = head & 3;
      if (n == 0 || n > kMaxDecoded || size > kMaxDecoded) return false;
      if (kind == kSingles) {
        if (n > reader_.remaining()) return false;
        ReadBudget::take(n, 2 * sizeof(Term));
        for (std::uint64_t i = 0; i < n; ++i) terms.emplace_back(Segment{value(), 0, 1});
        size += n;
      } else if (kind == kLoop) {
        std::vector<Term> body;
        std::uint64_t inner = 0;
        if (n < 2 || !this->terms(body, inner, depth + 1)) return false;
        if (inner > kMaxDecoded / n) return false;
        size += n * inner;
        terms.emplace_back(std::move(body), n);
      } else {
        Segment segment{value(), 0, n};
        if (kind == kStrided) segment.stride = reader_.svarint();
        if (n < 2 || (kind == kStrided && (segment.stride == 0 || names_ != nullptr))) return false;
        size += n;
        terms.emplace_back(segment);
      }
    }
    return reader_.ok() && size <= kMaxDecoded;
  }

  std::int64_t value() {
    const std::int64_t read = reader_.svarint();
    if (names_ == nullptr) return read;
    if (static_cast<std::uint64_t>(read) >= names_->size()) return reader_.fail();
    return (*names_)[static_cast<std::size_t>(read)];
  }

 private:
  ByteReader& reader_;
  const std::vector<std::int64_t>* const names_;
};

/// True when every value is `value`.
bool is_uniform(const std::vector<Term>& terms, std::int64_t value) {
  return std::all_of(terms.begin(), terms.end(), [value](const Term& term) {
    return term.loop ? is_uniform(term.loop->terms, value)
                     : term.segment.stride == 0 && term.segment.start == value;
  });
}

constexpr std::size_t kLeastCoded = 48;  ///< bytes of terms

/// About how many bytes a compressor makes of these, by their frequencies.
double compressed_size(const Bytes& bytes) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t byte : bytes) ++counts[byte];
  double bits = 0;
  for (const std::size_t count : counts)
    if (count != 0)
      bits -= static_cast<double>(count) *
              std::log2(static_cast<double>(count) / static_cast<double>(bytes.size()));
  return bits / 8;
}

void write(const CodedValues& coded, std::uint64_t count, TermWriter values, ByteWriter& writer) {
  writer.varint(kCoded);
  writer.varint(count);
  writer.varint(coded.distinct.size());
  for (const std::int64_t value : coded.distinct) values.value(value);
  writer.varint(coded.period);
  writer.varint(coded.bytes.size());
  writer.raw(coded.bytes);
}

/// Nothing, and a failed reader, if they cannot have been written.
std::vector<std::int64_t> read_coded(ByteReader& reader, TermReader& in) {
  CodedValues coded;
  const std::uint64_t count = reader.varint();
  const std::uint64_t distinct = reader.count();
  if (distinct < 2 || distinct > CodedValues::kMostDistinct) reader.fail();
  for (std::uint64_t left = distinct; left > 0 && reader.ok(); --left)
    coded.distinct.push_back(in.value());
  coded.period = reader.varint();
  const std::span<const std::uint8_t> bytes = reader.raw(reader.varint());
  coded.bytes.assign(bytes.begin(), bytes.end());
  if (count < 2 || count > CodedValues::kMost || count > CodedValues::most_in(bytes.size()) ||
      coded.period > CodedValues::kMostDistinct || !reader.decode(count * distinct))
    reader.fail();
  if (reader.ok()) ReadBudget::take(count, sizeof(std::int64_t) + sizeof(Term));
  return reader.ok() ? coded.decode(count) : std::vector<std::int64_t>();
}

}  // namespace

void ValueSequence::encode_small(ByteWriter& writer, std::uint64_t& left,
                                 const std::function<std::int64_t(std::int64_t)>* place) const {
  if (!general_ || count_ > CodedValues::kMost) return encode(writer, place);
  ByteWriter terms;
  encode(terms, place);
  const std::size_t size = terms.bytes().size();
  std::optional<CodedValues> coded;
  if (size >= kLeastCoded && 2 * count_ <= left && count_ <= CodedValues::most_in(size)) {
    std::vector<std::int64_t> values;
    for (Cursor cursor(*this); !cursor.done();) values.push_back(cursor.next());
    coded = CodedValues::encode(values);
  }
  ByteWriter bytes;
  if (coded && count_ <= CodedValues::most_in(coded->bytes.size()))
    write(*coded, count_, TermWriter(bytes, place), bytes);
  const std::uint64_t work = coded ? count_ * coded->distinct.size() : 0;
  const bool smaller = !bytes.bytes().empty() && work <= left &&
                       static_cast<double>(bytes.bytes().size()) < compressed_size(terms.bytes());
  if (smaller) left -= work;
  writer.raw(smaller ? bytes.bytes() : terms.bytes());
}

void ValueSequence::encode(ByteWriter& writer,
                           const std::function<std::int64_t(std::int64_t)>* place) const {
  TermWriter out(writer, place);
  writer.varint(count_ << 1 | (general_ ? 1 : 0));
  if (!general_) {
    if (count_ != 0) out.value(value_);
    return;
  }
  if (general_->open.count == 0) return out.terms(general_->tail);
  General closed(*general_);
  closed.close();
  out.terms(closed.tail);
}

bool ValueSequence::decode(ByteReader& reader, ValueSequence& sequence,
                           const std::vector<std::int64_t>* names) {
  TermReader in(reader, names);
  sequence = ValueSequence();
  const std::uint64_t head = reader.varint(), count = head >> 1;
  const auto refuse = [&] {
    reader.fail();
    return false;
  };
  if (!reader.ok() || count > kMaxDecoded) return refuse();
  if (head == kCoded) {
    for (const std::int64_t value : read_coded(reader, in)) sequence.append(value);
    return reader.ok();
  }
  if ((head & 1) == 0) {
    if (count != 0) sequence.value_ = in.value();
    if (reader.ok()) sequence.count_ = count;
    return reader.ok();
  }
  std::vector<Term> terms;
  std::uint64_t size = 0;
  if (!in.terms(terms, size, 0) || size != count) return refuse();
  sequence.count_ = count;
  const Term* first = &terms.front();
  while (first->loop) first = &first->loop->terms.front();
  if (is_uniform(terms, first->segment.start)) {
    sequence.value_ = first->segment.start;
    return true;
  }
  sequence.general_.reset(new General);
  General& g = *sequence.general_;
  for (Term& term : terms) {
    g.add_hash(term.values(), term.size());
    g.place(std::move(term));
  }
  g.reopen();
  return true;
}

// --- Text --------------------------------------------------------------------

namespace {

void print_terms(const std::vector<Term>& terms, std::size_t& left, std::string& text) {
  const char* separator = "";
  for (const auto& [segment, loop] : terms) {
    text += std::exchange(separator, ",");
    if (left == 0) {
      text += "...";
      return;
    }
    --left;
    if (loop) {
      text += '(';
      print_terms(loop->terms, left, text);
      text += ")x" + std::to_string(segment.count);
      continue;
    }
    text += std::to_string(segment.start);
    if (segment.stride != 0) {
      text += ".." + std::to_string(at(segment, segment.count - 1));
      if (segment.stride != 1) text += ':' + std::to_string(segment.stride);
    } else if (segment.count > 1) {
      text += 'x' + std::to_string(segment.count);
    }
  }
}

}  // namespace

std::string ValueSequence::to_string(std::size_t max_terms) const {
  std::string text;
  General shown = general_ ? General(*general_) : General();
  if (general_) {
    shown.close();
  } else if (count_ != 0) {
    shown.place(Term(Segment{value_, 0, count_}));
  }
  print_terms(shown.tail, max_terms, text);
  return text;
}

}  // namespace chameleon::inline model
