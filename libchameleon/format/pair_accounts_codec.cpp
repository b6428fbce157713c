// SPDX-License-Identifier: BSD-3-Clause
#include "format/pair_accounts_codec.h"

#include <array>
#include <tuple>
#include <vector>

#include "base/read_budget.h"
#include "format/column.h"
#include "model/time_code.h"

namespace chameleon::format {
namespace {

constexpr std::int64_t kMostAccountNumber = std::int64_t{1} << 48;
constexpr std::int64_t kMostAccountCode = encode_sum(std::uint64_t{1} << 62);
enum AccountColumn : std::size_t {
  kStream,
  kDistance,
  kSize,
  kMessages,
  kNs,
  kLonger,
  kEvent,
  kAccountColumns
};
using AccountRow = std::array<std::int64_t, kAccountColumns>;

/// The distance to the sender, upwards around the ranks, is the same on ranks that behave alike.
std::uint32_t distance_to(std::uint32_t stream, std::uint32_t source, std::uint32_t world_size) {
  return (source + world_size - stream % world_size) % world_size;
}

AccountRow row_of(const PairAccount& one, std::uint32_t stream_before, std::uint32_t world_size) {
  const std::int64_t ns = encode_sum(one.ns);
  return {static_cast<std::int64_t>(one.stream - stream_before),
          static_cast<std::int64_t>(distance_to(one.stream, one.source, world_size)),
          one.size,
          static_cast<std::int64_t>(one.messages),
          ns,
          ns - encode_sum(one.longest_ns),
          static_cast<std::int64_t>(one.longest_event)};
}

bool is_account(const AccountRow& row, std::uint32_t world_size) {
  return row[kDistance] < world_size && row[kSize] < PairAccounts::kSizes && row[kMessages] > 0 &&
         row[kNs] <= kMostAccountCode && row[kLonger] <= row[kNs] && row[kEvent] > 0;
}

}  // namespace

void write_pair_accounts(ByteWriter& out, const PairAccounts& accounts, std::uint32_t world_size) {
  out.varint(accounts.others().messages);
  out.varint(accounts.others().ns);
  out.varint(accounts.all().size());
  std::array<std::vector<std::int64_t>, kAccountColumns> columns;
  std::uint32_t stream = 0;
  for (const PairAccount& one : accounts.all()) {
    const AccountRow row = row_of(one, stream, world_size);
    for (std::size_t i = 0; i < kAccountColumns; ++i) columns[i].push_back(row[i]);
    stream = one.stream;
  }
  for (const std::vector<std::int64_t>& numbers : columns) column::write(out, numbers);
}

void read_pair_accounts(ByteReader& in, std::uint32_t world_size, PairAccounts& accounts) {
  if (!accounts.empty()) in.fail();  // two tables in a commit
  PairAccounts::Others others;
  others.messages = in.varint();
  others.ns = in.varint();
  const std::uint64_t count = in.varint();
  if (count > PairAccounts::kMost || (count > 0 && world_size == 0) ||
      (count == 0 && others == PairAccounts::Others()))
    in.fail();
  if (!in.ok()) return;
  ReadBudget::take(count, sizeof(AccountRow) + 2 * sizeof(PairAccount));
  std::vector<AccountRow> rows(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < kAccountColumns; ++i) {
    auto row = rows.begin();
    column::read(in, count, [&](std::int64_t number) {
      if (number < 0 || number > kMostAccountNumber) in.fail();
      (*row++)[i] = number;
    });
    if (!in.ok()) return;
  }
  accounts.add(others);
  PairAccount one;
  bool first = true;
  for (const AccountRow& row : rows) {
    const std::uint64_t stream = one.stream + static_cast<std::uint64_t>(row[kStream]);
    if (!is_account(row, world_size) || stream > UINT32_MAX) {
      in.fail();
      return;
    }
    const std::uint64_t source =
        (stream % world_size + static_cast<std::uint64_t>(row[kDistance])) % world_size;
    const PairAccount next{static_cast<std::uint32_t>(stream),
                           static_cast<std::uint32_t>(source),
                           static_cast<std::uint8_t>(row[kSize]),
                           static_cast<std::uint64_t>(row[kMessages]),
                           decode_sum(row[kNs]),
                           decode_sum(row[kNs] - row[kLonger]),
                           static_cast<std::uint64_t>(row[kEvent])};
    if (!first && std::tuple(next.stream, next.source, next.size) <=
                      std::tuple(one.stream, one.source, one.size)) {
      in.fail();
      return;
    }
    first = false;
    accounts.add(next);
    one = next;
  }
}

}  // namespace chameleon::format
