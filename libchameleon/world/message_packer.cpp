// SPDX-License-Identifier: BSD-3-Clause
#include "world/message_packer.h"

#include <zstd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <span>

#include "base/attempt.h"
#include "base/hash.h"

namespace chameleon::world {
namespace {

/// The first byte of a message. Behind `kAfter` comes a hash of the message before.
enum class Form : std::uint8_t { kPlain, kPacked, kAfter };

constexpr int kQuickest = 1, kLevel = 3;
/// For longer ones the quickest level is enough if it does not halve them.
constexpr std::size_t kMostIrregular = std::size_t{128} << 10;
/// Shorter ones stay as they are.
constexpr std::size_t kLeastPacked = 64;
/// A larger context is not kept for the next message.
constexpr std::size_t kMostContext = std::size_t{256} << 10;

std::uint32_t name_of(const Bytes& message) {
  return static_cast<std::uint32_t>(hash_bytes(message.data(), message.size()));
}

Bytes head_of(Form form) { return Bytes(1, static_cast<std::uint8_t>(form)); }

Bytes as_it_is(const Bytes& plain) {
  Bytes message = head_of(Form::kPlain);
  message.insert(message.end(), plain.begin(), plain.end());
  return message;
}

}  // namespace

void MessagePacker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void MessagePacker::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

/// Appends what zstd makes of `plain`; false if that is no shorter, or has no memory.
bool MessagePacker::compress(Bytes& message, const Bytes& plain, const Bytes* before) {
  if (!compressor_) compressor_.reset(ZSTD_createCCtx());
  ZSTD_CCtx* const context = compressor_.get();
  if (context == nullptr) return false;
  const std::size_t head = message.size();
  message.resize(head + plain.size());
  const auto compress_at = [&](int level) {
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    if (before != nullptr) ZSTD_CCtx_refPrefix(context, before->data(), before->size());
    return ZSTD_compress2(context, message.data() + head, plain.size(), plain.data(), plain.size());
  };
  const bool tried = plain.size() > kMostIrregular;
  std::size_t size = tried ? compress_at(kQuickest) : 0;
  if (!tried || size <= plain.size() / 2) size = compress_at(kLevel);
  if (ZSTD_sizeof_CCtx(context) > kMostContext) compressor_.reset();
  if (ZSTD_isError(size) != 0) return false;
  message.resize(head + size);
  return message.size() <= plain.size();
}

std::optional<Bytes> MessagePacker::decompress(std::span<const std::uint8_t> packed,
                                               const Bytes* before) {
  if (!decompressor_) decompressor_.reset(ZSTD_createDCtx());
  ZSTD_DCtx* const context = decompressor_.get();
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (context == nullptr || size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    return std::nullopt;
  ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
  if (before != nullptr) ZSTD_DCtx_refPrefix(context, before->data(), before->size());
  Bytes plain(size);
  const std::size_t done =
      ZSTD_decompressDCtx(context, plain.data(), plain.size(), packed.data(), packed.size());
  if (ZSTD_isError(done) != 0 || done != size) return std::nullopt;
  return plain;
}

Bytes MessagePacker::packed(const Bytes& plain, const Bytes* before) {
  if (plain.size() < kLeastPacked) return as_it_is(plain);
  Bytes message = head_of(before != nullptr ? Form::kAfter : Form::kPacked);
  if (before != nullptr) {
    ByteWriter name;
    name.varint(name_of(*before));
    message.insert(message.end(), name.bytes().begin(), name.bytes().end());
  }
  return compress(message, plain, before) ? message : as_it_is(plain);
}

// What cannot be kept is not referred to.
Bytes MessagePacker::pack(const MessageKind& kind, const Bytes& plain) {
  if (plain.empty()) return plain;
  Bytes message = packed(plain, before(sent_, kind));
  if (attempt([&] { keep(sent_, kind, plain); }) != Failure::kNone) sent_.erase(kind);
  return message;
}

std::optional<Bytes> MessagePacker::unpack(const MessageKind& kind, const Bytes& packed) {
  if (packed.empty()) return packed;
  ByteReader reader(packed);
  const auto form = static_cast<Form>(reader.u8());
  const Bytes* last = form == Form::kAfter ? before(received_, kind) : nullptr;
  if (form == Form::kAfter && (last == nullptr || reader.varint() != name_of(*last)))
    return std::nullopt;
  const auto rest = reader.raw(reader.remaining());
  if (form == Form::kPlain) return Bytes(rest.begin(), rest.end());
  return decompress(rest, last);
}

void MessagePacker::received(const MessageKind& kind, const Bytes& plain) {
  keep(received_, kind, plain);
}

void MessagePacker::forget() {
  forgets_ = true;
  sent_.clear();
  received_.clear();
}

void MessagePacker::keep(Messages& messages, const MessageKind& kind, const Bytes& plain) const {
  if (kind.alone || forgets_) return;
  const auto end = plain.begin() + static_cast<std::ptrdiff_t>(std::min(plain.size(), kMostKept));
  messages[kind].assign(plain.begin(), end);
}

const Bytes* MessagePacker::before(const Messages& messages, const MessageKind& kind) const {
  if (kind.alone) return nullptr;
  const auto found = messages.find(kind);
  return found == messages.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace chameleon::world
