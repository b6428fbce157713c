// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Memory that reading one trace may take for what the trace says. A few bytes can stand for 2^24
/// ranks with facts, or for an array of millions; so decoders ask before they allocate what the
/// input does not hold byte for byte. There is one for each thread, from where a file is parsed to
/// its end: decoding is spread over many functions, and inside of the traced process, where nothing
/// is foreign, there is none and asking is a comparison.

#include <cstdint>
#include <new>

#include "base/rooms.h"

namespace chameleon::inline base {

class ReadBudget {
 public:
  /// Bytes of an entry of a map beside its value, about.
  static constexpr std::uint64_t kMapNode = 48;
  /// Thrown instead of allocating more. Only while there is a budget.
  struct Spent : std::bad_alloc {};

  explicit ReadBudget(std::uint64_t bytes) : left_(bytes), around_(now_) { now_ = this; }
  ~ReadBudget() { now_ = around_; }
  ReadBudget(const ReadBudget&) = delete;
  ReadBudget& operator=(const ReadBudget&) = delete;

  /// Room for `items` of `bytes` each.
  static void take(std::uint64_t items, std::uint64_t bytes = 1) {
    if (now_ != nullptr) now_->spend(items, bytes);
  }
  std::uint64_t left() const { return left_; }
  /// Bytes that were taken, and are not held any more.
  void give_back(std::uint64_t bytes) { left_ += bytes; }

  /// Gives back at its end what was taken since: of what is gone by then.
  class Loan {
   public:
    Loan() : of_(now_), left_(now_ != nullptr ? now_->left_ : 0) {}
    ~Loan() {
      if (of_ != nullptr) of_->left_ = left_;
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    ReadBudget* const of_;
    const std::uint64_t left_;
  };

  /// Nothing is asked until its end: what is decoded there is our own, and was paid for.
  class Own {
   public:
    Own() : around_(now_) { now_ = nullptr; }
    ~Own() { now_ = around_; }
    Own(const Own&) = delete;
    Own& operator=(const Own&) = delete;

   private:
    ReadBudget* const around_;
  };

 private:
  void spend(std::uint64_t items, std::uint64_t bytes) {
    if (bytes != 0 && items > left_ / bytes) throw Spent();
    left_ -= items * bytes;
  }

  static inline constinit thread_local ReadBudget* now_ = nullptr;

  std::uint64_t left_;
  ReadBudget* const around_;
};

}  // namespace chameleon::inline base
