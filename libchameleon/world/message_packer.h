// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A rank's messages to others, compressed (zstd). A message is often similar to earlier ones
/// between the same ranks: the same tables of calls and places, and loops that continue. Both ends
/// therefore keep the last message of each kind, and the next one refers to it.
///
/// A message names the one to which it refers. A rank that lacks that one cannot decode it. After a
/// rank has failed, and all ranks know it, all `forget`: later messages refer to no others.
///
/// Cost: zstd at level 3, once for each message and end; memory of at most `kMostKept` for each
/// kind and direction of each edge in use, and of zstd's for as long as a call takes.

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "base/bytes.h"

namespace chameleon::world {

/// The kind of a message, and its origin or destination.
struct MessageKind {
  static constexpr std::uint32_t kEverybody = UINT32_MAX;

  const void* type = nullptr;
  std::uint32_t rank = kEverybody;
  bool alone = false;  ///< refers to no other

  bool operator<(const MessageKind& other) const {
    return std::tie(type, rank) < std::tie(other.type, other.rank);
  }
};

/// The `type` of messages with a T.
template <class T>
const void* message_type() {
  static const char type = 0;
  return &type;
}

class MessagePacker {
 public:
  /// Only this many first bytes of a longer message are kept.
  static constexpr std::size_t kMostKept = std::size_t{1} << 16;

  Bytes pack(const MessageKind& kind, const Bytes& plain);
  /// Nothing if the message refers to one that is not here.
  std::optional<Bytes> unpack(const MessageKind& kind, const Bytes& packed) const;
  /// To be called with what `unpack` gave. If this throws, the next message may not be readable.
  void received(const MessageKind& kind, const Bytes& plain);
  void forget();

 private:
  using Messages = std::map<MessageKind, Bytes>;
  void keep(Messages& messages, const MessageKind& kind, const Bytes& plain) const;
  const Bytes* before(const Messages& messages, const MessageKind& kind) const;

  Messages sent_, received_;
  bool forgets_ = false;
};

}  // namespace chameleon::world
