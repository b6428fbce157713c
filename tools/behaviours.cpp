// SPDX-License-Identifier: BSD-3-Clause
#include "behaviours.h"

#include <array>
#include <bit>
#include <unordered_map>
#include <vector>

#include "model/end_point.h"
#include "mpi/event_layout.h"

namespace chameleon::tools {
namespace {

constexpr std::int64_t kDouble = -2;  // the only predefined datatype, and op, here
constexpr std::int64_t kSum = -2;

const CallDescription& description(CallId call) {
  static std::unordered_map<CallId, CallDescription> known;
  auto found = known.find(call);
  if (found == known.end()) found = known.emplace(call, describe_call(*find_call(call))).first;
  return found->second;
}

/// One call of a rank at a place in the program; values by field name.
class Call {
 public:
  Call(Place place, CallId call, std::uint32_t site)
      : place_(place), call_(call), site_(site), fields_(description(call).fields) {
    values_.resize(fields_.size(), 0);
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const std::string& kind = fields_[i].kind;
      if (kind == "datatype") values_[i] = kDouble;
      if (kind == "op") values_[i] = kSum;
      if (fields_[i].stored == FieldKind::kArray)
        values_[i] = static_cast<std::int64_t>(array_id({}));
      const std::string& name = fields_[i].name;
      const auto ends = [&](const char* suffix) { return name.ends_with(suffix); };
      if (ends(".source") && fields_[i].stored == FieldKind::kEndPoint)
        values_[i] = pack_special(SpecialRank::kNone);
      if ((ends(".tag") || ends(".bytes")) && fields_[i].stored == FieldKind::kPlain)
        values_[i] = kNotRecorded;
    }
  }

  Call& set(const char* name, std::int64_t value) {
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (fields_[i].name == name) values_[i] = value;
    return *this;
  }
  Call& partner(const char* name, std::int64_t rank) {
    const bool none = rank < 0 || rank >= static_cast<std::int64_t>(place_.ranks);
    return set(name, none ? pack_special(SpecialRank::kProcNull)
                          : pack_rank(static_cast<std::int32_t>(rank),
                                      static_cast<std::int32_t>(place_.rank),
                                      static_cast<std::int32_t>(place_.ranks)));
  }
  void to(EventSink& sink, std::uint64_t compute_ns = 2000, std::uint64_t call_ns = 5000) const {
    sink.event(
        {static_cast<std::uint16_t>(call_), mix(0x5157ULL + site_), compute_ns, call_ns, values_});
  }

 private:
  Place place_;
  CallId call_;
  std::uint32_t site_;
  const std::vector<Field>& fields_;
  std::vector<std::int64_t> values_;
};

void send(Place p, EventSink& sink, std::uint32_t site, std::int64_t to, int count, int tag) {
  Call(p, CallId::kSend, site).set("count", count).partner("dest", to).set("tag", tag).to(sink);
}
void receive(Place p, EventSink& sink, std::uint32_t site, std::int64_t from, int count, int tag) {
  Call(p, CallId::kRecv, site)
      .set("count", count)
      .partner("source", from)
      .set("tag", tag)
      .to(sink, 1000, 20000);
}
void exchange(Place p, EventSink& sink, std::uint32_t site, std::int64_t to, std::int64_t from,
              int count, int tag) {
  Call(p, CallId::kSendrecv, site)
      .set("sendcount", count)
      .set("recvcount", count)
      .partner("dest", to)
      .partner("source", from)
      .set("sendtag", tag)
      .set("recvtag", tag)
      .to(sink, 4000, 12000);
}
void allreduce(Place p, EventSink& sink, std::uint32_t site, int count) {
  Call(p, CallId::kAllreduce, site).set("count", count).to(sink, 100000, 30000);
}
void barrier(Place p, EventSink& sink, std::uint32_t site) {
  Call(p, CallId::kBarrier, site).to(sink);
}
void broadcast(Place p, EventSink& sink, std::uint32_t site, int count) {
  Call(p, CallId::kBcast, site).set("count", count).partner("root", 0).to(sink);
}
void all_to_all(Place p, EventSink& sink, std::uint32_t site, int count) {
  Call(p, CallId::kAlltoall, site)
      .set("sendcount", count)
      .set("recvcount", count)
      .to(sink, 50000, 80000);
}

/// Factors of the number of ranks as equal as can be, largest first.
template <std::size_t N>
std::array<std::int64_t, N> grid(std::uint32_t ranks) {
  static std::uint32_t known = 0;  // the same for all ranks of a job
  static std::array<std::int64_t, N> sides{};
  if (known == ranks) return sides;
  known = ranks;
  std::int64_t left = ranks;
  for (std::size_t i = 0; i < N; ++i) {
    std::int64_t best = left;
    const auto wanted = static_cast<std::size_t>(N - i);
    for (std::int64_t side = 1; side <= left; ++side) {
      if (left % side != 0) continue;
      std::int64_t power = 1;
      for (std::size_t k = 0; k < wanted; ++k) power *= side;
      if (power >= left) {
        best = side;
        break;
      }
    }
    sides[i] = best;
    left /= best;
  }
  return sides;
}

struct Cell2 {
  std::int64_t x, y, nx, ny;
  explicit Cell2(Place p) {
    const auto sides = grid<2>(p.ranks);
    ny = sides[0], nx = sides[1];
    x = p.rank % nx, y = p.rank / nx;
  }
  std::int64_t at(std::int64_t i, std::int64_t j) const {
    return i < 0 || j < 0 || i >= nx || j >= ny ? -1 : j * nx + i;
  }
};

void begin(Place p, EventSink& sink) {
  Call(p, CallId::kInit, 900).to(sink, 0, 0);
  broadcast(p, sink, 901, 4);
  barrier(p, sink, 902);
}

// Sub-grids in a pipeline from one corner: borders and interior differ (LU).
void wavefront(Place p, EventSink& sink) {
  const Cell2 c(p);
  if (c.x > 0) receive(p, sink, 1, c.at(c.x - 1, c.y), 64, 1);
  if (c.y > 0) receive(p, sink, 2, c.at(c.x, c.y - 1), 64, 2);
  if (c.x + 1 < c.nx) send(p, sink, 3, c.at(c.x + 1, c.y), 64, 1);
  if (c.y + 1 < c.ny) send(p, sink, 4, c.at(c.x, c.y + 1), 64, 2);
  allreduce(p, sink, 5, 1);
}

// Four neighbours, MPI_PROC_NULL beyond the border.
void stencil2d(Place p, EventSink& sink) {
  const Cell2 c(p);
  exchange(p, sink, 11, c.at(c.x + 1, c.y), c.at(c.x - 1, c.y), 32, 1);
  exchange(p, sink, 12, c.at(c.x - 1, c.y), c.at(c.x + 1, c.y), 32, 2);
  exchange(p, sink, 13, c.at(c.x, c.y + 1), c.at(c.x, c.y - 1), 32, 3);
  exchange(p, sink, 14, c.at(c.x, c.y - 1), c.at(c.x, c.y + 1), 32, 4);
  allreduce(p, sink, 15, 1);
}

void ring(Place p, EventSink& sink) {
  const std::int64_t n = p.ranks;
  exchange(p, sink, 21, (p.rank + 1) % n, (p.rank + n - 1) % n, 16, 1);
}

// Cyclic neighbours in both directions and along the diagonal (BT, SP).
void multipartition(Place p, EventSink& sink) {
  const Cell2 c(p);
  const auto wrap = [&](std::int64_t i, std::int64_t j) {
    return c.at((i + c.nx) % c.nx, (j + c.ny) % c.ny);
  };
  exchange(p, sink, 31, wrap(c.x + 1, c.y), wrap(c.x - 1, c.y), 100, 1);
  exchange(p, sink, 32, wrap(c.x, c.y + 1), wrap(c.x, c.y - 1), 100, 2);
  exchange(p, sink, 33, wrap(c.x + 1, c.y + 1), wrap(c.x - 1, c.y - 1), 100, 3);
  allreduce(p, sink, 34, 5);
}

// Sums over a row of ranks, by exchanges over each bit of the column or around the row.
void sum_over_row(Place p, EventSink& sink, std::uint32_t site, std::int64_t columns, int count) {
  const std::int64_t column = p.rank % columns, row = p.rank - column;
  if ((columns & (columns - 1)) == 0) {
    for (std::int64_t bit = 1; bit < columns; bit *= 2)
      exchange(p, sink, site, row + (column ^ bit), row + (column ^ bit), count, 1);
    return;
  }
  for (std::int64_t step = 1; step < columns; ++step)
    exchange(p, sink, site, row + (column + 1) % columns, row + (column + columns - 1) % columns,
             count, 2);
}

// Sums over rows of a grid, and the partner at the transposed place (CG).
void transpose(Place p, EventSink& sink) {
  const std::int64_t ranks = p.ranks;
  std::int64_t rows = 1;
  for (std::int64_t side = 1; side * side <= ranks; ++side)
    if (ranks % (side * side) == 0) rows = side;
  const std::int64_t columns = ranks / rows, wide = columns / rows;
  const std::int64_t row = p.rank / columns, column = p.rank % columns;
  const std::int64_t partner = column / wide * columns + row * wide + column % wide;
  sum_over_row(p, sink, 43, columns, 500);
  exchange(p, sink, 41, partner, partner, 500, 3);
  sum_over_row(p, sink, 44, columns, 1);
}

void spectral(Place p, EventSink& sink) {
  all_to_all(p, sink, 51, 8);
  all_to_all(p, sink, 52, 8);
  allreduce(p, sink, 53, 1);
}

// Neighbours pass border keys: the first and the last rank have one only (IS).
void bucketsort(Place p, EventSink& sink) {
  allreduce(p, sink, 61, 64);
  all_to_all(p, sink, 62, 1);
  if (p.rank > 0) receive(p, sink, 63, std::int64_t{p.rank} - 1, 1, 1);
  if (p.rank + 1 < p.ranks) send(p, sink, 64, std::int64_t{p.rank} + 1, 1, 1);
}

// Points of a line, every second of which each coarser level keeps where it is (MG).
struct Level {
  std::int64_t begin, end;   // of the rank's points
  std::int64_t left, right;  // ranks with the points beside them; -1: none
};

// Down to two points, or to where the rank has none.
std::vector<Level> levels_of(Place p) {
  const std::int64_t ranks = p.ranks, rank = p.rank;
  std::int64_t points = 256;
  while (points < 2 * ranks) points *= 2;
  const auto owner = [&](std::int64_t point) {
    std::int64_t found = point * ranks / points;
    while (found + 1 < ranks && points * (found + 1) / ranks <= point) ++found;
    return found;
  };
  std::vector<Level> levels;
  std::int64_t begin = points * rank / ranks, end = points * (rank + 1) / ranks;
  for (std::int64_t stride = 1; points / stride > 2 && begin != end; stride *= 2) {
    levels.push_back({begin, end, begin > 0 ? owner((begin - 1) * stride) : -1,
                      end < points / stride ? owner(end * stride) : -1});
    begin = (begin + 1) / 2;
    end = (end + 1) / 2;
  }
  return levels;
}

void exchange(Place p, EventSink& sink, std::uint32_t site, const Level& level) {
  if (level.left >= 0) exchange(p, sink, site, level.left, level.left, 1, 1);
  if (level.right >= 0) exchange(p, sink, site + 1, level.right, level.right, 1, 1);
}

// A V-cycle: down the levels and up again.
void multigrid(Place p, EventSink& sink) {
  const std::vector<Level> levels = levels_of(p);
  for (std::size_t i = 0; i < levels.size(); ++i)
    exchange(p, sink, 100 + 4 * static_cast<std::uint32_t>(i), levels[i]);
  for (std::size_t i = levels.size(); i-- > 0;)
    exchange(p, sink, 102 + 4 * static_cast<std::uint32_t>(i), levels[i]);
  allreduce(p, sink, 99, 1);
}

// Eight updates of ghost points from as many places, and sums of a solver. The grid is closed in
// the north and south, and cyclic from east to west (POP).
void ocean(Place p, EventSink& sink) {
  const Cell2 c(p);
  const std::int64_t west = c.at((c.x + c.nx - 1) % c.nx, c.y), east = c.at((c.x + 1) % c.nx, c.y);
  const std::int64_t north = c.at(c.x, c.y - 1), south = c.at(c.x, c.y + 1);
  for (std::uint32_t update = 0; update < 8; ++update) {
    const std::uint32_t site = 300 + 4 * update;
    exchange(p, sink, site, east, west, 32, 1);
    exchange(p, sink, site + 1, west, east, 32, 2);
    exchange(p, sink, site + 2, south, north, 32, 3);
    exchange(p, sink, site + 3, north, south, 32, 4);
  }
  for (std::uint32_t inner = 0; inner < 4; ++inner) allreduce(p, sink, 340, 2);
}

// Up to 26 neighbours in a cube, each with a call of its own (LULESH).
void hydro(Place p, EventSink& sink) {
  const auto sides = grid<3>(p.ranks);
  const std::array<std::int64_t, 3> place = {p.rank / (sides[1] * sides[2]),
                                             p.rank / sides[2] % sides[1], p.rank % sides[2]};
  const auto neighbour = [&](int direction) -> std::int64_t {
    const std::array<int, 3> offset = {direction / 9 - 1, direction / 3 % 3 - 1, direction % 3 - 1};
    std::int64_t rank = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t at = place[axis] + offset[axis];
      if (at < 0 || at >= sides[axis]) return -1;
      rank = rank * sides[axis] + at;
    }
    return rank;
  };
  const auto points = [](int direction) {  // of a side of a block of 8 by 8 by 8
    int count = 1;
    for (const int offset : {direction / 9 - 1, direction / 3 % 3 - 1, direction % 3 - 1})
      if (offset == 0) count *= 8;
    return count;
  };
  constexpr int kDirections = 27, kSelf = 13;
  for (int to = 0; to < kDirections; ++to) {
    if (to == kSelf || neighbour(to) < 0) continue;
    send(p, sink, 400 + static_cast<std::uint32_t>(to), neighbour(to), points(to), to);
  }
  for (int from = 0; from < kDirections; ++from) {
    if (from == kSelf || neighbour(from) < 0) continue;
    receive(p, sink, 430 + static_cast<std::uint32_t>(from), neighbour(from), points(from),
            kDirections - 1 - from);
  }
  allreduce(p, sink, 460, 1);
}

// A master gives every worker a task and takes a result.
void taskfarm(Place p, EventSink& sink) {
  if (p.rank == 0) {
    for (std::uint32_t worker = 1; worker < p.ranks; ++worker) send(p, sink, 81, worker, 4, 1);
    for (std::uint32_t worker = 1; worker < p.ranks; ++worker) receive(p, sink, 82, worker, 4, 2);
  } else {
    receive(p, sink, 83, 0, 4, 1);
    send(p, sink, 84, 0, 4, 2);
  }
}

constexpr Behaviour kBehaviours[] = {
    {"wavefront", "a pipeline over a 2-D grid", begin, wavefront},
    {"stencil2d", "four neighbours", begin, stencil2d},
    {"ring", "one neighbour, cyclic", begin, ring},
    {"multipartition", "three cyclic neighbours", begin, multipartition},
    {"transpose", "sums over rows, and the transposed place", begin, transpose},
    {"spectral", "all to all", begin, spectral},
    {"bucketsort", "all to all and a chain", begin, bucketsort},
    {"multigrid", "two neighbours at each level", begin, multigrid},
    {"ocean", "eight updates from four neighbours", begin, ocean},
    {"hydro", "26 neighbours", begin, hydro},
    {"taskfarm", "a master and workers", begin, taskfarm},
};

}  // namespace

std::span<const Behaviour> behaviours() { return kBehaviours; }

const Behaviour* find_behaviour(const std::string& name) {
  for (const Behaviour& one : kBehaviours)
    if (name == one.name) return &one;
  return nullptr;
}

Trace behaviour_trace(std::uint32_t ranks) {
  Trace trace;
  trace.world_size = ranks;
  for (const CallId call :
       {CallId::kInit, CallId::kBcast, CallId::kBarrier, CallId::kSend, CallId::kRecv,
        CallId::kSendrecv, CallId::kAllreduce, CallId::kAlltoall})
    trace.calls.emplace(static_cast<std::uint16_t>(call), description(call));
  trace.arrays.emplace(array_id({}), std::vector<std::int64_t>());
  trace.predefined["datatype"] = {{"MPI_DOUBLE", 8}};
  trace.predefined["op"] = {{"MPI_SUM", 0}};
  return trace;
}

}  // namespace chameleon::tools
