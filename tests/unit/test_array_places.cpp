// SPDX-License-Identifier: BSD-3-Clause
// Arrays in a file: by their places in its table, or by their hashes.

#include "format/codec.h"
#include "model/view.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::format;
using namespace chameleon::testing;

namespace {

constexpr std::uint16_t kWaitsome = 1, kWaitall = 2;

/// Ranks that complete requests in an order of their own.
struct Job : TraceBuilder {
  static constexpr std::uint32_t kRanks = 3;
  std::int64_t lost = 0;  ///< an array that the table has not

  explicit Job(bool with_lost = false) : TraceBuilder(kRanks) {
    call(kWaitsome, "Waitsome", {"array_of_requests:request:a", "array_of_indices:index:a"});
    call(kWaitall, "Waitall", {"array_of_requests:request:a"});
    if (with_lost) lost = array({99});
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      for (int step = 0; step < 40; ++step) {
        push(rank, kWaitsome, {array({0, 1, 2, 3}), array({step * (rank + 1) % 7, step % 3})});
        push(rank, kWaitall, {with_lost && step == 5 ? lost : array({4, 5, rank})});
      }
  }
  Trace trace() {
    Trace trace = build();
    trace.arrays.erase(static_cast<std::uint64_t>(lost));
    return trace;
  }
};

using Events = std::vector<std::vector<std::int64_t>>;

Events events(const Trace& trace) {
  Events all;
  for (std::uint32_t rank = 0; rank < Job::kRanks; ++rank) {
    auto view = RankView::make(trace, rank);
    REQUIRE(view);
    for (EventView event; view->next(event);) all.push_back(event.values);
  }
  return all;
}

/// How the fields are stored in the file.
std::size_t count_stored(const Bytes& bytes, const std::string& name, std::uint8_t how) {
  const std::string text(bytes.begin(), bytes.end());
  std::size_t count = 0;
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t kind = at + name.size();
    count += text[kind + 1 + static_cast<std::size_t>(text[kind])] == static_cast<char>(how);
  }
  return count;
}

}  // namespace

TEST_CASE("arrays are written as places in their table, and read back as they were") {
  const Trace trace = Job().trace();
  const Bytes bytes = encode_trace(trace);
  CHECK(count_stored(bytes, "array_of_requests", 3) == 2);
  CHECK(count_stored(bytes, "array_of_indices", 3) == 1);
  const Result<Trace> read = decode_trace(bytes);
  REQUIRE(read);
  CHECK(read->calls.at(kWaitsome).fields[2].stored == FieldKind::kArray);
  CHECK(read->arrays == trace.arrays);
  CHECK((events(*read) == events(trace)));
  CHECK((encode_trace(*read) == bytes));
}

TEST_CASE("a field of which an array is not in the table keeps its hashes") {
  Job job(true);
  const Trace trace = job.trace();
  const Bytes bytes = encode_trace(trace);
  CHECK(count_stored(bytes, "array_of_requests", 3) == 1);
  CHECK(count_stored(bytes, "array_of_requests", 2) == 1);
  CHECK(count_stored(bytes, "array_of_indices", 3) == 1);
  const Result<Trace> read = decode_trace(bytes);
  REQUIRE(read);
  CHECK((events(*read) == events(trace)));
}

TEST_CASE("places outside the table, and progressions of places, are refused") {
  const std::vector<std::int64_t> names{70, 80, 90};
  const auto read = [&](const Bytes& bytes) {
    ByteReader in(bytes);
    ValueSequence values;
    return ValueSequence::decode(in, values, &names) && in.at_end();
  };
  const auto written = [](const ValueSequence& values) {
    ByteWriter out;
    values.encode(out);
    return out.take();
  };
  ValueSequence progression, singles;
  for (int i = 0; i < 3; ++i) progression.append(i);
  for (const int value : {0, 2, 1, 1, 2}) singles.append(value);
  CHECK(read(written(singles)));
  CHECK_FALSE(read(written(progression)));
  CHECK(read(written(ValueSequence(2, 5))));
  CHECK_FALSE(read(written(ValueSequence(3, 5))));
  CHECK_FALSE(read(written(ValueSequence(-1, 5))));

  // A writer has no progressions to write either.
  const std::function<std::int64_t(std::int64_t)> place = [](std::int64_t name) {
    return (name - 70) / 10;
  };
  ValueSequence steps;
  for (int i = 0; i < 12; ++i) steps.append(70 + 10 * (i % 3));
  ByteWriter out;
  steps.encode(out, &place);
  ByteReader in(out.bytes());
  ValueSequence again;
  REQUIRE(ValueSequence::decode(in, again, &names));
  CHECK(again == steps);
}
