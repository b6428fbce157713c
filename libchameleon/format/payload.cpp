// SPDX-License-Identifier: BSD-3-Clause
#include "format/payload.h"

#include <zstd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "format/codec.h"

namespace chameleon::format::commit {
namespace {

constexpr std::uint32_t kFrameMagic = 0xfd2fb528;  ///< others are skippable or of former versions

/// Takes the known sections out of a payload that comes piece by piece. What is no section is kept,
/// so that decoding says what is wrong with it.
class Sections {
 public:
  void take(std::span<const std::uint8_t> piece) {
    while (!piece.empty()) {
      if (left_ == 0 && !broken_) {
        take_head(piece.front());
        piece = piece.subspan(1);
        continue;
      }
      const std::size_t size =
          broken_ ? piece.size() : std::min<std::uint64_t>(left_, piece.size());
      if (kept_) known_.insert(known_.end(), piece.data(), piece.data() + size);
      left_ -= broken_ ? 0 : size;
      piece = piece.subspan(size);
      if (left_ == 0 && !broken_) end_section();
    }
  }

  Bytes finish() {
    // Of a section that is cut its head is enough for decoding to refuse it.
    if (!head_.empty() && !kept_) known_.insert(known_.end(), head_.begin(), head_.end());
    return std::move(known_);
  }

 private:
  void take_head(std::uint8_t byte) {
    head_.push_back(byte);
    ByteReader in(head_);
    const std::uint64_t tag = in.varint(), size = in.varint();
    constexpr std::size_t kLongestHead = 20;
    broken_ = !in.ok() && head_.size() >= kLongestHead;
    if (!in.ok() && !broken_) return;  // the head goes on
    kept_ = broken_ || is_known_section(tag);
    left_ = broken_ ? 0 : size;
    if (kept_) known_.insert(known_.end(), head_.begin(), head_.end());
    if (left_ == 0 && !broken_) end_section();
  }

  void end_section() {
    head_.clear();
    kept_ = false;
  }

  Bytes known_, head_;
  std::uint64_t left_ = 0;  ///< of the section's body
  bool kept_ = false;       ///< that section
  bool broken_ = false;     ///< there are no sections from here on
};

Error does(const char* what) { return {ErrorKind::kCorrupt, what, 0}; }

/// Whether this is one frame of zstd, whole, with nothing behind it.
bool is_one_frame(std::span<const std::uint8_t> stored, std::uint64_t plain_size) {
  std::uint32_t magic = 0;
  if (stored.size() < sizeof magic) return false;
  std::memcpy(&magic, stored.data(), sizeof magic);
  if (magic != kFrameMagic) return false;
  const std::size_t size = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
  const unsigned long long content = ZSTD_getFrameContentSize(stored.data(), stored.size());
  return ZSTD_isError(size) == 0 && size == stored.size() && content != ZSTD_CONTENTSIZE_ERROR &&
         (content == ZSTD_CONTENTSIZE_UNKNOWN || content == plain_size);
}

}  // namespace

Result<Bytes> known_sections(std::span<const std::uint8_t> stored, bool packed,
                             std::uint64_t plain_size) {
  Sections sections;
  if (!packed) {
    if (stored.size() != plain_size) return does("has sizes that disagree");
    sections.take(stored);
    return sections.finish();
  }
  if (!is_one_frame(stored, plain_size)) return does("is not one frame of zstd");
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
  if (context == nullptr) throw std::bad_alloc();
  Bytes room(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{stored.data(), stored.size(), 0};
  std::uint64_t made = 0;
  for (std::size_t left = 1; left != 0;) {
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    const std::size_t before = in.pos;
    left = ZSTD_decompressStream(context.get(), &out, &in);
    made += out.pos;
    const bool stuck = left != 0 && out.pos == 0 && in.pos == before;
    if (ZSTD_isError(left) != 0 || stuck || made > plain_size) return does("does not decompress");
    sections.take(std::span(room).first(out.pos));
  }
  if (made != plain_size) return does("does not decompress");
  return sections.finish();
}

}  // namespace chameleon::format::commit
