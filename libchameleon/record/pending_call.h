// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The call in which a thread is: what a thread of the tool needs to make an event of it while the
/// call has not returned, because the rank's trace ends. A call is noted before MPI is called and
/// forgotten when it is recorded. Calls that the program makes in callbacks of MPI are not noted:
/// the outer call is the one in progress.
///
/// Cost of a call with a key: a store for each argument and six more; of any other call four.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "callpath/stack_memo.h"
#include "mpi/error_number.h"

namespace chameleon::record {

class Recorder;
struct Stream;

class PendingCall {
 public:
  /// Makes an event of the call, which took until `now`, in ticks.
  using Leave = void (*)(Recorder&, Stream&, const PendingCall&, std::uint64_t now);
  static constexpr std::size_t kMostWords = 20;

  /// A call whose arguments are kept here.
  template <class... P>
  [[gnu::always_inline]] void note(Leave leave, std::uint64_t entry, void* site,
                                   const callpath::Registers& here, P... p) {
    static_assert(sizeof...(P) <= kMostWords);
    entry_ = entry;
    site_ = site;
    here_ = here;
    std::size_t at = 0;
    ((words_[at++] = word_of(p)), ...);
    begin(leave);
  }
  /// One that keeps all of that itself, at `context`.
  [[gnu::always_inline]] void note(Leave leave, const callpath::Registers& here,
                                   const void* context) {
    here_ = here;
    words_[0] = word_of(context);
    begin(leave);
  }
  /// It became an event while it had not returned: what the thread does is recorded no longer.
  void close() {
    forget();
    closed_ = true;
  }
  bool is_closed() const { return closed_; }
  /// MPI ends the process because of this error of the call.
  void fail(int code) { code_ = code; }
  int code() const { return code_; }
  /// It is recorded, or was left by an exception.
  [[gnu::always_inline]] void forget() { leave_.store(nullptr, std::memory_order_release); }

  /// A frame at `sp` is not inside of the noted call, which is over or was left by longjmp.
  bool is_left(std::uintptr_t sp) const { return sp >= here_.sp; }
  /// Whether there is one.
  explicit operator bool() const { return leave_.load(std::memory_order_acquire) != nullptr; }
  void leave(Recorder& recorder, Stream& stream, std::uint64_t now) const {
    leave_.load(std::memory_order_acquire)(recorder, stream, *this, now);
  }

  std::uint64_t entry() const { return entry_; }
  void* site() const { return site_; }
  const callpath::Registers& here() const { return here_; }
  template <class... P>
  std::tuple<P...> arguments() const {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<P...>{argument<P>(words_[I])...};
    }
    (std::index_sequence_for<P...>());
  }

 private:
  template <class T>
  static std::uint64_t word_of(T value) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    if constexpr (std::is_pointer_v<T>)
      return std::bit_cast<std::uint64_t>(value);
    else
      return static_cast<std::uint64_t>(value);
  }
  template <class T>
  static T argument(std::uint64_t word) {
    if constexpr (std::is_pointer_v<T>)
      return std::bit_cast<T>(word);
    else
      return static_cast<T>(word);
  }
  [[gnu::always_inline]] void begin(Leave leave) {
    std::atomic_signal_fence(std::memory_order_release);
    leave_.store(leave, std::memory_order_release);
  }

  std::atomic<Leave> leave_{nullptr};
  bool closed_ = false;
  int code_ = mpi::kNoCodeYet;
  std::uint64_t entry_ = 0;
  void* site_ = nullptr;
  callpath::Registers here_{};
  std::array<std::uint64_t, kMostWords> words_{};
};

}  // namespace chameleon::record
