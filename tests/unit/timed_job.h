// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Hand-written traces with every rank's own times, in ms.

#include <algorithm>
#include <optional>

#include "model/time_code.h"
#include "unit/trace_builder.h"

namespace chameleon::testing {

struct TimedJob : TraceBuilder {
  enum : std::uint16_t {
    kSend = 1,
    kRecv,
    kAllreduce,
    kBcast,
    kReduce,
    kBarrier,
    kIsend,
    kIrecv,
    kWaitall,
    kScan
  };
  static constexpr std::int64_t kInt = -3;
  static constexpr double kMs = 1e6;

  explicit TimedJob(std::uint32_t ranks_) : TraceBuilder(ranks_), ranks(ranks_) {
    timed(kSend, "Send");
    timed(kRecv, "Recv");
    timed(kIsend, "Isend");
    timed(kIrecv, "Irecv");
    timed(kWaitall, "Waitall");
    timed(kAllreduce, "Allreduce");
    timed(kScan, "Scan");
    timed(kReduce, "Reduce");
    timed(kBcast, "Bcast");
    timed(kBarrier, "Barrier");
  }

  void timed(std::uint16_t id, const std::string& name) {
    std::vector<std::string> fields = fields_of_call(name);
    fields.insert(fields.end(), {"compute:time", "communication:time"});
    call(id, name, fields);
  }
  void at(std::uint32_t rank, std::uint16_t id, std::vector<std::int64_t> values, double compute,
          double inside) {
    const auto computed = static_cast<std::uint64_t>(compute * kMs);
    const auto took = static_cast<std::uint64_t>(inside * kMs);
    values.push_back(encode_time(computed));
    values.push_back(encode_time(took));
    push(rank, id, std::move(values), computed, took);
    lasted[rank] += computed + took;
  }
  std::int64_t rank_of(std::uint32_t self, std::uint32_t other) const {
    return pack_rank(static_cast<std::int32_t>(other), static_cast<std::int32_t>(self),
                     static_cast<std::int32_t>(ranks));
  }
  void send(std::uint32_t from, std::uint32_t to, double compute, double inside) {
    at(from, kSend, {0, 1, kInt, rank_of(from, to), 7, 0}, compute, inside);
  }
  void receive(std::uint32_t rank, std::uint32_t from, double compute, double inside) {
    at(rank, kRecv,
       {0, 1, kInt, rank_of(rank, from), 7, 0, kNotRecorded, kNotRecorded, kNotRecorded}, compute,
       inside);
  }
  void isend(std::uint32_t from, std::uint32_t to, std::int64_t request, double compute) {
    at(from, kIsend, {0, 1, kInt, rank_of(from, to), 7, 0, request}, compute, 0);
  }
  void irecv(std::uint32_t rank, std::uint32_t from, std::int64_t request, double compute) {
    at(rank, kIrecv, {0, 1, kInt, rank_of(rank, from), 7, 0, request}, compute, 0);
  }
  void waitall(std::uint32_t rank, const std::vector<std::int64_t>& requests, double compute,
               double inside) {
    const std::int64_t none = array({});
    at(rank, kWaitall,
       {static_cast<std::int64_t>(requests.size()), array(requests), none, none, none}, compute,
       inside);
  }
  void reduction(std::uint32_t rank, std::uint16_t id, double compute, double inside) {
    at(rank, id, {0, 0, 1, kInt, -2, 0}, compute, inside);
  }
  void reduce(std::uint32_t rank, std::uint32_t root, double compute, double inside) {
    at(rank, kReduce, {0, 0, 1, kInt, -2, rank_of(rank, root), 0}, compute, inside);
  }
  void broadcast(std::uint32_t rank, std::uint32_t root, double compute, double inside) {
    at(rank, kBcast, {0, 1, kInt, rank_of(rank, root), 0}, compute, inside);
  }
  void barrier(std::uint32_t rank, double compute, double inside) {
    at(rank, kBarrier, {0}, compute, inside);
  }
  /// The first call ends the job.
  const Trace& full() {
    if (!built) {
      built = build();
      built->timing = "full";
      for (const auto& [rank, ns] : lasted) built->facts[rank].run_ns = ns;
    }
    return *built;
  }
  std::uint32_t ranks;
  std::map<std::uint32_t, std::uint64_t> lasted;  ///< ns
  std::optional<Trace> built;
};

}  // namespace chameleon::testing
