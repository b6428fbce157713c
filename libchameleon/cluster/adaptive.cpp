// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/adaptive.h"

#include <bit>

#include "cluster/alike.h"

namespace chameleon::cluster {
namespace {

/// The parameters for which `differ(place)`.
template <class Differ>
SignatureFormat parameters_that(Differ differ) {
  SignatureFormat format = 0;
  for (std::size_t i = 0; i < kParameters; ++i)
    if (differ(i)) format = static_cast<SignatureFormat>(format | 1U << i);
  return format;
}

SignatureFormat differing_hashes(const SignatureVector& a, const SignatureVector& b) {
  return parameters_that(
      [&](std::size_t i) { return a.parameters[i].exact != b.parameters[i].exact; });
}

SignatureFormat differing_averages(const SignatureVector& a, const SignatureVector& b) {
  return parameters_that(
      [&](std::size_t i) { return a.parameters[i].mean != b.parameters[i].mean; });
}

}  // namespace

void join_seen(SeenSignatures& mine, SeenSignatures&& theirs) {
  mine.differ = static_cast<SignatureFormat>(mine.differ | theirs.differ);
  const KeyIndex index(mine.first, [](const SignatureVector& one) { return one.call_path; });
  for (const SignatureVector& other : theirs.first) {
    const std::size_t at = index.find(other.call_path);
    SignatureFormat more = 0;
    if (at != KeyIndex::kNone) {
      more = differing_hashes(mine.first[at], other);
    } else {
      if (!mine.first.empty()) more = differing_averages(mine.first.front(), other) | kCallPathBit;
      mine.first.push_back(other);
    }
    mine.differ = static_cast<SignatureFormat>(mine.differ | more);
  }
}

void SeenSignatures::encode(ByteWriter& writer) const {
  writer.varint(differ);
  writer.varint(first.size());
  for (const SignatureVector& one : first) {
    writer.u64(one.call_path);
    for (const SignatureVector::Summary& summary : one.parameters) {
      writer.u64(std::bit_cast<std::uint64_t>(summary.mean));
      writer.u64(summary.exact);
    }
  }
}

bool SeenSignatures::decode(ByteReader& reader, SeenSignatures& value) {
  value.differ = static_cast<SignatureFormat>(reader.varint());
  value.first.resize(reader.count(8 + 16 * kParameters));
  for (SignatureVector& one : value.first) {
    one.call_path = reader.u64();
    for (SignatureVector::Summary& summary : one.parameters) {
      summary.mean = std::bit_cast<double>(reader.u64());
      summary.exact = reader.u64();
    }
  }
  return reader.ok();
}

}  // namespace chameleon::cluster
