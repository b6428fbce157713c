// SPDX-License-Identifier: BSD-3-Clause
#include "replay/calls.h"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <utility>

#include "analysis/reissue.h"

// Programs use calls that MPI has deprecated, so their replay does.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace chameleon::replay {
namespace {

template <class T>
constexpr std::uint8_t element_width() {
  if constexpr (!std::is_pointer_v<T>) {
    return sizeof(T);
  } else {
    using Element = std::remove_all_extents_t<std::remove_pointer_t<T>>;
    if constexpr (requires { sizeof(Element); } && std::is_object_v<Element>) {
      return sizeof(Element) > 8 ? 1 : sizeof(Element);
    } else {
      return 1;
    }
  }
}

template <auto function>
struct Caller;

template <class... Arguments, int (*function)(Arguments...)>
struct Caller<function> {
  static constexpr std::uint8_t kWidths[] = {element_width<Arguments>()..., 0};

  static int invoke(const Word* words) {
    return call(words, std::index_sequence_for<Arguments...>{});
  }
  template <std::size_t... index>
  static int call([[maybe_unused]] const Word* words, std::index_sequence<index...>) {
    return function(from_word<Arguments>(words[index])...);
  }
};

using Entries = std::array<CallEntry, kCallIdEnd>;

constexpr Entries make_entries() {
  Entries entries{};
#define CHAMELEON_REPLAY(id, function, params) \
  entries[static_cast<std::size_t>(id)] = {&Caller<function>::invoke, Caller<function>::kWidths};
#include "replay_calls.inc"  // generated
  // Local calls that do work of their own.
  CHAMELEON_REPLAY(CallId::kPack, MPI_Pack, 7)
  CHAMELEON_REPLAY(CallId::kUnpack, MPI_Unpack, 7)
  CHAMELEON_REPLAY(CallId::kPackExternal, MPI_Pack_external, 7)
  CHAMELEON_REPLAY(CallId::kUnpackExternal, MPI_Unpack_external, 7)
  CHAMELEON_REPLAY(CallId::kReduceLocal, MPI_Reduce_local, 5)
#if MPI_VERSION >= 4
  CHAMELEON_REPLAY(CallId::kPackC, MPI_Pack_c, 7)
  CHAMELEON_REPLAY(CallId::kUnpackC, MPI_Unpack_c, 7)
  CHAMELEON_REPLAY(CallId::kPackExternalC, MPI_Pack_external_c, 7)
  CHAMELEON_REPLAY(CallId::kUnpackExternalC, MPI_Unpack_external_c, 7)
  CHAMELEON_REPLAY(CallId::kReduceLocalC, MPI_Reduce_local_c, 5)
#endif
#undef CHAMELEON_REPLAY
  return entries;
}

constexpr Entries kEntries = make_entries();

}  // namespace

const CallEntry* find_entry(const CallInfo& call) {
  const CallEntry& entry = kEntries[call.id];
  return entry.invoke != nullptr && why_not_reissued(call) == nullptr ? &entry : nullptr;
}

bool is_lacking(const CallInfo& call) {
  constexpr Attribute kOwn = Attribute::kLocal | Attribute::kIrregular | Attribute::kInit |
                             Attribute::kFinalize | Attribute::kAbort;
  return kEntries[call.id].invoke == nullptr && !has(call, kOwn) && !is_discovery(call) &&
         why_not_reissued(call) == nullptr;
}

}  // namespace chameleon::replay
