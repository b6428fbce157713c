// SPDX-License-Identifier: BSD-3-Clause
// The Call-Path signature against its definition (order of first occurrence, set of forward
// transitions), the published XOR form, averages, hashes and the LOOP signature.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>

#include "compress/fold.h"
#include "signature/signature.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::compress;
using namespace chameleon::signature;

namespace {

std::uint64_t symbol(char letter) { return mix(static_cast<std::uint64_t>(letter)); }

std::uint64_t signature_of(const std::string& events) {
  IntervalSignature signature;
  for (const char event : events) signature.call(symbol(event));
  return signature.take().call_path;
}

// What the signature is a hash of.
using Meaning = std::pair<std::string, std::set<std::pair<std::size_t, std::size_t>>>;
Meaning meaning_of(const std::string& events) {
  Meaning meaning;
  std::size_t last = 0;
  for (const char event : events) {
    if (meaning.first.find(event) == std::string::npos) meaning.first += event;
    const std::size_t at = meaning.first.find(event) + 1;
    if (at > last) meaning.second.emplace(last, at);
    last = at;
  }
  return meaning;
}

std::vector<Node> folded(const std::string& events) {
  Folder folder(false);
  const std::int64_t none = 0;
  for (const char event : events)
    folder.push({1, symbol(event), 0, 0, std::span<const std::int64_t>(&none, 1)});
  return folder.take();
}

std::string times(int count, const std::string& body) {
  std::string all;
  for (int i = 0; i < count; ++i) all += body;
  return all;
}

}  // namespace

TEST_CASE("iteration counts do not show, order does") {
  CHECK(signature_of("AB") == signature_of("ABAB"));
  CHECK(signature_of("AAB") == signature_of("AB"));
  CHECK(signature_of("S" + times(25, times(3, "AB") + "C") + "E") ==
        signature_of("S" + times(1, times(27, "AB") + "C") + "E"));
  CHECK(signature_of("ABC") != signature_of("ACB"));
  CHECK(signature_of("ABC") != signature_of("ABAC"));
  CHECK(signature_of("ACB") != signature_of("ABAC"));
  CHECK(signature_of("") != signature_of("A"));
  CHECK(signature_of("A") != signature_of("B"));
  CHECK(signature_of("ABC") != signature_of("ABCAC"));  // B left out once is another behaviour
}

TEST_CASE("two sequences have one signature exactly when they mean the same") {
  std::map<Meaning, std::uint64_t> seen;
  std::set<std::uint64_t> distinct;
  // Every sequence of up to seven events over four symbols.
  for (std::size_t length = 0; length <= 7; ++length)
    for (std::size_t code = 0; code < std::size_t{1} << (2 * length); ++code) {
      std::string events;
      for (std::size_t i = 0; i < length; ++i)
        events += static_cast<char>('A' + (code >> (2 * i) & 3));
      const std::uint64_t signature = signature_of(events);
      const auto [at, fresh] = seen.try_emplace(meaning_of(events), signature);
      if (at->second != signature) FAIL(events << " differs from another of its meaning");
      distinct.insert(signature);
    }
  CHECK(distinct.size() == seen.size());
  CHECK(seen.size() > 400);
}

TEST_CASE("intervals are independent, whatever the tables have grown to") {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> symbols(5000);
  for (std::uint64_t& each : symbols) each = random();
  IntervalSignature used;
  const auto run = [&](IntervalSignature& signature, std::size_t first, std::size_t last) {
    for (int repeat = 0; repeat < 3; ++repeat)
      for (std::size_t i = first; i < last; ++i) {
        signature.call(symbols[i]);
        signature.call(symbols[i * i % (i + 1 - first / 2)]);
      }
    return signature.take().call_path;
  };
  for (const auto& [first, last] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 10}, {0, 5000}, {3, 40}, {0, 10}, {1000, 3000}, {0, 0}, {0, 5000}}) {
    IntervalSignature fresh;
    CHECK(run(used, first, last) == run(fresh, first, last));
  }
}

TEST_CASE("the published form is over folded events") {
  CHECK(xor_signature(folded("ABC")) == (symbol('A') ^ 2 * symbol('B') ^ 3 * symbol('C')));
  CHECK(xor_signature(folded(times(25, "AB") + "C")) ==
        xor_signature(folded(times(27, "AB") + "C")));
  CHECK(xor_signature(folded("ABC")) != xor_signature(folded("ACB")));
  // The eleventh event is numbered as the first is.
  CHECK(xor_signature(folded("ABCDEFGHIJK")) ==
        (xor_signature(folded("ABCDEFGHIJ")) ^ symbol('K')));
  IntervalSignature published(CallPathForm::kXor);
  published.call(symbol('A'));
  published.add(Parameter::kTag, 3);
  const SignatureVector signature = published.take();
  CHECK(signature.call_path == 0);
  CHECK(signature[Parameter::kTag].mean == 3);
}

TEST_CASE("averages do not overflow and hashes tell order") {
  IntervalSignature signature;
  for (int i = 0; i < 5; ++i)
    signature.add(Parameter::kCount, std::numeric_limits<std::int64_t>::max());
  for (const int value : {1, -1, 6}) signature.add(Parameter::kSource, value);
  const SignatureVector first = signature.take();
  CHECK(first[Parameter::kCount].mean == 0x1p63);
  CHECK(first[Parameter::kSource].mean == 2);
  CHECK(first[Parameter::kTag] == SignatureVector::Summary{});
  for (const int value : {6, 1, -1}) signature.add(Parameter::kSource, value);
  const SignatureVector second = signature.take();
  CHECK(second[Parameter::kSource].mean == 2);
  CHECK(second[Parameter::kSource].exact != first[Parameter::kSource].exact);
  for (const int value : {1, -1, 6}) signature.add(Parameter::kSource, value);
  CHECK(signature.take()[Parameter::kSource] == first[Parameter::kSource]);
  for (const int value : {1, -1, 6, 2}) signature.add(Parameter::kSource, value);
  CHECK(signature.take()[Parameter::kSource].exact != first[Parameter::kSource].exact);
  signature.add(Parameter::kSource, 0);
  const SignatureVector zero = signature.take();
  CHECK(zero[Parameter::kSource].exact != 0);  // one value of 0 is not the same as none

  for (const int id : {3, 60, 3}) signature.add(Parameter::kDataOperation, id);
  const SignatureVector types = signature.take();
  CHECK(types[Parameter::kDataOperation].mean == 2);
  CHECK(types[Parameter::kDataOperation].exact == ((1ULL << 3) | (1ULL << 60)));
}

TEST_CASE("the LOOP signature packs levels of nesting") {
  CHECK(loop_signature(folded("ABC")) == 0);
  CHECK(loop_signature(folded(times(7, "AB"))) == 7);
  CHECK(loop_signature(folded(times(4, times(6, "A") + "B"))) == (4 << 16 | 6));
  CHECK(loop_signature(folded(times(70000, "A"))) == 0xffff);
  // Two innermost loops: 4 and 8 iterations.
  CHECK(loop_signature(folded(times(4, "AB") + "C" + times(8, "DE"))) == 6);
}

// Not run by default: test_cluster '[.speed]' prints nanoseconds an event.
TEST_CASE("speed of the Call-Path signature", "[.speed]") {
  const auto measure = [](const char* what, const std::string& body, bool parameters) {
    IntervalSignature signature;
    std::vector<std::uint64_t> symbols;
    for (const char event : body) symbols.push_back(symbol(event));
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
      const int repeats = 1'000'000 / static_cast<int>(body.size());
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < repeats; ++i)
        for (const std::uint64_t each : symbols) {
          signature.call(each);
          if (!parameters) continue;
          signature.add(Parameter::kDestination, i & 3);
          signature.add(Parameter::kTag, i & 7);
          signature.add(Parameter::kCount, 1000);
        }
      const std::chrono::duration<double, std::nano> taken =
          std::chrono::steady_clock::now() - begin;
      best = std::min(best, taken.count() / (repeats * static_cast<double>(body.size())));
      signature.take();
    }
    std::printf("%-40s %6.2f ns an event\n", what, best);
  };
  measure("a loop of 12 calls", "ABCDEFGHIJKL", false);
  measure("the same, three parameters each", "ABCDEFGHIJKL", true);
  measure("inner loops, varying successors", "ABABABCABDABEFFFG", false);
}

TEST_CASE("datatypes, operations and communicators of one id are told apart") {
  std::set<std::int64_t> bits;
  for (std::int64_t id = 0; id < 32; ++id) bits.insert(type_bit(TypeRange::kDatatype, id));
  CHECK(*bits.rbegin() == 31);
  for (std::int64_t id = 0; id < 23; ++id) bits.insert(type_bit(TypeRange::kOperation, id));
  CHECK(*bits.rbegin() == 54);
  for (std::int64_t id = 0; id < 9; ++id) bits.insert(type_bit(TypeRange::kCommunicator, id));
  CHECK(*bits.rbegin() == 63);
  CHECK(bits.size() == 64);
  // Ids without a bit of their own, and those that were not known.
  CHECK(type_bit(TypeRange::kDatatype, 70) == 6);
  CHECK(type_bit(TypeRange::kOperation, -1) >= 32);
  CHECK(type_bit(TypeRange::kOperation, -1) < 55);
}
