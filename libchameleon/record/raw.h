// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Raw records: one line of text a call, straight from the C arguments, with
/// none of the encoding that a trace goes through; what `chameleon verify`
/// believes. Format: docs/reference/raw.md. The templates here only say where an
/// argument lies; the text is made in raw.cpp, once for all calls.

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "mpi/error_number.h"
#include "mpi/event_layout.h"
#include "record/discoveries.h"
#include "record/significance.h"

namespace chameleon::record {

/// An argument as it lies in memory.
struct RawArgument {
  enum class Form : std::uint8_t { kNumber, kInts, kLongs, kStatuses, kText, kInsignificant };
  Form form = Form::kNumber;
  bool list = false;
  std::int64_t number = 0;  ///< or the number of elements
  const void* data = nullptr;
  NamedNumbers names{};
};

/// The texts of one call's arguments; each is made once.
class RawTexts {
 public:
  explicit RawTexts(const CallInfo& call);
  ~RawTexts();
  void put(int param, const RawArgument& argument);
  /// Writes the line; `members` are of the communicator a call created; `failed` the statuses that
  /// tell errors; `number` the line's place among those of all threads, or 0.
  void write(std::FILE* file, int code, std::span<const std::int64_t> members,
             std::span<const MPI_Status> failed, std::uint64_t number) const;

 private:
  const CallInfo& call_;
  std::vector<std::string> texts_;
};

/// The line of an event that says what an object is.
void write_raw(std::FILE* file, const Discovery& object, std::uint64_t number);

template <CallId C, class... P>
class RawLine {
  static constexpr const CallInfo& kCall = *find_call(C);
  using Args = std::tuple<P...>;

 public:
  [[gnu::noinline]] void before(const Args& args, const CommShape& comm) {
    each([&]<int I>() {
      constexpr const ParamInfo& param = params(kCall)[I];
      constexpr bool out = param.direction == Direction::kOut ||
                           (param.direction == Direction::kInOut && !is_object(param.kind));
      if constexpr (stored_values(param) != 0 &&
                    (!out || param.kind == Kind::kBuffer || param.kind == Kind::kPointer))
        texts_.put(I, locate<I>(args, comm));
    });
  }

  [[gnu::noinline]] void after(const Args& args, const CommShape& comm, int code, std::FILE* file,
                               std::uint64_t number) {
    const bool ok = took_place(kCall, error_number(code));
    each([&]<int I>() {
      constexpr const ParamInfo& param = params(kCall)[I];
      if constexpr (stored_values(param) == 0) {
      } else if constexpr (param.direction == Direction::kOut && param.kind != Kind::kBuffer) {
        if (ok && is_set<C, I>(args))
          texts_.put(I, locate<I>(args, comm));
        else
          texts_.put(I, {RawArgument::Form::kInsignificant, false, 0, nullptr});
      } else {
        texts_.put(I, locate<I>(args, comm));
      }
    });
    std::vector<std::int64_t> members;
    if constexpr (creates_communicator(kCall)) {
      // Not usable before its request completes, and like its parent.
      if constexpr (has(kCall, Attribute::kNonblocking)) {
        if (ok) members = communicator_members(std::get<0>(args));
      } else {
        if (ok) members = communicator_members(*std::get<output_of(kCall, Kind::kComm)>(args));
      }
    }
    std::span<const MPI_Status> failed;
    if constexpr (has_errors(kCall)) {
      constexpr int status = output_of(kCall, Kind::kStatus);
      if (error_number(code) == kErrInStatus)
        failed = {std::get<status>(args),
                  static_cast<std::size_t>(readable_length<C, status>(args, comm))};
    }
    texts_.write(file, code, members, failed, number);
  }

 private:
  template <class F>
  static void each(F f) {
    [&]<int... I>(std::integer_sequence<int, I...>) { (f.template operator()<I>(), ...); }
    (std::make_integer_sequence<int, static_cast<int>(sizeof...(P))>());
  }

  template <int I>
  static RawArgument locate(const Args& args, const CommShape& comm) {
    constexpr const ParamInfo& param = params(kCall)[I];
    const auto& arg = std::get<I>(args);
    using T = std::remove_cvref_t<decltype(arg)>;
    using Form = RawArgument::Form;
    if constexpr (param.kind == Kind::kBuffer) {
      return {Form::kNumber, false, static_cast<std::int64_t>(buffer_class(arg)), nullptr};
    } else if constexpr (param.kind == Kind::kPointer || param.kind == Kind::kFunction) {
      return {Form::kNumber, false, (const void*)arg == nullptr ? 0 : 1, nullptr};
    } else if constexpr (param.kind == Kind::kString) {
      if constexpr (std::is_convertible_v<T, const char*>)
        return {Form::kText, true, 0, significant<C, I>(args, comm) ? arg : nullptr};
      else
        return {Form::kText, true, 0, nullptr};  // lists of strings are not kept
    } else if constexpr (param.kind == Kind::kStatus && !is_array(param)) {
      return {Form::kStatuses, false, 1, arg};
    } else if constexpr (is_array(param) && std::is_pointer_v<T>) {
      using Element = std::remove_cv_t<std::remove_pointer_t<T>>;
      if (!significant<C, I>(args, comm)) return {Form::kInsignificant, false, 0, nullptr};
      const std::int64_t length = readable_length<C, I>(args, comm);
      if constexpr (param.kind == Kind::kStatus)
        return {Form::kStatuses, true, length, arg};
      else if constexpr (std::is_void_v<Element>)
        return {Form::kInts, true, 0, nullptr};
      else
        return {sizeof(Element) == 8 ? Form::kLongs : Form::kInts, true, length, arg,
                named_numbers(param)};
    } else {
      if (!significant<C, I>(args, comm)) return {Form::kInsignificant, false, 0, nullptr};
      return {Form::kNumber, false, scalar<C, I>(args), nullptr};
    }
  }

  RawTexts texts_{kCall};
};

}  // namespace chameleon::record
