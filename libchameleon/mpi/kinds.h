// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/rooms.h"

/// The vocabulary of the MPI table: what a parameter means (Kind), which way it goes (Direction),
/// how long its array is (Length) and what a call does (Attribute). The names in the second column
/// of the two lists are those written in mpi_calls.txt, and generate.py reads them from here, so
/// that each is stated once. Plain constants and aggregates without mpi.h: usable in readers and
/// tools; nothing here costs anything at run time.

#define CHAMELEON_KINDS(X)      \
  X(Buffer, buffer)             \
  X(Count, count)               \
  X(Datatype, datatype)         \
  X(Dest, dest)                 \
  X(Source, source)             \
  X(Root, root)                 \
  X(Rank, rank)                 \
  X(Tag, tag)                   \
  X(Comm, comm)                 \
  X(Group, group)               \
  X(Request, request)           \
  X(Op, op)                     \
  X(Win, win)                   \
  X(File, file)                 \
  X(Info, info)                 \
  X(Errhandler, errhandler)     \
  X(Message, message)           \
  X(Session, session)           \
  X(Keyval, keyval)             \
  X(Status, status)             \
  X(Flag, flag)                 \
  X(Index, index)               \
  X(Int, int)                   \
  X(Color, color)               \
  X(Key, key)                   \
  X(Aint, aint)                 \
  X(Displacement, displacement) \
  X(Offset, offset)             \
  X(String, string)             \
  X(Function, function)         \
  X(Pointer, pointer)           \
  X(Argc, argc)                 \
  X(Argv, argv)                 \
  X(Double, double)             \
  X(Other, other)

#define CHAMELEON_ATTRIBUTES(X)   \
  X(Local, local, 0)              \
  X(Send, send, 1)                \
  X(Recv, recv, 2)                \
  X(Collective, collective, 3)    \
  X(Nonblocking, nonblocking, 4)  \
  X(Persistent, persistent, 5)    \
  X(Starts, starts, 6)            \
  X(Completes, completes, 7)      \
  X(Test, test, 8)                \
  X(Probe, probe, 9)              \
  X(Neighbor, neighbor, 10)       \
  X(Reduction, reduction, 11)     \
  X(Init, init, 12)               \
  X(Finalize, finalize, 13)       \
  X(Abort, abort, 14)             \
  X(Frees, frees, 15)             \
  X(Creates, creates, 16)         \
  X(Rma, rma, 17)                 \
  X(Io, io, 18)                   \
  X(Partitioned, partitioned, 19) \
  X(Sessions, sessions, 20)       \
  X(Mpit, mpit, 21)               \
  X(Largecount, largecount, 22)   \
  X(Callback, callback, 23)       \
  X(Irregular, irregular, 24)     \
  X(Synchronous, mode_s, 25)      \
  X(Buffered, mode_b, 26)         \
  X(Ready, mode_r, 27)            \
  X(Deprecated, deprecated, 28)   \
  X(Cancels, cancels, 29)         \
  X(SharedPointer, shared, 30)    \
  X(Lasting, lasting, 31)

namespace chameleon::mpi {

enum class Kind : std::uint8_t {
#define CHAMELEON_ENUMERATOR(name, text) k##name,
  CHAMELEON_KINDS(CHAMELEON_ENUMERATOR)
#undef CHAMELEON_ENUMERATOR
};

enum class Direction : std::uint8_t { kIn, kOut, kInOut };

/// One bit each; combined with |.
enum class Attribute : std::uint32_t {
  kNone = 0,
#define CHAMELEON_ENUMERATOR(name, text, bit) k##name = std::uint32_t{1} << bit,
  CHAMELEON_ATTRIBUTES(CHAMELEON_ENUMERATOR)
#undef CHAMELEON_ENUMERATOR
};

constexpr Attribute operator|(Attribute a, Attribute b) {
  return static_cast<Attribute>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

constexpr Attribute operator&(Attribute a, Attribute b) {
  return static_cast<Attribute>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}

constexpr std::uint32_t bits(Attribute a) { return static_cast<std::uint32_t>(a); }

/// How many elements a parameter has. `param` is the index, within the call, of the parameter the
/// rule names; `constant` the number of kConstant.
struct Length {
  enum class Rule : std::uint8_t {
    kScalar,
    kParam,
    kCommSize,   ///< remote size on an intercommunicator
    kCommLocal,  ///< local size on an intercommunicator
    kInDegree,
    kOutDegree,
    kThreeTimesParam,
    kConstant,
    kSumOfParam,
    kLastOfParam,
    kCommDimensions,  ///< of a cartesian communicator
    kGraphNodes,
    kGraphEdges,
    kNeighbors,   ///< of the call's rank in a graph
    kInWeights,   ///< as kInDegree if the graph has weights
    kOutWeights,  ///< as kOutDegree if the graph has weights
    kTypeIntegers,
    kTypeAddresses,
    kTypeCounts,
    kTypeDatatypes,
  };
  static constexpr std::uint8_t kNoRoom = 255;
  Rule rule = Rule::kScalar;
  std::uint8_t param = 0;
  std::int32_t constant = 0;
  std::uint8_t room = kNoRoom;  ///< parameter that limits an output, or kNoRoom
};

struct ParamInfo {
  const char* name;
  Kind kind;
  Direction direction;
  Length length;
  bool only_at_root;  ///< elsewhere it may be anything and must not be read through
};

struct CallInfo {
  std::uint16_t id;
  const char* name;     ///< "MPI_Send"
  const char* version;  ///< of MPI: "1.0"
  std::uint32_t attributes;
  std::uint16_t first_param;
  std::uint8_t param_count;
};

/// True if the call has any of these attributes.
constexpr bool has(const CallInfo& call, Attribute any_of) {
  return (call.attributes & bits(any_of)) != 0;
}

constexpr bool is_array(const ParamInfo& param) {
  return param.length.rule != Length::Rule::kScalar;
}

/// Whether values of this kind are handles.
constexpr bool is_object(Kind kind) {
  return kind == Kind::kComm || kind == Kind::kDatatype || kind == Kind::kRequest ||
         kind == Kind::kGroup || kind == Kind::kOp || kind == Kind::kWin || kind == Kind::kFile ||
         kind == Kind::kInfo || kind == Kind::kErrhandler || kind == Kind::kMessage ||
         kind == Kind::kSession || kind == Kind::kKeyval;
}

/// The word used in mpi_calls.txt: "buffer".
constexpr const char* kind_name(Kind kind) {
  switch (kind) {
#define CHAMELEON_CASE(name, text) \
  case Kind::k##name: return #text;
    CHAMELEON_KINDS(CHAMELEON_CASE)
#undef CHAMELEON_CASE
  }
  return "unknown";
}

}  // namespace chameleon::mpi
