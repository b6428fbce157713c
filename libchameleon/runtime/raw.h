// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Raw records: one line of text a call, straight from the C arguments, with
/// none of the encoding that a trace goes through; what `chameleon verify`
/// believes. Format: docs/reference/raw.md.

#include <array>
#include <cstdio>
#include <string>

#include "mpi/event_layout.h"
#include "runtime/significance.h"

namespace chameleon {

template <CallId C, class... P>
class RawLine {
  static constexpr const CallInfo& kCall = *find_call(C);
  using Args = std::tuple<P...>;

 public:
  void before(const Args& args, const CommShape& comm) {
    each([&]<int I>() {
      constexpr const ParamInfo& param = params(kCall)[I];
      constexpr bool out = param.direction == Direction::kOut ||
                           (param.direction == Direction::kInOut && !is_handle(param.kind));
      if constexpr (!out || param.kind == Kind::kBuffer || param.kind == Kind::kPointer)
        text_[I] = print<I>(args, comm);
    });
  }

  void after(const Args& args, const CommShape& comm, int code, std::FILE* file) {
    std::string line = kCall.name + 4;
    line += " return=" + std::to_string(code);
    each([&]<int I>() {
      constexpr const ParamInfo& param = params(kCall)[I];
      if constexpr (stored_values(param) == 0) return;
      if (text_[I].empty()) text_[I] = print<I>(args, comm);
      line += std::string(" ") + param.name + "=" + text_[I];
    });
    if constexpr (creates_communicator(kCall)) {
      MPI_Comm made = *std::get<output_of(kCall, Kind::kComm)>(args);
      if constexpr (has(kCall, Attribute::kNonblocking)) made = std::get<0>(args);
      line += " members=[";
      if (code == MPI_SUCCESS)
        for (const std::int64_t member : communicator_members(made))
          line += (line.back() == '[' ? "" : ",") + std::to_string(member);
      line += "]";
    }
    line += "\n";
    std::fputs(line.c_str(), file);
  }

 private:
  static constexpr bool is_handle(Kind kind) {
    return kind == Kind::kComm || kind == Kind::kDatatype || kind == Kind::kRequest ||
           kind == Kind::kGroup || kind == Kind::kOp || kind == Kind::kWin ||
           kind == Kind::kFile || kind == Kind::kInfo || kind == Kind::kErrhandler ||
           kind == Kind::kMessage || kind == Kind::kSession || kind == Kind::kKeyval;
  }

  template <class F>
  static void each(F f) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (f.template operator()<I>(), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(P))>());
  }

  static std::string print_status(const MPI_Status* status) {
    if (status == MPI_STATUS_IGNORE) return "(?)";
    int cancelled = 0;
    PMPI_Test_cancelled(status, &cancelled);
    return "(" + std::to_string(status->MPI_SOURCE) + "," + std::to_string(status->MPI_TAG) + "," +
           std::to_string(cancelled != 0 ? 0 : status_bytes(*status)) + "," +
           std::to_string(cancelled) + ")";
  }

  template <int I>
  static std::string print(const Args& args, const CommShape& comm) {
    constexpr const ParamInfo& param = params(kCall)[I];
    const auto& arg = std::get<I>(args);
    using T = std::remove_cvref_t<decltype(arg)>;
    if constexpr (stored_values(param) == 0) {
      return "";
    } else if constexpr (param.kind == Kind::kBuffer) {
      return std::to_string(static_cast<std::int64_t>(buffer_class(arg)));
    } else if constexpr (param.kind == Kind::kPointer || param.kind == Kind::kFunction) {
      return (const void*)arg == nullptr ? "0" : "1";
    } else if constexpr (param.kind == Kind::kString) {
      std::string text = "[";
      if constexpr (std::is_convertible_v<T, const char*>)  // lists of strings are not kept
        for (const char* c = arg; c != nullptr && *c != 0; ++c)
          text += (c == arg ? "" : ",") + std::to_string(static_cast<int>(*c));
      return text + "]";
    } else if constexpr (param.kind == Kind::kStatus && !is_array(param)) {
      return print_status(arg);
    } else if constexpr (is_array(param) && std::is_pointer_v<T>) {
      if (!significant<C, I>(args, comm)) return "?";
      std::string text = "[";
      const std::int64_t length = readable_length<C, I>(args, comm);
      for (std::int64_t i = 0; i < length; ++i) {
        if (i > 0) text += ",";
        if constexpr (param.kind == Kind::kStatus)
          text += print_status(&arg[i]);
        else if constexpr (!std::is_void_v<std::remove_pointer_t<T>>)
          text += std::to_string(as_number(arg[i]));
      }
      return text + "]";
    } else {
      if (!significant<C, I>(args, comm)) return "?";
      return std::to_string(scalar<C, I>(args));
    }
  }

  std::array<std::string, sizeof...(P) + 1> text_;
};

}  // namespace chameleon
