// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include "unit/catch.h"
#include "world/message_packer.h"

namespace chameleon::world {
namespace {

const MessageKind kOne{message_type<int>(), 1}, kOther{message_type<long>(), 1};

struct First {};
struct Second {
  using Follows = First;
};

Bytes noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

/// What `to` reads of a message from `from`.
std::optional<Bytes> sent(MessagePacker& from, MessagePacker& to, const MessageKind& kind,
                          const Bytes& plain, std::size_t* size = nullptr) {
  const Bytes message = from.pack(kind, plain);
  if (size != nullptr) *size = message.size();
  auto read = to.unpack(kind, message);
  if (read) to.received(kind, *read);
  return read;
}

TEST_CASE("messages come back as they were, whatever was sent before") {
  MessagePacker from, to;
  for (const std::size_t size : {0, 1, 63, 64, 65, 1000, 65536, 65537, 300000, 64, 300000})
    for (const MessageKind& kind : {kOne, kOther})
      for (const Bytes& plain : {noise(size, 1), Bytes(size, 7)})
        CHECK(sent(from, to, kind, plain) == plain);
}

TEST_CASE("what was sent before takes hardly any bytes, of its own kind and pair only") {
  MessagePacker from, to;
  const Bytes plain = noise(10000, 2);
  std::size_t first = 0, again = 0, other = 0, alone = 0;
  CHECK(sent(from, to, kOne, plain, &first) == plain);
  CHECK(sent(from, to, kOne, plain, &again) == plain);
  CHECK(sent(from, to, kOther, plain, &other) == plain);
  CHECK(sent(from, to, {kOne.type, kOne.rank, true}, plain, &alone) == plain);
  CHECK(first == plain.size() + 1);
  CHECK(again < 64);
  CHECK(other == first);
  CHECK(alone == first);
}

TEST_CASE("what comes after another and has much of it refers to that") {
  MessagePacker from, to;
  const Bytes plain = noise(1000, 6);
  std::size_t size = 0;
  sent(from, to, {message_type<First>(), 1}, plain);
  CHECK(sent(from, to, {message_type<Second>(), 1}, plain, &size) == plain);
  CHECK(size < 64);
}

TEST_CASE("a message that refers to one that is not here is not read as another") {
  MessagePacker from, to, late;
  const Bytes plain = noise(1000, 3);
  sent(from, to, kOne, plain);
  const Bytes second = from.pack(kOne, plain);
  CHECK_FALSE(late.unpack(kOne, second));
  late.received(kOne, noise(1000, 4));
  CHECK_FALSE(late.unpack(kOne, second));
  CHECK(to.unpack(kOne, second) == plain);
}

TEST_CASE("who forgot refers to nothing, and who did not is understood") {
  MessagePacker from, to;
  const Bytes plain = noise(1000, 5);
  sent(from, to, kOne, plain);
  from.forget();
  to.forget();
  for (int round = 0; round < 2; ++round) {
    std::size_t size = 0;
    CHECK(sent(from, to, kOne, plain, &size) == plain);
    CHECK(size == plain.size() + 1);
  }
}

}  // namespace
}  // namespace chameleon::world
