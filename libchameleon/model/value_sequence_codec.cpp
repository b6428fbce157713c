// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>

#include "model/value_terms.h"

namespace chameleon::inline model {

using Segment = ValueSequence::Segment;
using Term = ValueSequence::Term;
using namespace value_terms;

// --- Encoding ----------------------------------------------------------------
// varint 2 * size + general; a constant's value follows, or the number of
// groups and the groups: varint 4 * n + kind, then by kind.

namespace {

constexpr std::uint64_t kMaxDecoded = std::uint64_t{1} << 48;
constexpr int kMaxDepth = 64;

enum Kind : std::uint64_t { kSingles, kRun, kStrided, kLoop };

bool is_single(const Term& term) { return !term.loop && term.segment.count == 1; }

void encode_terms(ByteWriter& writer, const std::vector<Term>& terms) {
  const auto singles_end = [&](std::size_t i) {
    while (i < terms.size() && is_single(terms[i])) ++i;
    return i;
  };
  std::uint64_t groups = 0;
  for (std::size_t i = 0; i < terms.size(); i = std::max(i + 1, singles_end(i))) ++groups;
  writer.varint(groups);
  for (std::size_t i = 0; i < terms.size();) {
    const auto& [segment, loop] = terms[i];
    if (const std::size_t end = singles_end(i); end > i) {
      writer.varint((end - i) << 2 | kSingles);
      for (; i < end; ++i) writer.svarint(terms[i].segment.start);
      continue;
    }
    writer.varint(segment.count << 2 | (loop ? kLoop : segment.stride == 0 ? kRun : kStrided));
    if (loop) {
      encode_terms(writer, loop->terms);
    } else {
      writer.svarint(segment.start);
      if (segment.stride != 0) writer.svarint(segment.stride);
    }
    ++i;
  }
}

/// False unless the terms have at most `kMaxDecoded` values; adds to `size`.
bool decode_terms(ByteReader& reader, std::vector<Term>& terms, std::uint64_t& size, int depth) {
  if (depth > kMaxDepth) return false;
  std::uint64_t groups = reader.count(2);
  if (groups == 0) return false;
  for (; groups != 0 && reader.ok(); --groups) {
    const std::uint64_t head = reader.varint(), n = head >> 2, kind = head & 3;
    if (n == 0 || n > kMaxDecoded || size > kMaxDecoded) return false;
    if (kind == kSingles) {
      if (n > reader.remaining()) return false;
      for (std::uint64_t i = 0; i < n; ++i) terms.emplace_back(Segment{reader.svarint(), 0, 1});
      size += n;
    } else if (kind == kLoop) {
      std::vector<Term> body;
      std::uint64_t inner = 0;
      if (n < 2 || !decode_terms(reader, body, inner, depth + 1)) return false;
      if (inner > kMaxDecoded / n) return false;
      size += n * inner;
      terms.emplace_back(std::move(body), n);
    } else {
      Segment segment{reader.svarint(), 0, n};
      if (kind == kStrided) segment.stride = reader.svarint();
      if (n < 2 || (kind == kStrided && segment.stride == 0)) return false;
      size += n;
      terms.emplace_back(segment);
    }
  }
  return reader.ok() && size <= kMaxDecoded;
}

/// True when every value is `value`.
bool is_uniform(const std::vector<Term>& terms, std::int64_t value) {
  return std::all_of(terms.begin(), terms.end(), [value](const Term& term) {
    return term.loop ? is_uniform(term.loop->terms, value)
                     : term.segment.stride == 0 && term.segment.start == value;
  });
}

}  // namespace

void ValueSequence::encode(ByteWriter& writer) const {
  writer.varint(count_ << 1 | (general_ ? 1 : 0));
  if (!general_) {
    if (count_ != 0) writer.svarint(value_);
    return;
  }
  if (general_->open.count == 0) return encode_terms(writer, general_->tail);
  General closed(*general_);
  closed.close();
  encode_terms(writer, closed.tail);
}

bool ValueSequence::decode(ByteReader& reader, ValueSequence& sequence) {
  sequence = ValueSequence();
  const std::uint64_t head = reader.varint(), count = head >> 1;
  const auto refuse = [&] {
    reader.fail();
    return false;
  };
  if (!reader.ok() || count > kMaxDecoded) return refuse();
  if ((head & 1) == 0) {
    if (count != 0) sequence.value_ = reader.svarint();
    if (reader.ok()) sequence.count_ = count;
    return reader.ok();
  }
  std::vector<Term> terms;
  std::uint64_t size = 0;
  if (!decode_terms(reader, terms, size, 0) || size != count) return refuse();
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
