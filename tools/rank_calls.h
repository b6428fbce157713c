// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The events of one rank's MPI calls, with the values that the recorder would store, for programs
/// that are only modelled.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <vector>

#include "model/event.h"
#include "model/trace.h"
#include "mpi/call_table.h"

namespace chameleon::tools {

/// Receives the events of a rank; `values` holds until it returns.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void event(const Event& event) = 0;
  /// Takes the elements of an array and gives what stands for it in an event.
  virtual std::int64_t array(std::vector<std::int64_t> elements) = 0;
};

/// Place of a rank in a job.
struct Place {
  std::uint32_t rank = 0, ranks = 1;
};

/// Arrays with an element for each rank are made for at most this many ranks: each rank has one,
/// P² elements in all. In larger jobs they are empty.
constexpr std::uint32_t kMostWithArrays = 1024;

/// Objects as the recorder numbers them: predefined ones from -2 down, in the order of
/// `predefined_types` and `predefined_operations`; created ones from the first free number on.
namespace object {
constexpr std::int64_t kWorld = 0, kFirstCreated = 2;  // between them MPI_COMM_SELF
constexpr std::int64_t kDouble = -2, kInt = -3, kComplex = -4;
constexpr std::int64_t kSum = -2, kMin = -3, kMax = -4;
}  // namespace object
std::vector<Predefined> predefined_types();
std::vector<Predefined> predefined_operations();

/// The descriptions of all calls that `RankCalls` makes, as a trace holds them.
std::map<std::uint16_t, CallDescription> rank_call_descriptions();

/// A message: count and type, tag, and communicator.
struct Message {
  int count = 1;
  std::int64_t type = object::kDouble;
  int tag = 0;
  std::int64_t comm = object::kWorld;
};

/// A partner in a call. Ranks that do not exist are MPI_PROC_NULL.
class PartnerRank {
 public:
  constexpr PartnerRank(std::int64_t rank) : rank_(rank) {}  // a rank is a partner: not explicit
  static constexpr PartnerRank any() { return PartnerRank(kAny); }
  std::int64_t packed(Place place) const;

 private:
  static constexpr std::int64_t kAny = INT64_MIN;
  std::int64_t rank_;
};

/// Makes the calls of a rank. `site` tells call sites of a function apart, `in` functions and their
/// callers; both together stand for the call path.
class RankCalls {
 public:
  RankCalls(Place place, EventSink& sink) : place_(place), sink_(&sink) {}
  /// The same rank in a function of its own.
  RankCalls in(std::uint32_t function) const;

  Place place() const { return place_; }

  void init();
  void barrier(std::uint32_t site);
  void bcast(std::uint32_t site, int count, std::int64_t root);
  void reduce(std::uint32_t site, Message what, std::int64_t operation, std::int64_t root);
  void allreduce(std::uint32_t site, Message what, std::int64_t operation);
  void alltoall(std::uint32_t site, Message what);
  void alltoallv(std::uint32_t site, std::int64_t type, std::vector<std::int64_t> sent,
                 std::vector<std::int64_t> received);

  void send(std::uint32_t site, PartnerRank to, Message what);
  void receive(std::uint32_t site, PartnerRank from, Message what);
  /// With wildcards, and what the status said.
  void receive_any(std::uint32_t site, PartnerRank from, Message what, std::int64_t source,
                   int tag);
  void exchange(std::uint32_t site, PartnerRank to, PartnerRank from, Message what);
  void isend(std::uint32_t site, PartnerRank to, Message what, int request);
  void irecv(std::uint32_t site, PartnerRank from, Message what, int request);
  void wait(std::uint32_t site, int request);
  void waitall(std::uint32_t site, int requests);  ///< requests 0, 1, ...

  void comm_split(std::uint32_t site, std::int64_t color, std::int64_t key, std::int64_t created,
                  std::vector<std::int64_t> members);
  void cart_create(std::uint32_t site, std::vector<std::int64_t> dims,
                   std::vector<std::int64_t> periods, std::int64_t created);
  void type_vector(std::uint32_t site, int count, int stride, std::int64_t created);

 private:
  struct Given {
    const char* field;
    std::int64_t value;
  };
  struct Times {
    std::uint64_t compute_ns, call_ns;
  };
  class Shape;
  static const Shape& shape(CallId call);
  void make(CallId call, std::uint32_t site, Times times, std::initializer_list<Given> given);
  std::vector<std::int64_t> all_ranks() const;

  Place place_;
  EventSink* sink_;
  std::uint64_t function_ = 0;
};

}  // namespace chameleon::tools
