// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Cuts one stream's communication into segments, the building blocks of communication patterns
/// (process patterns of Alawneh & Hamou-Lhadj 2022, section 4.1.1). A segment holds messages or
/// collectives, never both, of one context: the function around the calls and where it was called
/// from. A barrier moves no data and is in none. O(1) an operation.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "analysis/operations.h"

namespace chameleon::analysis {

/// Where a segment ends, besides where messages change to collectives or back.
enum class SplitRule : std::uint8_t {
  /// Where the context changes; after what completes the last of the segment's requests; and, while
  /// none is open, before the first operation of the segment comes again, which stands for another
  /// call of the function.
  kAuto,
  kWait,     ///< after each Waitall, and nowhere else
  kContext,  ///< where the context changes, and nowhere else
};

const char* split_name(SplitRule rule);  ///< auto, wait, context
/// Reads what `split_name` gives; false on anything else.
bool split_of(std::string_view name, SplitRule& rule);

/// One operation of a segment: a message sent or received, or a collective.
struct Symbol {
  enum class Kind : std::uint8_t { kSend, kReceive, kCollective };
  Kind kind = Kind::kSend;
  std::uint32_t what = 0;                               ///< the partner's world rank, or the call
  static constexpr std::uint32_t kNobody = UINT32_MAX;  ///< as partner: unknown

  std::uint64_t packed() const { return static_cast<std::uint64_t>(kind) << 32 | what; }
};

/// The symbol of an operation that begins something; false for all others, and for collectives that
/// move no data.
bool symbol_of(const RankOperations& at, const Operation& operation, Symbol& symbol);

/// A number for the context of a call path: equal for the calls of one call of a function.
using ContextOf = std::function<std::uint64_t(std::uint64_t path)>;

class Segmenter {
 public:
  explicit Segmenter(SplitRule rule) : rule_(rule) {}

  /// Whether the open segment ends before this event.
  bool ends_before(const RankOperations& at, std::uint64_t context) const;
  /// The event belongs to the open segment, or begins one. True: the segment ends after it.
  bool add(const RankOperations& at, std::uint64_t context);
  bool is_open() const { return open_; }
  /// The state that decides how the next events are cut, while no request is open.
  std::uint64_t state() const {
    return open_ ? combine(combine(context_, first_), (requests_ << 1) + (collective_ ? 1 : 0)) : 0;
  }
  void close();

 private:
  /// The operation that an event begins, as one number; 0: none of a segment.
  struct Beginning {
    std::uint64_t key = 0;
    bool collective = false;
  };
  static Beginning beginning(const RankOperations& at);

  SplitRule rule_;
  bool open_ = false, collective_ = false;
  std::uint64_t context_ = 0, first_ = 0;
  std::uint64_t first_request_ = 0;  ///< request number at 0 of `posted_`
  std::vector<bool> posted_;         ///< by the segment, and not yet completed
  std::size_t requests_ = 0;         ///< that many of them
};

}  // namespace chameleon::analysis
