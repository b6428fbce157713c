// SPDX-License-Identifier: BSD-3-Clause
#include "format/series_codec.h"

#include <functional>

#include "base/read_budget.h"
#include "format/column.h"
#include "model/time_code.h"

namespace chameleon::format {
namespace {

constexpr std::int64_t kMostNumber = std::int64_t{1} << 60;
constexpr std::uint64_t kUs = 1000;

/// Writes columns, or reads them: what a column is stands once.
class Columns {
 public:
  Columns(ByteWriter& out, std::vector<SeriesSpan>& spans) : out_(&out), spans_(spans) {}
  Columns(ByteReader& in, std::vector<SeriesSpan>& spans) : in_(&in), spans_(spans) {}

  /// `get` and `set` are of one span.
  template <class Get, class Set>
  void column(Get get, Set set) {
    if (out_ != nullptr) {
      std::vector<std::int64_t> numbers;
      for (const SeriesSpan& span : spans_)
        if (!only_joined_ || span.intervals > 1) numbers.push_back(get(span));
      column::write(*out_, numbers);
      return;
    }
    std::uint64_t count = 0;
    for (const SeriesSpan& span : spans_) count += !only_joined_ || span.intervals > 1 ? 1 : 0;
    auto span = spans_.begin();
    column::read(*in_, count, [&](std::int64_t number) {
      while (only_joined_ && span->intervals <= 1) ++span;
      if (number < 0 || number > kMostNumber) in_->fail();
      if (in_->ok()) set(*span, static_cast<std::uint64_t>(number));
      ++span;
    });
  }

  /// Of spans of several intervals only.
  void only_joined() { only_joined_ = true; }

  template <class Field>
  void time(Field field) {
    column(
        [&](const SeriesSpan& span) { return encode_time(field(const_cast<SeriesSpan&>(span))); },
        [&](SeriesSpan& span, std::uint64_t code) {
          field(span) = decode_time(static_cast<std::int64_t>(code));
        });
  }

  template <class Field>
  void rank(Field field) {
    column([&](const SeriesSpan& span) { return field(const_cast<SeriesSpan&>(span)); },
           [&](SeriesSpan& span, std::uint64_t number) {
             if (number > UINT32_MAX) in_->fail();
             field(span) = static_cast<std::uint32_t>(number);
           });
  }

  void tally(IntervalTally SeriesSpan::*tally) {
    for (RankExtent IntervalTally::*const part :
         {&IntervalTally::compute, &IntervalTally::communication, &IntervalTally::busy,
          &IntervalTally::waiting}) {
      const auto of = [=](SeriesSpan& span) -> RankExtent& { return span.*tally.*part; };
      time([&](SeriesSpan& span) -> std::uint64_t& { return of(span).sum_ns; });
      time([&](SeriesSpan& span) -> std::uint64_t& { return of(span).least_ns; });
      time([&](SeriesSpan& span) -> std::uint64_t& { return of(span).most_ns; });
      rank([&](SeriesSpan& span) -> std::uint32_t& { return of(span).least_rank; });
      rank([&](SeriesSpan& span) -> std::uint32_t& { return of(span).most_rank; });
    }
  }

 private:
  ByteWriter* out_ = nullptr;
  ByteReader* in_ = nullptr;
  std::vector<SeriesSpan>& spans_;
  bool only_joined_ = false;
};

void all_columns(Columns& columns) {
  using Span = SeriesSpan;
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  columns.column([&](const Span& span) { return number(span.intervals); },
                 [](Span& span, std::uint64_t value) { span.intervals = value; });
  std::uint64_t end = 0;
  columns.column(
      [&](const Span& span) {
        const std::uint64_t before = std::exchange(end, std::max(end, span.end_ns / kUs));
        return number(end - before);
      },
      [&](Span& span, std::uint64_t value) {
        end = std::min<std::uint64_t>(end + value, kMostNumber / kUs);
        span.end_ns = end * kUs;
      });
  columns.column([&](const Span& span) { return number(span.state); },
                 [](Span& span, std::uint64_t value) {
                   span.state = static_cast<std::uint8_t>(std::min<std::uint64_t>(value, 4));
                 });
  columns.column([&](const Span& span) { return number(span.phase); },
                 [](Span& span, std::uint64_t value) {
                   span.phase = static_cast<std::uint32_t>(
                       std::min<std::uint64_t>(value, Series::kOtherPhase));
                 });
  columns.tally(&Span::all);
  columns.only_joined();
  columns.column([&](const Span& span) { return number(span.slowest - span.first); },
                 [](Span& span, std::uint64_t value) { span.slowest = value; });
  columns.tally(&Span::worst);
}

}  // namespace

void write_series(ByteWriter& out, const Series& series) {
  std::vector<SeriesSpan> spans = series.spans();
  out.varint(spans.size());
  if (spans.empty()) return;
  out.varint(spans.front().first);
  Columns columns(out, spans);
  all_columns(columns);
}

void read_series(ByteReader& in, Series& series) {
  const std::uint64_t count = in.varint();
  if (count > Series::kMost) in.fail();
  if (count == 0 || !in.ok()) return;
  std::uint64_t first = in.varint();
  ReadBudget::take(count, 2 * sizeof(SeriesSpan));
  std::vector<SeriesSpan> spans(static_cast<std::size_t>(count));
  Columns columns(in, spans);
  all_columns(columns);
  for (SeriesSpan& span : spans) {
    if (span.state > 3 || span.intervals == 0 || first == 0 ||
        first > static_cast<std::uint64_t>(kMostNumber) ||
        (span.intervals > 1 && span.slowest >= span.intervals))
      in.fail();
    if (!in.ok()) return;
    span.first = first;
    span.slowest = first + (span.intervals > 1 ? span.slowest : 0);
    if (span.intervals == 1) span.worst = span.all;
    first += span.intervals;
    series.add(span);
  }
}

}  // namespace chameleon::format
