// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Errors as values. A `Result<T>` holds a `T` or an `Error`; nothing in
/// Chameleon throws across a room, and nothing throws in the traced process.

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "base/rooms.h"

namespace chameleon::inline base {

/// The kind of failure; tools map it to their exit status.
enum class ErrorKind {
  kNotATrace,           ///< the file does not begin as a trace does
  kTruncated,           ///< the file ends inside something
  kUnsupportedVersion,  ///< written by a newer major version
  kCorrupt,             ///< a checksum or a value that cannot be
  kSystem,              ///< the operating system refused (missing, unwritable, full)
  kUsage,               ///< a malformed argument or variable
  kRefused,             ///< understood, and declined
};

/// One failure: its kind, one line for people, and the byte offset where it
/// was found (0 when there is none to give).
struct Error {
  ErrorKind kind = ErrorKind::kCorrupt;
  std::string message;
  std::uint64_t offset = 0;
};

/// A value or the reason there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// The value of a `Result` that has none.
struct Unit {};
using Status = Result<Unit>;

}  // namespace chameleon::inline base
