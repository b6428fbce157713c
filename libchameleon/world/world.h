// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The parts that all worlds share. A *world* is a group of ranks that can map, reduce
/// up the fixed tree of tree.h, broadcast and gather: `MpiWorld` holds one rank's
/// value, `VirtualWorld` those of all, and either gives subsets of its ranks.
/// Algorithms take a world as a template parameter (`TreeWorld`), never ask which rank
/// they are, and give bit-identical results in both, because both combine in the same
/// order.
///
/// Values on the wire: trivially copyable types as their bytes; types with
/// `encode(ByteWriter&) const` and `static bool decode(ByteReader&, T&)` by those;
/// others by functions found in their namespace, `void encode(ByteWriter&, const T&)`
/// and `bool decode(ByteReader&, T&)`, given here for vector, pair and string. Both
/// ends are this program: little is checked.

#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace chameleon::world {

/// The traffic: of this rank in a real job, of all ranks in a virtual one, so that the former add
/// up to the latter. Pieces of one value are one message.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;    ///< encoded (virtual worlds: if asked to count them)
  std::uint64_t largest = 0;  ///< bytes of the largest message
  std::uint32_t depth = 0;    ///< tree levels on the critical path, over all operations

  void count(std::uint64_t size) {
    ++messages;
    bytes += size;
    if (size > largest) largest = size;
  }
};

/// Levels of the binomial tree of `size` ranks.
constexpr std::uint32_t tree_depth(std::uint64_t size) {
  return size < 2 ? 0 : static_cast<std::uint32_t>(std::bit_width(size - 1));
}

template <class T>
concept SentAsBytes = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

template <class T>
concept EncodesItself = requires(const T& value, T& out, ByteWriter& writer, ByteReader& reader) {
  value.encode(writer);
  T::decode(reader, out);
};

inline void encode(ByteWriter& writer, const std::string& value);
template <class A, class B>
void encode(ByteWriter& writer, const std::pair<A, B>& value);
template <class T>
void encode(ByteWriter& writer, const std::vector<T>& values);
inline bool decode(ByteReader& reader, std::string& value);
template <class A, class B>
bool decode(ByteReader& reader, std::pair<A, B>& value);
template <class T>
bool decode(ByteReader& reader, std::vector<T>& values);

/// Appends `value` as it goes between ranks.
template <class T>
void encode_value(ByteWriter& writer, const T& value) {
  if constexpr (SentAsBytes<T>)
    writer.raw({reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
  else if constexpr (EncodesItself<T>)
    value.encode(writer);
  else
    encode(writer, value);
}

/// Reads what `encode_value` wrote; false if it is not that.
template <class T>
bool decode_value(ByteReader& reader, T& value) {
  if constexpr (SentAsBytes<T>) {
    const auto bytes = reader.raw(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return reader.ok();
  } else if constexpr (EncodesItself<T>) {
    return T::decode(reader, value);
  } else {
    return decode(reader, value);
  }
}

inline void encode(ByteWriter& writer, const std::string& value) { writer.text(value); }
inline bool decode(ByteReader& reader, std::string& value) {
  value = reader.text();
  return reader.ok();
}

template <class A, class B>
void encode(ByteWriter& writer, const std::pair<A, B>& value) {
  encode_value(writer, value.first);
  encode_value(writer, value.second);
}
template <class A, class B>
bool decode(ByteReader& reader, std::pair<A, B>& value) {
  return decode_value(reader, value.first) && decode_value(reader, value.second);
}

template <class T>
void encode(ByteWriter& writer, const std::vector<T>& values) {
  writer.varint(values.size());
  if constexpr (SentAsBytes<T>)
    writer.raw({reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)});
  else
    for (const T& value : values) encode_value(writer, value);
}
template <class T>
bool decode(ByteReader& reader, std::vector<T>& values) {
  values.clear();
  values.resize(reader.count(SentAsBytes<T> ? sizeof(T) : 1));
  if constexpr (SentAsBytes<T>) {
    const auto bytes = reader.raw(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  } else {
    for (T& value : values)
      if (!decode_value(reader, value)) return false;
  }
  return reader.ok();
}

/// The same of several, one after the other.
template <class... T>
void encode_values(ByteWriter& writer, const T&... values) {
  (encode_value(writer, values), ...);
}
template <class... T>
bool decode_values(ByteReader& reader, T&... values) {
  return (decode_value(reader, values) && ...);
}

/// A value that can go between ranks.
template <class T>
concept Sendable = SentAsBytes<T> || EncodesItself<T> ||
    requires(const T& value, T& out, ByteWriter& writer, ByteReader& reader) {
  encode(writer, value);
  decode(reader, out);
};

/// The interface that algorithms need: a world, or a subset of one. `reduce` gives its result at
/// the root only, and `broadcast` takes it from there; both give nothing on a failed world.
template <class W>
concept TreeWorld = requires(W& world, typename W::template PerRank<int> values,
                             std::optional<int> at_root, std::uint32_t (*generate)(std::uint32_t),
                             void (*each)(std::uint32_t, int&), void (*combine)(int&, int&&)) {
  { world.size() } -> std::same_as<std::uint32_t>;
  { world.failed() } -> std::same_as<bool>;
  { world.generate(generate) } -> std::same_as<typename W::template PerRank<std::uint32_t>>;
  world.map(values, each);
  { world.reduce(std::move(values), combine) } -> std::same_as<std::optional<int>>;
  { world.broadcast(std::move(at_root)) } -> std::same_as<int>;
};

/// One message of a plan that all ranks know.
struct Transfer {
  std::uint32_t from = 0, to = 0;
  auto operator<=>(const Transfer&) const = default;
};

/// A world in which ranks also send to other ranks, by a plan.
template <class W>
concept GatherWorld = TreeWorld<W> &&
    requires(W& world, const typename W::template PerRank<int>& values,
             const std::vector<Transfer>& plan) {
  {
    world.gather(plan, values)
    } -> std::same_as<typename W::template PerRank<std::vector<std::pair<std::uint32_t, int>>>>;
};

/// `reduce`, with its result on all ranks.
template <class W, class Values, class C>
auto all_reduce(W& world, Values values, C combine) {
  return world.broadcast(world.reduce(std::move(values), combine));
}

/// f(rank) for every rank: of a world that has all of them in memory, when its value is needed.
template <class W, class F>
auto generate_late(W& world, F f) {
  if constexpr (requires { world.late(f); })
    return world.late(f);
  else
    return world.generate(f);
}

/// A vote, for whose result all ranks wait.
template <class T, class W, class Values, class C>
std::optional<T> vote(W& world, const Values& values, C combine, std::uint32_t sequence,
                      double timeout, std::uint32_t& missing) {
  world.cast(values, combine, sequence);
  return world.template collect<T>(timeout, missing);
}

}  // namespace chameleon::world
