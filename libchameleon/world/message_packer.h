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
/// kind and direction of each edge in use, and up to 0.4 MB of zstd's, which is kept: to make it
/// anew takes longer (30 us for both ends) than a small message itself.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "base/bytes.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

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

/// The `type` of messages with a T; null if it says (`kPacked = false`) that to compress it takes
/// longer than to send it. A T that comes after another and has much of it (`T::Follows`) has that
/// one's, and so refers to it.
template <class T>
const void* message_type() {
  if constexpr (requires { T::kPacked; }) {
    static_assert(!T::kPacked);
    return nullptr;
  } else if constexpr (requires { typename T::Follows; }) {
    return message_type<typename T::Follows>();
  } else {
    static const char type = 0;
    return &type;
  }
}

class MessagePacker {
 public:
  /// Only this many first bytes of a longer message are kept.
  static constexpr std::size_t kMostKept = std::size_t{1} << 16;

  Bytes pack(const MessageKind& kind, const Bytes& plain);
  /// Nothing if the message refers to one that is not here.
  std::optional<Bytes> unpack(const MessageKind& kind, const Bytes& packed);
  /// To be called with what `unpack` gave. If this throws, the next message may not be readable.
  void received(const MessageKind& kind, const Bytes& plain);
  void forget();

 private:
  using Messages = std::map<MessageKind, Bytes>;
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
    void operator()(ZSTD_DCtx_s* context) const;
  };

  Bytes packed(const Bytes& plain, const Bytes* before);
  bool compress(Bytes& message, const Bytes& plain, const Bytes* before);
  std::optional<Bytes> decompress(std::span<const std::uint8_t> packed, const Bytes* before);
  void keep(Messages& messages, const MessageKind& kind, const Bytes& plain) const;
  const Bytes* before(const Messages& messages, const MessageKind& kind) const;

  Messages sent_, received_;
  std::unique_ptr<ZSTD_CCtx_s, Free> compressor_;
  std::unique_ptr<ZSTD_DCtx_s, Free> decompressor_;
  bool forgets_ = false;
};

}  // namespace chameleon::world
