// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Signatures of an interval: the Call-Path signature, ten of parameters (with it the eleven of
/// ACURDION, dissertation section 4.1), each an average and an exact hash that separates equal
/// ranks from merely near ones, and one of the whole sequence of events (section 3.4).
///
/// The ordered Call-Path form is over the *distinct* symbols (stack signatures) in
/// order of first occurrence, and the set of distinct forward transitions between
/// them: from one symbol to one that first occurs later. The step back that closes
/// a loop is not counted, so iteration counts do not show: A B and A B A B are one
/// behaviour, A B C, A C B and A B A C are three. A few nanoseconds an event when
/// symbols come in a known order, one or two hash look-ups otherwise; no
/// allocation once the tables have grown.

#include <bit>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

#include "base/hash.h"
#include "model/end_point.h"
#include "model/node.h"
#include "model/xor_reading.h"

namespace chameleon::signature {

enum class Parameter : std::uint8_t {
  kSource,       ///< relative
  kDestination,  ///< relative
  kCount,
  kTag,
  kKey,            ///< of Comm_split
  kColor,          ///< of Comm_split
  kCompute,        ///< microseconds before a call
  kCommunication,  ///< microseconds inside it
  kLoop,           ///< a `loop_signature`
  kDataOperation,  ///< datatypes, operations, communicators: a set of `type_bit`s, no average
  kSequence,       ///< all values of all events in order, times aside; no average
};
inline constexpr std::size_t kParameters = 11;

/// The operation that a bit of kDataOperation stands for.
enum class TypeRange : std::uint8_t { kDatatype, kOperation, kCommunicator };
/// The bit of an id: 0 to 31, 32 to 54 or 55 to 63. Ids beyond a range share its bits.
constexpr std::int64_t type_bit(TypeRange range, std::int64_t id) {
  constexpr unsigned kFirst[] = {0, 32, 55, 64};
  const auto at = static_cast<std::size_t>(range);
  return kFirst[at] + static_cast<std::uint64_t>(id) % (kFirst[at + 1] - kFirst[at]);
}

/// Which signatures are in use: a bit for each parameter, and one for Call-Path.
using SignatureFormat = std::uint16_t;
inline constexpr SignatureFormat kCallPathBit = 1 << kParameters;
constexpr SignatureFormat format_bit(Parameter parameter) {
  return static_cast<SignatureFormat>(1U << static_cast<unsigned>(parameter));
}
inline constexpr SignatureFormat kSequenceBit = format_bit(Parameter::kSequence);
/// ACURDION's (section 4.1): all eleven.
inline constexpr SignatureFormat kAllSignatures = (2 * kCallPathBit - 1) & ~kSequenceBit;
/// Chameleon's (section 5.1): times would make clusters irreproducible.
inline constexpr SignatureFormat kDefaultFormat =
    kCallPathBit | format_bit(Parameter::kSource) | format_bit(Parameter::kDestination);

/// A summary of a rank's interval; equal on all ranks with the same behaviour.
struct SignatureVector {
  struct Summary {
    double mean = 0;          ///< of the values; 0 without any. kDataOperation: size of the set
    std::uint64_t exact = 0;  ///< hash of the values in order; kDataOperation: the set as bits
    bool operator==(const Summary&) const = default;
  };
  std::uint64_t call_path = 0;
  Summary parameters[kParameters];
  /// For SRC and DEST: hashes in which a partner that is rank 0 is absolute, and others are
  /// relative. Workers that all talk to rank 0 are then alike.
  std::uint64_t mixed[2] = {};
  /// For SRC and DEST: hashes in which a partner is the bits in which its rank differs from this
  /// rank, as in hypercubes and butterflies. 0 unless `IntervalSignature::read_by_xor`.
  std::uint64_t xored[2] = {};

  const Summary& operator[](Parameter parameter) const {
    return parameters[static_cast<std::size_t>(parameter)];
  }
  /// The whole sequence becomes unlike that of others, but for those with the same `mark`.
  void tell_apart(std::uint64_t mark) {
    std::uint64_t& sequence = parameters[static_cast<std::size_t>(Parameter::kSequence)].exact;
    sequence = combine(sequence, mark);
  }
  bool operator==(const SignatureVector&) const = default;
};
static_assert(std::is_trivially_copyable_v<SignatureVector>);

/// The average of a parameter's values, in one interval or in several. Times are in nanoseconds
/// here: sums of microseconds would lose calls that take less than one.
struct ParameterTotal {
  // The papers average incrementally so that sums do not overflow; 128 bits do not in 2^64
  // values, are exact, and save the division.
  __int128 sum = 0;
  std::uint64_t count = 0;
  std::uint64_t hash = 0;     ///< of the values in order; kDataOperation: the set as bits
  std::uint64_t special = 0;  ///< values in `count` and `hash` that are not in `sum`
};

/// The signatures of an interval before they are averages, so that intervals can be added up.
struct IntervalTotals {
  std::uint64_t call_path = 0;
  ParameterTotal parameters[kParameters];
  std::uint64_t mixed[2] = {}, xored[2] = {};  ///< see `SignatureVector`

  ParameterTotal& operator[](Parameter parameter) {
    return parameters[static_cast<std::size_t>(parameter)];
  }
  /// The interval that follows: averages are over all values, hashes of all in order.
  void append(const IntervalTotals& next);
  SignatureVector signature() const;
};

/// How the Call-Path signature is made (CHAMELEON_SIGNATURE).
enum class CallPathForm : std::uint8_t {
  kOrdered,  ///< as described above
  kXor,      ///< as published: not made here, see `xor_signature`
};

/// The signatures of the events since the last `take`.
class IntervalSignature {
 public:
  explicit IntervalSignature(CallPathForm form = CallPathForm::kOrdered);

  /// Partners are also read by XOR with this rank of the world.
  void read_by_xor(std::uint32_t rank) { xor_rank_ = rank; }

  /// A signed event.
  void call(std::uint64_t symbol) {
    Entry& last = entries_[last_];
    if (last.next != 0 && last.next_symbol == symbol)
      last_ = last.next;
    else if (form_ == CallPathForm::kOrdered)
      step(symbol);
  }
  /// One value of a parameter of a signed event.
  void add(Parameter parameter, std::int64_t value) {
    ParameterTotal& total = totals_[parameter];
    ++total.count;
    const auto bits = static_cast<std::uint64_t>(value);
    if (parameter == Parameter::kDataOperation) {
      total.hash |= std::uint64_t{1} << (bits % 64);
      return;
    }
    total.sum += value;
    total.hash = in_order(total.hash, mix(bits));
  }
  /// A partner as recorded (end_point.h), of kSource or kDestination. One that is no rank, as
  /// MPI_PROC_NULL, is hashed, and in no average.
  void add_end_point(Parameter parameter, std::int64_t packed) {
    const EndPoint partner{EndPointForm::kBoth, packed};
    add(parameter, packed_relative(packed));
    ParameterTotal& total = totals_[parameter];
    if (partner.special() != 0) {
      total.sum -= packed_relative(packed);
      ++total.special;
    }
    const bool root = partner.special() == 0 && packed_absolute(packed) == 0;
    std::uint64_t& mixed = totals_.mixed[static_cast<std::size_t>(parameter)];
    mixed = in_order(mixed,
                     root ? kRankZero : mix(static_cast<std::uint64_t>(packed_relative(packed))));
    if (xor_rank_ == kNoRank) return;
    std::uint64_t& xored = totals_.xored[static_cast<std::size_t>(parameter)];
    xored = in_order(xored, mix(static_cast<std::uint64_t>(xor_reading(packed, xor_rank_))));
  }

  /// A value that a rule (rules.h) gives, from 1: hashed as the rule's, and in no average.
  void add_ruled(Parameter parameter, std::uint32_t rule) {
    ParameterTotal& total = totals_[parameter];
    ++total.count;
    ++total.special;
    const std::uint64_t hash = mix(kRule + rule);
    total.hash = in_order(total.hash, hash);
    const auto at = static_cast<std::size_t>(parameter);
    if (at >= std::size(totals_.mixed)) return;
    totals_.mixed[at] = in_order(totals_.mixed[at], hash);
    if (xor_rank_ != kNoRank) totals_.xored[at] = in_order(totals_.xored[at], hash);
  }

  /// The signature of the interval; the next one starts empty. `call_path` is 0 in the XOR form.
  IntervalTotals take_totals();
  /// The same as signatures.
  SignatureVector take() { return take_totals().signature(); }
  /// Call-Path signature so far.
  std::uint64_t call_path() const;

 private:
  /// A distinct symbol. Entry 0 stands for what comes before the first.
  struct Entry {
    std::uint64_t symbol = 0;
    std::uint64_t next_symbol = 0;  ///< what followed last time
    std::uint32_t next = 0;         ///< its entry; 0: nothing yet
  };
  /// A slot of an open-addressing table that empties by starting a new epoch.
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t epoch = 0;
    std::uint32_t entry = 0;
  };
  struct Table {
    std::vector<Slot> slots = std::vector<Slot>(64);
    std::uint32_t used = 0;
    /// The slot of `key`, or the free one where it belongs.
    Slot& find(std::uint64_t key, std::uint32_t epoch);
    void added(std::uint32_t epoch);
  };
  void step(std::uint64_t symbol);

  static constexpr std::uint64_t kRankZero = 0x5bd1e995a3c59ac3;
  static constexpr std::uint64_t kRule = 0x71d67fffeda60000;
  static std::uint64_t in_order(std::uint64_t hash, std::uint64_t value) {
    return (std::rotl(hash, 29) ^ value) * 0x9ddfea08eb382d69ULL;
  }

  static constexpr std::int64_t kNoRank = -1;

  CallPathForm form_;
  std::int64_t xor_rank_ = kNoRank;
  std::vector<Entry> entries_{Entry{}};
  Table symbols_, transitions_;
  std::uint32_t epoch_ = 1;
  std::uint32_t last_ = 0;             ///< entry of the event before
  std::uint64_t order_ = 0;            ///< hash of the symbols in order of first occurrence
  std::uint64_t transitions_sum_ = 0;  ///< hashes of the transitions, added up: a set has no order
  IntervalTotals totals_;
};

/// The published Call-Path signature (sections 3.1, 4.1): XOR over the folded
/// events, in order, of (sequence number mod 10 + 1) times the stack signature.
std::uint64_t xor_signature(std::span<const Node> nodes);

/// The published LOOP signature (section 4.1) of one rank's folded nodes: four
/// 16-bit averages of iteration counts, innermost loops lowest; what nests deeper
/// shares the highest, which is kept below 2^15. Averages saturate.
std::int64_t loop_signature(std::span<const Node> nodes);

/// That as the total of an interval, with a hash of all loops: of how they nest and of every
/// iteration count. Without loops there is one value, 0.
ParameterTotal loop_total(std::span<const Node> nodes);

}  // namespace chameleon::signature
